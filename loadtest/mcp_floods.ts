/**
 * What do floods on the port of MCP take from clients of HTTP? A healthy client gets a document every 10 ms
 * from a process of its own, alone and beside each flood. Printed: its p99 and longest wait, what it was
 * refused, and the memory of the server. Linux only.
 * Run: npm run loadtest:mcp-floods [-- SECONDS]. Exits with 1 if p99 exceeds P99_TIMES_MAX times that alone,
 * or P99_MS_MIN where that is more; if a request of the healthy client fails; or if memory exceeds its bound.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { startServer } from '../test/harness/server.js'
import { McpClient } from '../test/harness/mcp_client.js'
import type { Waits } from './healthy_client.js'

const seconds = Number(process.argv[2] ?? 5)
const P99_TIMES_MAX = 2
/** On two cores, the flood itself takes turns of the processor. */
const P99_MS_MIN = 20
const GROWTH_MB_MAX = 700
const MIB = 1 << 20

const server = await startServer({ env: { SVC_MAX_CONN_IP: '2000' } })
const client: ChildProcess = fork(fileURLToPath(new URL('./healthy_client.js', import.meta.url)), [String(server.port)])
await server.post('/v1/add', { collection: 'healthy', key: 'k', lang: 'en', contentMd: '# Healthy' })
const mcp = new McpClient(server)
await mcp.stateless('tools/list')

const memoryMb = (): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024
const pause = async (ms: number): Promise<void> => await new Promise((resolve) => setTimeout(resolve, ms))

async function waits(): Promise<Waits> {
  client.send('waits')
  const [report] = (await once(client, 'message')) as [Waits]
  return report
}

const sockets = new Set<Socket>()

/** @param again opens another one in its place while the flood lasts */
function open(text: string, end: number, again: boolean): void {
  const socket = connect(mcp.port, '127.0.0.1', () => socket.write(text))
  sockets.add(socket)
  socket.on('error', () => undefined)
  socket.on('close', () => {
    sockets.delete(socket)
    if (again && performance.now() < end) setImmediate(() => open(text, end, true))
  })
}

const post = (body: string): string =>
  `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

async function repeat(times: number, end: number, ask: () => Promise<unknown>): Promise<void> {
  const work = async (): Promise<void> => {
    while (performance.now() < end) await ask().catch(() => undefined)
  }
  await Promise.all(Array.from({ length: times }, work))
}

const initialize = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25' } })
const values = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","pad":[${'0,'.repeat(2_000_000)}0]}}`
const deep = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${'['.repeat(8 * MIB)}`
const large = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":"${'x'.repeat(31 * MIB)}"}}}`

const FLOODS: Readonly<Record<string, (end: number) => Promise<void>>> = {
  'nothing: the healthy client alone': async (end) => await pause(end - performance.now()),
  '1 500 idle connections': async (end) => {
    for (let n = 0; n < 1_500; n++) open('', end, false)
    await pause(end - performance.now())
  },
  '500 heads that never end': async (end) => {
    for (let n = 0; n < 500; n++) open('POST /mcp HTTP/1.1\r\nHost: local', end, true)
    await pause(end - performance.now())
  },
  '500 bodies that never end': async (end) => {
    for (let n = 0; n < 500; n++) open(post(initialize).slice(0, -5), end, true)
    await pause(end - performance.now())
  },
  '1 000 streams that nobody reads': async (end) => {
    for (let n = 0; n < 1_000; n++) open('GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n', end, false)
    await pause(end - performance.now())
    for (const socket of sockets) socket.destroy()
  },
  'sessions that nobody ends': async (end) => await repeat(16, end, async () => await mcp.send('POST', '/mcp', initialize)),
  'bodies of two million values': async (end) => await repeat(4, end, async () => await mcp.send('POST', '/mcp', values)),
  'bodies of eight million brackets': async (end) => await repeat(4, end, async () => await mcp.send('POST', '/mcp', deep)),
  'bodies of 31 MB': async (end) => await repeat(4, end, async () => await mcp.send('POST', '/mcp', large)),
  'lists, as fast as they come': async (end) => await repeat(16, end, async () => await mcp.stateless('tools/list')),
}

await pause(500)
const idleMb = memoryMb()
const problems: string[] = []
let alone = 0
for (const [what, flood] of Object.entries(FLOODS)) {
  await waits()
  let peakMb = 0
  const sampling = setInterval(() => (peakMb = Math.max(peakMb, memoryMb())), 50)
  await flood(performance.now() + seconds * 1000)
  const { p99Ms, longestMs, refused, failed, answers } = await waits()
  clearInterval(sampling)
  for (const socket of sockets) socket.destroy()
  if (alone === 0) alone = p99Ms
  console.log(JSON.stringify({ what, p99Ms, longestMs, answers, refused, failed, grownMb: Math.round(peakMb - idleMb) }))
  if (p99Ms > Math.max(P99_TIMES_MAX * alone, P99_MS_MIN)) problems.push(`${what}: p99 ${p99Ms} ms, alone ${alone} ms`)
  if (failed + refused > 0) problems.push(`${what}: ${failed + refused} requests of the healthy client failed`)
  if (peakMb - idleMb > GROWTH_MB_MAX) problems.push(`${what}: ${Math.round(peakMb - idleMb)} MB more`)
  await pause(1_000)
}
if ((await mcp.stateless('tools/list')).status !== 200) problems.push('MCP does not answer afterwards')
client.kill()
await server.stop()
for (const problem of problems) console.log(`FAILED: ${problem}`)
process.exit(problems.length === 0 ? 0 : 1)
