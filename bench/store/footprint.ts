/**
 * Question: how much disk space and memory does the service use? Parts, all unless named:
 *   pages     live pages of the truth env (binlog apart) and of the index env, compared with the bytes of the
 *             content; anonymous memory when idle
 *   rewrites  file size compared with live pages and content after every document was rewritten ten times
 * There is no peer: the baseline is the content itself. Start times: start.ts. Corpus: md50k.
 * Run: npm run bench -- footprint [-- PART,PART] (MDS_BENCH_DOCUMENTS=n for a smaller corpus).
 * Aims: live pages at most 1.0 x content, index at most 0.22, file at most 2 x live; under 500 MB idle.
 * Last result: bench/README.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Server, startServer } from '../../test/harness/server/server.js'
import { type CorpusDocument, readLines, sharedPath } from '../data/corpora.js'
import { postBytes } from '../measure/connection.js'
import { type EnvPages, indexPages, truthPages } from '../measure/env_pages.js'
import { runLoad } from '../measure/load.js'
import { anonymousBytes, untilIdle } from '../measure/process_memory.js'
import { Report } from '../measure/report.js'

const PARTS = ['pages', 'rewrites'] as const
const REWRITES = 10
const BATCH_DOCUMENTS = 500
/** Longer than any fill; a fill ends when the requests are exhausted. */
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

async function measurePages(): Promise<void> {
  const directory = path.join(scratch, 'corpus')
  const server = await startServer({ directory })
  try {
    await fillAll(server, 'md50k', lines)
    await addMemory(`${documents.length} documents, after the fill`, server)
    await server.stop()
    await addAllPages(directory)
  } finally {
    await server.kill()
  }
}

/**
 * Every rewrite changes the content, so that no write is skipped. Revisions are off, because they would keep
 * every old state live.
 */
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
  if (chosen.has('pages')) await measurePages()
  if (chosen.has('rewrites')) await measureRewrites()
  report.table(['what', 'value', 'toContent', 'toLive'])
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
