/**
 * TLS on HTTP: what a start refuses, versions, ciphers and client certificates of both listeners (that of the
 * event loops, and the gate that requires client certificates), and a clean shutdown.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { projectFolder } from '../../../src/base/installation.js'
import { loadConfig } from '../../../src/config/config.js'
import { proxyHeader } from '../../../src/surface/http/gate/proxy_header.js'
import { Credentials } from '../../../src/surface/tls/credentials.js'
import { CertificateAuthority, LACKS_OPENSSL, openssl, type Pair, selfSignedRsa, textsOf } from '../../harness/clients/certificates.js'
import { rawPost } from '../../harness/clients/raw_socket.js'
import { askOnce } from '../../harness/clients/tls_client.js'
import { untilAsked } from '../../harness/process/until.js'
import { runToEnd, type Server, type ServerOptions, startServer } from '../../harness/server/server.js'

const skip = LACKS_OPENSSL
if (skip !== false) console.error(`SKIPPED: TLS, because ${skip}`)

let folder: string
let ca: CertificateAuthority
let server: Pair
let client: Pair
let stranger: Pair
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'mds-certificates-'))
  if (skip !== false) return
  ca = new CertificateAuthority(folder)
  server = ca.sign('server')
  client = ca.sign('client')
  stranger = new CertificateAuthority(folder, 'other-ca').sign('stranger')
})
after(() => rmSync(folder, { recursive: true, force: true }))

const tlsOf = ({ cert, key }: Pair): Record<string, string> => ({ SVC_TLS_ENABLED: 'true', SVC_TLS_CERT: cert, SVC_TLS_KEY: key })
const clientAuth = (how: string): Record<string, string> => ({ ...tlsOf(server), SVC_TLS_CLIENT_CA: ca.cert, SVC_TLS_CLIENT_AUTH: how })
/** Ended after the test, so that a test that fails ends, too. */
async function start(test: TestContext, options: ServerOptions): Promise<Server> {
  const started = await startServer(options)
  test.after(() => started.kill())
  return started
}
const document = (key: string, contentMd: string): object => ({ collection: 'c', key, lang: 'en', contentMd })

describe('a start with TLS', { skip }, () => {
  it('tls: a missing, unreadable or mismatching file is refused in one line, before anything listens', async () => {
    const other = ca.sign('other')
    const locked = join(folder, 'locked.key')
    openssl('pkey', '-in', server.key, '-aes256', '-passout', 'pass:x', '-out', locked)
    const text = join(folder, 'text.pem')
    writeFileSync(text, 'no certificate\n')
    const large = join(folder, 'large.pem')
    writeFileSync(large, Buffer.alloc(2 ** 20 + 1, 0x20))
    const gone = join(folder, 'gone.pem')
    const refused: readonly (readonly [Record<string, string>, RegExp])[] = [
      [{ SVC_TLS_ENABLED: 'true' }, /SVC_TLS_ENABLED needs SVC_TLS_CERT and SVC_TLS_KEY$/],
      [{ ...tlsOf(server), SVC_TLS_KEY: '' }, /SVC_TLS_ENABLED needs SVC_TLS_CERT and SVC_TLS_KEY$/],
      [tlsOf({ ...server, cert: gone }), /SVC_TLS_CERT \S+gone\.pem can't be read: ENOENT$/],
      [tlsOf({ ...server, key: gone }), /SVC_TLS_KEY \S+gone\.pem can't be read: ENOENT$/],
      [tlsOf({ ...server, key: folder }), /SVC_TLS_KEY \S+ can't be read: EISDIR$/],
      [tlsOf({ ...server, cert: large }), /SVC_TLS_CERT \S+large\.pem can't be read: larger than 1048576 bytes$/],
      [tlsOf({ ...server, cert: text }), /SVC_TLS_CERT \S+text\.pem is not a PEM file of certificates$/],
      [tlsOf({ ...server, key: text }), /SVC_TLS_KEY \S+text\.pem is not a PEM file of a private key without a passphrase$/],
      [tlsOf({ ...server, key: locked }), /SVC_TLS_KEY \S+locked\.key is not a PEM file of a private key without a passphrase$/],
      [tlsOf({ ...server, key: other.key }), /SVC_TLS_KEY \S+other\.key is not the key of the certificate in \S+server\.pem$/],
      [
        tlsOf({ ...server, cert: selfSignedRsa(folder, 'rsa-of-no-key').cert }),
        /SVC_TLS_KEY \S+server\.key is not the key of the certificate in \S+rsa-of-no-key\.pem$/,
      ],
      [{ ...clientAuth('require'), SVC_TLS_CLIENT_CA: gone }, /SVC_TLS_CLIENT_CA \S+gone\.pem can't be read: ENOENT$/],
      [{ ...clientAuth('request'), SVC_TLS_CLIENT_CA: text }, /SVC_TLS_CLIENT_CA \S+text\.pem is not a PEM file of certificates$/],
    ]
    for (const [env, line] of refused) assert.throws(() => new Credentials(loadConfig([], env)), line)
    // A start says what is thrown.
    for (const [env, line] of refused.filter((_, at) => at % 4 === 0)) {
      const { code, output } = await runToEnd({ env })
      assert.equal(code, 2, output)
      assert.match(output.trimEnd(), line)
      assert.match(output, /^can't start: [^\n]*\n$/, output)
    }
    const unix = await runToEnd({ env: tlsOf(server), address: `unix:${join(folder, 'socket')}` })
    assert.match(unix.output, /^can't start: SVC_TLS_ENABLED needs a TCP address: SVC_HTTP_ADDR is a unix socket$/m)
  })

  it('tls: an expired certificate is warned of', async (test) => {
    const expired = ca.signExpired('expired')
    const old = await start(test, { env: tlsOf(expired), tls: { rejectUnauthorized: false } })
    assert.match(old.output(), / warn TLS: the certificate has expired path=\S+expired\.pem expires=20/)
    assert.equal(await old.stop(), 0)
  })

  it('tls: by flags and by the configuration file; suggested addresses, HSTS and the CLI are those of HTTPS', async (test) => {
    const file = join(folder, 'mds.yaml')
    writeFileSync(file, `tls: { enabled: true, cert: ${server.cert}, clientCa: ${ca.cert}, clientAuth: request }\n`)
    const running = await start(test, { args: ['-c', file, '--tls-key', server.key], tls: ca.trust })
    const answer = await running.get('/health')
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['strict-transport-security'], 'max-age=31536000')
    assert.equal(answer.headers['referrer-policy'], 'no-referrer')
    assert.equal(answer.headers['x-content-type-options'], 'nosniff')
    assert.match(running.output(), new RegExp(`curl -X POST https://127.0.0.1:${running.port}/v1/add `))
    // The script of the page replaces this by the origin under which it was opened.
    assert.ok((await running.get('/docs')).text.includes('{base_url}/v1/add'))
    await assert.rejects(fetch(`http://127.0.0.1:${running.port}/health`))

    const mds = (env: Record<string, string>, ...args: readonly string[]): ReturnType<typeof spawnSync> =>
      spawnSync(process.execPath, [join(projectFolder(), 'bin', 'mds.mjs'), 'stats', '--json', '-u', running.url, ...args], {
        env: { ...process.env, ...env },
        encoding: 'utf8',
      })
    assert.match(String(mds({}).stderr), /no answer from https:.*(certificate|issuer)/)
    assert.equal(mds({ MDS_CA: ca.cert }).status, 0)
    assert.equal(mds({}, '--ca', ca.cert).status, 0)
    assert.equal(mds({ NODE_EXTRA_CA_CERTS: ca.cert }).status, 0)
    assert.match(String(mds({ MDS_CA: join(folder, 'gone.pem') }).stderr), /gone\.pem can't be read: ENOENT/)
    assert.equal(await running.stop(), 0)
  })
})

for (const how of ['request', 'require'] as const) {
  describe(`a listener with TLS (${how})`, { skip }, () => {
    let running: Server
    const own = (): object => ({ ...ca.trust, ...textsOf(client) })
    const log = { SVC_ACCESS_LOG: 'true', SVC_LOG_LEVEL: 'debug' }
    before(async () => {
      running = await startServer({ env: { ...clientAuth(how), ...log }, args: ['--http-loops', '2'], tls: own() })
    })
    after(async () => assert.equal(await running.stop(), 0))

    it(`tls: versions 1.2 and 1.3 are spoken, older ones are refused (${how})`, async () => {
      const old = { minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
      for (const maxVersion of ['TLSv1', 'TLSv1.1'] as const) {
        const refused = await askOnce(running.port, { ...own(), ...old, maxVersion })
        assert.deepEqual([refused.status, refused.protocol], [0, ''])
        assert.match(refused.reason, /PROTOCOL_VERSION/)
      }
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        const { status, protocol, reason } = await askOnce(running.port, { ...own(), maxVersion })
        assert.deepEqual([status, protocol], [200, maxVersion], reason)
      }
      assert.equal((await askOnce(running.port, own())).protocol, 'TLSv1.3')
    })

    it(`tls: ciphers of TLS 1.2 have forward secrecy and authenticate (${how})`, async () => {
      for (const ciphers of ['ECDHE-ECDSA-AES128-SHA', 'ECDHE-ECDSA-AES256-SHA384', 'AES128-GCM-SHA256', 'AES256-SHA']) {
        const refused = await askOnce(running.port, { ...own(), ciphers, maxVersion: 'TLSv1.2' })
        assert.deepEqual([refused.status, refused.cipher], [0, ''], ciphers)
      }
      for (const ciphers of ['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-ECDSA-CHACHA20-POLY1305']) {
        const { status, cipher } = await askOnce(running.port, { ...own(), ciphers, maxVersion: 'TLSv1.2' })
        assert.deepEqual([status, cipher], [200, ciphers])
      }
    })

    it(`tls: client certificates: those of the CA are taken, others refused; without one (${how})`, async () => {
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        assert.equal((await askOnce(running.port, { ...own(), maxVersion })).status, 200)
        const foreign = await askOnce(running.port, { ...ca.trust, ...textsOf(stranger), maxVersion })
        assert.equal(foreign.status, 0)
        const without = await askOnce(running.port, { ...ca.trust, maxVersion })
        assert.equal(without.status, how === 'request' ? 200 : 0, without.reason)
      }
    })

    it(`tls: the server knows the address of the client, and foreign web pages are refused by it (${how})`, async () => {
      await running.get('/seen')
      await untilAsked(
        () => Promise.resolve(running.output()),
        (output) => / request method=GET path=\/seen .*peer=127\.0\.0\.1$/m.test(output),
      )
      assert.equal((await running.get('/health', { origin: 'https://page.example' })).status, 403)
      const forged = Buffer.concat([proxyHeader('192.0.2.7'), Buffer.from('GET /forged HTTP/1.1\r\nHost: localhost\r\n\r\n')])
      const { status } = await askOnce(running.port, own(), forged)
      assert.equal(status, how === 'require' ? 0 : 404)
      const line =
        how === 'require' ? / warn tls: client disconnected, .* peer=127/ : / request method=GET path=\/forged .*peer=127\.0\.0\.1$/m
      await untilAsked(
        () => Promise.resolve(running.output()),
        (output) => line.test(output),
      )
      assert.doesNotMatch(running.output(), /192\.0\.2\.7/)
    })

    it(`tls: long bodies come whole in both directions, also to a client that reads late (${how})`, async () => {
      const content = 'a line of text that is not short\n'.repeat(400_000)
      assert.equal((await running.post('/v1/add', document('long', content))).status, 200)
      const { contentMd } = (await running.post('/v1/get', { collection: 'c', key: 'long', lang: 'en' })).json<{ contentMd: string }>()
      assert.equal(contentMd.length, content.length)
      const late = await openSocket(running.port, own())
      const body = JSON.stringify({ collection: 'c', key: 'long', lang: 'en' })
      late.pause()
      late.write(rawPost('/v1/get', body))
      await untilAsked(
        () => running.get('/metrics'),
        ({ text }) => Number(/^mddb_answers_unsent_bytes (\d+)$/m.exec(text)?.[1]) > 0,
      )
      let bytes = 0
      late.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > content.length) late.destroy()
      })
      late.resume()
      await new Promise((resolve) => late.once('close', resolve))
      assert.ok(bytes > content.length)
    })

    // The last one: it ends the server.
    it(`tls: a shutdown completes the requests that were sent (${how})`, async () => {
      const body = JSON.stringify(document('last', 'x'.repeat(10_000)))
      const request = rawPost('/v1/add', body)
      const sockets = await Promise.all(Array.from({ length: 12 }, () => openSocket(running.port, own())))
      for (const socket of sockets) socket.write(request.slice(0, -100))
      await untilAsked(
        () => running.get('/metrics'),
        ({ text }) => Number(/^mddb_bodies_in_flight_bytes (\d+)$/m.exec(text)?.[1]) > 12 * 9_800,
      )
      const ended = running.stop()
      await untilAsked(
        () => Promise.resolve(running.output()),
        (output) => output.includes('shutting down'),
      )
      const answers = sockets.map(
        (socket) => new Promise<string>((resolve) => socket.once('data', (chunk: Buffer) => resolve(chunk.toString('latin1')))),
      )
      for (const socket of sockets) socket.write(request.slice(-100))
      for (const answer of answers) assert.match(await answer, /^HTTP\/1\.1 200 /)
      assert.equal(await ended, 0, running.output())
    })
  })
}

describe('a certificate with an RSA key, signed by itself', { skip }, () => {
  for (const how of ['request', 'require'] as const) {
    it(`tls: RSA: versions and ciphers are those of an EC key; the key only signs (${how})`, async (test) => {
      const rsa = selfSignedRsa(folder, `rsa-${how}`)
      const own = { ...textsOf(client), ca: textsOf(rsa).cert }
      const running = await start(test, { env: { ...clientAuth(how), ...tlsOf(rsa) }, args: ['--http-loops', '2'], tls: own })
      for (const maxVersion of ['TLSv1', 'TLSv1.1'] as const) {
        const old = await askOnce(running.port, { ...own, minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0', maxVersion })
        assert.deepEqual([old.status, old.protocol], [0, ''])
        assert.match(old.reason, /PROTOCOL_VERSION/)
      }
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        const { status, protocol, reason } = await askOnce(running.port, { ...own, maxVersion })
        assert.deepEqual([status, protocol], [200, maxVersion], reason)
      }
      const over12 = (ciphers: string): ReturnType<typeof askOnce> => askOnce(running.port, { ...own, ciphers, maxVersion: 'TLSv1.2' })
      // Without forward secrecy, or with CBC.
      for (const ciphers of ['AES128-GCM-SHA256', 'AES256-SHA', 'ECDHE-RSA-AES128-SHA', 'DHE-RSA-AES128-GCM-SHA256'])
        assert.equal((await over12(ciphers)).status, 0, ciphers)
      for (const ciphers of ['ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-RSA-CHACHA20-POLY1305']) {
        const { status, cipher } = await over12(ciphers)
        assert.deepEqual([status, cipher], [200, ciphers])
      }
      assert.equal(await running.stop(), 0)
    })
  }
})

describe('the gate', { skip }, () => {
  it('tls: other users of the machine cannot pass by the gate, and its folder goes with the server', async (test) => {
    // Other servers of this machine have gates, too.
    const own = mkdtempSync(join(tmpdir(), 'mds-tmp-'))
    test.after(() => rmSync(own, { recursive: true, force: true }))
    const gates = (): readonly string[] => readdirSync(own).filter((name) => name.startsWith('mds-gate-'))
    const env = { ...clientAuth('require'), TMPDIR: own }
    const running = await start(test, { env, args: ['--http-loops', '2'], tls: { ...ca.trust, ...textsOf(client) } })
    const [name = ''] = gates()
    const path = join(own, name)
    assert.equal(statSync(path).mode & 0o777, 0o700)
    assert.deepEqual(
      readdirSync(path).map((socket) => statSync(join(path, socket)).mode & 0o777),
      [0o600, 0o600],
    )
    assert.equal(await running.stop(), 0)
    assert.deepEqual(gates(), [])
  })

  it('tls: a shutdown waits until the gate has sent on what it has', { skip: process.platform !== 'linux' }, async (test) => {
    const own = { ...ca.trust, ...textsOf(client) }
    const running = await start(test, { env: clientAuth('require'), tls: own })
    const content = 'x'.repeat(40_000)
    await running.post('/v1/add', document('kept', content))
    const witness = await openSocket(running.port, own)
    const late = await openSocket(running.port, own)
    late.pause()
    // More than its buffers in this process: the kernel and the gate have the rest.
    const enough = 200_000
    const isHeld = async (): Promise<boolean> => {
      // Again and again, because the gate may only be late.
      for (let looks = 0; looks < 20; looks++) {
        if (answers * content.length - bytesInKernel(running.port, late) < enough) return false
        await running.get('/livez')
      }
      return true
    }
    let answers = 0
    do {
      late.write(rawPost('/v1/get', JSON.stringify({ collection: 'c', key: 'kept', lang: 'en' })))
      answers++
      await untilAsked(
        () => running.get('/metrics'),
        ({ text }) => text.includes(`\nmddb_http_requests_total{method="POST",path="/v1/get",status="200"} ${answers}\n`),
      )
    } while (!(await isHeld()))
    const ended = running.stop()
    // The event loop has closed its connections.
    witness.resume()
    await new Promise((resolve) => witness.once('close', resolve))
    let bytes = 0
    late.on('data', (chunk: Buffer) => (bytes += chunk.length))
    late.resume()
    await new Promise((resolve) => late.once('close', resolve))
    assert.ok(bytes > answers * content.length, `${bytes} bytes of ${answers} answers`)
    assert.equal(await ended, 0, running.output())
  })
})

describe('an event loop with TLS', { skip }, () => {
  for (const how of ['request', 'require']) {
    it(`tls: an event loop that dies is started again, with TLS (${how})`, async (test) => {
      const own = { ...ca.trust, ...textsOf(client) }
      const env = { ...clientAuth(how), MDS_FAIL_POINT: 'loop.answer:error' }
      const running = await start(test, { env, args: ['--http-loops', '2'], tls: own })
      const post = (path: string, body: object): ReturnType<typeof askOnce> =>
        askOnce(running.port, own, rawPost(path, JSON.stringify(body)))
      // What comes to the further loop over its port ends it. Plain gets do not come so.
      await untilAsked(
        () => post('/v1/add', document('kept', 'text')),
        ({ status }) => status === 200,
      )
      await untilAsked(
        () => post('/v1/search', { collection: 'c' }),
        ({ status }) => status === 0,
      )
      await untilAsked(
        () => Promise.resolve(running.output()),
        (output) => output.includes('surface http listens again'),
      )
      for (let at = 0; at < 20; at++) assert.equal((await post('/v1/get', { collection: 'c', key: 'kept', lang: 'en' })).status, 200)
      assert.equal(await running.stop(), 0, running.output())
    })
  }
})

/**
 * Bytes of a connection that are in the kernel, on both of its sides.
 * @param port of the server
 */
function bytesInKernel(port: number, { localPort = 0 }: TLSSocket): number {
  const hex = (number: number): string => `:${number.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = readFileSync('/proc/net/tcp', 'latin1')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
  const queued = rows.flatMap(([, from = '', to = '', , queues = '']) => {
    const [sent = '', received = ''] = queues.split(':')
    if (from.endsWith(hex(port)) && to.endsWith(hex(localPort))) return [parseInt(sent, 16)]
    return from.endsWith(hex(localPort)) && to.endsWith(hex(port)) ? [parseInt(received, 16)] : []
  })
  return queued.reduce((sum, bytes) => sum + bytes, 0)
}

async function openSocket(port: number, options: object): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, servername: 'localhost', ...options })
  socket.on('error', () => undefined)
  await new Promise((resolve) => socket.once('secureConnect', resolve))
  return socket
}
