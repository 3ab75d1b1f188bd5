/**
 * How much does one request that is designed to be expensive take from the server and from other clients?
 * Each hostile request is sent alone, then several in parallel, to a real server while a healthy client polls
 * a document. Printed for each: the status, the server's processor time, its peak memory above idle (VmHWM,
 * reset before each), and the healthy client's latencies. Linux only.
 * Run: npm run loadtest -- hostile [SCALE=1] [PART OF A NAME]. Exits with 1 if a bound is exceeded.
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { HOSTILE_REQUESTS, type HostileRequest } from '../test/harness/hostile_requests.js'
import { fork } from '../test/harness/process/owned_processes.js'
import { type Server, startServer } from '../test/harness/server/server.js'
import type { Waits } from './healthy_client.js'

const SCALE = Number(process.argv[2] ?? 1)
const WANTED = process.argv[3] ?? ''
const AT_ONCE = 4
const MB = 1e6

/** Bound for one request. */
const PEAK_MB_MAX = 600
/**
 * Bound for one request: work that cannot be interrupted (the parser, the analysis of one text) ends within
 * it.
 */
const CPU_SECONDS_MAX = 8
/**
 * Bound for the healthy client beside one request: a group commit and a turn of the loop that takes a body of
 * 32 MB.
 */
const P99_MS_MAX = 250

interface Cost {
  readonly what: string
  readonly status: string
  readonly cpuSeconds: number
  readonly peakMb: number
  readonly p99Ms: number
  readonly longestMs: number
  readonly refused: number
  readonly problems: readonly string[]
}

const statusOf = (pid: number, name: string): number => {
  const line = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return (Number(line?.[1]) * 1024) / MB
}

/** Processor time of all threads. The kernel counts in hundredths of a second. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

async function waitsOf(client: ChildProcess): Promise<Waits> {
  client.send('waits')
  const [waits] = (await once(client, 'message')) as [Waits]
  return waits
}

async function measure(
  { server, client, idleMb }: Running,
  what: string,
  requests: readonly HostileRequest[],
  isOne: boolean,
): Promise<Cost> {
  // Bodies are built before the measurement, because this process is busy meanwhile.
  const bodies = requests.map(({ body }) => Buffer.from(body(SCALE)))
  await waitsOf(client)
  writeFileSync(`/proc/${server.pid}/clear_refs`, '5')
  const cpuBefore = cpuSeconds(server.pid)
  const answers = await Promise.all(
    requests.map(async ({ method = 'POST', path }, index) => {
      const { status, text } = await server.request(method, path, bodies[index], { 'accept-encoding': 'gzip' }).then(
        (answer) => ({ status: answer.status, text: answer.status >= 400 ? answer.text : '' }),
        (error: Error) => ({ status: 0, text: error.message }),
      )
      return { status, text: text.slice(0, 200) }
    }),
  )
  const waits = await waitsOf(client)
  const cost = {
    what,
    status: answers.map(({ status }) => status).join(' '),
    cpuSeconds: Math.round(100 * (cpuSeconds(server.pid) - cpuBefore)) / 100,
    peakMb: Math.round(statusOf(server.pid, 'VmHWM') - idleMb),
    p99Ms: waits.p99Ms,
    longestMs: waits.longestMs,
    refused: waits.refused + waits.failed,
  }
  const wrong = answers.flatMap(({ status, text }, index) => {
    const { answers: right = [], error } = requests[index] ?? {}
    const isRight = right.includes(status) && (status !== 400 || error === undefined || error.test(errorOf(text)))
    // A passed deadline is also a correct answer; then only the cost is judged.
    return isRight || status === 503 ? [] : [`${status} ${text}`]
  })
  const passed = [
    cost.peakMb > PEAK_MB_MAX && isOne && `more than ${PEAK_MB_MAX} MB`,
    cost.cpuSeconds > CPU_SECONDS_MAX && isOne && `more than ${CPU_SECONDS_MAX} s of processor time`,
    cost.p99Ms > P99_MS_MAX && isOne && `p99 above ${P99_MS_MAX} ms`,
    /lane died/.test(server.output()) && 'a lane has died',
  ].filter((problem) => problem !== false)
  return { ...cost, problems: [...wrong, ...passed] }
}

function errorOf(text: string): string {
  return /^\{"error":"(.*)/s.exec(text)?.[1] ?? ''
}

function print({ problems, ...cost }: Cost): void {
  console.log(JSON.stringify(problems.length === 0 ? cost : { ...cost, problems }))
}

interface Running {
  readonly server: Server
  readonly client: ChildProcess
  readonly idleMb: number
}

const directory = await mkdtemp(join(tmpdir(), 'mds-hostile-'))

/** Uses every lane once before the idle state is measured. */
async function start(): Promise<Running> {
  const server = await startServer({ directory, env: { SVC_SPELL: 'true' } })
  const client = fork(fileURLToPath(new URL('./healthy_client.js', import.meta.url)), [String(server.port)])
  await server.post('/v1/add', {
    collection: 'healthy',
    key: 'k',
    lang: 'en',
    contentMd: '# Healthy\n\nA document of a client that does nothing wrong.',
  })
  await server.post('/v1/add', { collection: 'hostile', key: 'k', lang: 'en', contentMd: 'x', meta: { a: ['b'] } })
  await server.post('/v1/add-batch', { collection: 'hostile', documents: [{ key: 'x', lang: 'en', contentMd: 'x' }] })
  const searches = Array.from({ length: 4 }, () => server.post('/v1/search', { collection: 'healthy' }))
  await Promise.all([...searches, server.post('/v1/fts', { collection: 'healthy', query: 'x' })])
  await waitsOf(client)
  return { server, client, idleMb: statusOf(server.pid, 'VmRSS') }
}

async function stop({ server, client }: Running): Promise<void> {
  client.disconnect()
  await server.stop()
}

/**
 * Measures on a new server over the data written by earlier requests, so that their own cost is not measured
 * again.
 */
async function measureAlone(request: HostileRequest): Promise<Cost> {
  if (request.prepare !== undefined) {
    const preparing = await start()
    await request.prepare(preparing.server, SCALE).finally(() => stop(preparing))
  }
  const running = await start()
  return measure(running, request.name, [request], true).finally(() => stop(running))
}

async function measureGroups(requests: readonly HostileRequest[]): Promise<Cost[]> {
  const made: Cost[] = []
  const running = await start()
  try {
    for (let at = 0; at < requests.length; at += AT_ONCE) {
      const group = requests.slice(at, at + AT_ONCE)
      made.push(await measure(running, `at once: ${group.map(({ name }) => name).join(' + ')}`, group, false))
      print(made.at(-1) as Cost)
    }
    console.log(JSON.stringify({ residentAtTheEndMb: Math.round(statusOf(running.server.pid, 'VmRSS') - running.idleMb) }))
  } finally {
    await stop(running)
  }
  return made
}

const costs: Cost[] = []
try {
  const wanted = HOSTILE_REQUESTS.filter(({ name }) => name.includes(WANTED))
  for (const request of wanted) {
    costs.push(await measureAlone(request))
    print(costs.at(-1) as Cost)
  }
  costs.push(...(await measureGroups(wanted)))
} finally {
  await rm(directory, { recursive: true })
}
if (costs.some(({ problems }) => problems.length > 0)) {
  console.error('a bound was passed, or an answer was wrong')
  process.exitCode = 1
}
