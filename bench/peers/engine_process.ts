/**
 * A separate program that runs our engine through the Node addon, with the protocol of peer_process.ts. `node
 * engine_process.js analyse CORPUS.ndjson` indexes documents, analysis included; `publish BATCHES` indexes
 * prepared batches. A measured search does the work of a lane: encode the plan, call the addon, decode the
 * hits. One thread searches; the engine's merge threads share its core.
 */
import { createInterface } from 'node:readline'
import { openEngine } from '../../src/engine/search/native_engine.js'
import { createAnalyzer } from '../../src/engine/text/analyzer.js'
import type { SearchPlan } from '../../src/engine/types.js'
import { readDocuments } from '../data/corpora.js'
import { planOf, type QueryClass, readQueries } from '../data/query_classes.js'
import { percentile } from '../measure/report.js'
import { batchesOf, BENCH_COLLECTION, readBatches } from './engine_input.js'
import type { Indexing, Timing, Wanted } from './peer_process.js'

const analyzer = createAnalyzer()
const engine = openEngine()
const queries = readQueries()
const [source, file] = process.argv.slice(2)

async function batches(): Promise<Iterable<Uint8Array>> {
  if (file === undefined || (source !== 'analyse' && source !== 'publish')) throw new Error('usage: engine_process analyse|publish FILE')
  return source === 'analyse' ? batchesOf(analyzer, await readDocuments(file)) : readBatches(file)
}

async function index(): Promise<Indexing> {
  const made = await batches()
  const begun = performance.now()
  for (const batch of made) engine.publish(batch)
  const published = performance.now()
  engine.forceMerge()
  const { documents, memoryBytes } = engine.stats()
  return { documents, seconds: (published - begun) / 1000, mergeSeconds: (performance.now() - published) / 1000, bytes: memoryBytes }
}

/** FNV-1a over the docids, in order, as in native/bench. */
function checksumOf(plans: readonly SearchPlan[]): { readonly hits: number; readonly matches: number; readonly checksum: string } {
  let [hits, matches, checksum] = [0, 0, 14_695_981_039_346_656_037n]
  for (const plan of plans) {
    const found = engine.search(plan)
    hits += found.hits.length
    matches += found.total
    for (const { docid } of found.hits) checksum = BigInt.asUintN(64, (checksum ^ BigInt(docid)) * 1_099_511_628_211n)
  }
  return { hits: hits / plans.length, matches: matches / plans.length, checksum: checksum.toString(16).padStart(16, '0') }
}

function measure(kind: QueryClass, wanted: Wanted, seconds: number): Timing {
  const plans = queries[kind].map((query) => planOf(analyzer, BENCH_COLLECTION, kind, query, wanted === 'exact'))
  const answers = checksumOf(plans)
  const micros: number[] = []
  const begun = performance.now()
  do {
    for (const plan of plans) {
      const asked = performance.now()
      engine.search(plan)
      micros.push((performance.now() - asked) * 1000)
    }
  } while (performance.now() - begun < seconds * 1000)
  const perSecond = (micros.length / (performance.now() - begun)) * 1000
  return { queries: plans.length, perSecond, p50Us: percentile(micros, 0.5), p99Us: percentile(micros, 0.99), ...answers }
}

for await (const line of createInterface({ input: process.stdin })) {
  const [command, kind, wanted, seconds] = line.split(' ')
  if (command !== 'index' && command !== 'measure') throw new Error(`unknown command: ${line}`)
  const answer = command === 'index' ? await index() : measure(kind as QueryClass, wanted as Wanted, Number(seconds))
  console.log(JSON.stringify(answer))
}
