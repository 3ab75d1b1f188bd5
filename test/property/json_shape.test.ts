/** The shape that is read from bytes is that of the parsed value, however its strings are escaped. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { shapeOf, type JsonShape } from '../../src/worker/json_shape.js'

function shapeOfValue(value: unknown): JsonShape {
  if (typeof value !== 'object' || value === null) return { depth: 0, containers: 0 }
  const inner = Object.values(value).map(shapeOfValue)
  return {
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    containers: inner.reduce((sum, { containers }) => sum + containers, 1),
  }
}

const tricky = fc.string({ unit: fc.constantFrom('"', '\\', '{', '}', '[', ']', 'a', 'ä', '\n') })

it('depth and number of objects and lists are those of the parsed value', () => {
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'medium' },
      tricky,
      fc.integer(),
      fc.constant(null),
      fc.array(tie('value')),
      fc.dictionary(tricky, tie('value')),
    ),
  }))
  fc.assert(
    fc.property(value, (one) => {
      assert.deepEqual(shapeOf(Buffer.from(JSON.stringify(one)), Infinity, Infinity), shapeOfValue(one))
    }),
    { numRuns: 500 },
  )
})

it('a text that is no JSON is looked at without harm, up to its end', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), tricky, (bytes, text) => {
      const { depth, containers } = shapeOf(Buffer.concat([bytes, Buffer.from(text)]), Infinity, Infinity)
      assert.ok(depth >= 0 && depth <= containers)
    }),
  )
})

it('the look ends where a bound is passed', () => {
  assert.equal(shapeOf(Buffer.from('['.repeat(1_000)), 64, Infinity).depth, 65)
  assert.equal(shapeOf(Buffer.from(`[${'{},'.repeat(1_000)}`), Infinity, 100).containers, 101)
})
