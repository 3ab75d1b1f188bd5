/**
 * Restores a served store under load, again and again, in every way in which that goes well or wrong (test/fault/restore_run.ts): node scripts/campaign-restore.mjs [REPEATS=100].
 * A repeat is one good restore and one of the failures in turn, so 100 repeats meet each of them five times. Needs a build with tests. MDS_TEST_SEED repeats a run.
 */
import { runSeed } from '../dist/test/fault/random.js'
import { RestoreRun, SCENARIOS } from '../dist/test/fault/restore_run.js'

const repeats = Number(process.argv[2] ?? 100)
const seed = runSeed()
console.log(`MDS_TEST_SEED=${seed}`)
const run = new RestoreRun(seed)
await run.begin()
const [good, ...failures] = SCENARIOS
for (let repeat = 0; repeat < repeats; repeat++) {
  await run.run(good)
  await run.run(failures[repeat % failures.length])
  if (repeat % 10 === 9) console.log(`${repeat + 1}: ${JSON.stringify(run.report)}`)
}
await run.end()
console.log(JSON.stringify(run.report))
