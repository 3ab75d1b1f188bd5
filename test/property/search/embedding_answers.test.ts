/**
 * Any answer of a provider becomes vectors of the wanted number and length with finite values, or
 * `BadAnswer`, and nothing else.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { ollama } from '../../../src/outbound/embedding/ollama.js'
import { BadAnswer, type Protocol } from '../../../src/outbound/embedding/protocol.js'
import { cohere, openai, voyage } from '../../../src/outbound/embedding/providers.js'
import { vectorsOf } from '../../../src/outbound/embedding/received_vectors.js'
import { cutText, portionsOf } from '../../../src/outbound/embedding/texts.js'
import { holds } from '../../harness/property.js'

const PROTOCOLS: readonly Protocol[] = [openai, voyage, cohere, ollama]
const DIMENSIONS = 3

const value = fc.oneof({ weight: 8, arbitrary: fc.double() }, fc.constant(null), fc.string(), fc.constant(1e300))
const row = fc.oneof(
  fc.array(value, { minLength: DIMENSIONS, maxLength: DIMENSIONS }),
  fc.array(value, { maxLength: 5 }),
  fc
    .array(fc.float(), { minLength: DIMENSIONS, maxLength: DIMENSIONS })
    .map((row) => Buffer.from(new Float32Array(row).buffer).toString('base64')),
  fc.base64String(),
  fc.jsonValue(),
)
const rows = fc.array(row, { maxLength: 4 })
const item = fc.record({ index: fc.oneof(fc.nat(4), fc.jsonValue()), embedding: row }, { requiredKeys: [] })
const answer = fc.oneof(
  fc.record({
    data: fc.oneof(
      fc.array(fc.oneof(item, fc.jsonValue()), { maxLength: 4 }),
      rows.map((all) => all.map((embedding, index) => ({ index, embedding }))),
    ),
  }),
  fc.record({ embeddings: fc.oneof(rows, fc.record({ float: rows }), fc.jsonValue()) }),
  fc.jsonValue(),
)

describe('answers of embedding providers', () => {
  it('become vectors that can be used, or are refused', () => {
    let used = 0
    fc.assert(
      fc.property(fc.constantFrom(...PROTOCOLS), answer, fc.integer({ min: 1, max: 4 }), (protocol, given, count) => {
        let vectors: Float32Array
        try {
          vectors = vectorsOf(protocol.rows(given, count), DIMENSIONS)
        } catch (error) {
          assert.ok(error instanceof BadAnswer, String(error))
          return
        }
        used++
        assert.equal(vectors.length, count * DIMENSIONS)
        assert.ok(vectors.every(Number.isFinite))
      }),
      { numRuns: 5000 },
    )
    assert.ok(used > 0, 'some of them are good')
  })

  it('a cut text is the beginning of the text, of whole characters, as long as the bound lets it be', () => {
    holds(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 1, max: 80 }), (text, bytesMax) => {
        const cut = cutText(text, bytesMax)
        assert.ok(text.startsWith(cut) && Buffer.byteLength(cut) <= bytesMax)
        const next = [...text.slice(cut.length)][0]
        assert.ok(next === undefined || Buffer.byteLength(cut + next) > bytesMax)
      }),
    )
  })

  it('portions hold every text once, in order, within both bounds but for one that is too large alone', () => {
    holds(
      fc.property(
        fc.array(fc.string({ minLength: 1, maxLength: 20 })),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 40 }),
        (texts, textsMax, bytesMax) => {
          let next = 0
          for (const { begin, end } of portionsOf(texts, textsMax, bytesMax)) {
            assert.ok(begin === next && end > begin && end - begin <= textsMax)
            const bytes = texts.slice(begin, end).reduce((sum, text) => sum + Buffer.byteLength(text), 0)
            assert.ok(bytes <= bytesMax || end - begin === 1)
            next = end
          }
          assert.equal(next, texts.length)
        },
      ),
    )
  })
})
