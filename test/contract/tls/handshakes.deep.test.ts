/**
 * Connections whose TLS handshake does not come, or does not end: on every port, with and without required
 * client certificates, they are closed after a time, and beyond a number at once. The oldest goes first.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { countConnections } from '../../../src/surface/http/connections/connection_census.js'
import { CertificateAuthority, LACKS_OPENSSL, textsOf } from '../../harness/clients/certificates.js'
import { askOnce } from '../../harness/clients/tls_client.js'
import { untilAsked } from '../../harness/process/until.js'
import { type Server, startServer } from '../../harness/server/server.js'

let folder: string
let ca: CertificateAuthority
let own: ConnectionOptions
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'mds-tls-handshakes-'))
  if (LACKS_OPENSSL !== false) return
  ca = new CertificateAuthority(folder)
  own = { ...ca.trust, ...textsOf(ca.sign('client')) }
})
after(() => rmSync(folder, { recursive: true, force: true }))

async function start(test: TestContext, how: string, env: Readonly<Record<string, string>>): Promise<Server> {
  const { cert, key } = ca.sign('first')
  const tls = { SVC_TLS_ENABLED: 'true', SVC_TLS_CERT: cert, SVC_TLS_KEY: key, SVC_TLS_CLIENT_CA: ca.cert, SVC_TLS_CLIENT_AUTH: how }
  const server = await startServer({ env: { ...tls, ...env }, args: ['--http-loops', '2'], tls: own })
  test.after(() => server.kill())
  return server
}

async function open(test: TestContext, port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  test.after(() => socket.destroy())
  // Closed ones may be reset.
  socket.on('error', () => undefined)
  socket.resume()
  await once(socket, 'connect')
  return socket
}

/** A connection that has completed its handshake. */
async function handshaken(test: TestContext, port: number): Promise<TLSSocket> {
  const client = connectTls({ host: '127.0.0.1', port, servername: 'localhost', ALPNProtocols: ['h2', 'http/1.1'], ...own })
  test.after(() => client.destroy())
  client.on('error', () => undefined)
  await once(client, 'secureConnect')
  return client
}

/** The first record of a client: a handshake of 512 bytes, of which some are here. */
const HELLO = Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, ...Array<number>(40).fill(7)])

/** Resolves with the milliseconds until it is closed; NaN: it stays open. */
async function closedAfter(socket: Socket, msMax: number): Promise<number> {
  const begun = performance.now()
  const late = new Promise<number>((resolve) => setTimeout(() => resolve(NaN), msMax).unref())
  const closed = socket.closed ? Promise.resolve(0) : once(socket, 'close').then(() => performance.now() - begun)
  return await Promise.race([closed, late])
}

const portsOf = (server: Server): readonly number[] => [
  server.port,
  ...['grpc', 'mcp'].map((surface) => Number(/\d+$/.exec(server.addressOf(surface))?.[0])),
]

for (const how of ['request', 'require'] as const) {
  describe(`handshakes of TLS (${how})`, { skip: LACKS_OPENSSL }, () => {
    it(`tls handshakes: one that does not come, stops, or trickles is closed after its time on every port (${how})`, async (test) => {
      const msMax = 2_000
      const server = await start(test, how, { SVC_LIMIT_TLS_HANDSHAKE_MS_MAX: String(msMax) })
      const sockets = await Promise.all(portsOf(server).flatMap((port) => [0, 1, 2].map(() => open(test, port))))
      for (const [at, socket] of sockets.entries()) if (at % 3 > 0) socket.write(HELLO)
      const trickle = setInterval(() => sockets.forEach((socket, at) => at % 3 === 2 && socket.write('\u0007')), 300)
      test.after(() => clearInterval(trickle))
      // The event loops without a gate have the timers of uWebSockets.js: 8 to 12 s.
      const times = await Promise.all(sockets.map((socket, at) => closedAfter(socket, at < 3 && how === 'request' ? 20_000 : 10_000)))
      for (const [at, ms] of times.entries())
        assert.ok(ms > msMax / 2, `${['http', 'grpc', 'mcp'][Math.floor(at / 3)]} ${at % 3}: ${ms} ms`)
      assert.equal((await askOnce(server.port, own)).status, 200)
    })

    it(`tls handshakes: beyond their number the oldest is closed, and clients in earnest get in (${how})`, async (test) => {
      const most = 4
      const server = await start(test, how, { SVC_LIMIT_TLS_HANDSHAKES_MAX: String(most) })
      for (const port of portsOf(server).slice(how === 'require' ? 0 : 1)) {
        // Completed ones are none of them.
        const completed = await handshaken(test, port)
        const silent: Socket[] = []
        for (let at = 0; at < most + 2; at++) silent.push(await open(test, port))
        const times = await Promise.all(silent.slice(0, 2).map((socket) => closedAfter(socket, 5_000)))
        assert.ok(times.every((ms) => ms >= 0), `${port}: ${times.join()}`) // prettier-ignore
        await handshaken(test, port)
        assert.deepEqual([completed.closed, silent[3]!.closed, silent[5]!.closed], [false, false, false])
      }
    })
  })
}

describe('the gate', { skip: LACKS_OPENSSL }, () => {
  it('tls handshakes: a client of the gate that does not read its answer is closed after a time', async (test) => {
    const server = await start(test, 'require', { SVC_LIMIT_TLS_STALL_MS_MAX: '500', SVC_LIMIT_PART_STALL_MS_MAX: '500' })
    await server.post('/v1/add', { collection: 'c', key: 'k', lang: 'en', contentMd: 'x'.repeat(8_000_000) })
    const client = await handshaken(test, server.port)
    const body = '{"collection":"c","key":"k","lang":"en"}'
    client.write(`POST /v1/get HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    await once(client, 'readable')
    await untilAsked(
      () => countConnections(server.port, () => false),
      (counts) => counts.size === 0,
    )
  })
})
