/**
 * Question: how long does a recall of conversational memory take at 500 000 messages of 5 000 users in 25 000
 * sessions, by one connection and by eight, and what does a message cost beside a plain add of the same text?
 *   `user`: messages of one user; `session`: of one session; `all`: of everybody, as an administrator may
 * Messages have 8 to 40 words of a Zipf vocabulary of 20 000; a query has three of them. With `vectors` every
 * message is embedded by the local model first, and `hybrid` and `semantic` are measured, too; vectors of
 * queries are in the cache, because queries repeat. Messages and adds: eight connections, durable, full text,
 * interleaved rounds, medians of five. Seed below.
 * Peer: add. Run: npm run bench -- memory-recall [MESSAGES] [SECONDS] [vectors].
 * Aim: p99 of a recall for a user 20 ms. Last result: bench/README.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { ServerProcess } from '../../test/harness/server/server_process.js'
import { fill } from '../data/fulltext_client.js'
import { Connection, postBytes } from '../measure/connection.js'
import { runLoad } from '../measure/load.js'
import { cpuSeconds } from '../measure/process_cpu.js'
import { randomSource } from '../measure/random_source.js'
import { Report } from '../measure/report.js'
import { median } from '../measure/statistics.js'

const MESSAGES = Number(process.argv[2] ?? 500_000)
const SECONDS = Number(process.argv[3] ?? 5)
const HAS_VECTORS = process.argv[4] === 'vectors'
const SESSIONS = Math.ceil(MESSAGES / 20)
const USERS = Math.ceil(MESSAGES / 100)
const VOCABULARY = 20_000
const SEED = 31_4159
const QUERIES = 2000
const CHUNK = 20_000
const WRITE_CONNECTIONS = 8
const WRITE_ROUNDS = 5

const random = randomSource(SEED)
const below = (bound: number): number => Math.floor(random() * bound)
/** Ranks of a Zipf distribution, approximately. */
const word = (): string => `w${Math.floor(VOCABULARY ** random()).toString(36)}`
const words = (count: number): string => Array.from({ length: count }, word).join(' ')
const sessionId = (session: number): string => session.toString(16).padStart(32, '0')
const userOf = (session: number): string => `user${session % USERS}`

function sessionLine(session: number): string {
  const meta = { userId: [userOf(session)], type: ['session'], status: ['active'], title: [`Session ${session}`], ttl: ['2592000'] }
  return JSON.stringify({ key: sessionId(session), lang: 'en', contentMd: `# Session ${session}\n`, meta })
}

function messageLine(message: number): string {
  const session = message % SESSIONS
  const role = message % 2 === 0 ? 'user' : 'assistant'
  const meta = { sessionId: [sessionId(session)], userId: [userOf(session)], role: [role], type: ['message'], timestamp: ['1800000000'] }
  const key = `${sessionId(session)}/${String(1_800_000_000).padStart(20, '0')}-${message.toString(16).padStart(24, '0')}`
  return JSON.stringify({ key, lang: 'en', contentMd: words(8 + below(33)), meta })
}

async function fillAll(connection: Connection, collection: string, count: number, line: (at: number) => string): Promise<void> {
  for (let begin = 0; begin < count; begin += CHUNK)
    await fill(
      connection,
      collection,
      Array.from({ length: Math.min(CHUNK, count - begin) }, (_, at) => line(begin + at)),
    )
}

type Scope = 'user' | 'session' | 'all'

function recalls(strategy: string, scope: Scope): readonly Buffer[] {
  return Array.from({ length: QUERIES }, () => {
    const session = below(SESSIONS)
    const of = scope === 'user' ? { userId: userOf(session) } : scope === 'session' ? { sessionId: sessionId(session) } : {}
    return postBytes('/v1/memory/recall', JSON.stringify({ query: words(3), strategy, ...of }))
  })
}

const scratch = mkdtempSync(path.join(tmpdir(), 'mds-bench-memory-'))
const report = new Report()
const server = await ServerProcess.start(path.join(scratch, 'db'), HAS_VECTORS ? { SVC_EMBEDDING_PROVIDER: 'local' } : {})
try {
  const connection = await Connection.open(server.port)
  const begun = performance.now()
  await fillAll(connection, 'memory_sessions', SESSIONS, sessionLine)
  await fillAll(connection, 'memory_messages', MESSAGES, messageLine)
  report.add({ what: 'filled', perSecond: ((MESSAGES + SESSIONS) / (performance.now() - begun)) * 1000 })
  if (HAS_VECTORS) await connection.send(postBytes('/v1/vector-reindex', JSON.stringify({ collection: 'memory_messages' })))
  connection.close()
  for (const strategy of HAS_VECTORS ? ['keyword', 'semantic', 'hybrid'] : ['keyword'])
    for (const scope of ['user', 'session', 'all'] as const)
      for (const connections of [1, 8]) {
        const requests = recalls(strategy, scope)
        const next = (n: number): Buffer => requests[n % requests.length]!
        await runLoad(server.port, connections, 1, next)
        const before = cpuSeconds(server.pid)
        const { requests: count, ...result } = await runLoad(server.port, connections, SECONDS, next)
        report.add({
          what: `recall ${strategy}, ${scope}`,
          connections,
          ...result,
          cpuUs: ((cpuSeconds(server.pid) - before) * 1e6) / count,
        })
      }
  await measureWrites()
} finally {
  await server.kill()
  rmSync(scratch, { recursive: true, force: true })
}
report.table(['what', 'connections', 'perSecond', 'p50Ms', 'p99Ms', 'cpuUs', 'ratio'])

/** Each add makes a document of the size and the metadata of a message. */
async function measureWrites(): Promise<void> {
  let made = 0
  const kinds = {
    add: () => {
      const document = JSON.parse(messageLine(made++)) as object
      return postBytes('/v1/add', JSON.stringify({ collection: 'plain', ...document }))
    },
    message: () => {
      const body = { sessionId: sessionId(below(SESSIONS)), role: 'user', content: words(8 + below(33)) }
      return postBytes('/v1/memory/message', JSON.stringify(body))
    },
  }
  const rounds: Record<keyof typeof kinds, { rate: number; cpuUs: number; p50Ms: number; p99Ms: number }[]> = { add: [], message: [] }
  for (let round = 0; round <= WRITE_ROUNDS; round++)
    for (const kind of ['add', 'message'] as const) {
      const before = cpuSeconds(server.pid)
      const { requests, perSecond: rate, p50Ms, p99Ms } = await runLoad(server.port, WRITE_CONNECTIONS, SECONDS, kinds[kind])
      // The first round warms up.
      if (round > 0) rounds[kind].push({ rate, p50Ms, p99Ms, cpuUs: ((cpuSeconds(server.pid) - before) * 1e6) / requests })
    }
  const base = median(rounds.add.map(({ rate }) => rate))
  for (const kind of ['add', 'message'] as const) {
    const of = (name: 'rate' | 'cpuUs' | 'p50Ms' | 'p99Ms'): number => median(rounds[kind].map((each) => each[name]))
    const perSecond = of('rate')
    const times = { p50Ms: of('p50Ms'), p99Ms: of('p99Ms'), cpuUs: of('cpuUs') }
    report.add({ what: kind, connections: WRITE_CONNECTIONS, perSecond, ...times, ratio: perSecond / base })
  }
}
