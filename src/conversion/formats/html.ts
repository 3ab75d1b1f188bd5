/**
 * Markdown or plain text of HTML, in one streaming pass. A document that is nested deeper than
 * HTML_DEPTH_MAX becomes its text alone, by the tokenizer, which has no stack. Runs in a child process.
 */
import type { QuoteType } from 'htmlparser2'
import { Parser, Tokenizer } from 'htmlparser2'
import type { Marks } from '../markdown/inline.js'
import { MarkdownWriter } from '../markdown/writer.js'

/** Open tags in each other. Pages have some dozens; the parser's time for a tag grows with the depth. */
const HTML_DEPTH_MAX = 1000

class TooDeep extends Error {}

/** Their content is no text of the document. */
const SKIPPED = new Set([
  'head',
  'script',
  'style',
  'template',
  'noscript',
  'svg',
  'iframe',
  'object',
  'canvas',
  'audio',
  'video',
  'datalist',
])
const BLOCKS = new Set(
  (
    'address article aside body center dd details dialog dir div dl dt fieldset figcaption figure footer form header hgroup html legend main ' +
    'nav p search section summary optgroup option'
  ).split(' '),
)
const MARKS: Readonly<Record<string, Partial<Marks>>> = {
  b: { strong: true },
  strong: { strong: true },
  i: { emphasis: true },
  em: { emphasis: true },
  cite: { emphasis: true },
  dfn: { emphasis: true },
  var: { emphasis: true },
  s: { strike: true },
  strike: { strike: true },
  del: { strike: true },
  code: { code: true },
  kbd: { code: true },
  samp: { code: true },
  tt: { code: true },
}
const HEADING = /^h[1-6]$/
type Attributes = Readonly<Record<string, string>>

export function convertHtml(html: string, textOnly: boolean): string {
  try {
    return new HtmlReader(textOnly).read(html)
  } catch (error) {
    if (error instanceof TooDeep) return textOf(html)
    throw error
  }
}

class HtmlReader {
  readonly #writer: MarkdownWriter
  /** What ends the open elements, the innermost last. */
  readonly #ends: (() => void)[] = []
  #skipped = 0
  /** The text of an open `pre`, and its language. */
  #pre: { readonly parts: string[]; language: string; depth: number } | undefined

  constructor(textOnly: boolean) {
    this.#writer = new MarkdownWriter(textOnly)
  }

  read(html: string): string {
    const parser = new Parser({
      onopentag: (name, attributes) => this.#open(name, attributes),
      onclosetag: () => this.#ends.pop()?.(),
      ontext: (text) => this.#text(text),
    })
    parser.end(html)
    return this.#writer.finish()
  }

  #text(text: string): void {
    if (this.#skipped > 0) return
    if (this.#pre === undefined) this.#writer.text(text)
    else this.#pre.parts.push(text.replaceAll(/\r\n?/g, '\n'))
  }

  #open(name: string, attributes: Attributes): void {
    if (this.#ends.length >= HTML_DEPTH_MAX) throw new TooDeep()
    this.#ends.push(this.#begin(name, attributes))
  }

  /** Returns what ends the element. */
  #begin(name: string, attributes: Attributes): () => void {
    if (this.#skipped > 0 || SKIPPED.has(name)) return this.#skip()
    if (this.#pre !== undefined) return this.#beginInCode(name, attributes)
    const marks = MARKS[name]
    if (marks !== undefined) return this.#marked(marks)
    if (HEADING.test(name))
      return this.#between(
        () => this.#writer.heading(Number(name[1])),
        () => this.#writer.heading(0),
      )
    if (BLOCKS.has(name))
      return this.#between(
        () => this.#writer.block(),
        () => this.#writer.block(),
      )
    return this.#beginContainer(name, attributes) ?? this.#beginInline(name, attributes)
  }

  #skip(): () => void {
    this.#skipped++
    return () => this.#skipped--
  }

  #between(begin: () => void, end: () => void): () => void {
    begin()
    return end
  }

  #marked(marks: Partial<Marks>): () => void {
    const before = this.#writer.marks
    this.#writer.mark(marks)
    return () => (this.#writer.marks = before)
  }

  #beginInCode(name: string, attributes: Attributes): () => void {
    const pre = this.#pre!
    if (name === 'br') pre.parts.push('\n')
    if (name === 'code' && pre.language === '') pre.language = languageOf(attributes)
    if (name !== 'pre') return () => undefined
    pre.depth++
    return () => pre.depth--
  }

  #beginContainer(name: string, attributes: Attributes): (() => void) | undefined {
    const writer = this.#writer
    const closing = (isOpen: boolean, role: Parameters<MarkdownWriter['close']>[0]) =>
      isOpen ? () => writer.close(role) : () => writer.block()
    switch (name) {
      case 'blockquote':
        return closing(writer.openQuote(), 'quote')
      case 'ul':
      case 'menu':
        return closing(writer.openList(false), 'list')
      case 'ol':
        return closing(writer.openList(true, Number.parseInt(attributes['start'] ?? '1', 10) || 1), 'list')
      case 'li':
        return closing(writer.openItem(), 'item')
      case 'table':
        return closing(writer.openTable(), 'table')
      case 'caption':
        return closing(writer.openCaption(), 'caption')
      case 'tr':
        writer.openRow()
        return () => undefined
      case 'td':
      case 'th':
        return closing(
          writer.openCell({
            isHeader: name === 'th',
            columns: Number(attributes['colspan'] ?? 1),
            rows: Number(attributes['rowspan'] ?? 1),
          }),
          'cell',
        )
      case 'pre':
      case 'listing':
      case 'xmp':
        return this.#beginPre(attributes)
      default:
        return undefined
    }
  }

  #beginPre(attributes: Attributes): () => void {
    this.#writer.block()
    const pre = { parts: [] as string[], language: languageOf(attributes), depth: 1 }
    this.#pre = pre
    return () => {
      this.#pre = undefined
      this.#writer.code(pre.parts.join(''), pre.language)
    }
  }

  #beginInline(name: string, attributes: Attributes): () => void {
    const writer = this.#writer
    if (name === 'br') writer.lineBreak()
    else if (name === 'hr') writer.rule()
    else if (name === 'img') writer.image(attributes['alt'] ?? '', attributes['src'] ?? '')
    else if (name === 'input' && attributes['type'] === 'checkbox') {
      const sign = attributes['checked'] === undefined ? '[ ] ' : '[x] '
      writer.raw(sign, sign)
    } else if (name === 'q') {
      writer.text('“')
      return () => writer.text('”')
    } else if (name === 'a' && isTarget(attributes['href'])) return this.#marked({ href: attributes['href'] })
    return () => undefined
  }
}

const isTarget = (href: string | undefined): href is string =>
  href !== undefined && href !== '' && !/^(?:javascript|data|vbscript):/i.test(href.trim())

/** `language-js`, `lang-js`, `highlight-source-js`, or pandoc's `sourceCode js`. */
function languageOf(attributes: Attributes): string {
  const names = attributes['class'] ?? ''
  return /(?:^|\s)(?:lang(?:uage)?|highlight-source)-([\w+#.-]+)/.exec(names)?.[1] ?? /^sourceCode\s+([\w+#.-]+)/.exec(names)?.[1] ?? ''
}

const ENDS_LINE =
  /^(?:address|article|aside|blockquote|br|dd|div|dl|dt|figure|footer|form|h[1-6]|header|hr|li|main|nav|ol|p|pre|section|table|td|th|tr|ul)$/

/** Text between the tags, a line for each block. */
function textOf(html: string): string {
  const parts: string[] = []
  let skips = ''
  const endTag = (name: string): void => {
    if (ENDS_LINE.test(name)) parts.push('\n')
  }
  const nothing = (): void => undefined
  const tokenizer = new Tokenizer(
    { xmlMode: false, decodeEntities: true },
    {
      ontext: (begin, end) => void (skips === '' && parts.push(html.slice(begin, end))),
      ontextentity: (codePoint) => void (skips === '' && parts.push(String.fromCodePoint(codePoint))),
      onopentagname: (begin, end) => {
        const name = html.slice(begin, end).toLowerCase()
        if (skips === '' && (name === 'script' || name === 'style')) skips = name
        endTag(name)
      },
      onclosetag: (begin, end) => {
        const name = html.slice(begin, end).toLowerCase()
        if (name === skips) skips = ''
        endTag(name)
      },
      onattribdata: nothing,
      onattribentity: nothing,
      onattribend: (_quote: QuoteType) => undefined,
      onattribname: nothing,
      oncdata: nothing,
      oncomment: nothing,
      ondeclaration: nothing,
      onend: nothing,
      onopentagend: nothing,
      onprocessinginstruction: nothing,
      onselfclosingtag: nothing,
    },
  )
  tokenizer.write(html)
  tokenizer.end()
  const writer = new MarkdownWriter(true)
  for (const line of parts.join('').split('\n')) {
    writer.text(line)
    writer.block()
  }
  return writer.finish()
}
