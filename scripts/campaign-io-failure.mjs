/**
 * Sweeps the place where the disk fails: node scripts/campaign-io-failure.mjs [POINTS=100]. Each point is one server run and one recovery. Needs a build with tests.
 * MDS_TEST_SEED repeats a run.
 */
import { runFailure } from '../dist/test/fault/io_failure_run.js'
import { Random, runSeed } from '../dist/test/fault/random.js'

const points = Number(process.argv[2] ?? 100)
const seed = runSeed()
const random = new Random(seed)
console.log(`MDS_TEST_SEED=${seed}`)
let bad = 0
for (let i = 0; i < points; i++) {
  const point = {
    operation: random.pick(['fdatasync', 'pwrite', 'pwrite', 'writev']),
    at: 1 + random.below(300),
    errno: random.pick(['EIO', 'ENOSPC']),
    lasts: random.next() < 0.5,
  }
  const { outcome, serverEnded, complaints } = await runFailure(seed + i, point)
  if (outcome.hung > 0 || complaints.length > 0) bad++
  console.log(JSON.stringify({ ...point, ...outcome, refused: Object.fromEntries(outcome.refused), serverEnded, complaints }))
}
console.log(`${points} points, ${bad} with a hang or a loss`)
process.exitCode = bad > 0 ? 1 : 0
