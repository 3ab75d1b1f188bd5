/**
 * Question: how soon does a server with an existing store answer, and how much memory does it use? Time from
 * the exec of node to the first correct answer of a search: after a clean stop, after kill -9 of an idle
 * server, and after kill -9 of one that has just written 500 documents, which the start has to analyse again.
 * Measured for the server alone and under its supervisor. Medians of 5 starts, with their processor time;
 * then anonymous memory, idle. There is no peer: the measure is the clock.
 * Stores: md50k in one collection, and 10 000 collections of 5 documents. Corpus: md50k.
 * Run: npm run bench -- start [-- PART,PART [DIRECTORY]], parts documents, collections. The first run creates
 * the stores in the directory, and they are kept; without a directory they are created for the run and
 * removed.
 * Aims: 0.5 s and 500 MB; with the collections 0.5 s and 150 MB. Last result: bench/README.md.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Server, startServer } from '../../test/harness/server/server.js'
import { type CorpusDocument, readLines, sharedPath } from '../data/corpora.js'
import { requestOf } from '../data/query_classes.js'
import { postBytes } from '../measure/connection.js'
import { keysOf, type Start, timedStart } from '../measure/first_answer.js'
import { runLoad } from '../measure/load.js'
import { anonymousBytes, untilIdle } from '../measure/process_memory.js'
import { Report } from '../measure/report.js'
import { median } from '../measure/statistics.js'

const STARTS = 5
const COLLECTIONS = 10_000
const DOCUMENTS_PER_COLLECTION = 5
const BATCH_DOCUMENTS = 500
/** Longer than any fill; a fill ends when the requests are exhausted. */
const FILL_SECONDS_MAX = 3_600
const MB = 1e6

const ENDS = ['clean stop', 'kill -9', 'write, kill -9'] as const
type End = (typeof ENDS)[number]

interface Store {
  readonly part: 'documents' | 'collections'
  readonly name: string
  readonly collection: string
  /** A document of that collection, whose title words are searched for. */
  readonly sample: string
  /** The n-th batch that fills the store, null after the last. */
  readonly batch: (n: number) => Buffer | null
}

const lines = await readLines(sharedPath('corpora/md/md50k.ndjson.gz'))
const chosen = new Set(process.argv[2]?.split(',') ?? ['documents', 'collections'])
const kept = process.argv[3]
const folder = kept ?? mkdtempSync(path.join(tmpdir(), 'mds-bench-start-'))
const report = new Report()

const stores: readonly Store[] = [
  {
    part: 'documents',
    name: `${lines.length} documents`,
    collection: 'md50k',
    sample: lines.at(-1)!,
    batch: (n) => {
      const documents = lines.slice(n * BATCH_DOCUMENTS, (n + 1) * BATCH_DOCUMENTS)
      return documents.length > 0 ? batchRequest('md50k', documents) : null
    },
  },
  {
    part: 'collections',
    name: `${COLLECTIONS} collections of ${DOCUMENTS_PER_COLLECTION}`,
    collection: `c${COLLECTIONS - 1}`,
    sample: collectionAt(COLLECTIONS - 1)[0]!,
    batch: (n) => (n < COLLECTIONS ? batchRequest(`c${n}`, collectionAt(n)) : null),
  },
]

function collectionAt(n: number): readonly string[] {
  return Array.from({ length: DOCUMENTS_PER_COLLECTION }, (_, at) => lines[(n * DOCUMENTS_PER_COLLECTION + at) % lines.length]!)
}

function batchRequest(collection: string, documents: readonly string[]): Buffer {
  return postBytes('/v1/add-batch', `{"collection":${JSON.stringify(collection)},"documents":[${documents.join(',')}]}`)
}

function searchFor({ collection, sample }: Store): object {
  const { contentMd } = JSON.parse(sample) as CorpusDocument
  return requestOf(collection, 'title', /^#+ +(.*)/mu.exec(contentMd)?.[1] ?? contentMd.slice(0, 40))
}

async function filled(store: Store): Promise<string> {
  const directory = path.join(folder, store.name.replaceAll(' ', '-'))
  if (existsSync(directory)) return directory
  mkdirSync(directory, { recursive: true })
  const server = await startServer({ directory })
  await runLoad(server.port, 2, FILL_SECONDS_MAX, store.batch)
  await untilIdle(server.pid)
  await server.stop()
  return directory
}

/** Kills the child processes, too: the supervisor's child would shut down cleanly after its parent's end. */
async function killAll(server: Server): Promise<void> {
  const listed = `/proc/${server.pid}/task/${server.pid}/children`
  const children = existsSync(listed) ? readFileSync(listed, 'utf8').split(' ').filter(Boolean) : []
  await server.kill()
  for (const pid of children) process.kill(Number(pid), 'SIGKILL')
  // The process holds the lock of the data directory until it ends.
  while (children.some((pid) => existsSync(`/proc/${pid}`))) await pause(1)
}

async function addStarts(store: Store, directory: string, supervisor: boolean, end: End): Promise<void> {
  const request = searchFor(store)
  const starts: Start[] = []
  let server = await startServer({ directory, supervisor })
  try {
    const expected = await keysOf(server, request)
    for (let round = 0; round < STARTS; round++) {
      if (end === 'write, kill -9')
        await runLoad(server.port, 1, FILL_SECONDS_MAX, (n) => (n === 0 ? batchRequest('written', lines.slice(0, BATCH_DOCUMENTS)) : null))
      if (end === 'clean stop') await server.stop()
      else await killAll(server)
      const start = await timedStart({ directory, supervisor }, request, expected)
      starts.push(start)
      server = start.server
    }
    report.add({
      what: `${store.name}, ${supervisor ? 'with supervisor' : 'server alone'}, after ${end}`,
      seconds: median(starts.map(({ seconds }) => seconds)),
      cpuSeconds: supervisor ? null : median(starts.map((start) => start.cpuSeconds)),
    })
    if (!supervisor && end !== 'kill -9') {
      await untilIdle(server.pid)
      report.add({ what: `${store.name}, idle after that start`, anonymousMb: anonymousBytes(server.pid) / MB })
    }
    await server.stop()
  } finally {
    await killAll(server)
  }
}

try {
  for (const store of stores.filter(({ part }) => chosen.has(part))) {
    const directory = await filled(store)
    for (const supervisor of [false, true]) for (const end of ENDS) await addStarts(store, directory, supervisor, end)
  }
  report.table(['what', 'seconds', 'cpuSeconds', 'anonymousMb'])
} finally {
  if (kept === undefined) rmSync(folder, { recursive: true, force: true })
}
