/**
 * Question: what does encryption at rest cost?
 * First: gets and adds of whole documents in an encrypted collection compared with a plaintext one on the
 * same server. Rounds alternate, so that both see the same machine and the same store; the server's processor
 * time is measured for each. Then: a rotation of the encrypted collection's keys under gets, with their p99
 * before and during it.
 * Corpus: md50k. Gets are random over all documents, so that hardly any is cached; adds replace some of them.
 * Load by `wrk`. Medians of 5.
 * Run: npm run bench -- encryption [-- DOCUMENTS=50000] [SECONDS=3] [PARTS=get,add,rotate] [DIRECTORY]
 * DIRECTORY is filled if it is empty, and kept.
 * Aim: less than 15 % of each rate; p99 of get less than doubled. Last result: bench/README.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Server, startServer } from '../../test/harness/server/server.js'
import { type CorpusDocument, readDocuments, sharedPath } from '../data/corpora.js'
import { cpuSeconds } from '../measure/process_cpu.js'
import { Report } from '../measure/report.js'
import { median } from '../measure/statistics.js'
import { type Load, load, type Request } from '../measure/wrk.js'

const DOCUMENTS = Number(process.argv[2] ?? 50_000)
const SECONDS = Number(process.argv[3] ?? 3)
const PARTS = (process.argv[4] ?? 'get,add,rotate').split(',')
const ROUNDS = 5
const CONNECTIONS = 64
const BATCH_DOCUMENTS = 500
/** Requests in a wrk script: 4 000 adds are 20 MB. */
const GETS = 20_000
const ADDS = 4_000
const COLLECTIONS = ['clear', 'sealed'] as const
const [OLD_KEY = '', NEW_KEY = ''] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64'))
const FIRST_KEY = { SVC_ENCRYPTION_KEY: OLD_KEY }
const BOTH_KEYS = {
  SVC_ENCRYPTION_KEY: NEW_KEY,
  SVC_ENCRYPTION_KEY_ID: '2',
  SVC_ENCRYPTION_KEYS_PREVIOUS: JSON.stringify([{ id: 1, key: OLD_KEY }]),
}
const POLL_MS = 200

interface Round extends Load {
  readonly cpuUs: number
}

const documents = await readDocuments(sharedPath('corpora/md/md50k.ndjson.gz'), DOCUMENTS)
const report = new Report()
const scratch = mkdtempSync(path.join(tmpdir(), 'mds-bench-encryption-'))
const directory = process.argv[5] ?? path.join(scratch, 'db')
const script = path.join(scratch, 'load.lua')

async function fill(server: Server): Promise<void> {
  await ok(server.request('PUT', '/v1/collection-config', { collection: 'sealed', encrypted: true }))
  for (let at = 0; at < documents.length; at += BATCH_DOCUMENTS) {
    const batch = documents.slice(at, at + BATCH_DOCUMENTS)
    for (const collection of COLLECTIONS) await ok(server.post('/v1/add-batch', { collection, documents: batch }))
  }
}

async function ok<T extends { readonly status: number; readonly text: string }>(answer: Promise<T>): Promise<T> {
  const { status, text } = await answer
  if (status !== 200) throw new Error(`${status} ${text.slice(0, 300)}`)
  return answer
}

/**
 * The same documents in the same order for both collections. The step is coprime to their number, so it
 * visits all of them.
 */
function some(count: number): readonly CorpusDocument[] {
  return Array.from({ length: Math.min(count, documents.length) }, (_, at) => documents[(at * 7919) % documents.length]!)
}

function requests(what: 'get' | 'add', collection: string): readonly Request[] {
  return what === 'get'
    ? some(GETS).map(({ key, lang }) => ({ path: '/v1/get', json: JSON.stringify({ collection, key, lang }) }))
    : some(ADDS).map((document) => ({ path: '/v1/add', json: JSON.stringify({ collection, ...document }) }))
}

async function measure(server: Server, of: readonly Request[], seconds: number): Promise<Round> {
  const before = cpuSeconds(server.pid)
  const result = await load(server.port, CONNECTIONS, seconds, of, script)
  return { ...result, cpuUs: ((cpuSeconds(server.pid) - before) * 1e6) / result.requests }
}

async function compare(server: Server, what: 'get' | 'add'): Promise<void> {
  const rounds = { clear: [] as Round[], sealed: [] as Round[] }
  for (let round = 0; round <= ROUNDS; round++) {
    for (const collection of COLLECTIONS) {
      const result = await measure(server, requests(what, collection), SECONDS)
      // The first round warms up.
      if (round > 0) rounds[collection].push(result)
    }
  }
  for (const collection of COLLECTIONS) {
    const of = (measured: (round: Round) => number): number => median(rounds[collection].map(measured))
    report.add({
      what: `${what}, ${collection}`,
      'per s': of((r) => r.perSecond),
      'p50 ms': of((r) => r.p50Ms),
      'p99 ms': of((r) => r.p99Ms),
      'CPU us': of((r) => r.cpuUs),
    })
  }
  const ratios = rounds.sealed.map((round, at) => round.perSecond / rounds.clear[at]!.perSecond)
  report.add({ what: `${what}, sealed / clear, pairs`, ratio: median(ratios) })
}

async function rotateUnderGets(server: Server): Promise<void> {
  const gets = requests('get', 'sealed')
  const before = [await measure(server, gets, SECONDS), await measure(server, gets, SECONDS)]
  const begun = performance.now()
  let job = (await ok(server.post('/v1/encryption/rotate', { collection: 'sealed' }))).json<{
    id: string
    status: string
    scanned: number
    errors: number
  }>()
  const during: Round[] = []
  while (job.status === 'queued' || job.status === 'running') {
    during.push(await measure(server, gets, SECONDS))
    job = (await ok(server.get(`/v1/encryption/jobs/${job.id}`))).json()
  }
  if (job.status !== 'completed' || job.errors > 0) throw new Error(JSON.stringify(job))
  const rows = (what: string, rounds: readonly Round[]): void =>
    report.add({
      what,
      'per s': median(rounds.map((r) => r.perSecond)),
      'p50 ms': median(rounds.map((r) => r.p50Ms)),
      'p99 ms': median(rounds.map((r) => r.p99Ms)),
    })
  rows('get before the rotation', before)
  rows('get during the rotation', during)
  report.add({ what: `rotation of ${job.scanned} rows, s`, ratio: (performance.now() - begun) / 1000 })
}

/** Waits until the index has nothing more to merge: the server uses almost no processor time. */
async function rest(server: Server): Promise<void> {
  for (let before = cpuSeconds(server.pid), calm = 0; calm < 3;) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    const now = cpuSeconds(server.pid)
    calm = now - before < 0.02 ? calm + 1 : 0
    before = now
  }
}

async function run(parts: readonly string[], environment: Readonly<Record<string, string>>): Promise<void> {
  const server = await startServer({ directory, env: environment })
  try {
    const { collections } = (await ok(server.get('/v1/stats'))).json<{ collections: readonly unknown[] }>()
    if (collections.length === 0) await fill(server)
    await rest(server)
    for (const part of parts) {
      if (part === 'rotate') await rotateUnderGets(server)
      else await compare(server, part as 'get' | 'add')
    }
  } finally {
    await server.stop()
  }
}

try {
  const rates = PARTS.filter((part) => part !== 'rotate')
  if (rates.length > 0) await run(rates, FIRST_KEY)
  if (PARTS.includes('rotate')) await run(['rotate'], BOTH_KEYS)
  report.table(['what', 'per s', 'p50 ms', 'p99 ms', 'CPU us', 'ratio'])
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
