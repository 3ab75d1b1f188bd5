/**
 * The bound of open connections of one client (`SVC_MAX_CONN_IP`), over two event loops. This machine is
 * exempt by its loopback addresses, so the tests come from another address of it; without one they skip.
 * Production is switched on in a copy of the sources whose start asks for nothing.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, it, type TestContext } from 'node:test'
import { untilAsked } from '../../harness/process/until.js'
import { scratchCopy } from '../../harness/scratch_copy.js'
import { type Server, type ServerOptions, startServer } from '../../harness/server/server.js'

const MOST = 6
const ADDRESSES = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
const OWN = ADDRESSES.find(({ family, internal }) => family === 'IPv4' && !internal)?.address
const skip = OWN === undefined || process.platform !== 'linux' ? 'no address of this machine beside loopback' : false

const UNGUARDED = {
  file: 'src/config/production.ts',
  find: 'const missing = options.production ? missingGuards(options) : []',
  replace: 'const missing: readonly MissingGuard[] = []',
}

async function start(test: TestContext, options: ServerOptions): Promise<Server> {
  const env = { SVC_MAX_CONN_IP: String(MOST), SVC_HTTP_LOOPS: '2', ...options.env }
  const server = await startServer({ ...options, env, address: '0.0.0.0:0' })
  test.after(() => server.stop())
  return server
}

async function open(test: TestContext, { port }: Server, host: string): Promise<Socket> {
  const socket = connect({ port, host })
  test.after(() => socket.destroy())
  // A refused connection may be reset.
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

/** Whether the server answers on a new connection. */
async function isServed(test: TestContext, server: Server, host: string): Promise<boolean> {
  const socket = await open(test, server, host)
  socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  return await new Promise((resolve) => {
    socket.once('data', () => resolve(true))
    socket.once('close', () => resolve(false))
  })
}

const hasLogged = (server: Server, text: RegExp): Promise<unknown> => untilAsked(() => Promise.resolve(server.output()), (output) => text.test(output)) // prettier-ignore

describe('connections of one client', { skip }, () => {
  const own = OWN ?? ''

  it('connections: in production further ones of a client are closed on every loop, until it has fewer; loopback is exempt', async (test) => {
    const copy = await scratchCopy([UNGUARDED])
    test.after(() => copy.remove())
    const server = await start(test, { main: copy.main, env: { SVC_PRODUCTION: 'true' } })
    const sockets = await Promise.all(Array.from({ length: MOST + 2 }, () => open(test, server, own)))
    await hasLogged(server, /a client has as many connections as SVC_MAX_CONN_IP allows.*address=/)
    // The kernel divides the connections between the loops: each of the two has some of these.
    for (let at = 0; at < 24; at++) assert.equal(await isServed(test, server, own), false)
    assert.equal(await isServed(test, server, '127.0.0.1'), true)
    assert.match((await server.get('/metrics')).text, /^mddb_connections_refused_total (2[4-9]|[3-9]\d)$/m)
    for (const socket of sockets) socket.destroy()
    await untilAsked(() => isServed(test, server, own), (served) => served) // prettier-ignore
  })

  it('connections: outside of production there is a warning, and all are served; as many as the bound are no reason for one', async (test) => {
    const server = await start(test, {})
    await Promise.all(Array.from({ length: MOST + 1 }, () => open(test, server, '127.0.0.1')))
    const sockets = await Promise.all(Array.from({ length: MOST + 1 }, () => open(test, server, own)))
    await hasLogged(server, new RegExp(`a client has more connections than SVC_MAX_CONN_IP.*address=${own}`))
    assert.doesNotMatch(server.output(), /address=127/)
    for (let at = 0; at < 10; at++) assert.equal(await isServed(test, server, own), true)
    assert.ok(sockets.every((socket) => !socket.destroyed))
  })

  it('connections: clients of a trusted proxy are not bounded by its address', async (test) => {
    const copy = await scratchCopy([UNGUARDED])
    test.after(() => copy.remove())
    const server = await start(test, { main: copy.main, env: { SVC_PRODUCTION: 'true', SVC_TRUSTED_PROXIES: own } })
    await Promise.all(Array.from({ length: MOST + 2 }, () => open(test, server, own)))
    const rounds = async (): Promise<number> =>
      Number(/^mddb_chore_rounds_total\{chore="connection-watch"\} (\d+)$/m.exec((await server.get('/metrics')).text)?.[1])
    const before = await rounds()
    await untilAsked(rounds, (count) => count >= before + 2)
    assert.equal(await isServed(test, server, own), true)
  })

  it('connections: an idle one is closed after 8 to 16 s, before and after a request', async (test) => {
    const server = await start(test, {})
    const idleMs = async (request: string): Promise<number> => {
      const socket = await open(test, server, '127.0.0.1')
      socket.resume()
      if (request !== '') {
        socket.write(request)
        await once(socket, 'data')
      }
      const begun = performance.now()
      await once(socket, 'close')
      return performance.now() - begun
    }
    const times = await Promise.all([idleMs(''), idleMs('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')])
    for (const ms of times) assert.ok(ms > 7_000 && ms < 16_000, `${ms} ms`)
  })

  it('connections: a client that sends its head a byte at a time loses the connection after 8 to 16 s', async (test) => {
    const server = await start(test, {})
    const socket = await open(test, server, '127.0.0.1')
    socket.resume()
    socket.write(`${HEAD}X-Slow: `)
    const begun = performance.now()
    drip(test, socket, 'a'.repeat(100), 1)
    await once(socket, 'close')
    const ms = performance.now() - begun
    assert.ok(ms > 7_000 && ms < 17_000, `${ms} ms`)
  })

  it('connections: a body that takes longer to arrive than its request may take is answered, on every loop', async (test) => {
    const server = await start(test, {})
    const body = JSON.stringify({ collection: 'c', key: 'k', lang: 'en', contentMd: 'a'.repeat(100_000) })
    // Some 7 KB/s: a write may take 12 s.
    const pieces = 28
    const send = async (): Promise<string> => {
      const socket = await open(test, server, '127.0.0.1')
      socket.write(`${HEAD}Content-Length: ${body.length}\r\n\r\n`)
      drip(test, socket, body, Math.ceil(body.length / pieces))
      const [answer] = (await Promise.race([once(socket, 'data'), once(socket, 'close')])) as [Buffer | boolean]
      return String(answer).split('\r\n')[0]!
    }
    assert.deepEqual([...new Set(await Promise.all(Array.from({ length: 12 }, send)))], ['HTTP/1.1 200 OK'])
  })

  it('connections: a body that makes no progress for its time, or too little, is 408, and its connection is closed', async (test) => {
    const timeMs = 2_000
    const server = await start(test, { env: { SVC_LIMIT_BODY_PROGRESS_MS_MAX: String(timeMs) } })
    const send = async (begin: string, bytes: number): Promise<number> => {
      const socket = await open(test, server, '127.0.0.1')
      let received = ''
      socket.on('data', (chunk: Buffer) => (received += chunk.toString()))
      socket.write(`${HEAD}Content-Length: 4000000\r\n\r\n${begin}`)
      const begun = performance.now()
      drip(test, socket, 'a'.repeat(100 * bytes), bytes)
      const late = setTimeout(() => socket.destroy(), 6 * timeMs)
      await once(socket, 'close')
      clearTimeout(late)
      assert.match(received, /^HTTP\/1\.1 408 Request Timeout\r\n[^]*Connection: close[^]*\{"error":"request body comes too slowly"\}$/)
      return performance.now() - begun
    }
    // 2 MB ask for more progress than 40 KB in the time.
    const times = await Promise.all([send('{', 1), send('', 0), send('a'.repeat(2_000_000), 10_000)])
    for (const ms of times) assert.ok(ms >= timeMs && ms < 6 * timeMs, `${ms} ms`)
  })
})

const HEAD = 'POST /v1/add HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'

/** Sends a piece of the text each half second. */
function drip(test: TestContext, socket: Socket, text: string, bytes: number): void {
  let at = 0
  const timer = setInterval(() => {
    socket.write(text.slice(at, at + bytes))
    at += bytes
    if (at >= text.length) clearInterval(timer)
  }, 500)
  test.after(() => clearInterval(timer))
}
