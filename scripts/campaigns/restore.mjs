/**
 * Restores a served store under load repeatedly, in every way in which a restore succeeds or fails
 * (test/fault/restore/restore_run.ts).
 * Usage: node scripts/campaigns/restore.mjs [REPEATS=100].
 * A repeat is one successful restore and one of the failures in turn, so 100 repeats cover each failure four
 * times. Needs a build with tests. The failures on a full disk need permission to mount; without it they are
 * skipped with a message. MDS_TEST_SEED repeats a run.
 */
import { runSeed } from '../../dist/test/harness/random.js'
import { RestoreRun, SCENARIOS } from '../../dist/test/fault/restore/restore_run.js'
import { SmallDisk } from '../../dist/test/harness/process/small_disk.js'

/** Two generations, four damaged backups and an index each fit ten times. */
const DISK_MEGABYTES = 128

const repeats = Number(process.argv[2] ?? 100)
const seed = runSeed()
console.log(`MDS_TEST_SEED=${seed}`)
const disk = SmallDisk.mount(DISK_MEGABYTES)
if (disk === undefined) console.log('no disk can be mounted: none is full')
const run = new RestoreRun(seed, disk)
await run.begin()
const [good, ...failures] = SCENARIOS.filter(({ kind }) => disk !== undefined || kind !== 'full')
for (let repeat = 0; repeat < repeats; repeat++) {
  await run.run(good)
  await run.run(failures[repeat % failures.length])
  if (repeat % 10 === 9) console.log(`${repeat + 1}: ${JSON.stringify(run.report)}`)
}
await run.end()
disk?.unmount()
console.log(JSON.stringify(run.report))
