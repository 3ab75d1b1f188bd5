/**
 * HAProxy and nginx in front of a server, with the blocks of docs/guides/behind-a-proxy.md as they are
 * written but for the addresses. Skipped, with the reason, where a proxy is not installed; `.ci/run` installs
 * both.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { projectFolder } from '../../../src/base/installation.js'
import { GrpcClient } from '../../harness/clients/grpc.js'
import { RawSocket } from '../../harness/clients/raw_socket.js'
import { lastingPort } from '../../harness/process/ports.js'
import { untilAsked } from '../../harness/process/until.js'
import { connectionsTo, nginxMain, type Proxy, type ProxyName, skippedWithout, startProxy } from '../../harness/proxies.js'
import { type Server, startServer } from '../../harness/server/server.js'

const GUIDE = readFileSync(join(projectFolder(), 'docs/guides/behind-a-proxy.md'), 'utf8')
const BLOCKS = new Map([...GUIDE.matchAll(/^```([\w-]+)\n([\s\S]*?)^```$/gm)].map(([, name = '', block = '']) => [name, block]))
const PROXIES: readonly ProxyName[] = ['haproxy', 'nginx']
/** Beyond what proxies and the server keep in one buffer. */
const CONTENT = 'a line of a large document\n'.repeat(300_000)
const REQUESTS = 60
const DOCUMENT = { collection: 'c', key: 'k', lang: 'en', contentMd: 'text' }
const DRAIN_MS = /SVC_DRAIN_MS=(\d+)/.exec(GUIDE)?.[1]

/** A block of the guide with other addresses. Each must stand in it. */
function block(name: string, addresses: Readonly<Record<string, string>>): string {
  return Object.entries(addresses).reduce(
    (text, [from, to]) => {
      assert.ok(text.includes(from), `the block ${name} has ${from}`)
      return text.replaceAll(from, to)
    },
    BLOCKS.get(name) ?? '',
  )
}

/** The configuration of the guide, in front of HTTP. */
function webOf(proxy: ProxyName, server: string): (port: number, folder: string) => string {
  if (proxy === 'haproxy') return (port) => block(proxy, { '10.0.0.1:11023': server, 'bind :80': `bind 127.0.0.1:${port}` })
  const site = (port: number): string => block(proxy, { '10.0.0.1:11023': server, 'listen 80': `listen 127.0.0.1:${port}` })
  return (port, folder) => nginxMain(site(port), folder)
}

/** The configuration of the guide, in front of gRPC. */
function grpcOf(proxy: ProxyName, server: string): (port: number, folder: string) => string {
  const address = { '10.0.0.1:11024': server }
  if (proxy === 'nginx') {
    return (port, folder) => nginxMain(block('nginx-grpc', { ...address, 'listen 50051': `listen 127.0.0.1:${port}` }), folder)
  }
  const [defaults = ''] = block('haproxy', {}).split(/^frontend/m)
  return (port) => defaults + block('haproxy-grpc', { ...address, 'bind :50051': `bind 127.0.0.1:${port}` })
}

/** Waits until the proxy passes requests on: HAProxy takes a server as up after its first check. */
async function untilReady(proxy: Proxy): Promise<void> {
  await untilAsked(
    () => fetch(`${proxy.url}/readyz`).then(({ status }) => status, () => 0), // prettier-ignore
    (status) => status === 200,
  )
}

async function post(proxy: Proxy, path: string, body: unknown): Promise<Response> {
  return await fetch(`${proxy.url}${path}`, { method: 'POST', body: JSON.stringify(body) })
}

for (const name of PROXIES) {
  describe(`${name} in front of a server`, { skip: skippedWithout(name) }, () => {
    let server: Server
    let proxy: Proxy

    before(async () => {
      server = await startServer({ env: { SVC_TRUSTED_PROXIES: '127.0.0.1', SVC_ACCESS_LOG: 'true' } })
      proxy = await startProxy(name, webOf(name, server.address))
      await untilReady(proxy)
    })
    after(async () => {
      await proxy.stop()
      await server.stop()
    })

    it(`${name}: requests of clients that keep their connections share few connections to the server`, async () => {
      const former = connectionsTo(server.port)
      for (let i = 0; i < REQUESTS; i++) assert.equal((await post(proxy, '/v1/get', { collection: 'c', key: 'k', lang: 'en' })).status, 404)
      const opened = connectionsTo(server.port) - former
      assert.ok(opened <= REQUESTS / 10, `${opened} connections for ${REQUESTS} requests`)
    })

    it(`${name}: a large document arrives as it was sent, by length and in chunks, and is answered whole`, async () => {
      const body = (key: string): string => JSON.stringify({ collection: 'c', documents: [{ key, lang: 'en', contentMd: CONTENT }] })
      const whole = await fetch(`${proxy.url}/v1/add-batch`, { method: 'POST', body: body('length') })
      assert.equal(whole.status, 200, await whole.text())
      const chunked = new Blob([body('chunks')]).stream()
      const streamed = await fetch(`${proxy.url}/v1/add-batch`, { method: 'POST', body: chunked, duplex: 'half' })
      assert.equal(streamed.status, 200, await streamed.text())
      for (const key of ['length', 'chunks']) {
        const document = (await (await post(proxy, '/v1/get', { collection: 'c', key, lang: 'en' })).json()) as { contentMd: string }
        assert.ok(document.contentMd === CONTENT, key)
      }
      const exported = await post(proxy, '/v1/export', { collection: 'c', format: 'ndjson' })
      assert.equal((await exported.text()).trim().split('\n').length, 2)
    })

    it(`${name}: the server sees the address of the client, and no address that a client has made up`, async () => {
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const headers = { 'x-forwarded-for': '203.0.113.7' }
        // A client other than the proxy, on the same machine.
        const asked = request(
          { port: proxy.port, host: '127.0.0.1', localAddress: '127.0.0.9', path: '/v1/stats?who', headers },
          (answer) => {
            answer.resume().on('end', () => resolve(answer.statusCode))
          },
        )
        asked.on('error', reject).end()
      })
      assert.equal(status, 200)
      await untilAsked(async () => await Promise.resolve(server.output()), (text) => text.includes('path=/v1/stats')) // prettier-ignore
      assert.match(server.output(), /path=\/v1\/stats .*peer=127\.0\.0\.1 address=127\.0\.0\.9$/m)
    })

    it(`${name}: malformed chunks smuggle no request through it`, async () => {
      const body = JSON.stringify({ collection: 'smuggled', key: 'k', lang: 'en', contentMd: 'x' })
      const smuggled = `POST /v1/add HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`
      const size = smuggled.length.toString(16)
      // Read loosely, the body ends at the first line; read as a proxy may, it contains the request.
      const bodies = [` ${size}\r\n${smuggled}\r\n0\r\n\r\n`, `1\r\nxXX0\r\n\r\n${smuggled}`, `${size} \n${smuggled}\n0\n\n`]
      for (const chunks of bodies) {
        const socket = await RawSocket.open(proxy.port)
        const head = 'POST /v1/get HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n'
        socket.write(head + chunks)
        const answers = await socket.until(() => false)
        assert.ok(answers.split('HTTP/1.1 ').length <= 2, answers)
      }
      assert.equal((await server.post('/v1/get', { collection: 'smuggled', key: 'k', lang: 'en' })).status, 404)
    })

    it(`${name}: in front of a unix socket`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'mds-proxy-unix-'))
      const path = join(folder, 'http.sock')
      const local = await startServer({ address: `unix:${path}`, env: { SVC_TRUSTED_PROXIES: 'unix' } })
      const line = block(`${name}-server`, { '/run/mds/http.sock': path }).trim()
      const web = webOf(name, server.address)
      const configured = await startProxy(name, (port, at) => web(port, at).replace(/^ *server (?!\{).*$/m, line))
      await untilReady(configured)
      assert.equal((await post(configured, '/v1/add', { collection: 'u', key: 'k', lang: 'en', contentMd: 'x' })).status, 200)
      assert.equal((await local.post('/v1/get', { collection: 'u', key: 'k', lang: 'en' })).status, 200)
      await configured.stop()
      await local.stop()
      rmSync(folder, { recursive: true, force: true })
    })

    it(`${name}: gRPC, single calls and streams`, async () => {
      const configured = await startProxy(name, grpcOf(name, server.addressOf('grpc')))
      const client = new GrpcClient(configured.url.replace('http://', ''))
      await client.call('Add', { collection: 'g', key: 'k', lang: 'en', content_md: CONTENT })
      assert.ok((await client.call<{ content_md: string }>('Get', { collection: 'g', key: 'k', lang: 'en' })).content_md === CONTENT)
      let bytes = 0
      for await (const chunk of client.stream('Export', { collection: 'g', format: 'ndjson' })) bytes += (chunk.data as Buffer).length
      assert.ok(bytes > CONTENT.length)
      client.close()
      await configured.stop()
    })
  })
}

/** Asks over one kept connection until it is stopped. @returns statuses that are not 200 */
async function askAll(port: number, isStopped: () => boolean): Promise<string[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const failed: string[] = []
  for (let i = 0; !isStopped(); i++) {
    const [path, body] = i % 2 === 0 ? ['/v1/get', DOCUMENT] : ['/v1/add', { ...DOCUMENT, key: `k${i % 10}` }]
    const status = await new Promise<string>((resolve) => {
      request({ port, host: '127.0.0.1', method: 'POST', path, agent }, (answer) => {
        answer.resume().on('end', () => resolve(String(answer.statusCode)))
      })
        .on('error', (error) => resolve(error.message))
        .end(JSON.stringify(body))
    })
    if (status !== '200') failed.push(`${path} ${status}`)
  }
  agent.destroy()
  return failed
}

interface Restarting {
  /** In front of both servers. */
  readonly start: (first: string, second: string) => Promise<Proxy>
  /** Waits until the proxy takes the restarted server as up. Default: it needs no check. */
  readonly untilBack?: (proxy: Proxy) => Promise<void>
}

/** Restarts one of two servers under 64 clients, none of which may lose a request. */
async function restartUnderLoad({ start, untilBack }: Restarting): Promise<void> {
  const env = { SVC_TRUSTED_PROXIES: '127.0.0.1', SVC_DRAIN_MS: DRAIN_MS }
  const directory = mkdtempSync(join(tmpdir(), 'mds-proxy-restart-'))
  const address = `127.0.0.1:${await lastingPort()}`
  const [first, second] = await Promise.all([startServer({ env, address, directory }), startServer({ env })])
  for (const server of [first, second]) assert.equal((await server.post('/v1/add', DOCUMENT)).status, 200)
  const proxy = await start(first.address, second.address)
  let isStopped = false
  const clients = Array.from({ length: 64 }, () => askAll(proxy.port, () => isStopped))
  await untilAsked(() => getsOf(first), (count) => count > 10) // prettier-ignore
  process.kill(first.pid, 'SIGTERM')
  assert.equal(await first.ended, 0, first.output())
  const again = await startServer({ env, address, directory })
  await untilBack?.(proxy)
  await untilAsked(() => getsOf(again), (count) => count > 10) // prettier-ignore
  isStopped = true
  const failed = (await Promise.all(clients)).flat()
  await proxy.stop()
  await Promise.all([again.stop(), second.stop()])
  rmSync(directory, { recursive: true, force: true })
  assert.deepEqual(failed, [])
}

/** Documents that the server has answered. */
async function getsOf(server: Server): Promise<number> {
  const { text } = await server.get('/metrics')
  return Number(/^mddb_http_requests_total\{method="POST",path="\/v1\/get",status="200"\} (\d+)$/m.exec(text)?.[1] ?? 0)
}

describe('restarts behind a proxy', () => {
  const haproxy = skippedWithout('haproxy')
  it('haproxy: a restart of one of two servers under 64 clients that keep their connections loses no request', { skip: haproxy }, () =>
    restartUnderLoad({
      async start(first, second) {
        const lines = block('haproxy-servers', { '10.0.0.1:11023': first, '10.0.0.2:11023': second })
        const proxy = await startProxy('haproxy', (port) =>
          block('haproxy', { 'bind :80': `bind 127.0.0.1:${port}`, '  server a 10.0.0.1:11023\n': lines }),
        )
        await untilReady(proxy)
        return proxy
      },
      async untilBack(proxy) {
        assert.match(proxy.output(), /Server mds\/a is DOWN/)
        await untilAsked(async () => await Promise.resolve(proxy.output()), (text) => text.includes('Server mds/a is UP')) // prettier-ignore
      },
    }),
  )

  const nginx = skippedWithout('nginx')
  it('nginx: a restart of one of two servers under 64 clients that keep their connections loses no request', { skip: nginx }, () =>
    restartUnderLoad({
      start(first, second) {
        const lines = block('nginx-servers', { '10.0.0.1:11023': first, '10.0.0.2:11023': second })
        return startProxy('nginx', (port, folder) =>
          nginxMain(block('nginx', { 'listen 80': `listen 127.0.0.1:${port}`, '  server 10.0.0.1:11023;\n': lines }), folder),
        )
      },
    }),
  )
})

describe('health checks of a proxy', () => {
  it('a check by HTTP/1.0, as proxies make it unless they are told otherwise, is 505, and the connection closes', async () => {
    const server = await startServer()
    const socket = await RawSocket.open(server.port)
    socket.write('GET /readyz HTTP/1.0\r\n\r\n')
    assert.match(await socket.until(() => false), /^HTTP\/1\.1 505 /)
    await server.stop()
  })

  it('haproxy: the check of the guide takes a server out while it is not ready', { skip: skippedWithout('haproxy') }, async () => {
    const server = await startServer()
    const proxy = await startProxy('haproxy', webOf('haproxy', server.address))
    await untilReady(proxy)
    await server.stop()
    await untilAsked(async () => await Promise.resolve(proxy.output()), (text) => text.includes('Server mds/a is DOWN')) // prettier-ignore
    const agent = new Agent()
    const status = await new Promise<number | undefined>((resolve, reject) => {
      request({ port: proxy.port, host: '127.0.0.1', path: '/livez', agent }, (answer) => resolve(answer.resume().statusCode))
        .on('error', reject)
        .end()
    })
    assert.equal(status, 503)
    agent.destroy()
    await proxy.stop()
  })
})
