/**
 * Runs mixed writes to a collection in an object store, first while the store is killed and restarted, then
 * while the server is.
 * Usage: node scripts/campaigns/object-store.mjs [WRITES=1000] [KILLS=10].
 * Needs a build with tests and versitygw (scripts/install-object-store.mjs). MDS_TEST_SEED repeats a run.
 */
import { runObjectStore } from '../../dist/test/fault/kill/object_store_run.js'
import { runSeed } from '../../dist/test/harness/random.js'
import { noObjectStore } from '../../dist/test/harness/store/object_store.js'

/** The exit code by which .ci/run recognizes a step whose tool is missing. */
const SKIPPED = 77
const size = { writes: Number(process.argv[2] ?? 1000), kills: Number(process.argv[3] ?? 10) }
const seed = runSeed()
console.log(`MDS_TEST_SEED=${seed}`)
if (noObjectStore !== false) process.exit(SKIPPED)
for (const killed of ['store', 'server']) console.log(JSON.stringify(await runObjectStore(seed, killed, size, (line) => console.log(line))))
