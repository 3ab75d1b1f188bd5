/**
 * Kills the server many times while clients write and webhooks are told. In the end each acknowledged write
 * was delivered to each of three webhooks, in order for each document (test/fault/kill/webhook_run.ts).
 * Usage: node scripts/campaigns/webhook-kill.mjs [KILLS=50] [WRITES=20000].
 * Needs a build with tests. MDS_TEST_SEED repeats a run.
 */
import { runWebhookKills } from '../../dist/test/fault/kill/webhook_run.js'
import { runSeed } from '../../dist/test/harness/random.js'

const [kills = 50, writes = 20_000] = process.argv.slice(2).map(Number)
const seed = runSeed()
console.log(`MDS_TEST_SEED=${seed}`)
console.log(JSON.stringify(await runWebhookKills(seed, kills, writes, (line) => console.log(line))))
