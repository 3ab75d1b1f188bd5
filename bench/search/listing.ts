/**
 * Question: how many pages per second does /v1/search answer, with ten whole documents each, at 16
 * connections, and how much of that rate is lost when the collection grows from 10 000 to 50 000 documents?
 * Pages are sorted by every field in both directions.
 *   `filtered`: 60 metadata filters with 100 to 3 000 matches in 50 000
 *   `unfiltered`: the first 200 documents of each order
 *   `anywhere`: pages at random depth, of 4 000 documents (22 MB), most of which a lane caches in time
 * The server's processor time per request is reported with the rate; it is steadier on a shared machine.
 * Corpus: md50k and its first 10 000 lines, queries/filters.json; seed below. Load by wrk; rounds are
 * interleaved, medians of 5. Run: npm run bench -- listing [SECONDS].
 * Aim: 10 000/s filtered and unfiltered at 50 000; time at most 1.5 times that at 10 000. Last result:
 * bench/README.md.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ServerProcess } from '../../test/harness/server/server_process.js'
import { readLines, sharedPath } from '../data/corpora.js'
import { fill } from '../data/fulltext_client.js'
import { Connection } from '../measure/connection.js'
import { cpuSeconds } from '../measure/process_cpu.js'
import { randomSource } from '../measure/random_source.js'
import { Report } from '../measure/report.js'
import { type Load, load, type Request } from '../measure/wrk.js'

const SECONDS = Number(process.argv[2] ?? 3)
const ROUNDS = 5
const CONNECTIONS = 16
const LIMIT = 10
const REQUESTS = 400
const FILTERS = 60
const SEED = 20_261
const KINDS = ['filtered', 'unfiltered', 'anywhere'] as const
const SORTS = ['addedAt', 'updatedAt', 'key']

type Kind = (typeof KINDS)[number]

const lines = await readLines(sharedPath('corpora/md/md50k.ndjson.gz'))
const { filters } = JSON.parse(readFileSync(sharedPath('corpora/queries/filters.json'), 'utf8')) as { readonly filters: readonly object[] }
const collections = [
  { name: 'md10k', documents: 10_000 },
  { name: 'md50k', documents: lines.length },
]
const scratch = mkdtempSync(path.join(tmpdir(), 'mds-bench-listing-'))
const report = new Report()

/** The same queries for both sizes. */
function requestsOf(kind: Kind, collection: string, documents: number): readonly Request[] {
  const random = randomSource(SEED)
  const below = (bound: number): number => Math.floor(random() * bound)
  return Array.from({ length: REQUESTS }, () => {
    const order = { collection, limit: LIMIT, sort: SORTS[below(SORTS.length)], asc: random() < 0.5 }
    const share = random()
    const depth = kind === 'unfiltered' ? 200 : documents - LIMIT
    const page =
      kind === 'filtered'
        ? { filterMeta: filters[Math.floor(share * Math.min(FILTERS, filters.length))] }
        : { offset: Math.floor(share * depth) }
    return { path: '/v1/search', json: JSON.stringify({ ...order, ...page }) }
  })
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

interface Round extends Load {
  readonly cpuUs: number
}

async function measure(server: ServerProcess, kind: Kind, name: string, documents: number): Promise<Round> {
  const before = cpuSeconds(server.pid)
  const result = await load(server.port, CONNECTIONS, SECONDS, requestsOf(kind, name, documents), path.join(scratch, 'load.lua'))
  return { ...result, cpuUs: ((cpuSeconds(server.pid) - before) * 1e6) / result.requests }
}

try {
  const server = await ServerProcess.start(path.join(scratch, 'db'))
  try {
    const connection = await Connection.open(server.port)
    for (const { name, documents } of collections) await fill(connection, name, lines.slice(0, documents))
    connection.close()
    const rounds = new Map<string, Round[]>()
    for (let round = 0; round <= ROUNDS; round++) {
      for (const kind of KINDS) {
        for (const { name, documents } of collections) {
          const result = await measure(server, kind, name, documents)
          // The first round warms up.
          if (round > 0) rounds.set(`${kind} ${name}`, [...(rounds.get(`${kind} ${name}`) ?? []), result])
        }
      }
    }
    for (const kind of KINDS) {
      const of = (name: string, value: (round: Round) => number): number => median((rounds.get(`${kind} ${name}`) ?? []).map(value))
      for (const { name } of collections) {
        report.add({
          kind,
          collection: name,
          perSecond: of(name, (round) => round.perSecond),
          p50Ms: of(name, (round) => round.p50Ms),
          p99Ms: of(name, (round) => round.p99Ms),
          serverCpuUs: of(name, (round) => round.cpuUs),
        })
      }
      const cpu = (name: string): number => of(name, (round) => round.cpuUs)
      report.add({ kind, collection: 'md50k / md10k', serverCpuUs: cpu('md50k') / cpu('md10k') })
    }
    report.table(['kind', 'collection', 'perSecond', 'p50Ms', 'p99Ms', 'serverCpuUs'])
  } finally {
    await server.kill()
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
