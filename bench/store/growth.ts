/**
 * Question: how do search latency and indexing rate change while a collection grows from 5 000 to 50 000 to
 * 200 000 documents? The baseline is the service itself at 5 000.
 * Indexing: over HTTP, durable, add-batch of 500 on two connections; the rate of the last 5 000 documents of
 * each stage. Before that, 5 000 documents in another collection warm the server up.
 * Searches: once the server is idle, on one connection, with ten whole documents in the answer. Median over
 * HTTP and the service's own time (searchStats.durationMs). The latter is also measured with one document,
 * which leaves little but the engine.
 * Corpus: md50k, repeated under new keys; queries/md.json. Run: npm run bench -- growth [-- STAGE,STAGE...].
 * Aims: latency grows by less than the corpus, the rate falls by less than 20 %. Last result:
 * bench/README.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ServerProcess } from '../../test/harness/server/server_process.js'
import { readDocuments, sharedPath } from '../data/corpora.js'
import { search } from '../data/fulltext_client.js'
import { type QueryClass, readQueries, requestOf } from '../data/query_classes.js'
import { Connection, postBytes } from '../measure/connection.js'
import { runLoad } from '../measure/load.js'
import { untilIdle } from '../measure/process_memory.js'
import { Report } from '../measure/report.js'
import { median } from '../measure/statistics.js'

const COLLECTION = 'growing'
const KINDS: readonly QueryClass[] = ['term_high', 'term_mid', 'or2', 'and2']
const BATCH_DOCUMENTS = 500
const LAST_DOCUMENTS = 5_000
const CONNECTIONS = 2
const SECONDS_PER_CLASS = 1
/** Longer than any fill; a fill ends when the documents are exhausted. */
const FILL_SECONDS_MAX = 3_600

const stages = (process.argv[2] ?? '5000,50000,200000').split(',').map(Number)
const documents = await readDocuments(sharedPath('corpora/md/md50k.ndjson.gz'))
const queries = readQueries()
const scratch = mkdtempSync(path.join(tmpdir(), 'mds-bench-growth-'))
const report = new Report()

/** Adds documents `begin` to `end` of the repeated corpus. Returns documents per second. */
async function fill(port: number, collection: string, begin: number, end: number): Promise<number> {
  const begun = performance.now()
  await runLoad(port, CONNECTIONS, FILL_SECONDS_MAX, (n) => {
    const first = begin + n * BATCH_DOCUMENTS
    if (first >= end) return null
    const batch = Array.from({ length: Math.min(BATCH_DOCUMENTS, end - first) }, (_, at) => {
      const document = documents[(first + at) % documents.length]!
      return { ...document, key: `${document.key}/${Math.floor((first + at) / documents.length)}` }
    })
    return postBytes('/v1/add-batch', JSON.stringify({ collection, documents: batch }))
  })
  return ((end - begin) / (performance.now() - begun)) * 1000
}

interface Latency {
  readonly httpUs: number
  readonly serviceUs: number
}

async function measureClass(connection: Connection, kind: QueryClass, limit: number): Promise<Latency> {
  const requests = queries[kind].map((query) => ({ ...requestOf(COLLECTION, kind, query), limit }))
  const overHttp: number[] = []
  const inService: number[] = []
  for (const request of requests) await search(connection, request)
  const end = performance.now() + SECONDS_PER_CLASS * 1000
  for (let n = 0; performance.now() < end; n++) {
    const asked = performance.now()
    const { engineMs } = await search(connection, requests[n % requests.length]!)
    overHttp.push(performance.now() - asked)
    if (engineMs !== null) inService.push(engineMs)
  }
  return { httpUs: median(overHttp) * 1000, serviceUs: median(inService) * 1000 }
}

async function measureSearches(port: number, size: number, first: Map<string, number>): Promise<void> {
  const connection = await Connection.open(port)
  for (const kind of KINDS) {
    const ten = await measureClass(connection, kind, 10)
    const one = await measureClass(connection, kind, 1)
    if (!first.has(kind)) first.set(kind, one.serviceUs)
    report.add({
      documents: size,
      what: kind,
      httpP50Us: ten.httpUs,
      serviceP50Us: ten.serviceUs,
      oneHitP50Us: one.serviceUs,
      toFirst: one.serviceUs / first.get(kind)!,
    })
  }
  connection.close()
}

try {
  const server = await ServerProcess.start(path.join(scratch, 'db'))
  try {
    await fill(server.port, 'warm-up', 0, LAST_DOCUMENTS)
    const first = new Map<string, number>()
    let filled = 0
    for (const size of stages) {
      const before = Math.max(filled, size - LAST_DOCUMENTS)
      await fill(server.port, COLLECTION, filled, before)
      const rate = await fill(server.port, COLLECTION, before, size)
      filled = size
      if (!first.has('rate')) first.set('rate', rate)
      report.add({ documents: size, what: 'add-batch', documentsPerSecond: rate, toFirst: rate / first.get('rate')! })
      await untilIdle(server.pid)
      await measureSearches(server.port, size, first)
    }
  } finally {
    await server.kill()
  }
  report.table(['documents', 'what', 'documentsPerSecond', 'httpP50Us', 'serviceP50Us', 'oneHitP50Us', 'toFirst'])
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
