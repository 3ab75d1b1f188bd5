/**
 * Question: how many title searches per second does the whole server answer over HTTP, with ten whole
 * documents in each answer, and how does a stream of slow searches affect `/v1/get`?
 * Compared with, in the same run: the Lucene server of the shared aids (the same paths, LH), loaded with the
 * same documents and warmed up. Rounds are interleaved; medians are reported. The agreement of the answers is
 * the share of the ten keys that both return.
 * Load by wrk on 16 keep-alive connections, or by the bench's own client if wrk is missing. Slow searches:
 * unions of the 50 commonest words with all matches counted, on one connection without pauses and on four;
 * phrases of two of those words, answers of 300 whole documents and listings of as many, on two. Meanwhile 16
 * connections get.
 * Corpus: md50k, queries/md.json (title). Run: npm run bench:http-search [-- DOCUMENTS] [SECONDS] [ROUNDS].
 * Aims: 3 x Lucene, p99 at most 4 x p50; p99 of get at most 3 x with slow searches. Last result:
 * bench/README.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ServerProcess } from '../test/harness/server_process.js'
import { Connection, postBytes } from './connection.js'
import { readLines, sharedPath, type CorpusDocument } from './corpora.js'
import { fill, search } from './fulltext_client.js'
import { startLuceneServer, type LuceneServer } from './lucene_server.js'
import { readQueries, requestOf } from './query_classes.js'
import { percentile, Report } from './report.js'
import { median, medianBy } from './statistics.js'
import { load, type Load, type Request } from './wrk.js'

const COLLECTION = 'md50k'
const CONNECTIONS = 16
/** The JVM compiles hot code: with a shorter warm-up its rate still rises from round to round. */
const WARM_UP_SECONDS = 15
const SLOW_LIMIT = 300
const SLOW_STREAMS = [
  { kind: 'unions', connections: 1 },
  { kind: 'unions', connections: 4 },
  { kind: 'phrases', connections: 2 },
  { kind: 'large answers', connections: 2 },
  { kind: 'large listings', connections: 2 },
] as const
type SlowKind = (typeof SLOW_STREAMS)[number]['kind']
const documentsMax = Number(process.argv[2] ?? Number.POSITIVE_INFINITY)
const seconds = Number(process.argv[3] ?? 4)
const rounds = Number(process.argv[4] ?? 5)

const queries = readQueries()
const titles = queries.title.map((query) => requestOf(COLLECTION, 'title', query))
const titleRequests = titles.map((request): Request => ({ path: '/v1/fts', json: JSON.stringify(request) }))
const scratch = mkdtempSync(path.join(tmpdir(), 'mds-bench-http-'))
const script = path.join(scratch, 'load.lua')
const report = new Report()

/** Share of the keys of our ten hits that are also among the peer's ten, over all title queries. */
async function agreement(ours: number, theirs: number): Promise<number> {
  const [mine, other] = [await Connection.open(ours), await Connection.open(theirs)]
  let [common, all] = [0, 0]
  for (const request of titles) {
    const found = new Set((await search(other, request)).keys)
    const { keys } = await search(mine, request)
    all += keys.length
    common += keys.filter((key) => found.has(key)).length
  }
  mine.close()
  other.close()
  return common / all
}

async function measureTitles(server: ServerProcess, lucene: LuceneServer | null): Promise<void> {
  const sides = [
    { what: 'title, this service', port: server.port },
    ...(lucene === null ? [] : [{ what: 'title, Lucene server', port: lucene.port }]),
  ]
  const results = sides.map((): Load[] => [])
  for (let round = 0; round <= rounds; round++) {
    for (const [at, { what, port }] of sides.entries()) {
      const result = await load(port, CONNECTIONS, round === 0 ? Math.max(seconds, WARM_UP_SECONDS) : seconds, titleRequests, script)
      console.log(JSON.stringify({ what, round, ...result }))
      // The first round warms up.
      if (round > 0) results[at]!.push(result)
    }
  }
  const medians = results.map((list) => medianBy(list, ({ perSecond }) => perSecond))
  for (const [at, { what }] of sides.entries()) report.add({ what, ...medians[at]!, p99OverP50: medians[at]!.p99Ms / medians[at]!.p50Ms })
  const [ours, theirs] = medians
  if (theirs !== undefined) report.add({ what: 'title, this service / Lucene server', ratio: ours!.perSecond / theirs.perSecond })
  if (lucene !== null) report.add({ what: 'title, keys in common', ratio: await agreement(server.port, lucene.port) })
}

function slowRequests(kind: SlowKind): Buffer[] {
  if (kind === 'large listings') {
    const pages = Array.from({ length: 100 }, (_, n) => ({
      collection: COLLECTION,
      sort: 'addedAt',
      limit: SLOW_LIMIT,
      offset: n * SLOW_LIMIT,
    }))
    return pages.map((request) => postBytes('/v1/search', JSON.stringify(request)))
  }
  const words = queries.term_high
  const base = { collection: COLLECTION, limit: 10, algorithm: 'bm25', count: true }
  const requests = words.map((word, n) => {
    if (kind === 'phrases') return { ...base, mode: 'phrase', query: `"${word} ${words[(n + 1) % words.length]}"` }
    if (kind === 'unions') return { ...base, mode: 'simple', query: [...words.slice(n), ...words.slice(0, n)].join(' ') }
    return { ...base, mode: 'simple', query: word, limit: SLOW_LIMIT }
  })
  return requests.map((request) => postBytes('/v1/fts', JSON.stringify(request)))
}

interface SlowStream {
  /** Ends the stream. Returns the durations of its searches in ms. */
  stop(): Promise<readonly number[]>
}

/** Sends slow searches on each connection, each after the previous answer, until it is stopped. */
async function slowStream(port: number, kind: SlowKind, connections: number): Promise<SlowStream> {
  const requests = slowRequests(kind)
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)))
  const millis: number[] = []
  let [isStopped, sent] = [false, 0]
  const run = async (connection: Connection): Promise<void> => {
    while (!isStopped) {
      const sentAt = performance.now()
      const answer = await connection.send(requests[sent++ % requests.length]!)
      if (answer.status !== 200) throw new Error(`fts answers ${answer.status}: ${answer.body.toString('utf8', 0, 300)}`)
      millis.push(performance.now() - sentAt)
    }
  }
  const ended = Promise.all(open.map(run))
  return {
    stop: async () => {
      isStopped = true
      await ended
      for (const connection of open) connection.close()
      return millis
    },
  }
}

async function measureGets(port: number, documents: readonly CorpusDocument[]): Promise<void> {
  // Strides through the corpus, so that gets do not follow the order of the file.
  const gets = Array.from({ length: 2_000 }, (_, n) => documents[(n * 7_919) % documents.length]!).map(({ key, lang }): Request => ({
    path: '/v1/get',
    json: JSON.stringify({ collection: COLLECTION, key, lang }),
  }))
  const alone: Load[] = []
  const beside = SLOW_STREAMS.map((): Load[] => [])
  const slowMs = SLOW_STREAMS.map((): number[] => [])
  for (let round = 0; round <= rounds; round++) {
    const quiet = await load(port, CONNECTIONS, seconds, gets, script)
    // The first round warms up.
    if (round > 0) alone.push(quiet)
    for (const [at, { kind, connections }] of SLOW_STREAMS.entries()) {
      const stream = await slowStream(port, kind, connections)
      const busy = await load(port, CONNECTIONS, seconds, gets, script)
      const millis = await stream.stop()
      if (round === 0) continue
      beside[at]!.push(busy)
      slowMs[at]!.push(...millis)
    }
  }
  const p99 = (list: readonly Load[]): number => median(list.map(({ p99Ms }) => p99Ms))
  const row = (list: readonly Load[]): Load => ({ ...medianBy(list, ({ perSecond }) => perSecond), p99Ms: p99(list) })
  report.add({ what: 'get, alone', ...row(alone) })
  for (const [at, { kind, connections }] of SLOW_STREAMS.entries()) {
    const millis = slowMs[at]!
    report.add({ what: `slow ${kind}, ${connections} at a time`, p50Ms: percentile(millis, 0.5), p99Ms: percentile(millis, 0.99) })
    report.add({ what: `get, beside ${connections} of ${kind}`, ...row(beside[at]!), p99ToAlone: p99(beside[at]!) / p99(alone) })
  }
}

try {
  const lines = await readLines(sharedPath('corpora/md/md50k.ndjson.gz'), documentsMax)
  const documents = lines.map((line) => JSON.parse(line) as CorpusDocument)
  const lucene = await startLuceneServer(path.join(scratch, 'lucene'))
  const server = await ServerProcess.start(path.join(scratch, 'db'))
  try {
    for (const port of [server.port, lucene?.port]) {
      if (port === undefined) continue
      const connection = await Connection.open(port)
      await fill(connection, COLLECTION, lines)
      connection.close()
    }
    await measureTitles(server, lucene)
    await lucene?.stop()
    await measureGets(server.port, documents)
  } finally {
    await server.kill()
    await lucene?.stop()
  }
  report.table(['what', 'perSecond', 'p50Ms', 'p99Ms', 'p99OverP50', 'p99ToAlone', 'ratio'])
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
