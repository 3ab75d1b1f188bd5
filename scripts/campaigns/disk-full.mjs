/**
 * Fills a small file system under load repeatedly (test/fault/full_disk/disk_full_run.ts).
 * Usage: node scripts/campaigns/disk-full.mjs [ROUNDS=20].
 * In alternate rounds another process fills the file system, or documents do. Every read must be answered,
 * every acknowledged write must be present, and writes must resume without intervention. Needs a build with
 * tests and permission to mount. MDS_TEST_SEED repeats a run.
 */
import { DiskFullRun } from '../../dist/test/fault/full_disk/disk_full_run.js'
import { runSeed } from '../../dist/test/harness/random.js'

const rounds = Number(process.argv[2] ?? 20)
const seed = runSeed()
console.log(`MDS_TEST_SEED=${seed}`)
const run = new DiskFullRun(seed)
await run.begin()
const sum = { rounds: 0, acknowledged: 0, refused: 0, said: 0, reads: 0, readsFailed: 0, recoveryMsMax: 0, restarts: 0, broken: 0 }
for (let round = 0; round < rounds; round++) {
  const report = await run.round(round % 2 === 0 ? 'another' : 'documents')
  sum.rounds++
  for (const field of ['acknowledged', 'refused', 'reads', 'readsFailed']) sum[field] += report[field]
  if (report.isSaid) sum.said++
  sum.recoveryMsMax = Math.max(sum.recoveryMsMax, report.recoveryMs)
  const isBroken = report.complaints.length > 0 || report.readsFailed > 0
  if (isBroken) sum.broken++
  console.log(`${isBroken ? 'BROKEN ' : ''}${JSON.stringify(report)}`)
}
sum.restarts = run.restarts
if (rounds > 0 && (sum.said === 0 || sum.refused === 0)) {
  sum.broken++
  console.log('BROKEN: the disk was never full')
}
const last = await run.end()
if (last.length > 0) {
  sum.broken++
  console.log(`BROKEN at the end: ${last.join('; ')}`)
}
console.log(JSON.stringify(sum))
process.exitCode = sum.broken > 0 ? 1 : 0
