/**
 * Kills the server many times during imports of wikis as jobs: while a dump is sent, while it is imported,
 * and right behind a start. At the end of each job every page is there once
 * (test/fault/kill/wiki_job_run.ts).
 * Usage: node scripts/campaigns/wiki-kill.mjs [KILLS=20].
 * Needs a build with tests. MDS_TEST_SEED repeats a run.
 */
import { runWikiKills } from '../../dist/test/fault/kill/wiki_job_run.js'
import { runSeed } from '../../dist/test/harness/random.js'

const kills = Number(process.argv[2] ?? 20)
const seed = runSeed()
console.log(`MDS_TEST_SEED=${seed}`)
console.log(JSON.stringify(await runWikiKills(seed, kills, (line) => console.log(line))))
