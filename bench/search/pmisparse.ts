/**
 * Question: what does pmisparse cost compared with bm25? Ten whole documents per page; the server's
 * `durationMs` and the time that the client sees, on one connection. `first`: every query for the first time,
 * when the related terms of its words are learned. `again`: the rounds after it, both algorithms in turn.
 * Corpus: md50k and queries/md.json, classes title and nl. Run: npm run bench -- pmisparse.
 * Aim: at most 3 times bm25. Last result: bench/README.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ServerProcess } from '../../test/harness/server/server_process.js'
import { readLines, sharedPath } from '../data/corpora.js'
import { fill, search } from '../data/fulltext_client.js'
import { type QueryClass, readQueries, requestOf } from '../data/query_classes.js'
import { Connection } from '../measure/connection.js'
import { Report } from '../measure/report.js'
import { median } from '../measure/statistics.js'

const KINDS: readonly QueryClass[] = ['title', 'nl']
const QUERIES = 200
const ROUNDS = 5

interface Times {
  readonly engineMs: readonly number[]
  readonly clientMs: readonly number[]
}

const scratch = mkdtempSync(path.join(tmpdir(), 'mds-bench-pmisparse-'))
const report = new Report()

async function run(connection: Connection, kind: QueryClass, queries: readonly string[], algorithm: string): Promise<Times> {
  const engineMs: number[] = []
  const clientMs: number[] = []
  for (const query of queries) {
    const startedMs = performance.now()
    const hits = await search(connection, { ...requestOf('md', kind, query), algorithm })
    clientMs.push(performance.now() - startedMs)
    engineMs.push(hits.engineMs ?? 0)
  }
  return { engineMs, clientMs }
}

function add(kind: string, what: string, rounds: readonly Times[]): void {
  const all = (of: (times: Times) => readonly number[]): number[] => rounds.flatMap(of).sort((one, other) => one - other)
  const [engine, client] = [all((times) => times.engineMs), all((times) => times.clientMs)]
  const at = (sorted: readonly number[], share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
  report.add({
    kind,
    what,
    engineP50: at(engine, 0.5),
    engineP99: at(engine, 0.99),
    clientP50: at(client, 0.5),
    clientP99: at(client, 0.99),
  })
}

const server = await ServerProcess.start(path.join(scratch, 'db'))
try {
  const connection = await Connection.open(server.port)
  await fill(connection, 'md', await readLines(sharedPath('corpora/md/md50k.ndjson.gz')))
  const classes = readQueries()
  for (const kind of KINDS) {
    const queries = classes[kind].slice(0, QUERIES)
    await run(connection, kind, queries, 'bm25')
    add(kind, 'pmisparse, first', [await run(connection, kind, queries, 'pmisparse')])
    // Each read lane learns separately. These rounds let the remaining lanes learn.
    for (let round = 0; round < 3; round++) await run(connection, kind, queries, 'pmisparse')
    const plain: Times[] = []
    const related: Times[] = []
    for (let round = 0; round < ROUNDS; round++) {
      plain.push(await run(connection, kind, queries, 'bm25'))
      related.push(await run(connection, kind, queries, 'pmisparse'))
    }
    add(kind, 'bm25', plain)
    add(kind, 'pmisparse, again', related)
    const sums = (rounds: readonly Times[]): number => median(rounds.map(({ clientMs }) => clientMs.reduce((sum, ms) => sum + ms, 0)))
    report.add({ kind, what: 'ratio of rounds, client', ratio: sums(related) / sums(plain) })
  }
  connection.close()
  report.table(['kind', 'what', 'engineP50', 'engineP99', 'clientP50', 'clientP99', 'ratio'])
} finally {
  await server.kill()
  rmSync(scratch, { recursive: true, force: true })
}
