/**
 * Sweeps the points at which the disk fails (test/fault/io_failure/io_failure_matrix.ts: kinds of calls x
 * errors x the n-th call, under load and at the start).
 * Usage: node scripts/campaigns/io-failure.mjs [PERCENT=100] [SHARE=1/1] [PASSED=0] [COUNT].
 *   PERCENT   the share of all points to test, sampled by the seed
 *   SHARE     1/2 and 2/2 of the same seed are two halves for two processes
 *   PASSED    the number of points of the share to skip
 *   COUNT     the number of points to test after them, so that a sweep of hours can be run in parts
 * Needs a build with tests. MDS_TEST_SEED repeats a run. A summary is printed every ten points. A point that
 * breaks a guarantee is printed in full, and its directory is kept.
 */
import { FailureRun } from '../../dist/test/fault/io_failure/io_failure_run.js'
import { allPoints } from '../../dist/test/fault/io_failure/io_failure_matrix.js'
import { Random, runSeed } from '../../dist/test/harness/random.js'

/**
 * Points tested on one data directory. After them a new directory is used, so that a damaged one affects few
 * other points.
 */
const POINTS_PER_RUN = 20

const percent = Number(process.argv[2] ?? 100)
const [share, shares] = (process.argv[3] ?? '1/1').split('/').map(Number)
const passed = Number(process.argv[4] ?? 0)
const count = Number(process.argv[5] ?? Infinity)
const seed = runSeed()
const random = new Random(seed)
console.log(`MDS_TEST_SEED=${seed}`)
const shuffled = allPoints()
  .map((point) => ({ point, at: random.next() }))
  .sort((a, b) => a.at - b.at)
  .map(({ point }) => point)
const points = shuffled
  .slice(0, Math.ceil((shuffled.length * percent) / 100))
  .filter((_, index) => index % shares === share - 1)
  .slice(passed, passed + count)

const sum = { points: 0, met: 0, serverEnded: 0, acknowledged: 0, refused: 0, unanswered: 0, hung: 0, broken: 0 }
const met = {}

function add(point, report, seconds) {
  sum.points++
  if (report.hits > 0) sum.met++
  if (report.serverEnded) sum.serverEnded++
  for (const field of ['acknowledged', 'refused', 'unanswered', 'hung']) sum[field] += report[field]
  const { kind, error, manner, only = '' } = point.fault
  const name = `${point.when} ${only} ${kind} ${manner === 'clean' ? error : manner}`
  met[name] ??= { points: 0, met: 0, serverEnded: 0 }
  met[name].points++
  if (report.hits > 0) met[name].met++
  if (report.serverEnded) met[name].serverEnded++
  const isBroken = report.hung > 0 || report.complaints.length > 0
  if (isBroken) {
    sum.broken++
    console.log(`BROKEN ${JSON.stringify({ ...point, ...report })}`)
  } else if (process.env.MDS_TEST_VERBOSE !== undefined) console.log(JSON.stringify({ ...point, ...report, seconds }))
  return isBroken
}

/** @returns the number of points tested: all, or those up to the first broken guarantee */
async function sweep(part, runSeed, isSealed) {
  const run = new FailureRun(runSeed, isSealed)
  try {
    await run.begin()
    for (const [at, point] of part.entries()) {
      const begun = performance.now()
      const report = point.when === 'load' ? await run.failUnderLoad(point.fault) : await run.failAtStart(point.fault)
      const isBroken = add(point, report, Math.round(performance.now() - begun) / 1000)
      if (sum.points % 10 === 0) console.log(JSON.stringify(sum))
      if (isBroken) {
        console.log(`left in ${await run.abandon()}`)
        return at + 1
      }
    }
    const complaints = await run.end()
    if (complaints.length > 0) throw new Error(complaints.join('; '))
  } catch (cause) {
    sum.broken++
    console.log(`BROKEN, left in ${await run.abandon()}`, cause)
  }
  return part.length
}

for (let first = 0, run = 0; first < points.length; run++) {
  first += await sweep(points.slice(first, first + POINTS_PER_RUN), seed + share * 100_003 + first, (share + run) % 3 === 0)
}
console.table(met)
console.log(JSON.stringify(sum))
process.exitCode = sum.broken > 0 ? 1 : 0
