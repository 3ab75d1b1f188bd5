/**
 * Question: what do ranges, boosts, facets and filters add to a full-text search, and how long does an
 * aggregation take?
 * Each query of a class is sent plain and with each refinement, one after the other on one connection, so
 * that all see the same machine. Latencies are the client's. `ratio`: medians and 99th percentiles relative
 * to those of the plain query with as many results.
 * Corpus: md50k, queries/md.json (40 queries per class, 5 rounds, the first of which warms up). Each document
 * has a unique number (`n`, 51 318 values) besides its metadata. Run: npm run bench -- refine.
 * Aim: every refinement at most 1.5 times the plain query; an aggregation under 5 ms without a filter, under
 * 20 ms with one. Last result: bench/README.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { performance } from 'node:perf_hooks'
import { ServerProcess } from '../../test/harness/server/server_process.js'
import { readLines, sharedPath } from '../data/corpora.js'
import { fill } from '../data/fulltext_client.js'
import { type QueryClass, readQueries, requestOf } from '../data/query_classes.js'
import { Connection, postBytes } from '../measure/connection.js'
import { percentile, Report } from '../measure/report.js'

const ROUNDS = 5
const QUERIES = 40
const CLASSES: readonly QueryClass[] = ['term_high', 'or2', 'nl', 'and2', 'phrase2']
const COLLECTION = 'md'

type More = Readonly<Record<string, unknown>>

const lines = (await readLines(sharedPath('corpora/md/md50k.ndjson.gz'))).map((line, n) => {
  const document = JSON.parse(line) as { meta: Record<string, string[]> }
  return JSON.stringify({ ...document, meta: { ...document.meta, n: [String((n * 7919) % 51_318)] } })
})
const scratch = mkdtempSync(path.join(tmpdir(), 'mds-bench-refine-'))
const report = new Report()
const queries = readQueries()

/** @param half Unix seconds at which half of the documents had been added */
function refinements(half: number): Readonly<Record<string, More>> {
  const ten: Readonly<Record<string, More>> = {
    plain: {},
    'filter, half': { filterMeta: { repo: ['win32'] } },
    'range, half of the times': { rangeMeta: [{ field: 'addedAt', gte: half }] },
    'range, all times': { rangeMeta: [{ field: 'addedAt', gte: 0 }] },
    'range, no time': { rangeMeta: [{ field: 'addedAt', lt: 0 }] },
    'range, half of the numbers': { rangeMeta: [{ field: 'n', lt: 25_000 }] },
    'range, 1 % of the numbers': { rangeMeta: [{ field: 'n', gte: 100, lt: 613 }] },
    'range, all numbers': { rangeMeta: [{ field: 'n', gte: 0 }] },
    'range, no number': { rangeMeta: [{ field: 'n', lt: 0 }] },
    'range, half of the titles': { rangeMeta: [{ field: 'title', lt: 'I' }] },
    'boost, absent': { boost: { 'repo:none': 2 } },
    'boost, common x 2': { boost: { 'repo:win32': 2 } },
    'boost, common / 2': { boost: { 'repo:win32': -2 } },
    'boost, common x 100': { boost: { 'repo:win32': 100 } },
    'boost, rare x 100': { boost: { 'category:properties': 100 } },
    'boost, three': { boost: { 'repo:win32': 2, 'topic:reference': 3, 'category:properties': -4 } },
  }
  return {
    ...Object.fromEntries(Object.entries(ten).map(([name, more]) => [name, { ...more, limit: 10 }])),
    'plain, 50 results': { limit: 50 },
    'facetBy of 3 keys, 50 results': { limit: 50, facetBy: ['repo', 'topic', 'category'] },
  }
}

const AGGREGATIONS: Readonly<Record<string, More>> = {
  'facets of 3 keys': { facets: [{ field: 'repo' }, { field: 'topic' }, { field: 'category' }] },
  'facet of 51 318 values': { facets: [{ field: 'n' }] },
  'histogram by day': { histograms: [{ field: 'addedAt', interval: 'day' }] },
  'facets of 3 keys, filter': { filterMeta: { repo: ['win32'] }, facets: [{ field: 'repo' }, { field: 'topic' }, { field: 'category' }] },
  'facet of 51 318 values, filter': { filterMeta: { repo: ['win32'] }, facets: [{ field: 'n' }] },
  'histogram by day, filter': { filterMeta: { repo: ['win32'] }, histograms: [{ field: 'addedAt', interval: 'day' }] },
}

async function timed(connection: Connection, route: string, body: More): Promise<number> {
  const request = postBytes(route, JSON.stringify(body))
  const startedMs = performance.now()
  const answer = await connection.send(request)
  const elapsedMs = performance.now() - startedMs
  if (answer.status !== 200) throw new Error(`${route} answers ${answer.status}: ${answer.body.toString('utf8', 0, 300)}`)
  return elapsedMs
}

function push(samples: Map<string, number[]>, name: string, sample: number): void {
  const known = samples.get(name)
  if (known === undefined) samples.set(name, [sample])
  else known.push(sample)
}

function addRows(kind: string, samples: ReadonlyMap<string, number[]>): void {
  for (const [name, found] of samples) {
    const plain = samples.get(name.includes('50 results') ? 'plain, 50 results' : 'plain') ?? []
    const [p50Ms, p99Ms] = [percentile(found, 0.5), percentile(found, 0.99)]
    report.add({ asked: name, class: kind, p50Ms, ratio: p50Ms / percentile(plain, 0.5), p99Ms, p99ratio: p99Ms / percentile(plain, 0.99) })
  }
}

/** @param all also receives the samples */
async function measureSearches(connection: Connection, kind: QueryClass, half: number, all: Map<string, number[]>): Promise<void> {
  const samples = new Map<string, number[]>()
  const asked = Object.entries(refinements(half))
  for (let round = 0; round < ROUNDS; round++) {
    for (const [number, query] of queries[kind].slice(0, QUERIES).entries()) {
      // The first request runs with cold caches, so each refinement is first in turn.
      for (let turn = 0; turn < asked.length; turn++) {
        const [name, more] = asked[(turn + number + round) % asked.length]!
        const elapsedMs = await timed(connection, '/v1/fts', { ...requestOf(COLLECTION, kind, query), ...more })
        if (round === 0) continue
        push(samples, name, elapsedMs)
        push(all, name, elapsedMs)
      }
    }
  }
  addRows(kind, samples)
}

async function measureAggregations(connection: Connection): Promise<void> {
  for (const [name, more] of Object.entries(AGGREGATIONS)) {
    const samples: number[] = []
    for (let count = 0; count < QUERIES * ROUNDS; count++) {
      const elapsedMs = await timed(connection, '/v1/aggregate', { collection: COLLECTION, ...more })
      if (count >= QUERIES) samples.push(elapsedMs)
    }
    report.add({ asked: name, class: 'aggregate', p50Ms: percentile(samples, 0.5), p99Ms: percentile(samples, 0.99) })
  }
}

try {
  const server = await ServerProcess.start(path.join(scratch, 'db'))
  try {
    const connection = await Connection.open(server.port)
    const middle = Math.floor(lines.length / 2)
    await fill(connection, COLLECTION, lines.slice(0, middle))
    const half = Math.floor(Date.now() / 1000)
    await fill(connection, COLLECTION, lines.slice(middle))
    const all = new Map<string, number[]>()
    for (const kind of CLASSES) await measureSearches(connection, kind, half, all)
    addRows('all', all)
    await measureAggregations(connection)
    connection.close()
    report.table(['asked', 'class', 'p50Ms', 'ratio', 'p99Ms', 'p99ratio'])
  } finally {
    await server.kill()
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
