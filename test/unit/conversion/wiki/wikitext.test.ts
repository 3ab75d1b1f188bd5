/**
 * Wikitext as markdown, one test for each rule, and properties: any text is converted without an error, in
 * time linear to it; plain text stays as it is; nothing is left of what is dropped.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { pageKey } from '../../../../src/conversion/wiki/page_key.js'
import { convertWikitext } from '../../../../src/conversion/wiki/wikitext.js'
import { holds } from '../../../harness/property.js'

/** Each line: wikitext and its markdown. */
function gives(cases: Readonly<Record<string, string>>): void {
  for (const [wikitext, markdown] of Object.entries(cases)) assert.equal(convertWikitext(wikitext), markdown, wikitext)
}

describe('wikitext: what is dropped', () => {
  it('wikitext: categories are dropped, in English and in the language of the wiki; a link to one is shown', () => {
    gives({
      'a\n[[Category:Towns]]\n[[category : x|sort key]]': 'a',
      '[[Категория:Градове]][[Kategorie:Städte|!]]b': 'b',
      'see [[:Category:Towns]]': 'see Category:Towns',
    })
    assert.equal(convertWikitext('[[Klass:X]][[Category:Y]]z', new Set(['klass', 'category'])), 'z')
  })

  it('wikitext: files and images are dropped with their captions, whatever these contain', () => {
    gives({
      '[[File:a.jpg|thumb|A [[link|text]] and {{t|[[x]]}} in [http://x.y a caption]]]b': 'b',
      '[[Image:a.jpg]][[Datei:b.png|mini]]c': 'c',
      '[[File:a.jpg|thumb|two\nlines]]\nd': 'd',
      '<gallery>\nFile:a.jpg|caption\n</gallery>e': 'e',
    })
  })

  it('wikitext: templates are dropped with everything in them, nested ones and arguments too', () => {
    gives({
      'a {{t}}b': 'a b',
      '{{Infobox\n| a = {{b|{{c}}}}\n| d = [[e|f]]\n}}\ntext': 'text',
      '{{{1|{{{2}}}}}}x{{{{{a}}}|b}}': 'x',
      '{{#if: {{{x|}}} | yes | no }}z': 'z',
      'open {{t and [[a]]': 'open {{t and a',
      'a }} b': 'a }} b',
      '{{a|[[b}} c': ' c',
      '{{a|<nowiki>}}</nowiki>}}d': 'd',
    })
  })

  it('wikitext: comments are dropped, a line of nothing but a comment with its line break', () => {
    gives({ 'a<!-- [[b]] -->c': 'ac', '* a\n<!-- x -->\n* b': '- a\n- b', 'a <!-- never closed': 'a', '<!---->a': 'a' })
  })

  it('wikitext: refs are dropped with their content', () => {
    gives({
      'a<ref>b {{c}} [[d]]</ref> e': 'a e',
      'a<ref name="x" /> b<REF name=y>c</Ref>': 'a b',
      'a<ref>never closed': 'anever closed',
      'a\n<references>\n<ref name="x">b</ref>\n</references>': 'a',
    })
  })

  it('wikitext: tags of HTML are dropped and their content stays; words that a block separates are not joined', () => {
    gives({
      'H<sub>2</sub>O <span style="color: red">red</span> <b>b</b>': 'H2O red b',
      'a<br>b<br />c <br> d': 'a b c  d',
      '<div class="x">\na\n</div>': 'a',
      'a < b and c > d, List<String>': 'a < b and c > d, List\\<String>',
      '<noinclude>a</noinclude><includeonly>b</includeonly>': 'a',
    })
  })

  it('wikitext: magic words are dropped, names in underscores are not', () => {
    gives({
      '__NOTOC__\na __toc__b': 'a b',
      '__БЕЗСЪДЪРЖАНИЕ__\na': 'a',
      'the method __init__ and __FILE__': 'the method __init__ and __FILE__',
    })
  })

  it('wikitext: nothing is left of what is dropped, wherever it stands', () => {
    const word = fc.constantFrom('alpha', 'beta', 'gamma')
    const dropped = fc.oneof(
      fc.tuple(word, word).map(([a, b]) => `{{${a}|x={{${b}|y}}}}`),
      word.map((a) => `[[File:DROPPED ${a}.jpg|thumb|DROPPED ''${a}'']]`),
      word.map((a) => `[[Category:DROPPED ${a}]]`),
      word.map((a) => `<!-- DROPPED ${a} -->`),
      word.map((a) => `<ref name="${a}">DROPPED [[${a}]]</ref>`),
      fc.constantFrom(
        '<ref name="DROPPED"/>',
        '__NOTOC__',
        '{{DROPPED}}',
        '<br/>',
        '<div class="DROPPED">',
        '</div>',
        '<small>',
        '</small>',
      ),
    )
    holds(
      fc.property(fc.array(fc.oneof(word, dropped, fc.constantFrom('\n', ' ', '\n* ', '\n== h ==\n', "''i''"))), (parts) => {
        const markdown = convertWikitext(parts.join(' '))
        assert.doesNotMatch(markdown, /\{\{|\}\}|\[\[|\]\]|DROPPED|<!--|<\/?(?:ref|br|div|small)|__NOTOC__/)
      }),
    )
  })
})

describe('wikitext: what is converted', () => {
  it('wikitext: bullets become dashes, two spaces a level', () => {
    gives({ '* a\n** b\n***c\n* d': '- a\n  - b\n    - c\n- d', '* a\ntext': '- a\n\ntext', '*': '', '* {{t}}\n* b': '- b' })
    const deep = convertWikitext(`${'*'.repeat(100_000)} a`)
    assert.equal(deep, `${'  '.repeat(15)}- a`)
  })

  it('wikitext: numbered items become 1., below them the width of that marker', () => {
    gives({ '# a\n#b': '1. a\n1. b', '# a\n#* b\n#: c': '1. a\n   - b\n   > c', '* a\n*# b': '- a\n  1. b' })
  })

  it('wikitext: a term and its definition become bold text and text behind a colon', () => {
    gives({
      '; t : d': '**t**: d',
      ';t:d': '**t**: d',
      '; t\n: d': '**t**\n> d',
      ";'''t''' : d": '**t**: d',
      '; http://x : d': '**http://x**: d',
    })
  })

  it('wikitext: indents become quotations', () => {
    gives({ ': a\n:: b': '> a\n> > b', ':* a': '> - a', ': a\ntext': '> a\n\ntext' })
  })

  it('wikitext: headings of one to six signs become headings of markdown', () => {
    gives({
      '== a ==\ntext': '## a\ntext',
      '===b===': '### b',
      '====== c ====== <!-- x -->': '###### c',
      '= d =': '# d',
      '=== e ==': '## = e',
      '=====': '=====',
      'a == b ==': 'a == b ==',
      "== ''f'' [[g]] ==": '## *f* g',
    })
  })

  it('wikitext: three quotes become bold text', () => {
    gives({ "a '''b''' c": 'a **b** c', "'''b": '**b**', "''''b''''": "'**b'**", "a ''' b '''c": 'a  **b** c', "''' '''a": ' a' })
  })

  it('wikitext: two quotes become italic text, and five both, nested in either order', () => {
    gives({
      "a ''b'' c": 'a *b* c',
      "'''''a'' b'''": '***a* b**',
      "'''''a''' b''": '***a** b*',
      "''a '''b''' c''": '*a **b** c*',
      "''a\nb''": '*a*\nb',
      "l'''arbre'' d": "l'*arbre* d",
      "it's a dog's 'life'": "it's a dog's 'life'",
    })
  })

  it('wikitext: a link becomes its label', () => {
    gives({ '[[a|b]]s': 'bs', "[[a|''b'']]": '*b*', '[[a|b|c]]': 'b|c', '[[a|* b]]': '\\* b', '[[a|]]': 'a' })
  })

  it('wikitext: a link without a label becomes its target', () => {
    gives({ '[[a]]': 'a', '[[a b#c]]d': 'a b#cd', '[[#a]]': '\\#a', '[[]]': '[[]]', '[[a': '[[a', 'a]]': 'a]]', '[[a\n]]': '[[a\n]]' })
  })

  it('wikitext: an external link becomes one of markdown', () => {
    gives({
      '[http://x.y text]': '[text](http://x.y)',
      "[//x.y a ''b'' [[c]]]": '[a *b* c](//x.y)',
      '[mailto:a@b.c mail]': '[mail](mailto:a@b.c)',
      '[http://x.y]': 'http://x.y',
      '[http://x.y/(a text]': '[text](http://x.y/%28a)',
      '[http://x.y/a_(b)?c&amp;d text]': '[text](http://x.y/a_(b)?c&d)',
      '[http://x.y text\n]': '[http://x.y text\n]',
      'http://x.y/z and [a note]': 'http://x.y/z and [a note]',
    })
  })

  it('wikitext: four dashes become a rule that nothing touches', () => {
    gives({ 'a\n----\nb': 'a\n\n---\n\nb', '------ b': '---\n\nb', '---': '---' })
  })

  it('wikitext: tables become pipe tables: headers, captions, attributes, spans, lists and tables in cells', () => {
    gives({
      '{|\n! A !! B\n|-\n| 1 || 2\n|}': '| A | B |\n| --- | --- |\n| 1 | 2 |',
      'a\n{| class="x"\n|+ style="y" | Title\n|- style="z"\n| style="q" | a|b\n|c\n|}b': 'a\n\nTitle\n\n| a\\|b | c |\n| --- | --- |\n\nb',
      "{|\n| one\ntwo\n* ''three''\n| [[x|y]]\n|}": '| one two *three* | y |\n| --- | --- |',
      '{|\n| a\n{|\n| in || ner\n|-\n|x\n|}\n| b\n|}': '| a in ner x | b |\n| --- | --- |',
      '{|\n| colspan=2 | a || b\n|-\n| rowspan=2 | c || d || e\n|-\n| f\n|}': '| a |  | b |\n| --- | --- | --- |\n| c | d | e |\n|  | f |',
      ':{|\n|a\n|}': '| a |\n| --- |',
      '{|\n|a': '| a |\n| --- |',
      '{|\n| {{t}}\n|}': '',
      '{|\n! a || b || c\n|-\n| colspan="2" style=x {{yes}} || d\n|}': '| a | b | c |\n| --- | --- | --- |\n|  |  | d |',
      '{|\n! a || b\n|-\n|style=x|{{t}}||style=y|c\n|}': '| a | b |\n| --- | --- |\n|  | c |',
      '{|\n! a\n! b\n|-\n| <nowiki>|</nowiki> || c\n|}': '| a | b |\n| --- | --- |\n| \\| | c |',
    })
  })

  it('wikitext: runs of blank lines become one, and none is at an end', () => {
    gives({ '\n\na\n\n\n \n\nb\n\n': 'a\n\nb', 'a\n{{t}}\n[[Category:x]]\nb': 'a\n\nb' })
  })

  it('wikitext: nowiki, pre, code and formulas are text, and so are entities', () => {
    gives({
      "<nowiki>[[a]] ''b'' {{c}}</nowiki>": "[[a]] ''b'' {{c}}",
      '<nowiki>* a</nowiki>\n<nowiki># b</nowiki>': '\\* a\n\\# b',
      "a\n<pre>\n[[b]]  ''c''\n\n * d\n</pre>\ne": "a\n```\n[[b]]  ''c''\n\n * d\n```\ne",
      '<syntaxhighlight lang="python">\nx = "&lt;" # {{a}}\n</syntaxhighlight>': '```python\nx = "&lt;" # {{a}}\n```',
      'a <syntaxhighlight lang=c inline>int *x</syntaxhighlight>': 'a `int *x`'.replace('*', '\\*'),
      '<math>x_{{1}} = y</math>': 'x_{{1}} = y',
      '&eacute;&#233;&#xe9;&nbsp;&amp; &quot;&bogus;': 'ééé & "&bogus;',
      '&lt;b&gt; 1 &lt; 2 &amp;lt;': '\\<b> 1 < 2 &amp;lt;',
      '&#42; &#0;&#xD800;&#x110000;': '\\*  ��',
      '\uFDD0\uFDD1': '\uFFFD\uFFFD',
    })
  })
})

describe('wikitext of any content', () => {
  const piece = fc.constantFrom(
    ...['[[', ']]', '{{', '}}', '{{{', '}}}', '{|', '|}', '|-', '|', '||', '!', '!!', '|+', "''", "'''", "'''''", '\n', '\n\n', ' ', '='],
    ...['==', '*', '#', ':', ';', '----', '<ref>', '</ref>', '<ref/>', '<br>', '<pre>', '</pre>', '<nowiki>', '</nowiki>', '<!--', '-->'],
    ...[
      '&amp;',
      '&#42;',
      '[http://x ',
      ']',
      'File:',
      'a',
      'b c',
      '字',
      '\uFDD0',
      '\ud800',
      '__TOC__',
      '`',
      '<math>',
      '</math>',
      'colspan=9|',
    ],
  )
  const text = fc.array(fc.oneof(piece, fc.string({ unit: 'binary', maxLength: 3 })), { maxLength: 60 }).map((parts) => parts.join(''))

  it('wikitext: any text is converted without an error, to lines that end without blanks, never two empty ones', () => {
    holds(
      fc.property(text, (wikitext) => {
        const markdown = convertWikitext(wikitext)
        assert.doesNotMatch(markdown, /[\uFDD0-\uFDEF]/)
        if (!/<(?:pre|nowiki|math)/.test(wikitext)) assert.doesNotMatch(markdown, /\n\n\n|^\n/)
      }),
    )
  })

  it('wikitext: plain text stays as it is', () => {
    const line = fc
      .array(fc.stringMatching(/^[a-zA-Z0-9äß字.,?()"/%+~^$@-]{1,12}$/), { minLength: 1, maxLength: 8 })
      .map((words) => `a${words.join(' ')}`)
    holds(
      fc.property(fc.array(fc.array(line, { minLength: 1, maxLength: 4 }), { maxLength: 4 }), (paragraphs) => {
        const plain = paragraphs.map((lines) => lines.join('\n')).join('\n\n')
        assert.equal(convertWikitext(plain), plain)
        assert.equal(convertWikitext(convertWikitext(plain)), plain)
      }),
    )
  })

  it('wikitext: takes time linear to its length, however it nests or is left open', () => {
    const units = [
      '[[',
      '{{',
      '{|\n',
      "''",
      "'' ",
      '<ref>',
      '<nowiki>',
      '<b',
      '[[a|',
      '{{a|[[',
      '[http://a ',
      '{|\n|a\n',
      '|rowspan=64|a|',
      '<!--',
      '&',
      '__A',
    ]
    const closed = [
      ['{{', '}}'],
      ['[[', ']]'],
      ['[[File:a|', ']]'],
      ['[[a', '|x]]'],
      ['{|\n|', '\n|}\n'],
      ['<div>', '</div>'],
      ['<ref>', '</ref>'],
    ]
    const megabyte = (unit: string): string => unit.repeat(Math.floor(1e6 / unit.length))
    const texts = [...units.map(megabyte), ...closed.map(([open = '', close = '']) => open.repeat(1e5) + close.repeat(1e5))]
    for (const hostile of texts) {
      convertWikitext(hostile.slice(0, 100_000))
      const begin = process.cpuUsage()
      const { length } = convertWikitext(hostile)
      const { user, system } = process.cpuUsage(begin)
      // 200 ms are the aim; the machine of a test may be slow. What is quadratic takes minutes.
      assert.ok((user + system) / 1000 < 1000, `${hostile.slice(0, 20)}: ${(user + system) / 1000} ms`)
      assert.ok(length <= 2 * hostile.length, hostile.slice(0, 20))
    }
  })
})

describe('the key of a wiki page', () => {
  it('wiki key: is the title in lower case with dashes for blanks and slashes, without quotes, parentheses, commas and full stops', () => {
    const keys: Readonly<Record<string, string>> = {
      'Constructive vote of no confidence': 'constructive-vote-of-no-confidence',
      'AC/DC (band)': 'ac-dc-band',
      'Dr. "No", or: don\'t': 'dr-no-or:-dont',
      ' - a -- b / c - ': 'a-b-c',
      'Бай Ганьо': 'бай-ганьо',
      '"(.)"': '',
      '/': '',
      A: 'a',
    }
    for (const [title, key] of Object.entries(keys)) assert.equal(pageKey(title), key)
    holds(fc.property(fc.string(), (title) => assert.doesNotMatch(pageKey(title), /^-|-$|--|[\s/'"(),.]/)))
  })
})
