/** `holds` (test/harness/property.ts): a property within a budget of time. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import { holds } from '../../harness/property.js'

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

it('holds: a slow property is left after its budget, having been run, unless all of its runs are asked for', async () => {
  let runs = 0
  const slow = fc.asyncProperty(fc.nat(), async () => {
    runs++
    await pause(50)
  })
  await holds(slow, { numRuns: 60 })
  const isDeep = process.env['MDS_TEST_DEPTH'] === 'deep'
  assert.ok(isDeep ? runs === 60 : runs > 0 && runs < 60, String(runs))
})
