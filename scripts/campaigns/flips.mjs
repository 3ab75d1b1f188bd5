/**
 * Flips one bit of the truth env at a time and checks how a server reacts (test/fault/damage/flip_run.ts).
 * The flips cycle through every kind of page and every part of the rows of every table.
 * Usage: node scripts/campaigns/flips.mjs [COUNT=2000] [KIND].
 * KIND: only kinds whose name contains it. MDS_TEST_SEED repeats a run. The campaign fails if an answer was
 * wrong or if missing data is not reported. Flips that ended the server by a signal are printed, too.
 */
import { FlipRun, OUTCOMES } from '../../dist/test/fault/damage/flip_run.js'
import { Random, runSeed } from '../../dist/test/harness/random.js'

const SIDE_BY_SIDE = 2

const count = Number(process.argv[2] ?? 2000)
const only = process.argv[3] ?? ''
const seed = runSeed()
console.log(`MDS_TEST_SEED=${seed}`)
const random = new Random(seed)
const run = await FlipRun.begin()
const kinds = [...run.targets.keys()].filter((kind) => kind.includes(only))
const sums = Object.fromEntries(kinds.map((kind) => [kind, noFlips()]))
const total = { flips: 0, ...noFlips() }
let next = 0

function noFlips() {
  return Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0]))
}

async function flipOn() {
  while (next < count) {
    const report = await run.flip(kinds[next++ % kinds.length], random)
    sums[report.kind][report.outcome]++
    total[report.outcome]++
    total.flips++
    const isBroken = report.outcome !== 'harmless' && report.outcome !== 'reported'
    if (isBroken || process.env.MDS_TEST_VERBOSE !== undefined) console.log(`${isBroken ? 'BROKEN ' : ''}${JSON.stringify(report)}`)
    if (total.flips % 50 === 0) console.log(JSON.stringify(total))
  }
}

await Promise.all(Array.from({ length: SIDE_BY_SIDE }, flipOn))
await run.end()
console.table(sums)
console.log(JSON.stringify(total))
process.exitCode = total.wrong + total.unreported > 0 ? 1 : 0
