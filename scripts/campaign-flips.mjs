/**
 * Changes one bit of the truth env, in turn in every kind of page and in every part of the rows of every
 * table, and looks at what a server makes of it (test/fault/flip_run.ts): node scripts/campaign-flips.mjs
 * [COUNT=2000] [KIND]. KIND: only kinds that contain it. MDS_TEST_SEED repeats a run. Fails where an answer
 * was wrong or something is missing that nobody reports; prints what ended the server by a signal, too.
 */
import { FlipRun, OUTCOMES } from '../dist/test/fault/flip_run.js'
import { Random, runSeed } from '../dist/test/fault/random.js'

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
