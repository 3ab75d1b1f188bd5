/** What each converter makes of a small file of its format, as markdown and as text. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { ConvertedFormat } from '../../../src/conversion/formats.js'
import { convertBytes } from '../../../src/conversion/formats/converters.js'
import { docxOf, odtOf, pdfOf } from '../../harness/conversion/office_files.js'
import { zipOf } from '../../harness/conversion/zip_file.js'
import { holds } from '../../harness/property.js'

const markdownOf = (format: ConvertedFormat, file: string | Uint8Array): Promise<string> => convertBytes(Buffer.from(file), format, false)
const textOf = (format: ConvertedFormat, file: string | Uint8Array): Promise<string> => convertBytes(Buffer.from(file), format, true)

describe('html', () => {
  const PAGE = `<!doctype html><head><title>no</title><style>p {}</style></head><body><h1>Title <i>here</i></h1>
    <p>One<br>two &amp; <a href="https://x.org">link</a> <code>x</code><script>no()</script>
    <ul><li>a<li>b<ol start=3><li>c</ol></ul><pre><code class="language-js">let a
  b</code></pre><table><caption>Cap</caption><tr><th>A<th>B<tr><td>1<td>2</table><blockquote>q</blockquote><input type=checkbox checked>`

  it('headings, lists, links, code, tables and quotes of HTML are those of markdown', async () => {
    assert.equal(
      await markdownOf('html', PAGE),
      '# Title *here*\n\nOne\\\ntwo & [link](https://x.org) `x`\n\n- a\n- b\n  3. c\n\n```js\nlet a\n  b\n```\n\nCap\n\n' +
        '| A | B |\n| --- | --- |\n| 1 | 2 |\n\n> q\n\n[x]\n',
    )
  })

  it('the text of HTML has no markup', async () => {
    assert.equal(await textOf('html', PAGE), 'Title here\n\nOne\ntwo & link x\n\na\nb\nc\n\nlet a\n  b\n\nCap\n\nA\tB\n1\t2\n\nq\n\n[x]\n')
  })

  it('HTML nested 50 000 deep is its text alone', async () => {
    assert.equal(await markdownOf('html', `${'<div>'.repeat(50_000)}deep<p>er<script>no</script>`), 'deep\n\ner\n')
  })

  it('targets that run code or hold data are no links', async () => {
    assert.equal(
      await markdownOf('html', '<a href=" javascript:x()">a</a><a href="data:x">b</a><img alt=c src="data:image/png,x">'),
      'abc\n',
    )
  })
})

describe('docx', () => {
  const style = (id: string, name: string, parent = ''): string =>
    `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/>${parent === '' ? '' : `<w:basedOn w:val="${parent}"/>`}</w:style>`
  const paragraph = (text: string, properties = ''): string => `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`
  const styles = style('H1', 'heading 1') + style('Mine', 'Our title', 'H1') + style('Code', 'Source Code')
  const body =
    paragraph('Top', '<w:pStyle w:val="H1"/>') +
    paragraph('Derived', '<w:pStyle w:val="Mine"/>') +
    '<w:p><w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">bold </w:t></w:r><w:hyperlink r:id="link"><w:r><w:t>link</w:t></w:r></w:hyperlink></w:p>' +
    paragraph('a = 1', '<w:pStyle w:val="Code"/>') +
    paragraph('b = 2', '<w:pStyle w:val="Code"/>') +
    '<w:tbl><w:tr><w:tc><w:p><w:r><w:t>x</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>y</w:t></w:r></w:p></w:tc></w:tr></w:tbl>'

  it('headings of Word, derived ones too, marks, links, code and tables are those of markdown', async () => {
    assert.equal(
      await markdownOf('docx', docxOf({ body, styles })),
      '# Top\n\n# Derived\n\n**bold** [link](https://example.org/)\n\n```\na = 1\nb = 2\n```\n\n|  |  |\n| --- | --- |\n| x | y |\n',
    )
  })

  it('lists, notes and fields of Word are those of markdown, and deleted, moved and hidden text is left out', async () => {
    const item = (text: string, depth: number): string =>
      paragraph(text, `<w:numPr><w:ilvl w:val="${depth}"/><w:numId w:val="7"/></w:numPr>`)
    const run = (text: string, properties = ''): string => `<w:r><w:rPr>${properties}</w:rPr><w:t>${text}</w:t></w:r>`
    const sign = (type: string): string => `<w:r><w:fldChar w:fldCharType="${type}"/></w:r>`
    const link = `${sign('begin')}<w:r><w:instrText>HYPERLINK "https://x.org"</w:instrText></w:r>${sign('separate')}${run('shown')}${sign('end')}`
    const gone = `<w:del><w:r><w:delText>no</w:delText></w:r></w:del><w:moveFrom>${run('no')}</w:moveFrom>${run('no', '<w:vanish/>')}`
    const file = docxOf({
      body: `${item('one', 0)}${item('deep', 1)}${item('two', 0)}<w:p>${link}${gone}<w:ins>${run('kept', '<w:i/><w:b w:val="0"/>')}</w:ins><w:r><w:footnoteReference w:id="5"/></w:r></w:p>`,
      numbering:
        '<w:abstractNum w:abstractNumId="3"><w:lvl w:ilvl="0"><w:start w:val="4"/><w:numFmt w:val="decimal"/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum><w:num w:numId="7"><w:abstractNumId w:val="3"/></w:num>',
      footnotes: `<w:footnote w:id="0">${paragraph('separator')}</w:footnote><w:footnote w:id="5">${paragraph('note')}</w:footnote>`,
    })
    assert.equal(await markdownOf('docx', file), '4. one\n   - deep\n5. two\n\n[shown](https://x.org)*kept*[^1]\n\n[^1]: note\n')
  })

  it('the text of a Word document has no markup', async () => {
    assert.equal(await textOf('docx', docxOf({ body, styles })), 'Top\n\nDerived\n\nbold link\n\na = 1\nb = 2\n\nx\ty\n')
  })
})

describe('odt', () => {
  const styles =
    '<style:style style:name="B" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>' +
    '<style:style style:name="BI" style:family="text" style:parent-style-name="B"><style:text-properties fo:font-style="italic"/></style:style>' +
    '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1" text:start-value="4"/></text:list-style>'
  const text =
    '<text:h text:outline-level="2">Head</text:h><text:p>a<text:s text:c="2"/>b <text:span text:style-name="BI">both</text:span> ' +
    '<text:a xlink:href="https://x.org">link</text:a><text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>note</text:p></text:note-body></text:note></text:p>' +
    '<text:list text:style-name="L"><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>deep</text:p></text:list-item></text:list></text:list-item></text:list>' +
    '<text:p text:style-name="Preformatted_20_Text">a {</text:p><text:p text:style-name="Preformatted_20_Text"><text:s text:c="2"/>}</text:p>' +
    '<table:table><table:table-header-rows><table:table-row><table:table-cell table:number-columns-spanned="2"><text:p>H</text:p></table:table-cell><table:covered-table-cell/></table:table-row></table:table-header-rows>' +
    '<table:table-row><table:table-cell><text:p>1</text:p></table:table-cell><table:table-cell><text:p>2</text:p></table:table-cell></table:table-row></table:table>' +
    '<text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:p text:style-name="Quotations">q</text:p>'

  it('headings, lists, marks, notes, code, tables and quotes of OpenDocument are those of markdown', async () => {
    assert.equal(
      await markdownOf('odt', odtOf({ text, styles })),
      '## Head\n\na b ***both*** [link](https://x.org)[^1]\n\n4. one\n   - deep\n\n```\na {\n  }\n```\n\n| H |  |\n| --- | --- |\n| 1 | 2 |\n\n> q\n\n[^1]: note\n',
    )
  })

  it('the text of an OpenDocument text has no markup', async () => {
    assert.equal(await textOf('odt', odtOf({ text, styles })), 'Head\n\na b both link\n\none\ndeep\n\na {\n  }\n\nH\n1\t2\n\nq\n\nnote\n')
  })

  it('a style that is its own parent ends', async () => {
    const circle = '<style:style style:name="P" style:family="paragraph" style:parent-style-name="P"/>'
    assert.equal(await markdownOf('odt', odtOf({ text: '<text:p text:style-name="P">x</text:p>', styles: circle })), 'x\n')
  })
})

describe('rtf', () => {
  it('text of RTF is decoded: code pages, Unicode with its fallback, signs', async () => {
    const file =
      "{\\rtf1\\ansi\\ansicpg1251{\\fonttbl{\\f0\\fcharset0 A;}{\\f1\\fcharset128 B;}}\\f2 \\'c0\\f1 \\'82\\'a0 \\uc1\\u8364?\\u-10179?\\u-8704? \\emdash\\~\\{x\\}}"
    assert.equal(await markdownOf('rtf', file), 'Аあ €😀 —\u00a0{x}\n')
  })

  it('headings, lists, links, tables, notes and marks of RTF are those of markdown', async () => {
    const file =
      '{\\rtf1{\\stylesheet{\\s1\\outlinelevel0 heading 1;}}{\\*\\listtable{\\list{\\listlevel\\levelnfc0\\levelstartat3}{\\listlevel\\levelnfc23}\\listid7}}' +
      '{\\*\\listoverridetable{\\listoverride\\listid7\\ls1}}{\\info{\\title no}}\\pard\\s1 Head\\par\\pard a {\\b bold} {\\v no}' +
      '{\\field{\\*\\fldinst HYPERLINK "https://x.org"}{\\fldrslt link}}{\\footnote\\pard note}\\par' +
      '\\pard\\ls1\\ilvl0{\\listtext 3.\\tab}one\\par\\ilvl1{\\listtext -\\tab}deep\\par\\pard\\trowd\\intbl A\\cell B\\cell\\row\\intbl 1\\cell\\cell\\row\\pard end}'
    assert.equal(
      await markdownOf('rtf', file),
      '# Head\n\na **bold** [link](https://x.org)[^1]\n\n3. one\n   - deep\n\n|  |  |\n| --- | --- |\n| A | B |\n| 1 |  |\n\nend\n\n[^1]: note\n',
    )
  })
})

describe('tex', () => {
  it('sections, lists, tables, links, notes, code and formulas of LaTeX are those of markdown', async () => {
    const file =
      String.raw`\documentclass{article}\title{The \emph{T}}\newcommand{\say}[2][Hi]{#1 \textbf{#2}}
\begin{document}\maketitle % no
\section*{One}\label{x} G\"ur\'e -- ` +
      "``q''" +
      String.raw` \say{you} \say[Ho]{me}\footnote{note} \href{https://x.org/a\_b}{link} $a_1$ \verb|x_y|
\begin{itemize}\item a\item[t] b\begin{enumerate}\item c\end{enumerate}\end{itemize}
\begin{tabular}{l|r} A & B \\ \hline 1 & \multirow{2}{*}{2} \\ \end{tabular}
\begin{lstlisting}[language=C]
int x; \y{}
\end{lstlisting}
\begin{quote}q\end{quote} \[ x = y \] \hl{kept} {\it slanted} plain\end{document}`
    assert.equal(
      await markdownOf('tex', file),
      '# The T\n\n# One\n\nGür\u00e9 – “q” Hi **you** Ho **me**[^1] [link](https://x.org/a_b) $a_1$ `x_y`\n\n- a\n- **t** b\n  1. c\n\n' +
        '| A | B |\n| --- | --- |\n| 1 | 2 |\n\n```c\nint x; \\y{}\n```\n\n> q\n\n$$x = y$$ kept *slanted* plain\n\n[^1]: note\n',
    )
  })

  it('macros that call themselves or each other are refused, and not for long', async () => {
    await assert.rejects(markdownOf('tex', String.raw`\newcommand{\a}{\a\a}\a`), /its macros expand to more than 4000000 characters/)
    const powers = Array.from('bcdefghij', (name, at) => `\\def\\x${name}{${`\\x${'abcdefghi'[at]}`.repeat(20)}}`)
    await assert.rejects(
      markdownOf('tex', `\\def\\xa{xxxxxxxxxx}${powers.join('')}\\xj`),
      /its macros expand to more than 4000000 characters/,
    )
  })
})

describe('pdf', () => {
  it('lines of a PDF are paragraphs by their distance, headings by the size of their letters', async () => {
    const lines = [
      [24, 'Big title'],
      [12, 'First line of a para-'],
      [12, 'graph (1).'],
    ] as const
    assert.equal(await markdownOf('pdf', pdfOf(lines)), '# Big title\n\nFirst line of a paragraph (1).\n')
    assert.equal(await textOf('pdf', pdfOf(lines)), 'Big title\n\nFirst line of a paragraph (1).\n')
  })

  it('a PDF without text is refused with the reason', async () => {
    await assert.rejects(markdownOf('pdf', pdfOf([])), /has no text; pictures of pages are not read/)
  })
})

describe('hostile files', () => {
  const FORMATS: readonly ConvertedFormat[] = ['html', 'docx', 'odt', 'rtf', 'tex', 'pdf']

  it('a file that is not what its name says is refused with a reason, or read as text', async () => {
    const files = ['', 'x', 'PK\x03\x04', '%PDF-1.4', '{\\rtf1', '<p>', '\0\xff\xfe', odtOf({ text: '' }), docxOf({ body: '' })]
    for (const format of FORMATS)
      for (const file of files) {
        const outcome = await markdownOf(format, file).catch((error: unknown) => error)
        assert.ok(
          typeof outcome === 'string' || (outcome instanceof Error && outcome.message !== ''),
          `${format} ${String(file).slice(0, 20)}`,
        )
      }
  })

  it('XML with declarations of its own is refused, and so are entities beyond the five of XML', async () => {
    const declared = '<!DOCTYPE x [<!ENTITY a "b">]>'
    await assert.rejects(markdownOf('odt', odtOf({ prolog: declared, text: '<text:p>text</text:p>' })), /DOCTYPE/)
    await assert.rejects(markdownOf('odt', odtOf({ text: '<text:p>&eacute;</text:p>' })), /entity/)
    assert.equal(await markdownOf('odt', odtOf({ prolog: '<!DOCTYPE x>', text: '<text:p>a &lt; b</text:p>' })), 'a < b\n')
  })

  it('a ZIP of more than 2 000 entries is refused, and an entry that grows more than 100 times', async () => {
    const content = { 'content.xml': '<a/>' }
    const entries = (count: number): Record<string, string> => Object.fromEntries(Array.from({ length: count }, (_, at) => [`e${at}`, '']))
    await assert.rejects(markdownOf('odt', zipOf({ ...content, ...entries(2000) })), /more than 2000 entries/)
    assert.equal(await markdownOf('odt', zipOf({ ...content, ...entries(1999) })), '')
    const many = '<text:p>x</text:p>'.repeat(100_000)
    await assert.rejects(markdownOf('odt', odtOf({ text: many })), /grows more than 100 times/)
    assert.equal((await markdownOf('odt', odtOf({ text: '<text:p>x</text:p>'.repeat(50_000) }))).length, 150_000 - 1)
  })

  it('a PDF of more than 2 000 pages is refused', async () => {
    await assert.rejects(markdownOf('pdf', pdfOf([[12, 'text']], 2001)), /2001 pages, more than 2000/)
    assert.match(await markdownOf('pdf', pdfOf([[12, 'text']], 2000)), /^text/)
  })

  it('entities that XML declares are refused: none expands', async () => {
    const prolog = `<!DOCTYPE x [<!ENTITY a "lol">${'bcdefghij'
      .split('')
      .map((name, at) => `<!ENTITY ${name} "${`&${'abcdefghi'[at]};`.repeat(10)}">`)
      .join('')}]>`
    await assert.rejects(markdownOf('odt', odtOf({ prolog, text: '<text:p>&j;</text:p>' })), /DOCTYPE/)
    await assert.rejects(markdownOf('docx', docxOf({ prolog, body: '<w:p><w:r><w:t>&j;</w:t></w:r></w:p>' })), /DOCTYPE/)
  })

  it('what a ZIP unpacks to is bounded, whatever sizes it claims', async () => {
    // Less than a hundredth of it when packed, so that the bound of growth is not met first.
    const bomb = Array.from(
      { length: 70 * 1024 },
      (_, at) => `${createHash('sha256').update(String(at)).digest('hex')}${' '.repeat(960)}`,
    ).join('')
    const claimedBytes = { 'content.xml': 100, 'word/document.xml': 100 }
    for (const claimed of [{}, claimedBytes]) {
      await assert.rejects(markdownOf('odt', odtOf({ text: bomb, claimedBytes: claimed })), /bytes/)
      await assert.rejects(markdownOf('docx', docxOf({ body: bomb, claimedBytes: claimed })), /bytes/)
    }
  })

  it('a ZIP in a ZIP is not opened', async () => {
    const inner = odtOf({ text: '<text:p>inner words</text:p>' })
    const outer = docxOf({
      body: '<w:p><w:r><w:t>outer</w:t></w:r></w:p>',
      parts: { 'word/embeddings/inner.odt': inner, 'inner.zip': inner },
    })
    assert.equal(await markdownOf('docx', outer), 'outer\n')
  })

  it('scripts of a PDF are not run, and nothing that it refers to is read', async () => {
    const actions = [
      '/OpenAction<</S/JavaScript/JS(while \\(true\\) {})>>',
      '/OpenAction<</S/URI/URI(http://127.0.0.1:1/)>>',
      '/OpenAction<</S/Launch/F(/bin/false)>>',
    ]
    for (const catalog of actions) assert.equal(await markdownOf('pdf', pdfOf([[12, 'Text']], 1, catalog)), 'Text\n')
  })

  it('nesting without end is refused or flattened, in every format', async () => {
    await assert.rejects(markdownOf('rtf', `{\\rtf1${'{'.repeat(50_000)}`), /nested deeper than/)
    await assert.rejects(markdownOf('tex', '{'.repeat(50_000)), /nested deeper than/)
    await assert.rejects(markdownOf('odt', odtOf({ text: '<text:span>'.repeat(50_000) })), /nested deeper than/)
    assert.equal(await markdownOf('html', `${'<blockquote>'.repeat(500)}x`), `${'> '.repeat(47)}x\n`)
  })

  it('any bytes of the languages of text give text or a refusal', async () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '\\',
      '\\par ',
      "\\'e4",
      '\\cell',
      '\\row',
      '\\intbl ',
      '\\u-1',
      '<',
      '>',
      '<td>',
      '</table>',
      '<li>',
      '&#x0;',
      '$',
      '&',
      '\\begin{tabular}{',
      '\\end{tabular}',
      '\\item',
      '[',
      ']',
      '%',
      '\n\n',
      'w',
    )
    await holds(
      fc.asyncProperty(fc.array(pieces, { maxLength: 200 }), async (list) => {
        for (const format of ['html', 'rtf', 'tex'] as const) {
          const outcome = await markdownOf(format, (format === 'rtf' ? '{\\rtf1 ' : '') + list.join('')).catch((error: Error) => error)
          assert.ok(typeof outcome === 'string' || !(outcome instanceof TypeError), String(outcome))
        }
      }),
    )
  })
})
