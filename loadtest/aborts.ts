/**
 * Tests that the server survives bad clients. Sends a mixed load of good requests, connections cut at random
 * positions, slow senders, readers that stop, oversized bodies, garbage and malformed JSON, for the number of
 * seconds in the first argument. Fails if the server ends, if a good request gets a wrong answer, if memory
 * grows after the first minute (or the first half of a shorter run), or if slots are still taken at the end.
 * Prints one JSON line per sample.
 * Run: npm run loadtest -- aborts [SECONDS] [SEED].
 */
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { randomSource } from '../bench/measure/random_source.js'
import { rawPost, RawSocket } from '../test/harness/clients/raw_socket.js'
import { type Server, startServer } from '../test/harness/server/server.js'

const SECONDS = Number(process.argv[2] ?? 600)
const SEED = Number(process.argv[3] ?? 7)
const SAMPLE_MS = 1_000
const BAD_CLIENTS = 12
const GOOD_CLIENTS = 4
const KEYS = 500
const BODY_MAX = 1 << 20
// Permitted growth above the baseline: the heaps of four isolates vary by a few scavenges each.
const GROWTH_SHARE_MAX = 0.15
const GROWTH_BYTES_MAX = 48 << 20

const random = randomSource(SEED)
const pick = (n: number): number => Math.floor(random() * n)
const contentOf = (key: number): string => `document ${key} `.repeat(1 + (key % 400))
const addBody = (key: number): string => JSON.stringify({ collection: 'abort', key: `k${key}`, lang: 'en', contentMd: contentOf(key) })
const getBody = (key: number): string => JSON.stringify({ collection: 'abort', key: `k${key}`, lang: 'en' })

type BadClient = (server: Server) => Promise<void>

async function withSocket(server: Server, use: (socket: RawSocket) => Promise<void> | void): Promise<void> {
  const socket = await RawSocket.open(server.port)
  try {
    await use(socket)
  } finally {
    if (random() < 0.5) socket.reset()
    else socket.destroy()
  }
}

const anyRequest = (): string => {
  const key = pick(KEYS)
  switch (pick(4)) {
    case 0:
      return rawPost('/v1/add', addBody(key))
    case 1:
      return rawPost('/v1/search', JSON.stringify({ collection: 'abort', limit: 200 }))
    case 2:
      return rawPost('/v1/fts', JSON.stringify({ collection: 'abort', query: `document ${key}`, limit: 100 }))
    default:
      return rawPost('/v1/get', getBody(key))
  }
}

const BAD: readonly BadClient[] = [
  // A connection cut in the middle of the request.
  (server) => withSocket(server, (socket) => socket.write(anyRequest().slice(0, 1 + pick(200)))),
  // A whole request, with the connection closed before the answer.
  (server) => withSocket(server, (socket) => socket.write(anyRequest())),
  // A connection closed while the request waits or while the answer is written.
  (server) =>
    withSocket(server, async (socket) => {
      socket.write(anyRequest())
      await pause(pick(8))
    }),
  // Many pipelined requests on one connection.
  (server) => withSocket(server, (socket) => socket.write(anyRequest().repeat(2 + pick(10)))),
  // A reader that stops.
  (server) =>
    withSocket(server, async (socket) => {
      socket.pause()
      socket.write(rawPost('/v1/search', JSON.stringify({ collection: 'abort', limit: 10_000 })))
      await pause(50 + pick(500))
    }),
  // A slow sender.
  (server) =>
    withSocket(server, async (socket) => {
      const request = anyRequest()
      for (let at = 0; at < request.length && at < 400; at += 40) {
        socket.write(request.slice(at, at + 40))
        await pause(pick(20))
      }
    }),
  // A body that is too large, with declared length and chunked.
  async (server) => expectStatus(await server.post('/v1/add', Buffer.alloc(BODY_MAX * 2, 0x78)), [413, 503]),
  (server) =>
    withSocket(server, async (socket) => {
      socket.write('POST /v1/add HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n')
      for (let i = 0; i < 40; i++) socket.write(`8000\r\n${'y'.repeat(0x8000)}\r\n`)
      await pause(pick(20))
    }),
  // Malformed bodies.
  async (server) => expectStatus(await server.post('/v1/add', addBody(1).slice(0, -1 - pick(20))), [400, 503]),
  async (server) => expectStatus(await server.post('/v1/add', '['.repeat(1 + pick(50_000))), [400, 503]),
  async (server) => expectStatus(await server.post('/v1/get', Buffer.from([0x7b, 0xff, 0xfe, 0x7d])), [400, 503]),
  (server) => withSocket(server, (socket) => socket.write(Buffer.from(Array.from({ length: 1 + pick(2000) }, () => pick(256))))),
]

function expectStatus({ status, text }: { readonly status: number; readonly text: string }, allowed: readonly number[]): void {
  if (!allowed.includes(status)) throw new Error(`answer ${status}, not one of ${allowed.join(', ')}: ${text.slice(0, 200)}`)
}

let end = 0
const counts = { bad: 0, good: 0, busy: 0 }

async function badClient(server: Server): Promise<void> {
  while (performance.now() < end) {
    await BAD[pick(BAD.length)]!(server)
    counts.bad++
  }
}

async function goodClient(server: Server): Promise<void> {
  while (performance.now() < end) {
    const key = pick(KEYS)
    const answer = random() < 0.3 ? await server.post('/v1/add', addBody(key)) : await server.post('/v1/get', getBody(key))
    expectStatus(answer, [200, 503])
    counts.good++
    if (answer.status === 503) counts.busy++
    else if (answer.json().contentMd !== contentOf(key)) throw new Error(`the answer for k${key} is not its document`)
  }
}

/**
 * Private memory of the process. Mapped pages of the data file grow with the file and can be reclaimed by the
 * system.
 */
function rssBytes(pid: number): number {
  return Number(/RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) * 1024
}

async function sampleMemory(server: Server): Promise<readonly number[]> {
  const samples: number[] = []
  while (performance.now() < end) {
    samples.push(rssBytes(server.pid))
    if (samples.length % 10 === 0)
      console.log(JSON.stringify({ second: samples.length, rssMb: Math.round((samples.at(-1) ?? 0) / 2 ** 20), ...counts }))
    await pause(SAMPLE_MS)
  }
  return samples
}

/** Compares the maximum of the baseline's second half with the maximum of the last quarter. */
function checkGrowth(samples: readonly number[]): void {
  const baselineEnd = Math.min(60, Math.floor(samples.length / 2))
  const baseline = Math.max(...samples.slice(Math.floor(baselineEnd / 2), baselineEnd))
  const last = Math.max(...samples.slice(-Math.ceil(samples.length / 4)))
  console.log(JSON.stringify({ baselineMb: Math.round(baseline / 2 ** 20), lastMb: Math.round(last / 2 ** 20) }))
  if (last > baseline * (1 + GROWTH_SHARE_MAX) + GROWTH_BYTES_MAX) throw new Error('memory has grown after the warm-up')
}

console.log(JSON.stringify({ seconds: SECONDS, seed: SEED }))
const server = await startServer({ env: { SVC_MAX_BODY_BYTES: String(BODY_MAX) } })
try {
  for (let key = 0; key < KEYS; key++) expectStatus(await server.post('/v1/add', addBody(key)), [200])
  end = performance.now() + SECONDS * 1000
  const sampling = sampleMemory(server)
  await Promise.all([
    ...Array.from({ length: BAD_CLIENTS }, () => badClient(server)),
    ...Array.from({ length: GOOD_CLIENTS }, () => goodClient(server)),
  ])
  checkGrowth(await sampling)
  const metrics = (await server.get('/metrics')).text
  const taken = Number(/^mddb_slots_used (\d+)/m.exec(metrics)?.[1])
  // The scrape itself holds one slot.
  if (taken !== 1) throw new Error(`${taken} slots are taken after the load`)
  console.log(JSON.stringify({ ...counts, slotsTaken: taken, result: 'passed' }))
} catch (error) {
  console.error(server.output().slice(-4_000))
  throw error
} finally {
  const code = await server.stop()
  if (code !== 0) {
    console.error(`the server ended with ${code}`)
    process.exitCode = 1
  }
}
