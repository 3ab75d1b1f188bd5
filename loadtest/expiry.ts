/**
 * Many documents expire in one second while others are read: does a get ever wait for the sweep?
 * Fills a collection whose documents all expire at one moment, and reads other documents on 8 connections:
 * first undisturbed, then from just before that moment until the sweep has ended. The runs use one server, so
 * that the remains of earlier sweeps are present. Corpus: md50k, twice. Load by wrk, which adds no pauses of
 * its own.
 * Run: npm run loadtest -- expiry [-- DOCUMENTS=100000] [RUNS=5]
 * Aim: no get over 50 ms (median of the runs' longest). Last result: bench/README.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type CorpusDocument, readDocuments, sharedPath } from '../bench/data/corpora.js'
import { Connection, postBytes } from '../bench/measure/connection.js'
import { Report } from '../bench/measure/report.js'
import { median } from '../bench/measure/statistics.js'
import { load } from '../bench/measure/wrk.js'
import { type Server, startServer } from '../test/harness/server/server.js'

const DOCUMENTS = Number(process.argv[2] ?? 100_000)
const RUNS = Number(process.argv[3] ?? 5)
const CONNECTIONS = 8
const READ_DOCUMENTS = 1_000
const BATCH_DOCUMENTS = 500
const QUIET_SECONDS = 5
const SWEEP_SECONDS = 20
/** Seconds between the last add and the moment at which all documents expire. */
const AHEAD_SECONDS = 3
const FILL_SECONDS = Math.max(20, Math.ceil(DOCUMENTS / 800))
const SWEEP_SECONDS_MAX = 120
const POLL_MS = 250

async function add(connection: Connection, collection: string, documents: readonly unknown[]): Promise<void> {
  const answer = await connection.send(postBytes('/v1/add-batch', JSON.stringify({ collection, documents })))
  if (answer.status !== 200) throw new Error(`add-batch: ${answer.status} ${answer.body.toString('utf8', 0, 300)}`)
}

/** @returns unix seconds at which all documents expire */
async function fill(server: Server, corpus: readonly CorpusDocument[]): Promise<number> {
  const connection = await Connection.open(server.port)
  const expiresAt = Math.ceil(Date.now() / 1000) + FILL_SECONDS
  for (let at = 0; at < DOCUMENTS; at += BATCH_DOCUMENTS) {
    const ttl = expiresAt - Math.floor(Date.now() / 1000)
    if (ttl <= AHEAD_SECONDS) throw new Error(`the machine is too slow: ${at} documents in ${FILL_SECONDS} s`)
    const documents = Array.from({ length: Math.min(BATCH_DOCUMENTS, DOCUMENTS - at) }, (_, index) => {
      const document = corpus[(at + index) % corpus.length]!
      return { ...document, key: `${at + index}/${document.key}`, ttl }
    })
    await add(connection, 'expiring', documents)
  }
  connection.close()
  return expiresAt
}

/** Waits until no document is left; expired ones that are not swept yet count as left. Returns seconds. */
async function waitUntilSwept(server: Server): Promise<number> {
  const begun = performance.now()
  for (;;) {
    const { text } = await server.request('GET', '/metrics')
    const left = Number(/^mddb_documents_total\{collection="expiring"\} (\d+)$/m.exec(text)?.[1] ?? 0)
    if (left === 0) return (performance.now() - begun) / 1000
    if (performance.now() - begun > SWEEP_SECONDS_MAX * 1000)
      throw new Error(`${left} documents are not swept after ${SWEEP_SECONDS_MAX} s`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

const corpus = await readDocuments(sharedPath('corpora/md/md50k.ndjson.gz'))
const report = new Report()
const scratch = mkdtempSync(path.join(tmpdir(), 'mds-load-expiry-'))
const script = path.join(scratch, 'load.lua')
const server = await startServer({ supervisor: true })
try {
  const connection = await Connection.open(server.port)
  const read = corpus.slice(0, READ_DOCUMENTS)
  for (let at = 0; at < read.length; at += BATCH_DOCUMENTS) await add(connection, 'read', read.slice(at, at + BATCH_DOCUMENTS))
  connection.close()
  const gets = read.map(({ key, lang }) => ({ path: '/v1/get', json: JSON.stringify({ collection: 'read', key, lang }) }))
  const longest: number[] = []
  for (let run = 0; run < RUNS; run++) {
    const expiresAt = await fill(server, corpus)
    const quiet = await load(server.port, CONNECTIONS, QUIET_SECONDS, gets, script)
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, (expiresAt - 1) * 1000 - Date.now())))
    const [beside, sweepSeconds] = await Promise.all([load(server.port, CONNECTIONS, SWEEP_SECONDS, gets, script), waitUntilSwept(server)])
    longest.push(beside.maxMs)
    report.add({
      run,
      'quiet p99 ms': quiet.p99Ms,
      'quiet longest ms': quiet.maxMs,
      'sweep s': sweepSeconds - 1,
      'gets/s': beside.perSecond,
      'p50 ms': beside.p50Ms,
      'p99 ms': beside.p99Ms,
      'longest ms': beside.maxMs,
    })
  }
  report.table(['run', 'quiet p99 ms', 'quiet longest ms', 'sweep s', 'gets/s', 'p50 ms', 'p99 ms', 'longest ms'])
  console.log(`longest get, median of ${RUNS} runs: ${median(longest).toFixed(1)} ms`)
} finally {
  await server.stop()
  rmSync(scratch, { recursive: true, force: true })
}
