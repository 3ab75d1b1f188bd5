/**
 * Question: how long does a full-text search take, by class of query, on one connection, ten whole documents in each answer? Both times are told: over HTTP, and the engine's own
 * (searchStats.durationMs). Beside it, in process and on one core: Lucene 9.12, Tantivy, SQLite FTS5 on the same queries (top 10, keys only), so their rates compare with the engine's own time.
 * Corpus: md50k, queries/md.json. Run: npm run bench:search-engine.
 * Last result (2026-11-21, 2-core machine that was busy with other builds (load 8 to 10): only the ratios mean something, and they too are rough),
 * median us in the engine, ours / Lucene / Tantivy: term_high 581 / 222 / 111, term_low 317 / 118 / 55, nl 707 / 441 / 975, or2 343 / 163 / 91, and2 383 / 172 / 104, phrase2 774 / 563 / 259.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ServerProcess } from '../test/fault/server_process.js'
import { Connection } from './connection.js'
import { readLines, sharedPath } from './corpora.js'
import { fill, search, type SearchRequest } from './fulltext_client.js'
import { luceneClassPath, peerPython, peerScript, runPeer, type PeerRows } from './peers.js'
import { percentile, Report } from './report.js'

const LIMIT = 10
const SECONDS_PER_CLASS = 3
const COLLECTION = 'md50k'

const queriesPath = sharedPath('corpora/queries/md.json')
const queries = JSON.parse(readFileSync(queriesPath, 'utf8')) as Readonly<Record<string, readonly string[]>>
const lines = await readLines(sharedPath('corpora/md/md50k.ndjson.gz'))
const scratch = mkdtempSync(path.join(tmpdir(), 'mds-bench-search-'))
const report = new Report()

/** The request that means what the class means. */
function requestOf(kind: string, query: string): SearchRequest {
  const base = { collection: COLLECTION, limit: LIMIT, algorithm: 'bm25' }
  if (kind.startsWith('phrase')) return { ...base, mode: 'phrase', query: `"${query}"` }
  if (kind === 'and2' || kind === 'bool3') return { ...base, mode: 'boolean', query }
  if (kind === 'fuzzy1') return { ...base, mode: 'simple', query, fuzzy: 1 }
  if (kind === 'fuzzy2') return { ...base, mode: 'simple', query, fuzzy: 2 }
  if (kind === 'wild') return { ...base, mode: 'wildcard', query }
  return { ...base, mode: 'simple', query: query.replace(/[^\p{L}\p{N}\s]+/gu, ' ') }
}

async function measureClass(connection: Connection, kind: string, list: readonly string[]): Promise<void> {
  const overHttp: number[] = []
  const inEngine: number[] = []
  let hits = 0
  for (const query of list) hits += (await search(connection, requestOf(kind, query))).keys.length
  const end = performance.now() + SECONDS_PER_CLASS * 1000
  for (let n = 0; performance.now() < end; n++) {
    const begun = performance.now()
    const { engineMs } = await search(connection, requestOf(kind, list[n % list.length]!))
    overHttp.push(performance.now() - begun)
    if (engineMs !== null) inEngine.push(engineMs)
  }
  report.add({
    engine: 'this service',
    class: kind,
    averageHits: hits / list.length,
    httpP50Us: percentile(overHttp, 0.5) * 1000,
    httpP99Us: percentile(overHttp, 0.99) * 1000,
    p50Us: inEngine.length === 0 ? null : percentile(inEngine, 0.5) * 1000,
    p99Us: inEngine.length === 0 ? null : percentile(inEngine, 0.99) * 1000,
  })
}

function addPeer(rows: PeerRows | null): void {
  for (const row of rows ?? []) {
    if (row['p50_us'] === undefined) continue
    report.add({
      engine: row['engine'] ?? null,
      class: row['op'] ?? null,
      averageHits: row['avg_hits'] ?? null,
      p50Us: row['p50_us'],
      p99Us: row['p99_us'] ?? null,
    })
  }
}

try {
  const server = await ServerProcess.start(path.join(scratch, 'db'))
  try {
    const connection = await Connection.open(server.port)
    await fill(connection, COLLECTION, lines)
    for (const [kind, list] of Object.entries({ ...queries, fuzzy2: queries['fuzzy1'] ?? [] })) {
      await measureClass(connection, kind, list).catch((cause: unknown) =>
        report.add({ engine: 'this service', class: kind, note: cause instanceof Error ? cause.message.slice(0, 80) : String(cause) }),
      )
    }
    connection.close()
  } finally {
    await server.kill()
  }
  const corpus = path.join(scratch, 'corpus.ndjson')
  writeFileSync(corpus, lines.join('\n'))
  const classPath = luceneClassPath()
  if (classPath !== null)
    addPeer(
      runPeer('Lucene', '0', 'java', [
        '-Xmx2g',
        '-XX:+UseSerialGC',
        '-cp',
        classPath,
        'LB',
        corpus,
        queriesPath,
        path.join(scratch, 'lucene'),
      ]),
    )
  const python = peerPython()
  if (python !== null)
    for (const engine of ['tantivy', 'sqlite'])
      addPeer(
        runPeer(engine, '0', python, [
          peerScript('peers/engines/tantivy_sqlite.py'),
          engine,
          corpus,
          queriesPath,
          path.join(scratch, engine),
        ]),
      )
  report.table(['engine', 'class', 'averageHits', 'httpP50Us', 'httpP99Us', 'p50Us', 'p99Us', 'note'])
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
