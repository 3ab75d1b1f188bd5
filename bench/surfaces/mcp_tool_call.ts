/**
 * Question: how many tool calls a second does MCP answer over streamable HTTP, in both eras?
 * 32 keep-alive connections, each with one call in flight; documents of 1 KB. The server runs on one core,
 * the client on the other. `get` is answered by the thread of MCP itself, `search` by a lane. Peers in the
 * same run: node's HTTP server with a constant answer of the same size, and the official implementation with
 * one tool that answers a constant.
 * Run: npm run bench -- mcp-tool-call [-- SECONDS]. Fails below CALLS_A_SECOND_MIN.
 * Last result: see bench/README.md.
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { spawn } from '../../test/harness/process/owned_processes.js'
import { startServer } from '../../test/harness/server/server.js'
import { Connection, postBytes } from '../measure/connection.js'
import { type LoadResult, runLoad } from '../measure/load.js'
import { describePinning, movePinned } from '../measure/pinning.js'
import { Report } from '../measure/report.js'

const CALLS_A_SECOND_MIN = 3_000
const IN_FLIGHT = 32
const DOCUMENTS = 1_000
const WARM_SECONDS = 2
const seconds = Number(process.argv[2] ?? 6)
const REVISION = '2026-07-28'

const report = new Report()
const content = 'A document of one kilobyte. '.repeat(36)
const document = (n: number): object => ({ collection: 'bench', key: `d${n % DOCUMENTS}`, lang: 'en' })

interface Era {
  readonly headers: (name: string) => Readonly<Record<string, string>>
  readonly meta: object
}

function call(era: Era, id: number, name: string, args: object): Buffer {
  const message = { jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args, ...era.meta } }
  return postBytes('/mcp', JSON.stringify(message), { Accept: 'application/json, text/event-stream', ...era.headers(name) })
}

const stateless: Era = {
  headers: (name) => ({ 'MCP-Protocol-Version': REVISION, 'Mcp-Method': 'tools/call', 'Mcp-Name': name }),
  meta: {
    _meta: { 'io.modelcontextprotocol/protocolVersion': REVISION, 'io.modelcontextprotocol/clientCapabilities': {} },
  },
}

/** Begins a session. */
async function handshake(port: number): Promise<Era> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } }
  const answer = await fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  })
  const session = answer.headers.get('mcp-session-id') ?? ''
  return { headers: () => ({ 'Mcp-Session-Id': session, 'MCP-Protocol-Version': '2025-11-25' }), meta: {} }
}

async function measure(what: string, port: number, next: (n: number) => Buffer): Promise<LoadResult> {
  await runLoad(port, IN_FLIGHT, WARM_SECONDS, next)
  const result = await runLoad(port, IN_FLIGHT, seconds, next)
  report.add({ what, 'calls/s': Math.round(result.perSecond), 'p50 ms': result.p50Ms, 'p99 ms': result.p99Ms })
  return result
}

async function startPeer(kind: string, bytes: number): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const program = fileURLToPath(new URL('../peers/mcp_echo.js', import.meta.url))
  const child = spawn(process.execPath, [program, kind, String(bytes)], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  movePinned(child.pid ?? 0, '0')
  return { child, port: Number(line.toString()) }
}

const isPinned = movePinned(process.pid, '1')
console.log(isPinned ? 'client on core 1, servers on core 0' : describePinning())
const server = await startServer()
const port = Number(server.addressOf('mcp').split(':').at(-1))
const documents = Array.from({ length: DOCUMENTS }, (_, n) => ({ key: `d${n}`, lang: 'en', contentMd: content }))
await server.post('/v1/add-batch', { collection: 'bench', documents })
const eras = { stateless, handshake: await handshake(port) }
movePinned(server.pid, '0')
const probe = await Connection.open(port)
const { body } = await probe.send(call(stateless, 1, 'get_document', document(1)))
probe.close()
console.log(`an answer has ${body.length} bytes: ${body.toString('utf8', 0, 120)} ...`)

const results: LoadResult[] = []
for (const [name, era] of Object.entries(eras)) {
  results.push(await measure(`get, ${name} era`, port, (n) => call(era, n, 'get_document', document(n))))
}
await server.stop()
for (const kind of ['bare', 'sdk']) {
  const peer = await startPeer(kind, body.length)
  const what = kind === 'bare' ? 'peer: node:http, a constant' : 'peer: official SDK, a constant tool'
  await measure(what, peer.port, (n) => call(stateless, n, 'get', {}))
  peer.child.kill()
}
report.table(['what', 'calls/s', 'p50 ms', 'p99 ms'])
const slowest = Math.min(...results.map(({ perSecond }) => perSecond))
if (slowest < CALLS_A_SECOND_MIN) {
  console.log(`FAILED: ${Math.round(slowest)} calls/s are below ${CALLS_A_SECOND_MIN}`)
  process.exit(1)
}
