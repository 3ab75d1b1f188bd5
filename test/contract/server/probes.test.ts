/** Probes, operational metrics, versions, and the redirect of the root. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { RawSocket } from '../../harness/clients/raw_socket.js'
import { untilAsked, untilHolds } from '../../harness/process/until.js'
import type { Server } from '../../harness/server/server.js'
import { runToEnd, startServer } from '../../harness/server/server.js'

const ROOT = new URL('../../../../', import.meta.url)
const PACKAGE = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as { version: string }

function gauge(text: string, name: string): number | undefined {
  const value = new RegExp(`^mddb_${name} (\\S+)$`, 'm').exec(text)?.[1]
  return value === undefined ? undefined : Number(value)
}

describe('a running server, asked by those who watch it', () => {
  let server: Server
  before(async () => {
    server = await startServer()
  })
  after(() => server.stop())

  it('probes: a healthy server is alive and ready, for reading and writing', async () => {
    assert.deepEqual((await server.get('/livez')).json(), { status: 'alive' })
    assert.deepEqual((await server.get('/readyz')).json(), { status: 'ready', mode: 'wr' })
    for (const mode of ['read', 'write', 'wr'])
      assert.deepEqual((await server.get(`/readyz?mode=${mode}`)).json(), { status: 'ready', mode })
    const refused = await server.get('/readyz?mode=all')
    assert.deepEqual([refused.status, refused.json().error], [400, 'invalid mode'])
  })

  it('root: GET / leads to the reference by 302, other methods find nothing there', async () => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers, text } = await server.request(method, '/')
      assert.deepEqual([status, headers.location, text], [302, '/docs', ''])
    }
    assert.equal((await server.get('/docs')).status, 200)
    assert.equal((await server.post('/', {})).status, 404)
  })

  it('metrics: free space, writable, warnings, restarts, build, and the time of the last backup', async () => {
    const first = (await server.get('/metrics')).text
    assert.ok((gauge(first, 'disk_free_bytes') ?? 0) > 1e6)
    assert.equal(gauge(first, 'disk_writable'), 1)
    assert.equal(
      gauge(first, 'health_warnings'),
      (await server.get('/health')).json<{ persistence: { warnings: unknown[] } }>().persistence.warnings.length,
    )
    assert.equal(gauge(first, 'supervisor_restarts'), 0)
    assert.equal(gauge(first, 'last_backup_timestamp_seconds'), 0)
    assert.ok(first.includes(`mddb_build_info{version="${PACKAGE.version}",interface="2.9.17",node="${process.version}"} 1\n`), first)
    const begun = Math.floor(Date.now() / 1000)
    await server.get('/v1/backup?to=first')
    const at = await untilAsked(
      async () => gauge((await server.get('/metrics')).text, 'last_backup_timestamp_seconds') ?? 0,
      (time) => time !== 0,
    )
    assert.ok(at >= begun - 1 && at <= Date.now() / 1000 + 1, String(at))
  })
})

describe('a server at its ends', () => {
  it('probes: a server that shuts down is alive and not ready', async () => {
    const server = await startServer()
    const [socket, other] = [await RawSocket.open(server.port), await RawSocket.open(server.port)]
    // It is not answered before its body is complete, so the shutdown waits for it.
    const slow = await RawSocket.open(server.port)
    slow.write('POST /v1/add HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{')
    socket.write('GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await socket.until((text) => text.includes('"ready"'))
    const ended = server.stop()
    for (let last = 0; !socket.text.includes('not_ready') && !socket.isClosed;) {
      last = socket.length
      socket.write('GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n')
      await socket.until(() => socket.length > last && socket.endsWith('}'))
    }
    assert.match(socket.text, /HTTP\/1\.1 503 [^]*\r\nRetry-After: 1\r\n[^]*\{"status":"not_ready","mode":"wr","reason":"shutting_down"\}$/)
    // The connection of the answer before closes behind it.
    other.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')
    assert.match(await other.until((text) => text.includes('alive')), /200 OK[^]*\{"status":"alive"\}$/)
    slow.write('}')
    socket.destroy()
    other.destroy()
    slow.destroy()
    assert.equal(await ended, 0)
  })

  it('metrics: the supervisor counts how often it has started the server again', async () => {
    const server = await startServer({ supervisor: true })
    const children = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8')
    process.kill(Number(children.trim().split(' ')[0]), 'SIGKILL')
    const again = /^ready on (\S+) after[^]*^ready on (\S+) after/m
    await untilHolds(
      () => again.test(server.output()),
      () => server.output(),
    )
    const [, , address = ''] = again.exec(server.output()) ?? []
    const text = await (await fetch(`http://${address}/metrics`)).text()
    assert.equal(gauge(text, 'supervisor_restarts'), 1)
    await server.stop()
  })

  it('version: --version of the server and of mds say version, interface and Node', async () => {
    const expected = `mds ${PACKAGE.version} (interface 2.9.17, node ${process.version.slice(1)})\n`
    assert.deepEqual(await runToEnd({ args: ['--version'] }), { code: 0, output: expected })
    const cli = spawnSync(process.execPath, [fileURLToPath(new URL('bin/mds.mjs', ROOT)), '--version'], { encoding: 'utf8' })
    assert.deepEqual([cli.status, cli.stdout], [0, expected])
  })
})
