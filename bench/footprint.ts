/**
 * Question: what does the service take on disk and in memory, and how soon is it there? Parts, all unless named:
 *   pages        live pages of the truth env (binlog apart) and of the index env, beside the bytes of the content; anonymous memory when idle
 *   start        from exec of node to the first right `/v1/get` and `/v1/fts`, after a clean stop and after kill -9; medians of 3
 *   collections  10 000 collections of 5 documents: the same start, and memory
 *   rewrites     file size beside live pages and content after every document has been written anew ten times
 * There is no peer: the measures are the content itself and the clock.
 * Corpus: md50k. Run: npm run bench:footprint [-- PART,PART] (MDS_BENCH_DOCUMENTS=n for a smaller corpus). Aims: live pages at most 1.0 x content, index at most 0.22, file at most 2 x live;
 * under 500 MB idle, under 0.5 s to the first right answer; collections under 0.5 s and 150 MB. Last result: bench/README.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { startServer, type Server } from '../test/harness/server.js'
import { postBytes } from './connection.js'
import { readLines, sharedPath, type CorpusDocument } from './corpora.js'
import { indexPages, truthPages, type EnvPages } from './env_pages.js'
import { answersOf, timedStart, type Probe } from './first_answer.js'
import { runLoad } from './load.js'
import { anonymousBytes, untilIdle } from './process_memory.js'
import { requestOf } from './query_classes.js'
import { Report } from './report.js'
import { median } from './statistics.js'

const PARTS = ['pages', 'start', 'collections', 'rewrites'] as const
const STARTS = 3
const COLLECTIONS = 10_000
const DOCUMENTS_PER_COLLECTION = 5
const REWRITES = 10
const BATCH_DOCUMENTS = 500
/** Longer than any fill: the requests end it. */
const FILL_SECONDS_MAX = 3_600
const MB = 1e6

const chosen = new Set(process.argv[2]?.split(',') ?? PARTS)
const lines = await readLines(
  sharedPath('corpora/md/md50k.ndjson.gz'),
  Number(process.env['MDS_BENCH_DOCUMENTS'] ?? Number.POSITIVE_INFINITY),
)
const documents = lines.map((line) => JSON.parse(line) as CorpusDocument)
const contentBytes = documents.reduce((sum, { contentMd }) => sum + Buffer.byteLength(contentMd), 0)
const scratch = mkdtempSync(path.join(tmpdir(), 'mds-bench-footprint-'))
const report = new Report()

function batchRequest(collection: string, batch: readonly string[]): Buffer {
  return postBytes('/v1/add-batch', `{"collection":${JSON.stringify(collection)},"documents":[${batch.join(',')}]}`)
}

async function fillAll(server: Server, collection: string, all: readonly string[]): Promise<void> {
  const batches = Math.ceil(all.length / BATCH_DOCUMENTS)
  await runLoad(server.port, 1, FILL_SECONDS_MAX, (n) =>
    n < batches ? batchRequest(collection, all.slice(n * BATCH_DOCUMENTS, (n + 1) * BATCH_DOCUMENTS)) : null,
  )
}

async function addMemory(what: string, server: Server): Promise<void> {
  await untilIdle(server.pid)
  report.add({ what: `${what}: anonymous memory, idle, MB`, value: anonymousBytes(server.pid) / MB })
}

function keysOf(answer: string): string {
  const { results } = JSON.parse(answer) as { readonly results: readonly { readonly document: { readonly key: string } }[] }
  return results.map((result) => result.document.key).join('\n')
}

/** A get of the last document and a search for words of its title, whose ten keys must be the same again. */
function probesOf(collection: string, { key, lang, contentMd }: CorpusDocument): readonly Probe[] {
  const words = /^#+ +(.*)/mu.exec(contentMd)?.[1] ?? contentMd.slice(0, 40)
  return [
    { path: '/v1/get', body: { collection, key, lang }, essence: (answer) => (JSON.parse(answer) as CorpusDocument).contentMd },
    { path: '/v1/fts', body: requestOf(collection, 'title', words), essence: keysOf },
  ]
}

/** @param end how the server goes before the start: what has to be made good differs */
async function addStarts(what: string, server: Server, probes: readonly Probe[], end: 'stop' | 'kill'): Promise<Server> {
  const expected = await answersOf(server, probes)
  const millis: (readonly number[])[] = []
  let running = server
  for (let round = 0; round < STARTS; round++) {
    await running[end]()
    const start = await timedStart(server.directory, probes, expected)
    millis.push(start.millis)
    running = start.server
  }
  const after = end === 'stop' ? 'a clean stop' : 'kill -9'
  for (const [at, { path: asked }] of probes.entries())
    report.add({ what: `${what}: exec to first right ${asked} after ${after}, s`, value: median(millis.map((round) => round[at]!)) / 1000 })
  return running
}

function addPages(what: string, pages: EnvPages, content: number, without: readonly string[] = []): number {
  const live = pages.liveBytes - without.reduce((sum, table) => sum + (pages.tables.get(table) ?? 0), 0)
  report.add({ what: `${what}: live pages, MB`, value: live / MB, toContent: live / content })
  for (const [table, bytes] of pages.tables) {
    if (bytes > content / 1000)
      console.log(JSON.stringify({ what, table: table === '' ? 'root and free list' : table, bytes, toContent: bytes / content }))
  }
  return live
}

async function addAllPages(directory: string): Promise<void> {
  const truth = await truthPages(directory)
  const index = await indexPages(directory)
  const live = addPages('truth env without binlog', truth, contentBytes, ['binlog'])
  const indexLive = index === null ? 0 : addPages('index env', index, contentBytes)
  report.add({
    what: index === null ? 'truth env alone (the index lies in memory)' : 'both envs',
    value: (live + indexLive) / MB,
    toContent: (live + indexLive) / contentBytes,
  })
  report.add({
    what: 'files, MB',
    value: (truth.fileBytes + (index?.fileBytes ?? 0)) / MB,
    toLive: (truth.fileBytes + (index?.fileBytes ?? 0)) / (truth.liveBytes + (index?.liveBytes ?? 0)),
  })
}

/** Parts `pages` and `start` share one filled directory. */
async function measureCorpus(): Promise<void> {
  const directory = path.join(scratch, 'corpus')
  let server = await startServer({ directory })
  try {
    await fillAll(server, 'md50k', lines)
    if (chosen.has('pages')) await addMemory(`${documents.length} documents, after the fill`, server)
    const probes = probesOf('md50k', documents.at(-1)!)
    if (chosen.has('start')) {
      for (const end of ['stop', 'kill'] as const) server = await addStarts(`${documents.length} documents`, server, probes, end)
      await addMemory(`${documents.length} documents, after a start`, server)
    }
    await server.stop()
    if (chosen.has('pages')) await addAllPages(directory)
  } finally {
    await server.kill()
  }
}

async function measureCollections(): Promise<void> {
  const directory = path.join(scratch, 'collections')
  let server = await startServer({ directory })
  try {
    const batchAt = (n: number): readonly string[] =>
      Array.from({ length: DOCUMENTS_PER_COLLECTION }, (_, at) => lines[(n * DOCUMENTS_PER_COLLECTION + at) % lines.length]!)
    await runLoad(server.port, 8, FILL_SECONDS_MAX, (n) => (n < COLLECTIONS ? batchRequest(`c${n}`, batchAt(n)) : null))
    const what = `${COLLECTIONS} collections`
    await addMemory(`${what}, after the fill`, server)
    const last = COLLECTIONS - 1
    const probes = probesOf(`c${last}`, JSON.parse(batchAt(last)[0]!) as CorpusDocument)
    server = await addStarts(what, server, probes, 'stop')
    await addMemory(`${what}, after a start`, server)
    await server.stop()
  } finally {
    await server.kill()
  }
}

/** Every rewrite changes the content, so that nothing is spared. Revisions are off: they would keep every state alive. */
async function measureRewrites(): Promise<void> {
  const directory = path.join(scratch, 'rewrites')
  const server = await startServer({ directory })
  try {
    for (let round = 0; round <= REWRITES; round++) {
      await fillAll(
        server,
        'rewritten',
        documents.map((document) =>
          JSON.stringify({ ...document, contentMd: `${document.contentMd}\n\nState ${round}.`, saveRevision: false }),
        ),
      )
    }
    await untilIdle(server.pid)
    await server.stop()
    for (const [what, pages] of [
      ['truth env', await truthPages(directory)],
      ['index env', await indexPages(directory)],
    ] as const) {
      if (pages === null) continue
      report.add({
        what: `${REWRITES} rewrites of ${documents.length}, ${what}: file, MB`,
        value: pages.fileBytes / MB,
        toLive: pages.fileBytes / pages.liveBytes,
        toContent: pages.fileBytes / contentBytes,
      })
      for (const [table, bytes] of pages.tables) if (bytes > MB) console.log(JSON.stringify({ what, table, bytes }))
    }
  } finally {
    await server.kill()
  }
}

try {
  console.log(JSON.stringify({ documents: documents.length, contentMb: contentBytes / MB }))
  if (chosen.has('pages') || chosen.has('start')) await measureCorpus()
  if (chosen.has('collections')) await measureCollections()
  if (chosen.has('rewrites')) await measureRewrites()
  report.table(['what', 'value', 'toContent', 'toLive'])
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
