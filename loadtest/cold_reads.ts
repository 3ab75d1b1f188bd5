/**
 * The store is three times as large as the memory that the server may use: do gets of a few small documents,
 * which stay in memory, wait for gets that come from the disk?
 * The server runs in a control group whose limit is a third of the store. Small gets on 8 connections are
 * measured alone, and beside gets of documents anywhere on 4 connections. Corpus: md50k, four times under
 * different keys. Needs the right to make a control group of memory.
 * Run: npm run loadtest -- cold-reads [-- COPIES=4] [SECONDS=8]
 * Aim: p99 beside cold gets at most 2 x that alone. Last result: bench/README.md.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readDocuments, sharedPath } from '../bench/data/corpora.js'
import { postBytes } from '../bench/measure/connection.js'
import { type LoadResult, runLoad } from '../bench/measure/load.js'
import { randomSource } from '../bench/measure/random_source.js'
import { Report, skip } from '../bench/measure/report.js'
import { type Server, startServer } from '../test/harness/server/server.js'

const COPIES = Number(process.argv[2] ?? 4)
const SECONDS = Number(process.argv[3] ?? 8)
const DOCUMENTS = 50_000
const BATCH_DOCUMENTS = 500
const SMALL_DOCUMENTS = 200
const SMALL_BYTES_MAX = 2_000
const SMALL_CONNECTIONS = 8
const COLD_CONNECTIONS = 4
const SHARE = 3
const SEED = 20_264

/** A group whose processes may use so many bytes, page cache included. Undefined without the right to it. */
function memoryGroup(bytes: number): { add(pid: number): void; remove(): void } | undefined {
  const isFirst = existsSync('/sys/fs/cgroup/memory')
  const path = join(isFirst ? '/sys/fs/cgroup/memory' : '/sys/fs/cgroup', `mds-cold-reads-${process.pid}`)
  try {
    mkdirSync(path)
    writeFileSync(join(path, isFirst ? 'memory.limit_in_bytes' : 'memory.max'), String(bytes))
  } catch {
    return undefined
  }
  return { add: (pid) => writeFileSync(join(path, 'cgroup.procs'), String(pid)), remove: () => rmdirSync(path) }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
}

const metric = async (server: Server, name: string): Promise<number> =>
  Number(new RegExp(`^mddb_${name} (\\d+)$`, 'm').exec((await server.get('/metrics')).text)?.[1])

/** Memory of the server that can't be evicted. */
async function residentMb({ pid }: Server): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1]) / 1024
}

const report = new Report()
const random = randomSource(SEED)
const corpus = await readDocuments(sharedPath('corpora/md/md50k.ndjson.gz'), DOCUMENTS)
const folder = mkdtempSync(join(tmpdir(), 'mds-cold-reads-'))
const directory = join(folder, 'db')
try {
  const filling = await startServer({ directory })
  for (let copy = 0; copy < COPIES; copy++)
    for (let at = 0; at < corpus.length; at += BATCH_DOCUMENTS) {
      const documents = corpus.slice(at, at + BATCH_DOCUMENTS).map((document) => ({ ...document, key: `${copy}/${document.key}` }))
      const { status, text } = await filling.post('/v1/add-batch', { collection: 'md', documents })
      if (status !== 200) throw new Error(`add-batch: ${status} ${text.slice(0, 300)}`)
    }
  await filling.stop()
  const files = filesBelow(directory)
  const storeBytes = files.reduce((sum, file) => sum + statSync(file).size, 0)
  const limitBytes = Math.floor(storeBytes / SHARE)
  // Pages that are in memory already would be counted for nobody.
  for (const file of files) spawnSync('dd', [`of=${file}`, 'oflag=nocache', 'conv=notrunc,fdatasync', 'count=0'])
  const group = memoryGroup(limitBytes)
  if (group === undefined) skip('a control group of memory takes the right to make one')
  const server = await startServer({ directory, onSpawn: (pid) => group.add(pid) })
  const getOf = (copy: number, { key, lang }: { readonly key: string; readonly lang: string }): Buffer =>
    postBytes('/v1/get', JSON.stringify({ collection: 'md', key: `${copy}/${key}`, lang }))
  const small = corpus
    .filter(({ contentMd }) => contentMd.length < SMALL_BYTES_MAX)
    .slice(0, SMALL_DOCUMENTS)
    .map((document) => getOf(0, document))
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!
  const smallGets = (): Promise<LoadResult> => runLoad(server.port, SMALL_CONNECTIONS, SECONDS, () => pick(small))
  const coldGets = (): Promise<LoadResult> =>
    runLoad(server.port, COLD_CONNECTIONS, SECONDS, () => getOf(Math.floor(random() * COPIES), pick(corpus)))
  console.log(JSON.stringify({ seed: SEED, documents: COPIES * corpus.length, storeBytes, limitBytes }))
  // The first cold load fills the memory of the group.
  await coldGets()
  await smallGets()
  /** The load, and what the event loop did meanwhile. */
  const counted = async (what: string, load: () => Promise<readonly [LoadResult, ...LoadResult[]]>): Promise<LoadResult> => {
    const names = ['documents_answered_on_loop_total', 'loop_page_faults_total']
    const before = await Promise.all(names.map((name) => metric(server, name)))
    const [first] = await load()
    const after = await Promise.all(names.map((name) => metric(server, name)))
    const [onLoop = 0, faults = 0] = after.map((value, at) => value - before[at]!)
    report.add({ what, ...first, onLoop, faults, rssMb: await residentMb(server) })
    return first
  }
  const alone = await counted('small gets alone', async () => [await smallGets()])
  const beside = await counted('small gets beside cold ones', async () => await Promise.all([smallGets(), coldGets()]))
  await counted('cold gets alone', async () => [await coldGets()])
  report.add({ what: 'p99 beside / alone', ratio: beside.p99Ms / alone.p99Ms })
  report.table(['what', 'perSecond', 'p50Ms', 'p99Ms', 'ratio', 'onLoop', 'faults', 'rssMb'])
  await server.stop()
  group.remove()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
