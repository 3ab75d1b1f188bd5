/**
 * A shutdown as clients with kept connections see it: readiness falls first, answers close their connections,
 * and no request is left without an answer.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { REQUEST_ON_ITS_WAY_MS } from '../../../src/limits/surfaces.js'
import { rawPost, RawSocket } from '../../harness/clients/raw_socket.js'
import { isListening } from '../../harness/process/ports.js'
import { untilAsked } from '../../harness/process/until.js'
import { clientsOfLoops, LOOP_LOG } from '../../harness/server/loop_clients.js'
import { startServer } from '../../harness/server/server.js'

const DOCUMENT = { collection: 'stop', key: 'k', lang: 'en', contentMd: 'text' }
const CLIENTS = 12
/** Beyond a kernel's buffer of a socket: a close with bytes unread would be a reset. */
const LARGE = JSON.stringify({ ...DOCUMENT, contentMd: 'x'.repeat(4_000_000) })

/** Whether the text ends with a whole answer that has a length. */
function isWhole(text: string): boolean {
  const [, length, body] = /Content-Length: (\d+)\r\n\r\n([^]*)$/.exec(text) ?? []
  return length !== undefined && Number(length) === body?.length
}

/** Where nothing tells that a server has stopped to wait. */
async function passed(ms: number): Promise<void> {
  const end = performance.now() + ms
  await untilAsked(() => Promise.resolve(performance.now()), (now) => now > end) // prettier-ignore
}

describe('a graceful stop', () => {
  it('drain: readiness falls first, requests are served for SVC_DRAIN_MS, and each answer closes its connection', async () => {
    const server = await startServer({ env: { SVC_DRAIN_MS: '3000' } })
    assert.equal((await server.post('/v1/add', DOCUMENT)).status, 200)
    const kept = await RawSocket.open(server.port)
    kept.write(rawPost('/v1/get', JSON.stringify(DOCUMENT)))
    assert.match(await kept.until(isWhole), /^HTTP\/1\.1 200 /)
    process.kill(server.pid, 'SIGTERM')
    const ready = await untilAsked(() => server.get('/readyz'), ({ status }) => status === 503) // prettier-ignore
    assert.equal(ready.json().reason, 'shutting_down')
    assert.equal(ready.headers.connection, 'close')
    assert.equal((await server.get('/livez')).status, 200)
    kept.write(rawPost('/v1/add', JSON.stringify(DOCUMENT)))
    const [, , answer = ''] = (await kept.until(() => false)).split('HTTP/1.1 ')
    assert.match(answer, /^200 OK\r\n[^]*\r\nConnection: close\r\n/)
    assert.equal((await server.post('/v1/get', DOCUMENT)).status, 200, 'new connections are accepted, too')
    assert.equal(await server.ended, 0, server.output())
    assert.match(server.output(), /not ready any more, still serving[^]*finishing what was accepted/)
  })

  it('drain: once no connection is accepted, what comes on those that are open is served', async () => {
    const server = await startServer({ env: { SVC_DRAIN_MS: '300' } })
    assert.equal((await server.post('/v1/add', DOCUMENT)).status, 200)
    const early = await RawSocket.open(server.port)
    const slow = await RawSocket.open(server.port)
    const text = rawPost('/v1/add', LARGE)
    // Until it is answered, the server waits for requests on open connections.
    slow.write(text.slice(0, 1000))
    assert.equal((await server.get('/livez')).status, 200)
    process.kill(server.pid, 'SIGTERM')
    await untilAsked(() => isListening(server.port), (isThere) => !isThere) // prettier-ignore
    early.write(rawPost('/v1/get', JSON.stringify(DOCUMENT)))
    assert.match(await early.until(() => false), /^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n/)
    slow.write(text.slice(1000))
    assert.match(await slow.until(() => false), /^HTTP\/1\.1 200 /)
    assert.equal(await server.ended, 0, server.output())
  })

  it('drain: what comes to a loop that was idle before is waited for as well', async () => {
    const server = await startServer({ args: ['--http-loops', '2'], env: { ...LOOP_LOG, SVC_DRAIN_MS: '300' } })
    const [late, main] = await clientsOfLoops(server, 2)
    assert.deepEqual([late?.thread, main?.thread], ['http loop 1', 'main'])
    const large = { ...DOCUMENT, contentMd: 'x'.repeat(1_000_000) }
    const endMain = main!.beginPost('/v1/add', large)
    process.kill(server.pid, 'SIGTERM')
    await untilAsked(() => isListening(server.port), (isThere) => !isThere) // prettier-ignore
    // The loop has been idle for longer than it waits for requests on their way.
    await passed(2 * REQUEST_ON_ITS_WAY_MS)
    const endLate = late!.beginPost('/v1/add', { ...large, key: 'late' })
    await untilAsked(() => Promise.resolve(server.output()), (output) => output.includes('finishing what was accepted')) // prettier-ignore
    assert.equal((await endMain()).status, 200)
    // The server would have ended by then.
    await passed(2 * REQUEST_ON_ITS_WAY_MS)
    assert.equal((await endLate()).status, 200)
    assert.equal(await server.ended, 0, server.output())
  })

  it('stop: of clients that send their next request with each answer, every request is answered, the last with Connection: close', async () => {
    const server = await startServer()
    assert.equal((await server.post('/v1/add', DOCUMENT)).status, 200)
    let sent = 0
    const ask = async (): Promise<{ answered: number; asked: number; last: string }> => {
      const socket = await RawSocket.open(server.port)
      let asked = 0
      let last = ''
      while (!socket.isClosed && !/^Connection: close\r$/m.test(last)) {
        const before = socket.text.length
        socket.write(rawPost('/v1/get', JSON.stringify(DOCUMENT)))
        asked += 1
        sent += 1
        await socket.until((text) => isWhole(text.slice(before)))
        last = socket.text.slice(before)
      }
      await socket.until(() => false)
      return { answered: socket.text.split('HTTP/1.1 ').length - 1, asked, last }
    }
    const clients = Array.from({ length: CLIENTS }, ask)
    await untilAsked(async () => await Promise.resolve(sent), (count) => count > 20 * CLIENTS) // prettier-ignore
    process.kill(server.pid, 'SIGTERM')
    for (const { answered, asked, last } of await Promise.all(clients)) {
      assert.equal(answered, asked)
      assert.match(last, /^HTTP\/1\.1 (?:200|503) [^]*\r\nConnection: close\r\n/)
    }
    assert.equal(await server.ended, 0, server.output())
  })

  it('stop: a request whose head has arrived is answered, not reset, also if its large body comes later', async () => {
    const server = await startServer()
    const idle = await RawSocket.open(server.port)
    const busy = await RawSocket.open(server.port)
    const probe = await RawSocket.open(server.port)
    const text = rawPost('/v1/add', LARGE)
    busy.write(text.slice(0, 1000))
    // Its head has been read when a later request is answered.
    assert.equal((await server.get('/livez')).status, 200)
    process.kill(server.pid, 'SIGTERM')
    await untilAsked(async () => await Promise.resolve(server.output()), (output) => output.includes('shutting down')) // prettier-ignore
    idle.write(text.slice(0, 1000))
    probe.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')
    assert.match(await probe.until(() => false), /^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n/)
    assert.equal(idle.text, '', 'an answer before the body would end in a reset')
    idle.write(text.slice(1000))
    busy.write(text.slice(1000))
    assert.match(await busy.until(() => false), /^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n/)
    assert.match(await idle.until(() => false), /^HTTP\/1\.1 503 [^]*\r\nConnection: close\r\n[^]*shutting down/)
    assert.equal(await server.ended, 0, server.output())
  })
})
