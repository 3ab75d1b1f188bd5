/**
 * Kills the server many times while it embeds documents, then checks the stored data and the paid provider
 * calls.
 * Usage: node scripts/campaigns/embedding.mjs [DOCUMENTS=5000] [KILLS=20].
 * Needs a build with tests. MDS_TEST_SEED repeats a run.
 */
import { runEmbeddingKills } from '../../dist/test/fault/kill/embedding_run.js'
import { runSeed } from '../../dist/test/harness/random.js'

const documents = Number(process.argv[2] ?? 5000)
const kills = Number(process.argv[3] ?? 20)
const seed = runSeed()
console.log(`MDS_TEST_SEED=${seed}`)
console.log(JSON.stringify(await runEmbeddingKills(seed, documents, kills, (line) => console.log(line))))
