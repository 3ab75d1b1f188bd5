/**
 * Question: how many full-text searches per second does the whole server answer over HTTP, with ten whole
 * documents in each answer, and how does a stream of slow searches affect `/v1/get`? Queries are windows of 2
 * to 4, and of 8 to 12, consecutive words of random documents: 6 000 different ones of each kind, so that
 * answers and documents do not come from a cache. The working set, all documents that their answers contain,
 * is reported. Compared with, in the same run: the Lucene server of the shared aids (the same paths, LH,
 * without Nagle's delay), loaded with the same documents and warmed up. Rounds are interleaved; medians are
 * reported. The agreement of the answers is the share of the ten keys that both return. Load by wrk on 16
 * keep-alive connections, or by the bench's own client if wrk is missing. Slow searches: unions of the 50
 * commonest words with all matches counted, on one connection without pauses and on four; phrases of two of
 * those words, answers of 300 whole documents and listings of as many, on two. Meanwhile 16 connections get.
 * Corpus: md50k, queries/md.json (words of slow searches). Run: npm run bench -- http-search [-- DOCUMENTS]
 * [SECONDS] [ROUNDS]. Aims: 2.5 x Lucene, better 3 x, p99 at most 4 x p50; p99 of get at most 3 x with slow
 * searches. Last result: bench/README.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ServerProcess } from '../../test/harness/server/server_process.js'
import { type CorpusDocument, readLines, sharedPath } from '../data/corpora.js'
import { fill, search, type SearchRequest } from '../data/fulltext_client.js'
import { readQueries, requestOf } from '../data/query_classes.js'
import { Connection, postBytes } from '../measure/connection.js'
import { cpuSeconds } from '../measure/process_cpu.js'
import { randomSource } from '../measure/random_source.js'
import { percentile, Report } from '../measure/report.js'
import { median, medianBy } from '../measure/statistics.js'
import { type Load, load, type Request } from '../measure/wrk.js'
import { type LuceneServer, startLuceneServer } from '../peers/lucene_server.js'

const COLLECTION = 'md50k'
const CONNECTIONS = 16
const QUERIES = 6_000
const SEED = 20_261
const WINDOWS = [
  { kind: 'windows of 2 to 4 words', wordsMin: 2, wordsMax: 4 },
  { kind: 'windows of 8 to 12 words', wordsMin: 8, wordsMax: 12 },
] as const
/** The JVM compiles hot code: with a shorter warm-up its rate still rises from round to round. */
const WARM_UP_SECONDS = 15
const SLOW_LIMIT = 300
const GETS = 10_000
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
const scratch = mkdtempSync(path.join(tmpdir(), 'mds-bench-http-'))
const script = path.join(scratch, 'load.lua')
const report = new Report()

/** Windows of consecutive words of random documents, all different. */
function windowsOf(documents: readonly CorpusDocument[], { wordsMin, wordsMax }: (typeof WINDOWS)[number]): readonly string[] {
  const random = randomSource(SEED + wordsMin)
  const below = (bound: number): number => Math.floor(random() * bound)
  const found = new Set<string>()
  // A small corpus may have fewer windows than are wanted.
  for (let tries = 0; found.size < QUERIES && tries < 100 * QUERIES; tries++) {
    const words = documents[below(documents.length)]!.contentMd.match(/\p{L}[\p{L}\p{N}]+/gu) ?? []
    const count = wordsMin + below(wordsMax - wordsMin + 1)
    if (words.length < count) continue
    const begin = below(words.length - count + 1)
    found.add(
      words
        .slice(begin, begin + count)
        .join(' ')
        .toLowerCase(),
    )
  }
  return [...found]
}

/**
 * Sends every query once to both. Reports our working set, and the share of our keys that the peer returns
 * too.
 */
async function compareAnswers(requests: readonly SearchRequest[], ours: number, theirs: number | undefined): Promise<void> {
  const mine = await Connection.open(ours)
  const other = theirs === undefined ? undefined : await Connection.open(theirs)
  const shown = new Map<string, number>()
  let [common, all] = [0, 0]
  for (const request of requests) {
    const answer = await mine.send(postBytes('/v1/fts', JSON.stringify(request)))
    const { results } = JSON.parse(answer.body.toString()) as {
      readonly results: readonly { readonly document: { readonly key: string } }[]
    }
    for (const { document } of results) shown.set(document.key, shown.get(document.key) ?? Buffer.byteLength(JSON.stringify(document)))
    if (other === undefined) continue
    const found = new Set((await search(other, request)).keys)
    all += results.length
    common += results.filter(({ document }) => found.has(document.key)).length
  }
  const bytes = [...shown.values()].reduce((sum, size) => sum + size, 0)
  report.add({ what: 'working set', queries: requests.length, documents: shown.size, megabytes: Math.round(bytes / 1e6) })
  if (other !== undefined) report.add({ what: 'keys in common', ratio: common / all })
  mine.close()
  other?.close()
}

async function measureWindows(
  documents: readonly CorpusDocument[],
  window: (typeof WINDOWS)[number],
  server: ServerProcess,
  lucene: LuceneServer | null,
): Promise<void> {
  const { kind } = window
  const searches = windowsOf(documents, window).map((query) => requestOf(COLLECTION, 'title', query))
  const requests = searches.map((request): Request => ({ path: '/v1/fts', json: JSON.stringify(request) }))
  const sides = [
    { what: `${kind}, this service`, port: server.port },
    ...(lucene === null ? [] : [{ what: `${kind}, Lucene server`, port: lucene.port }]),
  ]
  const results = sides.map((): (Load & { readonly serverCpuUs?: number })[] => [])
  for (let round = 0; round <= rounds; round++) {
    for (const [at, { what, port }] of sides.entries()) {
      const before = cpuSeconds(server.pid)
      const result = await load(port, CONNECTIONS, round === 0 ? Math.max(seconds, WARM_UP_SECONDS) : seconds, requests, script)
      const cpu = at === 0 ? { serverCpuUs: ((cpuSeconds(server.pid) - before) * 1e6) / result.requests } : {}
      console.log(JSON.stringify({ what, round, ...result, ...cpu }))
      // The first round warms up.
      if (round > 0) results[at]!.push({ ...result, ...cpu })
    }
  }
  const medians = results.map((list) => medianBy(list, ({ perSecond }) => perSecond))
  for (const [at, { what }] of sides.entries()) report.add({ what, ...medians[at]!, p99OverP50: medians[at]!.p99Ms / medians[at]!.p50Ms })
  const [ours, theirs] = medians
  if (theirs !== undefined) report.add({ what: `${kind}, this service / Lucene server`, ratio: ours!.perSecond / theirs.perSecond })
  await compareAnswers(searches, server.port, lucene?.port)
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
  const gets = Array.from({ length: GETS }, (_, n) => documents[(n * 7_919) % documents.length]!).map(({ key, lang }): Request => ({
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
    for (const window of WINDOWS) await measureWindows(documents, window, server, lucene)
    await lucene?.stop()
    await measureGets(server.port, documents)
  } finally {
    await server.kill()
    await lucene?.stop()
  }
  report.table(['what', 'perSecond', 'p50Ms', 'p99Ms', 'serverCpuUs', 'p99OverP50', 'p99ToAlone', 'ratio', 'documents', 'megabytes'])
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
