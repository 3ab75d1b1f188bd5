/**
 * What is counted and bounded by client holds with TLS, on the event loops (`request`) and through the gate
 * (`require`): rate limit, events, connections. The clients come from several addresses of this machine.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import type { ConnectionOptions } from 'node:tls'
import { CertificateAuthority, LACKS_OPENSSL, type Pair, textsOf } from '../../harness/clients/certificates.js'
import { rawPost } from '../../harness/clients/raw_socket.js'
import { askOnce, type TlsAnswer } from '../../harness/clients/tls_client.js'
import { untilAsked } from '../../harness/process/until.js'
import { REAL_HASHES } from '../../harness/server/access.js'
import { auditOf } from '../../harness/server/audit_log.js'
import { type Server, type ServerOptions, startServer } from '../../harness/server/server.js'

const skip = LACKS_OPENSSL === false && process.platform !== 'linux' ? 'the addresses are those of Linux' : LACKS_OPENSSL
if (skip !== false) console.error(`SKIPPED: clients of TLS, because ${skip}`)
const OWN = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address
const lacksOwn = OWN === undefined ? 'no address of this machine beside loopback' : false
const LOOPS = ['--http-loops', '2']
/** Connections of a client. */
const MOST = 6
const PRODUCTION = {
  ...REAL_HASHES,
  SVC_PRODUCTION: 'true',
  SVC_CORS_ORIGINS: 'https://app.example',
  SVC_AUDIT_ENABLED: 'true',
  SVC_RATE_LIMIT_ENABLED: 'true',
  SVC_RATE_LIMIT_REQUESTS: '1000000',
}

let folder: string
let ca: CertificateAuthority
let first: Pair
let second: Pair
let own: ConnectionOptions
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'mds-tls-clients-'))
  if (skip !== false) return
  ca = new CertificateAuthority(folder)
  first = ca.sign('first')
  second = ca.sign('second')
  own = { ...ca.trust, ...textsOf(ca.sign('client')) }
})
after(() => rmSync(folder, { recursive: true, force: true }))

/** Ended after the test, so that a test that fails ends, too. */
async function start(test: TestContext, how: string, options: ServerOptions, { cert, key }: Pair = first): Promise<Server> {
  const tls = { SVC_TLS_ENABLED: 'true', SVC_TLS_CERT: cert, SVC_TLS_KEY: key, SVC_TLS_CLIENT_CA: ca.cert, SVC_TLS_CLIENT_AUTH: how }
  const server = await startServer({ ...options, env: { ...tls, ...options.env }, args: LOOPS, tls: own })
  test.after(() => server.kill())
  return server
}

/** A request over a connection of its own from this address. @param headers further lines */
function askFrom(server: Server, localAddress: string, headers = ''): Promise<TlsAnswer> {
  return askOnce(server.port, { ...own, localAddress } as ConnectionOptions, rawPost('/v1/get', '{"collection":"c","key":"k","lang":"en"}', headers)) // prettier-ignore
}

const inTurn = async <T>(times: number, ask: () => Promise<T>): Promise<readonly T[]> => {
  const answers: T[] = []
  for (let at = 0; at < times; at++) answers.push(await ask())
  return answers
}
const statusOf = ({ status }: TlsAnswer): number => status

for (const how of ['request', 'require'] as const) {
  // Several at once: each has a server, and most of them wait for its watch of connections.
  describe(`clients of TLS (${how})`, { skip, concurrency: 2 }, () => {
    const LIMIT = { SVC_RATE_LIMIT_ENABLED: 'true', SVC_RATE_LIMIT_REQUESTS: '4', SVC_RATE_LIMIT_BURST: '0', SVC_RATE_LIMIT_WINDOW: '24h' }

    it(`tls clients: the rate limit counts each by its own address, and all answers have the headers of both (${how})`, async (test) => {
      const server = await start(test, how, { env: LIMIT })
      for (const address of ['127.0.0.2', '127.0.0.3']) {
        const answers = await inTurn(6, () => askFrom(server, address))
        assert.deepEqual(answers.map(statusOf), [404, 404, 404, 404, 429, 429], address)
        for (const { text } of answers) {
          for (const header of ['X-RateLimit-Limit: 4', 'Strict-Transport-Security: max-age=31536000', 'Referrer-Policy: no-referrer'])
            assert.ok(text.includes(`\r\n${header}\r\n`), `${header} in ${text}`)
        }
      }
    })

    it(`tls clients: X-Forwarded-For counts from a trusted proxy only, and events name the client (${how})`, async (test) => {
      const env = { ...LIMIT, SVC_TRUSTED_PROXIES: '127.0.0.4', SVC_AUDIT_ENABLED: 'true' }
      const server = await start(test, how, { env })
      const forClient = (client: string): string => `X-Forwarded-For: ${client}\r\n`
      for (const client of ['203.0.113.1', '203.0.113.2'])
        assert.deepEqual((await inTurn(5, () => askFrom(server, '127.0.0.4', forClient(client)))).map(statusOf), [404, 404, 404, 404, 429])
      const others = ['203.0.113.3', '203.0.113.4', '203.0.113.5', '203.0.113.6', '203.0.113.7']
      const forging = others.values()
      const statuses = await inTurn(5, () => askFrom(server, '127.0.0.5', forClient(String(forging.next().value))))
      assert.deepEqual(statuses.map(statusOf), [404, 404, 404, 404, 429])
      // Asked by loopback, which has not exceeded it.
      const { events } = await auditOf(server, 'action=security.rate_limit_exceeded')
      assert.deepEqual(events.map(({ ip }) => ip).sort(), ['127.0.0.5', '203.0.113.1', '203.0.113.2'])
    })

    it(
      `tls clients: outside of production there is a warning, which counts connections without a handshake, also after a renewal (${how})`,
      { skip: lacksOwn },
      async (test) => {
        const bounded = await startBounded(test, how, {})
        const warnings = (): number =>
          [...bounded.server.output().matchAll(new RegExp(`a client has more connections than SVC_MAX_CONN_IP.*address=${OWN}`, 'g'))]
            .length
        for (const [at, pair] of [first, second].entries()) {
          await bounded.renew(pair)
          const silent = await bounded.openSilent(test, MOST + 1)
          await untilAsked(
            () => Promise.resolve(warnings()),
            (count) => count === at + 1,
          )
          assert.equal(await bounded.isServed(), true)
          for (const socket of silent) socket.destroy()
          await bounded.counted()
        }
        await bounded.openSilent(test, MOST - 1)
        await bounded.counted()
        assert.equal(warnings(), 2)
      },
    )

    it(
      `tls clients: in production further connections are refused, with and without a handshake; loopback is exempt (${how})`,
      { skip: lacksOwn },
      async (test) => {
        const bounded = await startBounded(test, how, { env: PRODUCTION })
        const { server } = bounded
        const isServed = (): Promise<boolean> => bounded.isServed()
        for (const pair of [first, second]) {
          await bounded.renew(pair)
          const silent = await bounded.openSilent(test, MOST + 2)
          await untilAsked(isServed, (served) => !served)
          assert.deepEqual(await inTurn(12, isServed), Array<boolean>(12).fill(false))
          assert.equal((await askOnce(server.port, own)).status, 200)
          for (const socket of silent) socket.destroy()
          await untilAsked(isServed, (served) => served)
        }
        const refused = /^mddb_connections_refused_total (\d+)$/m.exec((await server.get('/metrics')).text)?.[1]
        assert.ok(Number(refused) >= 24, refused)
        assert.equal(await server.stop(), 0)
      },
    )
  })
}

interface Bounded {
  readonly server: Server
  /** Settles when new connections get this pair. */
  renew(pair: Pair): Promise<void>
  /** Connections from another address than loopback, which don't even begin a handshake. */
  openSilent(test: TestContext, count: number): Promise<readonly Socket[]>
  /** Whether a request over a new connection from there is answered. */
  isServed(): Promise<boolean>
  /** Settles when the connections of clients have been counted anew, or need no count. */
  counted(): Promise<void>
}

/** A server that bounds the connections of a client to `MOST`. */
async function startBounded(test: TestContext, how: string, options: ServerOptions): Promise<Bounded> {
  const place = mkdtempSync(join(folder, 'files-'))
  const files: Pair = { cert: join(place, 'tls.crt'), key: join(place, 'tls.key') }
  const use = ({ cert, key }: Pair): void => {
    copyFileSync(cert, files.cert)
    copyFileSync(key, files.key)
  }
  use(first)
  // Without a host, clients of IPv4 have mapped addresses of IPv6.
  const server = await start(test, how, { ...options, env: { ...options.env, SVC_MAX_CONN_IP: String(MOST) }, address: ':0' }, files)
  const host = OWN ?? ''
  const watch = async (): Promise<{ readonly rounds: number; readonly rests: boolean }> => {
    const { text } = await server.get('/metrics')
    const rounds = Number(/^mddb_chore_rounds_total\{chore="connection-watch"\} (\d+)$/m.exec(text)?.[1])
    return { rounds, rests: /^mddb_chore_state\{chore="connection-watch"\} 1$/m.test(text) }
  }
  return {
    server,
    renew: async (pair) => {
      use(pair)
      await untilAsked(
        () => askOnce(server.port, own),
        (answer) => answer.server === (pair === first ? 'first' : 'second'),
      )
    },
    openSilent: (context, count) => Promise.all(Array.from({ length: count }, () => openSocket(context, server.port, host))),
    isServed: async () => (await askOnce(server.port, { ...own, host, servername: 'localhost' })).status === 200,
    counted: async () => {
      const before = await watch()
      await untilAsked(watch, ({ rounds, rests }) => rests || rounds >= before.rounds + 2)
    },
  }
}

async function openSocket(test: TestContext, port: number, host: string): Promise<Socket> {
  const socket = connect({ port, host })
  test.after(() => socket.destroy())
  // A refused connection may be reset.
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}
