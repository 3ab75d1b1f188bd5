/**
 * Sends the given number of random queries of every kind to the engine over 51 318 documents, by the same
 * steps as a lane: text, plan, addon, hits. Each query runs under the deadline of searches.
 * Usage: node scripts/campaigns/queries.mjs [QUERIES=100000]
 * Fails if a query exceeds the deadline, or fails other than by a 400 for its syntax. Prints the slowest
 * queries of each kind, p50 and p99. MDS_TEST_SEED repeats a run, MDS_BENCH_DOCUMENTS makes the corpus
 * smaller. Needs a build and the corpus in the folder `shared` beside the project; without the corpus the
 * campaign is skipped.
 */
import { performance } from 'node:perf_hooks'
import { Worker } from 'node:worker_threads'
import { readDocuments, sharedPath } from '../../dist/bench/data/corpora.js'
import { BENCH_COLLECTION, batchesOf } from '../../dist/bench/peers/engine_input.js'
import { RandomQueries } from '../../dist/bench/data/random_queries.js'
import { percentile } from '../../dist/bench/measure/report.js'
import { NO_SETTINGS } from '../../dist/src/domain/settings/collection_settings.js'
import { planQuery } from '../../dist/src/domain/fulltext/query_plan.js'
import { queryWords } from '../../dist/src/domain/words/query_words.js'
import { readRequest } from '../../dist/src/domain/fulltext/fulltext_request.js'
import { planSearch } from '../../dist/src/domain/fulltext/fulltext_search.js'
import { createAnalyzer } from '../../dist/src/engine/text/analyzer.js'
import { openEngine } from '../../dist/src/engine/search/native_engine.js'
import { ServiceError } from '../../dist/src/errors.js'
import { DEADLINE_SEARCH_MS } from '../../dist/src/limits/lanes.js'
import { Random, runSeed } from '../../dist/test/harness/random.js'

const DEFAULTS = { ftsDefaultLang: 'en', ftsStemming: true, ftsSynonyms: true }
const SLOW_MS = 100
const SLOWEST_SHOWN = 3
const TEXT_SHOWN = 200
/** One hit is also explained every this many queries. */
const EXPLAINED_EVERY = 10
const PROGRESS_EVERY = 10_000

const queries = Number(process.argv[2] ?? 100_000)
const seed = runSeed()
const corpus = sharedPath('corpora/md/md50k.ndjson.gz')
console.log(`MDS_TEST_SEED=${seed}`)

// The deadline passes while the engine occupies this thread, so another thread sets the stop word. Word 0
// stops the query, word 1 holds the number of the running query, word 2 ends the watch.
const control = new Int32Array(new SharedArrayBuffer(12))
const watch = new Worker(
  `const { workerData: { control, deadlineMs } } = require('node:worker_threads')
   let query = 0
   let since = Date.now()
   for (;;) {
     if (Atomics.wait(control, 2, 0, 20) !== 'timed-out') break
     const now = Atomics.load(control, 1)
     if (now !== query) { query = now; since = Date.now() }
     else if (Date.now() - since >= deadlineMs) Atomics.store(control, 0, 1)
   }`,
  { eval: true, workerData: { control, deadlineMs: DEADLINE_SEARCH_MS } },
)

const documents = await readDocuments(corpus, Number(process.env['MDS_BENCH_DOCUMENTS'] ?? Number.POSITIVE_INFINITY))
const analyzer = createAnalyzer()
const engine = openEngine()
for (const batch of batchesOf(analyzer, documents)) engine.publish(batch)
console.log(`${documents.length} documents, ${engine.stats().segments} segments`)

function planOf(body) {
  const request = readRequest(body, DEFAULTS)
  return planSearch(request, planQuery(request.query, queryWords(analyzer, NO_SETTINGS, request), request.scoring), BENCH_COLLECTION)
}

const random = new RandomQueries(new Random(seed), documents)
const stop = { control, byteOffset: 0 }
const asked = new Map()
let [refused, late, cut, explained] = [0, 0, 0, 0]
for (let index = 1; index <= queries; index++) {
  const { kind, body } = random.next()
  Atomics.store(control, 0, 0)
  Atomics.store(control, 1, index)
  const begunMs = performance.now()
  try {
    const plan = planOf(body)
    const hits = engine.search(plan, stop)
    const ms = performance.now() - begunMs
    if (!hits.complete || ms > DEADLINE_SEARCH_MS) {
      late++
      console.log(`LATE ${JSON.stringify({ kind, ms, ...body })}`)
    }
    if (hits.expansionsCut) cut++
    if (index % EXPLAINED_EVERY === 0 && hits.hits.length > 0) {
      const { docid, score } = hits.hits[index % hits.hits.length]
      const explanation = engine.explain(plan, docid, stop)
      if (explanation === undefined || Math.abs(explanation.score - score) > 1e-6 * (1 + score))
        throw new Error(`explained as ${explanation?.score}, scored ${score}`)
      explained++
    }
    const row = asked.get(kind) ?? asked.set(kind, []).get(kind)
    row.push({ ms, body })
  } catch (error) {
    if (!(error instanceof ServiceError)) throw new Error(`query ${index} of seed ${seed}: ${JSON.stringify(body)}`, { cause: error })
    refused++
  }
  if (index % PROGRESS_EVERY === 0) console.log(`${index} queries, ${late} late`)
}
Atomics.store(control, 2, 1)
Atomics.notify(control, 2)
await watch.terminate()

function summary(times) {
  const [p50, p99, slowest] = [0.5, 0.99, 1].map((share) => percentile(times, share))
  return `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(1)} ms, slowest ${slowest.toFixed(1)} ms`
}

let slow = 0
for (const [kind, rows] of [...asked].sort()) {
  rows.sort((a, b) => b.ms - a.ms)
  const times = rows.map(({ ms }) => ms)
  slow += times.filter((ms) => ms > SLOW_MS).length
  console.log(`${kind.padEnd(18)} ${String(rows.length).padStart(6)} queries, ${summary(times)}`)
  for (const { ms, body } of rows.slice(0, SLOWEST_SHOWN)) console.log(`  ${ms.toFixed(1)} ms ${JSON.stringify(body).slice(0, TEXT_SHOWN)}`)
}
const all = [...asked.values()].flat().map(({ ms }) => ms)
console.log(
  `${queries} queries: ${late} beyond the deadline of ${DEADLINE_SEARCH_MS} ms, ${refused} refused for their syntax, ${slow} above ${SLOW_MS} ms, ${cut} with more terms than they may stand for, ` +
    `${explained} explained; ${summary(all)}`,
)
process.exitCode = late > 0 ? 1 : 0
