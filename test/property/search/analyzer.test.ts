/** Laws of the analyzer over generated texts. fast-check prints the seed and shrinks failures. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createAnalyzer } from '../../../src/engine/text/analyzer.js'
import { LANGUAGES } from '../../../src/engine/text/languages.js'
import type { AnalysisOptions } from '../../../src/engine/types.js'
import { holds } from '../../harness/property.js'
import { readPackedTokens } from '../../harness/store/packed_tokens.js'

const analyzer = createAnalyzer()

const options: fc.Arbitrary<AnalysisOptions> = fc.record({
  language: fc.constantFrom(...LANGUAGES.map(({ code }) => code)),
  stem: fc.boolean(),
  markdown: fc.boolean(),
})

/** Markup that opens, closes and breaks constructs, between words of many scripts. */
const piece = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('word ', 'Wörter ', 'e\u0301t ', '中文', '한국', 'ไทย ', 'Новые ', 'كتاب ', 'புத்தக ', 'İI ', "user's "),
  },
  {
    weight: 5,
    arbitrary: fc.constantFrom('\n', '\n\n', '<b>', '</b', '<!--', '-->', '<style>', '</style>', '`', '```\n', '~~~ x\n', '[', ']('),
  },
  {
    weight: 5,
    arbitrary: fc.constantFrom('](<', ']:', ')', '>', '"', "'", '&amp;', '&eacute;', '\\', '| ', '- ', '12. ', '[a]: ', '\r\n', '\u00ad'),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('x', 'é', '`', '<', ' ', '中', '](', 'a/'), fc.nat(6000))
      .map(([unit, count]) => unit.repeat(count)),
  },
)
const markdown = fc.array(piece, { maxLength: 60 }).map((pieces) => Buffer.from(pieces.join('')))

describe('analyzer', () => {
  it('any bytes give a well-formed record', () => {
    holds(
      fc.property(fc.uint8Array({ maxLength: 3000 }), options, (bytes, how) => {
        readPackedTokens(analyzer.analyze(bytes, how))
      }),
      { numRuns: 300 },
    )
  })

  it('bad bytes between words remove no word', () => {
    holds(
      fc.property(
        fc.array(fc.constantFrom('alpha', 'beta', 'gamma')),
        fc.constantFrom([0x80], [0xff, 0xfe], [0xed, 0xa0, 0x80], [0xe2, 0x82]),
        (words, bad) => {
          const text = Buffer.concat(words.flatMap((word) => [Buffer.from(word), Buffer.from(bad)]))
          const tokens = readPackedTokens(analyzer.analyze(text, { language: 'en', stem: false, markdown: true }))
          assert.deepEqual(new Set(tokens.map(({ term }) => term)), new Set(words))
          assert.equal(
            tokens.reduce((sum, { positions }) => sum + positions.length, 0),
            words.length,
          )
        },
      ),
    )
  })

  it('windows of any size give the same tokens', () => {
    holds(
      fc.property(markdown, options, fc.integer({ min: 4097, max: 9000 }), (text, how, windowBytes) => {
        assert.deepEqual(createAnalyzer(windowBytes).analyze(text, how), analyzer.analyze(text, how))
      }),
      { numRuns: 150 },
    )
  })

  it('a document has the terms and positions that a query sees, and beside words with accents the same without', () => {
    holds(
      fc.property(markdown, options, (text, how) => {
        const valid = Buffer.from(text.toString())
        const packed = readPackedTokens(analyzer.analyze(valid, how)).flatMap(({ term, positions }) =>
          positions.map((at) => `${at} ${term}`),
        )
        const tokens = analyzer.tokenize(valid.toString(), how)
        const seen = new Set(tokens.map(({ term, position }) => `${position} ${term}`))
        const positions = new Set(tokens.map(({ position }) => position))
        const added = packed.filter((token) => !seen.has(token))
        assert.deepEqual(packed.filter((token) => seen.has(token)).sort(), [...seen].sort())
        for (const token of added) assert.ok(positions.has(Number(token.split(' ')[0])), token)
        for (const { start, end } of tokens) assert.ok(start < end && end <= valid.length)
      }),
      { numRuns: 150 },
    )
  })

  it('composed and decomposed letters give the same terms', () => {
    const letters = fc.string({ unit: fc.constantFrom(...'aeiouéèüñçåőșżźćńďйёάήώ한국가ậếữ'), minLength: 1, maxLength: 12 })
    holds(
      fc.property(letters, options, (word, how) => {
        const terms = (text: string): string[] => analyzer.tokenize(text, { ...how, language: how.language }).map(({ term }) => term)
        assert.deepEqual(terms(word.normalize('NFD')), terms(word.normalize('NFC')))
      }),
      { numRuns: 300 },
    )
  })
})
