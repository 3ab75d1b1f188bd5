/**
 * Web pages and a server on the same machine: which Origin, Host and Sec-Fetch-Site are accepted as local,
 * and which options switch the check off. Raw sockets, because HTTP clients set these headers themselves.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { hostname, networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { LocalGuard } from '../../../src/surface/http/local_guard.js'
import { OWN_ADDRESSES_KEPT_MS, ThisMachine } from '../../../src/surface/http/this_machine.js'
import { RawSocket } from '../../harness/clients/raw_socket.js'
import type { Server, ServerOptions } from '../../harness/server/server.js'
import { startServer } from '../../harness/server/server.js'

const ADD = JSON.stringify({ collection: 'c', key: 'k', lang: 'en', contentMd: 'from a web page' })
const FOREIGN = ['https://evil.example', 'http://evil.example:11023', 'null', 'http://localhost.evil.example', 'http://localhost@evil.example', 'http://192.168.1.1', 'http://0.0.0.0', 'file://', 'x', 'http://127.0.0.1, http://evil.example', 'chrome://x'] // prettier-ignore
const LOCAL = ['http://localhost', 'https://localhost:3000', 'http://127.0.0.1:8080', 'http://127.9.9.9', 'http://[::1]:8080', 'http://[::ffff:127.0.0.1]', 'http://app.localhost', 'chrome-extension://abcdef', 'moz-extension://abc-def', 'safari-web-extension://abc', 'tauri://localhost'] // prettier-ignore
const GOOD_HOSTS = ['localhost', 'localhost:11023', 'LOCALHOST', 'localhost.', 'app.localhost:1', '127.0.0.1:11023', '[::1]:11023', '[::1]', '10.1.2.3', '[2001:db8::1]:80', '192.0.2.7:11023'] // prettier-ignore
const REBOUND_HOSTS = ['evil.example', 'evil.example:11023', 'localhost.evil.example', '127.0.0.1.evil.example', '1.2.3.4.5', 'localhost@evil.example', 'evil.example/localhost', 'mds', '[::1].evil.example'] // prettier-ignore

async function ask(server: Server, head: string, body = '', host = '127.0.0.1'): Promise<string> {
  const socket = await RawSocket.open(server.port, host)
  socket.write(`${head}Connection: close\r\n${body === '' ? '' : `Content-Length: ${body.length}\r\n`}\r\n${body}`)
  const text = await socket.until(() => false)
  socket.destroy()
  return text
}

const get = (server: Server, host: string, origin?: string, to?: string): Promise<string> =>
  ask(server, `GET /v1/stats HTTP/1.1\r\nHost: ${host}\r\n${origin === undefined ? '' : `Origin: ${origin}\r\n`}`, '', to)
const post = (server: Server, origin: string): Promise<string> =>
  ask(server, `POST /v1/add HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain\r\nOrigin: ${origin}\r\n`, ADD)
/** A request as a browser sends it for an image, a script, a frame or a link, without `Origin`. */
const browse = (server: Server, path: string, site: string, mode: string, dest: string, method = 'GET', to?: string): Promise<string> =>
  ask(server, `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: ${site}\r\nSec-Fetch-Mode: ${mode}\r\nSec-Fetch-Dest: ${dest}\r\n`, '', to) // prettier-ignore
/** Mode and destination of resources that a page embeds or fetches without a permission check. */
const EMBEDDED = [['no-cors', 'image'], ['no-cors', 'script'], ['no-cors', 'empty'], ['navigate', 'iframe'], ['navigate', 'object'], ['navigate', ''], ['', '']] as const // prettier-ignore
/** Pages about the server itself. */
const PAGES = ['/', '/docs', '/openapi.json', '/health', '/v1/health', '/livez', '/readyz', '/metrics', '/v1/stats', '/v1/config', '/v1/system/info', '/v1/endpoints', '/v1/fts-languages'] // prettier-ignore
const DATA = ['/v1/backups', '/v1/doc-meta?collection=c&key=k&lang=en', '/v1/fts?collection=c&q=a', '/v1/meta-keys?collection=c', '/nowhere'] // prettier-ignore
/** An address of an interface of this machine. */
const OTHER = Object.values(networkInterfaces()).flatMap((all = []) =>
  all.filter(({ internal, family }) => !internal && family === 'IPv4'),
)[0]
const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])

async function withServer(options: ServerOptions, use: (server: Server) => Promise<void>): Promise<void> {
  const server = await startServer(options)
  try {
    await use(server)
  } finally {
    await server.stop()
  }
}

describe('web pages and a server on the same machine', () => {
  let server: Server
  before(async () => {
    server = await startServer({ address: ':0', env: { SVC_MCP_ADDR: ':0' } })
  })
  after(() => server.stop())

  it('local guard: a text/plain POST of a page of another origin is 403 and writes nothing', async () => {
    for (const origin of FOREIGN) {
      const answer = await post(server, origin)
      assert.equal(statusOf(answer), 403, origin)
      assert.match(
        answer,
        /\{"error":"web pages of other origins may not call a server on their own machine; SVC_CORS_ORIGINS names those that may"\}$/,
      )
      assert.doesNotMatch(answer, /Access-Control-Allow/i)
    }
    assert.equal((await server.post('/v1/get', { collection: 'c', key: 'k', lang: 'en' })).status, 404)
  })

  it('local guard: pages of this machine, extensions, and clients without an Origin may call', async () => {
    for (const origin of LOCAL) assert.equal(statusOf(await post(server, origin)), 200, origin)
    assert.equal(statusOf(await get(server, 'localhost')), 200)
  })

  it('local guard: a name that DNS may have rebound to this machine is 403, with and without an Origin, on every path', async () => {
    for (const host of REBOUND_HOSTS) {
      const answer = await get(server, host)
      assert.equal(statusOf(answer), 403, host)
      assert.match(
        answer,
        /\{"error":"a server on the same machine is not known by this host name; SVC_ALLOWED_HOSTS names those that are"\}$/,
      )
      assert.equal(statusOf(await get(server, host, `http://${host}`)), 403)
    }
    for (const path of ['/health', '/docs', '/nowhere']) {
      assert.equal(statusOf(await ask(server, `GET ${path} HTTP/1.1\r\nHost: evil.example\r\n`)), 403)
    }
    for (const host of GOOD_HOSTS) assert.equal(statusOf(await get(server, host)), 200, host)
  })

  it('local guard: preflights follow the same rules, and are refused without permission', async () => {
    const preflight = (origin: string): Promise<string> =>
      ask(server, `OPTIONS /v1/add HTTP/1.1\r\nHost: localhost\r\nOrigin: ${origin}\r\nAccess-Control-Request-Method: POST\r\n`)
    const refused = await preflight('https://evil.example')
    assert.equal(statusOf(refused), 403)
    assert.doesNotMatch(refused, /Access-Control-Allow/i)
    const allowed = await preflight('http://localhost:3000')
    assert.equal(statusOf(allowed), 204)
    assert.match(allowed, /Access-Control-Allow-Origin: \*/i)
  })

  it('local guard: a request embedded in a page of another site or port is 403 and makes no backup; a link from it is 403, except to a page about the server', async () => {
    const backups = join(server.directory, 'backups')
    const made = (): number => (existsSync(backups) ? readdirSync(backups).length : 0)
    for (const site of ['cross-site', 'same-site']) {
      for (const [mode, dest] of EMBEDDED) {
        for (const path of ['/v1/backup', ...DATA, ...PAGES]) {
          const answer = await browse(server, path, site, mode, dest)
          assert.equal(statusOf(answer), 403, `${path} ${site} ${mode} ${dest}`)
          assert.match(answer, /\{"error":"web pages of other origins may not call/)
          assert.doesNotMatch(answer, /Access-Control-Allow/i)
        }
      }
      for (const path of ['/v1/backup', ...DATA]) {
        for (const method of ['GET', 'HEAD'])
          assert.equal(statusOf(await browse(server, path, site, 'navigate', 'document', method)), 403, `${method} ${path} by a link`)
      }
      for (const path of PAGES)
        assert.ok([200, 302].includes(statusOf(await browse(server, path, site, 'navigate', 'document'))), `${path} by a link`)
    }
    assert.equal(made(), 0)
    for (const site of ['none', 'same-origin']) {
      assert.equal(statusOf(await browse(server, '/v1/backup', site, 'navigate', 'document')), 200, `${site}: typed, or from /docs`)
      assert.equal(statusOf(await browse(server, '/v1/meta-keys?collection=c', site, 'cors', 'empty')), 200)
    }
    assert.equal(made(), 2)
    const ofThisMachine = 'Origin: http://localhost:3000\r\nSec-Fetch-Site: same-site\r\nSec-Fetch-Mode: cors\r\nSec-Fetch-Dest: empty\r\n'
    assert.equal(statusOf(await ask(server, `GET /v1/backups HTTP/1.1\r\nHost: localhost\r\n${ofThisMachine}`)), 200)
  })

  it('local guard: a link from a page of this machine, recognised by its Referer, may read data as well', async () => {
    const link = (referer: string): Promise<string> =>
      ask(
        server,
        `GET /v1/backups HTTP/1.1\r\nHost: 127.0.0.1\r\nReferer: ${referer}\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n`,
      )
    assert.equal(statusOf(await link('http://localhost:3000/panel')), 200)
    for (const referer of ['https://evil.example/', 'https://localhost.evil.example/', 'null', ''])
      assert.equal(statusOf(await link(referer)), 403, referer)
  })

  it('local guard: the loopback of IPv6 is this machine too, and so is any address of its interfaces', async (context) => {
    assert.equal(statusOf(await get(server, 'evil.example', undefined, '::1')), 403)
    assert.equal(statusOf(await browse(server, '/v1/backups', 'cross-site', 'no-cors', 'image', 'GET', '::1')), 403)
    if (OTHER === undefined) {
      context.skip('this machine has no other address')
      return
    }
    const { address } = OTHER
    assert.equal(statusOf(await get(server, 'evil.example', undefined, address)), 403)
    assert.equal(statusOf(await get(server, address, 'https://evil.example', address)), 403)
    assert.equal(statusOf(await browse(server, '/v1/backups', 'cross-site', 'no-cors', 'image', 'GET', address)), 403)
    const page = `http://${address}:${server.port}`
    for (const host of [`${address}:${server.port}`, hostname(), `${hostname()}.local:1`, 'localhost'])
      for (const origin of [undefined, page, `http://${hostname()}:1`])
        assert.equal(statusOf(await get(server, host, origin, address)), 200, `${host} ${origin}`)
  })

  it('mcp: the Host is asked of clients at any address of this machine', async (context) => {
    const port = Number(server.addressOf('mcp').split(':').at(-1))
    const tools = async (host: string, to: string): Promise<number> =>
      statusOf(await ask({ ...server, port }, `GET /tools HTTP/1.1\r\nHost: ${host}\r\n`, '', to))
    assert.deepEqual([await tools('evil.example', '127.0.0.1'), await tools('localhost', '127.0.0.1')], [403, 200])
    if (OTHER === undefined) {
      context.skip('this machine has no other address')
      return
    }
    const { address } = OTHER
    assert.equal(await tools('evil.example', address), 403)
    for (const host of [`${address}:${port}`, hostname(), 'localhost']) assert.equal(await tools(host, address), 200, host)
  })
})

describe('what switches the check of web pages off', () => {
  for (const [name, value] of [
    ['SVC_CORS_ORIGINS', '*'],
    ['SVC_CORS_ORIGINS', 'https://a.example'],
    ['SVC_TRUSTED_PROXIES', '127.0.0.1'],
  ] as const)
    // prettier-ignore
    it(`local guard: ${name}=${value} switches it off`, async () => {
      await withServer({ env: { [name]: value } }, async (server) => {
        assert.equal(statusOf(await get(server, 'evil.example', 'https://evil.example')), 200)
        assert.equal(statusOf(await post(server, 'null')), 200)
        assert.equal(statusOf(await browse(server, '/v1/backups', 'cross-site', 'no-cors', 'image')), 200)
      })
    })

  it('local guard: SVC_ALLOWED_HOSTS names hosts, and those below a name; foreign origins stay out', async () => {
    await withServer({ env: { SVC_ALLOWED_HOSTS: 'notes.example, *.In.example' } }, async (server) => {
      for (const host of ['notes.example', 'NOTES.example:1', 'a.in.example', 'a.b.in.example', 'localhost']) {
        assert.equal(statusOf(await get(server, host)), 200, host)
      }
      for (const host of ['x.notes.example', 'in.example', 'notes.example.evil', 'evilin.example'])
        assert.equal(statusOf(await get(server, host)), 403, host)
      assert.equal(statusOf(await get(server, 'notes.example', 'https://notes.example')), 403)
    })
  })

  it('local guard: requests on a unix socket are not checked', async () => {
    await withServer({ address: `unix:/tmp/mds-guard-${process.pid}.sock` }, async (server) => {
      assert.equal((await server.get('/v1/stats', { host: 'evil.example', origin: 'https://evil.example' })).status, 200)
    })
  })

  it('local guard: which addresses are this machine, asked anew after a bounded time', () => {
    let own = ['10.0.0.1', '2001:db8::1', 'fe80::1']
    let now = 0
    const machine = new ThisMachine(
      () => own,
      () => now,
      'Here',
    )
    const mapped = '0000:0000:0000:0000:0000:ffff:0a00:0001'
    for (const peer of ['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1', '10.0.0.1', mapped, '2001:0db8::0001', 'fe80::1%eth0'])
      assert.ok(machine.isPeer(peer), peer)
    for (const peer of ['', '10.0.0.2', '::', '0.0.0.0', '::ffff:10.0.0.2', '2001:db8::2']) assert.ok(!machine.isPeer(peer), peer)
    for (const host of ['10.0.0.1', '[2001:db8::1]', '[::ffff:a00:1]', 'here', 'here.local']) assert.ok(machine.isHost(host), host)
    for (const host of ['10.0.0.2', 'here.example', 'x.here', 'local', '']) assert.ok(!machine.isHost(host), host)
    own = ['10.0.0.2']
    now = OWN_ADDRESSES_KEPT_MS - 1
    assert.ok(machine.isPeer('10.0.0.1') && !machine.isPeer('10.0.0.2'))
    now = OWN_ADDRESSES_KEPT_MS
    assert.ok(!machine.isPeer('10.0.0.1') && machine.isPeer('10.0.0.2'))
  })

  it('local guard: its memory of earlier requests is bounded', () => {
    const guard = new LocalGuard([], () => false)
    const page = { method: 'GET', path: '/', fetchSite: '', fetchMode: '', fetchDest: '', referer: '' }
    const asked = (host: string) => ({ ...page, origin: `http://${host}`, host, isPeerLocal: () => true })
    for (let i = 0; i < 10_000; i++) assert.equal(guard.refusalOf(asked(`h${i}.example`)), 'foreignOrigin')
    assert.equal(guard.refusalOf(asked('localhost')), null)
  })
})
