/**
 * Query texts as attackers and cats on keyboards write them: every text gets an answer or a 400, and the time grows with its length only.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { performance } from 'node:perf_hooks'
import fc from 'fast-check'
import { parseQuery } from '../../src/domain/fulltext/query_mode.js'
import { ServiceError } from '../../src/errors.js'
import { QUERY_BYTES_MAX } from '../../src/limits.js'

const PIECES = [
  'AND',
  'OR',
  'NOT',
  '+',
  '-',
  '(',
  ')',
  '"',
  '\\',
  '~',
  '*',
  '?',
  ' ',
  '\n',
  '\0',
  'rust',
  'wal',
  'é',
  '字',
  '😀',
  '\ud800',
  '1',
]

const queryText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: QUERY_BYTES_MAX / 4 }),
  fc.array(fc.constantFrom(...PIECES), { maxLength: QUERY_BYTES_MAX / 4 }).map((pieces) => pieces.join('')),
  fc
    .tuple(fc.constantFrom(...PIECES), fc.constantFrom(...PIECES), fc.nat(QUERY_BYTES_MAX / 8))
    .map(([one, two, times]) => (one + two).repeat(times)),
)

describe('query parser, any text', () => {
  for (const mode of ['simple', 'boolean', 'phrase']) {
    it(`mode ${mode} answers with a tree or a 400`, () => {
      fc.assert(
        fc.property(queryText, (text) => {
          try {
            assert.equal(parseQuery(text, mode).mode, mode)
          } catch (error) {
            assert.ok(error instanceof ServiceError && error.http === 400, String(error))
          }
        }),
        { numRuns: 500 },
      )
    })
  }

  it('mode auto refuses nothing', () => {
    fc.assert(
      fc.property(queryText, (text) => {
        assert.ok(['simple', 'boolean', 'phrase'].includes(parseQuery(text, 'auto').mode))
      }),
      { numRuns: 500 },
    )
  })

  it('takes time in proportion to the length of the text', () => {
    // Sixteen times the text may take 16 times as long; a quadratic scan would take 256 times. Best of several, against noise.
    for (const piece of ['(', '"', '-', '+-', '\\"', '"a"', 'a ', 'NOT ', '"a"~', 'a"', '*?', '( ) ']) {
      const [short, long] = [piece.repeat(2000 / piece.length), piece.repeat(32_000 / piece.length)]
      fastestMs(short)
      const ratio = fastestMs(long) / Math.max(fastestMs(short), 0.01)
      assert.ok(ratio < 80, `${JSON.stringify(piece)}: 16 times the text took ${ratio.toFixed(0)} times as long`)
    }
  })
})

function fastestMs(text: string): number {
  let fastest = Infinity
  for (let round = 0; round < 7; round++) {
    const started = performance.now()
    for (const mode of ['auto', 'boolean', 'phrase']) {
      try {
        parseQuery(text, mode)
      } catch (error) {
        assert.ok(error instanceof ServiceError)
      }
    }
    fastest = Math.min(fastest, performance.now() - started)
  }
  return fastest
}
