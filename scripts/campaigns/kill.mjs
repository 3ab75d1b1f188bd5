/**
 * Kills the server at many random moments under mixed writes and compares it with the ledger after each
 * restart.
 * Usage: node scripts/campaigns/kill.mjs [ROUNDS=200].
 * Needs a build with tests. MDS_TEST_SEED repeats a run.
 */
import { runKills } from '../../dist/test/fault/kill/kill_run.js'
import { runSeed } from '../../dist/test/harness/random.js'

const rounds = Number(process.argv[2] ?? 200)
const seed = runSeed()
console.log(`MDS_TEST_SEED=${seed}`)
console.log(JSON.stringify(await runKills(seed, rounds, (line) => console.log(line))))
