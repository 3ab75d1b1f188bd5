/**
 * Question: what do highlights cost? Fifty whole documents a page (about 5 KB each), with `highlight` and without, in turn; the whole request as the client sees it, one connection, and the server's
 * processor time for it. `large`: one hit of 4 MB.
 * Corpus: md50k and queries/md.json, as the classes of bench/query_classes.ts say; rounds are interleaved, medians of 5. Run: npm run bench:highlight [-- SECONDS].
 * Aim: at most 1.5 times the request without. Last result: bench/README.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ServerProcess } from '../test/fault/server_process.js'
import { Connection, postBytes } from './connection.js'
import { readLines, sharedPath } from './corpora.js'
import { fill } from './fulltext_client.js'
import { type LoadResult, runLoad } from './load.js'
import { cpuSeconds } from './process_cpu.js'
import { readQueries, requestOf, type QueryClass } from './query_classes.js'
import { Report } from './report.js'
import { median } from './statistics.js'

const SECONDS = Number(process.argv[2] ?? 1)
const ROUNDS = 5
const LIMIT = 50
const QUERIES = 200
const KINDS: readonly QueryClass[] = ['term_high', 'title', 'nl', 'and2', 'phrase2']
const LARGE_BYTES = 4_000_000

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

async function measure(server: ServerProcess, requests: readonly Buffer[]): Promise<Round> {
  const before = cpuSeconds(server.pid)
  const result = await runLoad(server.port, 1, SECONDS, (n) => requests[n % requests.length] ?? null)
  return { ...result, cpuUs: ((cpuSeconds(server.pid) - before) * 1e6) / result.requests }
}

/** Prose of md50k in one document, with a word of its own here and there. */
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
      const [plain, marked] = [bodies(kind, false), bodies(kind, true)]
      const rounds: (readonly [Round, Round])[] = []
      // The first round warms up.
      for (let round = 0; round <= ROUNDS; round++) rounds.push([await measure(server, plain), await measure(server, marked)])
      const counted = rounds.slice(1)
      const of = (which: 0 | 1, value: (round: Round) => number): number => median(counted.map((pair) => value(pair[which])))
      report.add({
        kind,
        plainMs: of(0, (round) => 1000 / round.perSecond),
        highlightMs: of(1, (round) => 1000 / round.perSecond),
        ratio: median(counted.map(([without, with_]) => without.perSecond / with_.perSecond)),
        plainCpuUs: of(0, (round) => round.cpuUs),
        highlightCpuUs: of(1, (round) => round.cpuUs),
        p99Ms: of(1, (round) => round.p99Ms),
      })
    }
    report.table(['kind', 'plainMs', 'highlightMs', 'ratio', 'plainCpuUs', 'highlightCpuUs', 'p99Ms'])
  } finally {
    await server.kill()
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
