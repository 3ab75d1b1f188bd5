/**
 * Laws of highlights over generated documents and queries, compared with the tokens that the analyzer finds
 * in the same text. fast-check prints the seed and shrinks failures.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { isCodeDocument } from '../../../src/domain/documents/code_document.js'
import { contentStartOf, readingOf } from '../../../src/domain/documents/document_json.js'
import { closingOf } from '../../../src/domain/search/highlight_request.js'
import { createAnalyzer } from '../../../src/engine/text/analyzer.js'
import { LANGUAGES } from '../../../src/engine/text/languages.js'
import { escapeContent } from '../../../src/store/body.js'
import { holds } from '../../harness/property.js'

interface Highlight {
  readonly fragment: string
  readonly matchedTerms: readonly string[]
  readonly startOffset: number
  readonly endOffset: number
  readonly startLine?: number
  readonly endLine?: number
}

const analyzer = createAnalyzer()
/** No text below contains them. */
const OPENING = '\u{f0001}'
const CLOSING = '\u{f0002}'
/** A text of more tokens has no term vector: OCCURRENCES_MAX of wasm/analyzer/src/record.rs. */
const VECTOR_TOKENS_MAX = 1 << 19

const piece = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      'runs ',
      'running ',
      'fooBar ',
      'foo_bar ',
      'café ',
      'Straße ',
      'x ',
      '7 ',
      '東京都',
      '한국어',
      'ไทย',
      "it's ",
    ),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      '\n',
      '\r\n',
      '\n\n',
      '`',
      '```\n',
      '<b>',
      '<!--',
      '-->',
      '](',
      '[a]: x',
      ')',
      '&eacute;',
      '\\',
      '"',
      '\t',
      '\u0000',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('\ud800', '\udc00', '😀', '\u00ad', 'e\u0301', '’s ', 'İ') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom('long ', 'k', '中', ' ', 'é'), fc.nat(300)).map(([unit, count]) => unit.repeat(count)) },
)
const content = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join('').replace(/[\u{f0001}\u{f0002}]/gu, ''))
const reading = fc.record({
  language: fc.constantFrom(...LANGUAGES.map(({ code }) => code)),
  stem: fc.boolean(),
  markdown: fc.constant(true),
  code: fc.boolean(),
})
const QUERY = 'run foobar bar cafe café strasse x 7 東京 한국 ไท é k 中 it long'

/** Terms of the query that a document may contain. */
function termsOf(options: { language: string; stem: boolean }): string[] {
  const words = analyzer.tokenize(QUERY, { ...options, markdown: false, asks: true }).map(({ term }) => term)
  return [...new Set([...words, 'foo_bar', 'foo', 'runs'])]
}

describe('highlights', () => {
  it('of any text: at most the requested number, in order, without overlap, the text at the offsets, marked runs are occurrences of the terms', () => {
    holds(
      fc.property(
        content,
        reading,
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 200 }),
        (text, options, most, fragmentBytes) => {
          const utf8 = Buffer.from(text)
          const terms = termsOf(options)
          const highlighter = analyzer.highlighter({
            terms: terms.map((term) => ({ indexed: term, shown: JSON.stringify(term) })),
            phrases: [],
            opening: OPENING,
            closing: CLOSING,
            fragmentBytes,
            most,
          })
          const json = highlighter.highlight(escapeContent(text), options, terms.map((_, index) => index), () => false) // prettier-ignore
          assert.ok(json !== undefined)
          const found = JSON.parse(Buffer.from(json).toString()) as Highlight[]
          assert.ok(found.length <= most)
          const tokens = analyzer.tokenize(text, options).filter(({ term }) => terms.includes(term))
          if (tokens.length > 0) assert.ok(found.length > 0, 'what is found is shown')
          let before = 0
          for (const { fragment, matchedTerms, startOffset, endOffset, startLine, endLine } of found) {
            assert.ok(startOffset >= before && endOffset > startOffset && endOffset <= utf8.length)
            before = endOffset
            const shown = fragment.replaceAll(OPENING, '').replaceAll(CLOSING, '')
            const piece = utf8.toString('utf8', startOffset, endOffset)
            assert.ok(shown === piece || shown === `…${piece}` || shown === `${piece}…` || shown === `…${piece}…`, `${shown} | ${piece}`)
            assert.ok(matchedTerms.length > 0 && matchedTerms.every((term) => terms.includes(term)))
            assert.equal(new Set(matchedTerms).size, matchedTerms.length)
            const lines = (end: number): number => utf8.subarray(0, end).filter((byte) => byte === 10).length + 1
            assert.deepEqual([startLine, endLine], options.code ? [lines(startOffset), lines(endOffset - 1)] : [undefined, undefined])
            assertMarks(
              fragment,
              fragment.startsWith('…') && shown !== piece && !piece.startsWith('…') ? startOffset - 3 : startOffset,
              text,
              options,
              terms,
            )
          }
        },
      ),
      { numRuns: 400 },
    )
  })

  it('by a term vector are those of reading the text, byte for byte', () => {
    const occurrences = fc.record({ term: fc.nat(14), offset: fc.nat(3) })
    const phrases = fc.array(fc.array(occurrences, { minLength: 2, maxLength: 3 }), { maxLength: 2 })
    const asked = fc.record({ matched: fc.array(fc.nat(16), { maxLength: 16 }), phrases, most: fc.integer({ min: 1, max: 5 }) })
    const repeated = fc.tuple(content, fc.constantFrom(1, 1, 1, 1, 40, 400)).map(([text, times]) => text.repeat(times).slice(0, 300_000))
    holds(
      fc.property(
        repeated,
        reading,
        asked,
        fc.integer({ min: 1, max: 2000 }),
        (text, options, { matched, phrases, most }, fragmentBytes) => {
          // A term twice, as in two leaves of a query: the first one requested is marked.
          const terms = termsOf(options)
          const highlighter = analyzer.highlighter({
            terms: [...terms, terms[0] ?? ''].map((term, index) => ({ indexed: term, shown: String(index) })),
            phrases,
            opening: '<b>',
            closing: '</b>',
            fragmentBytes,
            most,
          })
          const escaped = escapeContent(text)
          const read = Buffer.from(highlighter.highlight(escaped, options, matched, () => false) ?? []).toString()
          const vector = analyzer.termVector(escaped, options, () => false)
          assert.ok(vector !== undefined)
          if (vector.length === 0) {
            const { length } = analyzer.tokenize(text, options)
            assert.ok(length >= VECTOR_TOKENS_MAX, `${length} tokens have no vector`)
            return
          }
          const known = highlighter.highlightKnown(escaped, vector, matched)
          // Words of more than 255 bytes are several terms; a reading skims the text and sees only the first
          // of them (decision 0071).
          if (/[A-Za-z0-9]{256}/.test(text)) return
          // A reading ends after 65 536 positions.
          if (known === undefined) assert.ok(text.length >= 65_536)
          else assert.equal(Buffer.from(known).toString(), read)
        },
      ),
      { numRuns: 1500 },
    )
  })

  it('a text of more tokens than a term vector can list has none', () => {
    const options = { language: 'en', stem: true, markdown: true, code: false }
    for (const [characters, hasVector] of [
      [100_000, true],
      [300_000, false],
    ] as const) {
      const text = '中'.repeat(characters)
      assert.equal(analyzer.tokenize(text, options).length >= VECTOR_TOKENS_MAX, !hasVector)
      assert.equal((analyzer.termVector(Buffer.from(text), options, () => false)?.length ?? 0) > 0, hasVector)
    }
  })

  it('any tag is closed: names of tags in reverse order, marks mirrored, texts repeated', () => {
    for (const [opening, closing] of [
      ['<mark>', '</mark>'],
      ['<x a>', '</x>'],
      ['<b><i class="y">', '</i></b>'],
      ['<my-tag\n a="1">', '</my-tag>'],
      ['**', '**'],
      ['[[', ']]'],
      ['**_', '_**'],
      ['>>', '<<'],
      ['HIT', 'HIT'],
      ['<', '>'],
      ['', ''],
    ] as const)
      assert.equal(closingOf(opening), closing)
    holds(fc.property(fc.string({ unit: 'binary' }), (opening) => typeof closingOf(opening) === 'string'))
  })

  it('the reading mode of a document is the same from its bytes and from the parsed document', () => {
    const name = fc.oneof(fc.string(), fc.constantFrom('a.js', '","lang":"', '"kind":["code"', '\\', 'x.PY', 'kind'))
    const meta = fc.dictionary(
      fc.oneof(fc.constantFrom('kind', 'path', 'language', 'tags'), name.filter((key) => key !== '__proto__')),
      fc.array(fc.oneof(fc.constantFrom('code', 'prose', 'x.ts'), name), { maxLength: 2 }),
      { maxKeys: 3 },
    ) // prettier-ignore
    holds(
      fc.property(name, fc.constantFrom('en', 'de_DE', 'zh'), meta, content, (key, lang, of, text) => {
        const head = JSON.stringify({ id: `c|${key}|${lang}`, key, lang, meta: of, addedAt: 1, updatedAt: 2 })
        const json = Buffer.concat([Buffer.from(`${head.slice(0, -1)},"contentMd":"`), escapeContent(text), Buffer.from('"}')])
        const told = readingOf(json)
        const first = (wanted: string): string | undefined => (Object.hasOwn(of, wanted) ? of[wanted]?.[0] : undefined)
        assert.equal(told.lang, lang)
        assert.equal(isCodeDocument(told.marks), isCodeDocument({ key, kind: first('kind'), language: undefined, path: first('path') }))
        assert.deepEqual(json.subarray(contentStartOf(json), json.length - 2), escapeContent(text))
      }),
      { numRuns: 1000 },
    )
  })
})

/** Checks that tokens of the terms cover each marked run. */
function assertMarks(
  fragment: string,
  from: number,
  text: string,
  options: { language: string; stem: boolean; markdown: boolean; code: boolean },
  terms: readonly string[],
): void {
  const folded = (run: string): string[] => analyzer.tokenize(run, { ...options, markdown: false }).map(({ term }) => term)
  let at = from
  for (const part of fragment.split(OPENING).entries()) {
    const [index, run] = part
    const [marked = '', rest = ''] = index === 0 ? ['', run] : run.split(CLOSING)
    if (index > 0) {
      const own = analyzer
        .tokenize(text, options)
        .some(({ start, end, term }) => start >= at && end <= at + Buffer.byteLength(marked) && terms.includes(term))
      const accents = folded(marked.normalize('NFD').replace(/\p{Mn}/gu, '')).some((term) => terms.includes(term))
      assert.ok(own || accents || /[äöüß&]/iu.test(marked), `${JSON.stringify(marked)} at ${at}`)
    }
    at += Buffer.byteLength(marked) + Buffer.byteLength(rest)
  }
}
