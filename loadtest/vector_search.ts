/**
 * Question: how many vector searches per second does the whole server answer over HTTP, at which recall and
 * latency, and what does a hybrid search cost compared with its two parts?
 * First: `POST /v1/vector-search` with given vectors on 16 connections, by graph (`hnsw`) and exactly
 * (`flat`). Compared with, in the same run and on the same vectors: pgvector with HNSW, queried by pgbench
 * with prepared statements on 16 connections, with an `ef_search` whose recall is not above ours, and with
 * its default of 40. Both return key, language and metadata of ten documents. Server and client run on
 * separate cores.
 * Then: `/v1/fts`, `/v1/vector-search` and `/v1/hybrid-search` for the same queries with the contents of ten
 * documents, interleaved.
 * Medians of the rounds; recall of the best ten compared with the exact ten. Corpus: vec/win32 (40 000 x 384)
 * with their documents of md50k, cut to 2 000 characters. Load by wrk, or by the bench's own client if wrk is
 * missing.
 * Run: npm run loadtest -- vector-search [-- SECONDS] [ROUNDS] [PARTS]
 * Aims: 5 x pgvector at equal recall; p99 of a hybrid search at most the sum of its parts'. Last result:
 * bench/README.md.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CorpusDocument, readDocuments, readTable, sharedPath } from '../bench/data/corpora.js'
import { fill } from '../bench/data/fulltext_client.js'
import { GivenVectors, readVectors, vectorAt, type Vectors } from '../bench/data/given_vectors.js'
import { Connection, getBytes, postBytes } from '../bench/measure/connection.js'
import { movePinned } from '../bench/measure/pinning.js'
import { cpuSeconds } from '../bench/measure/process_cpu.js'
import { untilIdle } from '../bench/measure/process_memory.js'
import { Report } from '../bench/measure/report.js'
import { median, medianBy } from '../bench/measure/statistics.js'
import { type Load, load, type Request } from '../bench/measure/wrk.js'
import { peerPython, runPeer } from '../bench/peers/peers.js'
import { ServerProcess } from '../test/harness/server/server_process.js'

const COLLECTION = 'win32'
const CONNECTIONS = 16
const [SERVER_CORE, CLIENT_CORE] = ['0', '1']
const TOP_K = 10
/** pgbench accepts 128 scripts, and each query is one script. */
const QUERIES = 120
const CONTENT_CHARACTERS_MAX = 2_000
/** The JIT compiles hot code: the third round of 4 s is a third faster than the first. */
const WARM_UP_SECONDS = 12
const READY_MS_MAX = 300_000
const seconds = Number(process.argv[2] ?? 2)
const rounds = Number(process.argv[3] ?? 5)
/** Any of `hybrid` and `peer`, in addition to our vector searches. */
const parts = (process.argv[4] ?? 'hybrid,peer').split(',')

const scratch = mkdtempSync(path.join(tmpdir(), 'mds-load-vectors-'))
const script = path.join(scratch, 'load.lua')
const report = new Report()

/** The vector as a client writes it: with the significant digits of an f32. */
function vectorText(vector: Float32Array): string {
  return `[${[...vector].map((value) => Number(value.toPrecision(8))).join(',')}]`
}

interface Query {
  readonly text: string
  readonly vector: string
  /** Rows of the ten nearest documents. */
  readonly exact: readonly number[]
}

function readQueries(documents: Vectors): Query[] {
  const vectors = readVectors(sharedPath('corpora/vec/win32.queries.npy'))
  const texts = readTable(sharedPath('corpora/vec/win32.queries.txt')).map(([text = '']) => text)
  return Array.from({ length: QUERIES }, (_, row) => {
    const vector = vectorAt(vectors, row)
    return { text: texts[row]!, vector: vectorText(vector), exact: nearestRows(documents, vector) }
  })
}

function nearestRows(documents: Vectors, query: Float32Array): number[] {
  const { count, dimensions, values } = documents
  const scores = Float32Array.from({ length: count }, (_, row) => {
    let sum = 0
    for (let at = 0; at < dimensions; at++) sum += query[at]! * values[row * dimensions + at]!
    return sum
  })
  return Array.from({ length: count }, (_, row) => row)
    .sort((one, other) => scores[other]! - scores[one]!)
    .slice(0, TOP_K)
}

/**
 * The documents of the vectors, in their order. Each begins with its key, because the bench's provider finds
 * a vector by its text.
 */
async function readCorpus(): Promise<readonly CorpusDocument[]> {
  const byKey = new Map((await readDocuments(sharedPath('corpora/md/md50k.ndjson.gz'))).map((document) => [document.key, document]))
  return readTable(sharedPath('corpora/vec/win32.docs.keys.txt')).map(([key = '']) => {
    const { lang, meta, contentMd } = byKey.get(key)!
    return { key, lang, meta, contentMd: `${key}\n\n${contentMd.slice(0, CONTENT_CHARACTERS_MAX).toWellFormed()}` }
  })
}

/** Waits until every document has its vector. */
async function whenEmbedded(connection: Connection, documents: number): Promise<void> {
  const end = performance.now() + READY_MS_MAX
  for (;;) {
    const stats = JSON.parse((await connection.send(getBytes('/v1/vector-stats'))).body.toString()) as {
      readonly collections: Readonly<Record<string, { readonly embedded_documents: number }>>
    }
    if (stats.collections[COLLECTION]?.embedded_documents === documents) return
    if (performance.now() > end) throw new Error(`not ready: ${JSON.stringify(stats)}`)
  }
}

type Body = Readonly<Record<string, unknown>>

async function recallOf(connection: Connection, queries: readonly Query[], rows: ReadonlyMap<string, number>, body: Body): Promise<number> {
  let found = 0
  for (const { vector, exact } of queries) {
    const answer = await connection.send(postBytes('/v1/vector-search', given(vector, body)))
    const { results } = JSON.parse(answer.body.toString()) as { results: { document: { key: string } }[] }
    found += results.filter(({ document }) => exact.includes(rows.get(document.key)!)).length
  }
  return found / (TOP_K * queries.length)
}

function given(vector: string, body: Body): string {
  return `${JSON.stringify({ collection: COLLECTION, topK: TOP_K, ...body }).slice(0, -1)},"queryVector":${vector}}`
}

interface Measured extends Load {
  readonly cpuUs: number
}

async function measure(server: ServerProcess, requests: readonly Request[], duration = seconds): Promise<Measured> {
  const before = cpuSeconds(server.pid)
  const result = await load(server.port, CONNECTIONS, duration, requests, script, CLIENT_CORE)
  return { ...result, cpuUs: ((cpuSeconds(server.pid) - before) * 1e6) / result.requests }
}

/** Medians of interleaved rounds. The p99 is the median of the rounds' p99s. */
async function interleaved<Name extends string>(
  server: ServerProcess,
  sides: Readonly<Record<Name, readonly Request[]>>,
): Promise<Readonly<Record<Name, Measured>>> {
  const names = Object.keys(sides) as Name[]
  const results = new Map(names.map((name) => [name, [] as Measured[]]))
  for (let round = 0; round <= rounds; round++) {
    for (const name of names) {
      const result = await measure(server, sides[name], round === 0 ? WARM_UP_SECONDS : seconds)
      if (round > 0) results.get(name)!.push(result)
    }
  }
  const middle = (list: readonly Measured[]): Measured => ({
    ...medianBy(list, ({ perSecond }) => perSecond),
    p99Ms: median(list.map(({ p99Ms }) => p99Ms)),
  })
  return Object.fromEntries(names.map((name) => [name, middle(results.get(name)!)])) as Record<Name, Measured>
}

async function measureVectors(
  server: ServerProcess,
  queries: readonly Query[],
  rows: ReadonlyMap<string, number>,
): Promise<Measured & { recall: number }> {
  const connection = await Connection.open(server.port)
  const kinds = ['hnsw', 'flat'] as const
  const asked = (algorithm: string): Request[] =>
    queries.map(({ vector }) => ({ path: '/v1/vector-search', json: given(vector, { algorithm }) }))
  const recalls = {
    hnsw: await recallOf(connection, queries, rows, { algorithm: 'hnsw' }),
    flat: await recallOf(connection, queries, rows, { algorithm: 'flat' }),
  }
  connection.close()
  const results = await interleaved(server, { hnsw: asked('hnsw'), flat: asked('flat') })
  for (const kind of kinds) report.add({ what: `vector-search, ${kind}`, recall: recalls[kind], ...results[kind] })
  return { ...results.hnsw, recall: recalls.hnsw }
}

/** The vectors of the query texts are cached, as they are after the first query. */
async function measureHybrid(server: ServerProcess, queries: readonly Query[]): Promise<void> {
  const withContent = { collection: COLLECTION, includeContent: true }
  const asked = (url: string, body: (query: Query) => string): Request[] => queries.map((query) => ({ path: url, json: body(query) }))
  const { words, meaning, both } = await interleaved(server, {
    words: asked('/v1/fts', ({ text }) => JSON.stringify({ ...withContent, query: text, mode: 'simple', algorithm: 'bm25', limit: TOP_K })),
    meaning: asked('/v1/vector-search', ({ vector }) => given(vector, { algorithm: 'hnsw', includeContent: true })),
    both: asked('/v1/hybrid-search', ({ text }) => JSON.stringify({ ...withContent, query: text, vectorAlgorithm: 'hnsw', topK: TOP_K })),
  })
  report.add({ what: 'fts, contents', ...words })
  report.add({ what: 'vector-search, contents', ...meaning })
  report.add({ what: 'hybrid-search, contents', ...both })
  report.add({ what: 'p99, hybrid / sum of its parts', ratio: both.p99Ms / (words.p99Ms + meaning.p99Ms) })
}

function measurePeer(documents: readonly CorpusDocument[], queries: readonly Query[], ours: Measured & { recall: number }): void {
  const python = peerPython()
  if (python === null) return
  const [rows, asked] = [path.join(scratch, 'documents.ndjson'), path.join(scratch, 'queries.json')]
  writeFileSync(rows, documents.map(({ key, lang, meta }) => JSON.stringify({ key, lang, meta })).join('\n'))
  writeFileSync(asked, JSON.stringify({ vectors: queries.map(({ vector }) => vector), exact: queries.map(({ exact }) => exact) }))
  const measured = runPeer('pgvector', `${SERVER_CORE},${CLIENT_CORE}`, python, [
    fileURLToPath(new URL('../../bench/peers/pgvector.py', import.meta.url)),
    ...[rows, sharedPath('corpora/vec/win32.docs.f16.npy'), asked, path.join(scratch, 'pg')],
    ...[ours.recall, seconds, rounds, CONNECTIONS].map(String),
    ...[SERVER_CORE, CLIENT_CORE],
  ])
  if (measured === null) return
  for (const width of new Set(measured.map((row) => row['width']))) {
    const middle = medianBy(
      measured.filter((row) => row['width'] === width),
      (row) => Number(row['perSecond']),
    )
    report.add({ what: `pgvector ${middle['version']}, ef_search ${width}`, ...middle })
    report.add({ what: `vector-search, hnsw / pgvector, ef_search ${width}`, ratio: ours.perSecond / Number(middle['perSecond']) })
  }
}

const vectors = readVectors(sharedPath('corpora/vec/win32.docs.f16.npy'))
const queries = readQueries(vectors)
const documents = await readCorpus()
const provider = await GivenVectors.start(vectors.dimensions)
try {
  documents.forEach(({ contentMd }, row) => provider.know(contentMd, vectorAt(vectors, row)))
  const asked = readVectors(sharedPath('corpora/vec/win32.queries.npy'))
  queries.forEach(({ text }, row) => provider.know(text, vectorAt(asked, row)))
  const server = await ServerProcess.start(path.join(scratch, 'db'), provider.environment)
  let ours: Measured & { recall: number }
  try {
    const connection = await Connection.open(server.port)
    await fill(
      connection,
      COLLECTION,
      documents.map((document) => JSON.stringify(document)),
    )
    await whenEmbedded(connection, documents.length)
    connection.close()
    // The graph is built asynchronously after the writes.
    await untilIdle(server.pid)
    movePinned(server.pid, SERVER_CORE)
    ours = await measureVectors(server, queries, new Map(documents.map(({ key }, row) => [key, row])))
    if (parts.includes('hybrid')) await measureHybrid(server, queries)
  } finally {
    await server.kill()
  }
  if (parts.includes('peer')) measurePeer(documents, queries, ours)
  report.table(['what', 'recall', 'perSecond', 'p50Ms', 'p99Ms', 'cpuUs', 'ratio'])
} finally {
  await provider.stop()
  rmSync(scratch, { recursive: true, force: true })
}
