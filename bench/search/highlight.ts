/**
 * Question: what do highlights cost? Fifty whole documents per page (7 to 15 KB each), alternately with and
 * without `highlight`. Measured: the whole request as the client sees it, on one connection, and the server's
 * processor time for it. `large`: one hit of 4 MB. `first`: each request once, when its documents are
 * highlighted for the first time.
 * Corpus: md50k and queries/md.json, with the classes of bench/data/query_classes.ts. Rounds are interleaved,
 * medians of 5.
 * Run: npm run bench -- highlight [-- SECONDS]. Aim: at most 1.5 times the request without. Last result:
 * bench/README.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ServerProcess } from '../../test/harness/server/server_process.js'
import { readLines, sharedPath } from '../data/corpora.js'
import { fill } from '../data/fulltext_client.js'
import { type QueryClass, readQueries, requestOf } from '../data/query_classes.js'
import { Connection, postBytes } from '../measure/connection.js'
import { type LoadResult, runLoad } from '../measure/load.js'
import { cpuSeconds } from '../measure/process_cpu.js'
import { Report } from '../measure/report.js'
import { median } from '../measure/statistics.js'

const SECONDS = Number(process.argv[2] ?? 1)
const ROUNDS = 5
const LIMIT = 50
const QUERIES = 200
const KINDS: readonly QueryClass[] = ['term_high', 'title', 'nl', 'and2', 'phrase2']
const LARGE_BYTES = 4_000_000
/**
 * A lane makes term vectors when it shows a document for the second time, and the requests of a connection go
 * to two lanes.
 */
const WARM_PASSES = 6

interface Round extends LoadResult {
  readonly cpuUs: number
}

const lines = await readLines(sharedPath('corpora/md/md50k.ndjson.gz'))
const classes = readQueries()
const report = new Report()
const scratch = mkdtempSync(path.join(tmpdir(), 'mds-bench-highlight-'))

function bodies(kind: string, highlight: boolean): readonly Buffer[] {
  const requests =
    kind === 'large'
      ? [{ collection: 'large', query: 'needle log', limit: LIMIT }]
      : classes[kind as QueryClass].slice(0, QUERIES).map((query) => ({ ...requestOf('md', kind as QueryClass, query), limit: LIMIT }))
  return requests.map((request) => postBytes('/v1/fts', JSON.stringify({ ...request, highlight })))
}

/** Requests of one kind, cycled: a round continues where the previous one ended. */
class Requests {
  readonly #bodies: readonly Buffer[]
  #next = 0

  constructor(kind: string, highlight: boolean) {
    this.#bodies = bodies(kind, highlight)
  }

  async measure(server: ServerProcess, seconds: number, most = Number.POSITIVE_INFINITY): Promise<Round> {
    const before = cpuSeconds(server.pid)
    const result = await runLoad(server.port, 1, seconds, (n) =>
      n < most ? (this.#bodies[this.#next++ % this.#bodies.length] ?? null) : null,
    )
    return { ...result, cpuUs: ((cpuSeconds(server.pid) - before) * 1e6) / result.requests }
  }

  /** Sends each request the given number of times. */
  passes(server: ServerProcess, times: number): Promise<Round> {
    return this.measure(server, Number.POSITIVE_INFINITY, this.#bodies.length * times)
  }
}

/** Prose of md50k in one document, with a marker word here and there. */
function largeDocument(): string {
  const texts: string[] = []
  for (let at = 0, bytes = 0; bytes < LARGE_BYTES; at++) {
    const { contentMd } = JSON.parse(lines[at % lines.length] ?? '{}') as { contentMd: string }
    texts.push(contentMd, at % 50 === 0 ? 'the needle in the log' : '')
    bytes += contentMd.length
  }
  return JSON.stringify({ key: 'large', lang: 'en', contentMd: texts.join('\n\n') })
}

try {
  const server = await ServerProcess.start(path.join(scratch, 'db'))
  try {
    const connection = await Connection.open(server.port)
    await fill(connection, 'md', lines)
    await fill(connection, 'large', [largeDocument()])
    connection.close()
    for (const kind of [...KINDS, 'large']) {
      const [plain, marked] = [new Requests(kind, false), new Requests(kind, true)]
      await plain.passes(server, WARM_PASSES)
      const first = [await plain.passes(server, 1), await marked.passes(server, 1)] as const
      await marked.passes(server, WARM_PASSES)
      const rounds: (readonly [Round, Round])[] = []
      for (let round = 0; round < ROUNDS; round++)
        rounds.push([await plain.measure(server, SECONDS), await marked.measure(server, SECONDS)])
      const of = (which: 0 | 1, value: (round: Round) => number): number => median(rounds.map((pair) => value(pair[which])))
      report.add({
        kind,
        plainMs: of(0, (round) => 1000 / round.perSecond),
        highlightMs: of(1, (round) => 1000 / round.perSecond),
        ratio: median(rounds.map(([without, with_]) => without.perSecond / with_.perSecond)),
        plainCpuUs: of(0, (round) => round.cpuUs),
        highlightCpuUs: of(1, (round) => round.cpuUs),
        p99Ms: of(1, (round) => round.p99Ms),
        firstPlainMs: 1000 / first[0].perSecond,
        firstMs: 1000 / first[1].perSecond,
      })
    }
    report.table(['kind', 'plainMs', 'highlightMs', 'ratio', 'plainCpuUs', 'highlightCpuUs', 'p99Ms', 'firstPlainMs', 'firstMs'])
  } finally {
    await server.kill()
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
