/** `holds` (test/harness/property.ts): a property within a budget of time. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { holds } from '../harness/property.js'

it('holds: a property that does not hold for one value fails with its seed, synchronous or not', async () => {
  const isSmall = (value: number): boolean => value < 900
  assert.throws(() => holds(fc.property(fc.nat(1000), isSmall), { numRuns: 1000 }), /seed: -?\d+/)
  await assert.rejects(
    holds(
      fc.asyncProperty(fc.nat(1000), (value) => Promise.resolve(isSmall(value))),
      { numRuns: 1000 },
    ),
    /seed: -?\d+/,
  )
})

it('holds: a quick property is run as often as it asks for', async () => {
  let runs = 0
  holds(fc.property(fc.nat(), () => void runs++), { numRuns: 130 }) // prettier-ignore
  assert.equal(runs, 130)
  await holds(
    fc.asyncProperty(fc.nat(), () => Promise.resolve(void runs++)),
    { numRuns: 3 },
  )
  assert.equal(runs, 133)
})
