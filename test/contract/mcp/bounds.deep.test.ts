/**
 * Bounds of the port of MCP: sessions, bodies, connections, slow clients, shutdown; TLS and unix sockets. On
 * a server with the fixtures of the conformance suite as its tools.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { get as getTls } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { CertificateAuthority, LACKS_OPENSSL } from '../../harness/clients/certificates.js'
import { McpClient } from '../../harness/clients/mcp_client.js'
import { RawSocket } from '../../harness/clients/raw_socket.js'
import { FIXTURE_EDITS } from '../../harness/mcp_fixtures.js'
import { untilAsked } from '../../harness/process/until.js'
import { type ScratchCopy, scratchCopy } from '../../harness/scratch_copy.js'
import { auditOf } from '../../harness/server/audit_log.js'
import { type Server, startServer } from '../../harness/server/server.js'
import { type Env, ServerPool } from '../../harness/server/server_pool.js'

/** Of several tests each. */
const NARROW: Env = { SVC_LIMIT_MCP_HEAD_MS_MAX: '200', SVC_MAX_CONN_IP: '0' }
const SMALL: Env = { SVC_LIMIT_MCP_SESSIONS_OF_IDENTITY_MAX: '2', SVC_MAX_BODY_BYTES: '100000' }
const KEPT = [NARROW, SMALL]

describe('mcp: bounds', () => {
  let copy: ScratchCopy
  let folder: string
  const pool = new ServerPool(() => ({ main: copy.main }))

  before(async () => {
    copy = await scratchCopy(FIXTURE_EDITS)
    folder = mkdtempSync(join(tmpdir(), 'mds-mcp-'))
  })

  after(async () => {
    await pool.stop()
    copy.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  async function serving(env: Env, run: (client: McpClient, server: Server) => Promise<void>): Promise<void> {
    await pool.with(env, KEPT, async (server) => await run(new McpClient(server), server))
  }

  it('mcp: the number of sessions of one identity has a bound: the one that was not used for longest ends', async () => {
    await serving(SMALL, async (client, server) => {
      const first = await client.initialize()
      const second = await client.initialize()
      assert.equal((await first.ask('ping')).status, 200)
      const third = await client.initialize()
      assert.equal((await second.ask('ping')).status, 404)
      for (const alive of [first, third]) assert.equal((await alive.ask('ping')).status, 200)
      const { mcpSessions } = (await server.get('/health')).json<{ readonly mcpSessions: object }>()
      assert.deepEqual(mcpSessions, { sse: 0, streamable: 2 })
    })
  })

  it('mcp: the number of all sessions has a bound, and those with a stream or a request in progress are not ended for others', async () => {
    await serving({ SVC_LIMIT_MCP_SESSIONS_MAX: '2' }, async (client) => {
      const streams = [await client.open('GET', '/sse'), await client.open('GET', '/sse')]
      const { status, headers } = await client.send('POST', '/mcp', {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25' },
      })
      assert.deepEqual([status, headers['retry-after']], [503, '1'])
      assert.equal((await client.send('GET', '/sse')).status, 503)
      streams[0]?.destroy()
      await untilAsked(
        async () => await client.ask('initialize', { protocolVersion: '2025-11-25' }),
        (answer) => answer.status === 200,
      )
      streams[1]?.destroy()
    })
  })

  it('mcp: an idle session ends, and one with a stream does not', async () => {
    await serving({ SVC_LIMIT_MCP_SESSION_IDLE_MS: '50' }, async (client, server) => {
      const session = await client.initialize()
      const stream = await client.open('GET', '/sse')
      await untilAsked(
        async () => (await server.get('/health')).text,
        (text) => text.includes('"mcpSessions":{"sse":1,"streamable":0}'),
      )
      assert.equal((await session.ask('ping')).status, 404)
      stream.destroy()
    })
  })

  it('mcp: a longer body than SVC_MAX_BODY_BYTES is 413, whether its length is declared or not', async () => {
    await serving(SMALL, async (client) => {
      const body = (bytes: number): string => {
        const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', pad: '' } }
        return JSON.stringify({ ...message, params: { ...message.params, pad: 'x'.repeat(bytes - JSON.stringify(message).length) } })
      }
      assert.equal((await client.send('POST', '/mcp', body(100_000))).status, 200)
      assert.equal((await client.send('POST', '/mcp', body(100_001))).status, 413)
      assert.equal((await client.send('POST', '/tools/call', body(100_001))).status, 413)
      const chunked = await new Promise<number>((resolve, reject) => {
        const sent = request(
          { host: '127.0.0.1', port: client.port, method: 'POST', path: '/mcp', headers: { 'content-type': 'application/json' } },
          (response) => {
            response.resume()
            resolve(response.statusCode ?? 0)
          },
        )
        sent.on('error', reject)
        sent.write(body(60_000))
        sent.end(body(60_000))
      })
      assert.equal(chunked, 413)
    })
  })

  it('mcp: a body of more values than the parser may build is refused before it is parsed', async () => {
    await serving(NARROW, async (client) => {
      const body = (values: number): string =>
        JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', pad: '' } }).replace(
          '"pad":""',
          `"pad":[${'0,'.repeat(values)}0]`,
        )
      assert.equal((await client.send('POST', '/mcp', body(2_000_000))).status, 200)
      const { status, rpc } = await client.send('POST', '/mcp', body(2_100_000))
      assert.deepEqual([status, rpc.error], [400, { code: -32700, message: 'Parse error: the JSON has too many values' }])
    })
  })

  it('mcp: a client that sends its head too slowly is disconnected, and a head that is too long is 431', async () => {
    await serving(NARROW, async (client) => {
      const slow = await RawSocket.open(client.port)
      slow.write('POST /mcp HTTP/1.1\r\nHost: local')
      await untilAsked(
        async () => await Promise.resolve(slow.isClosed),
        (isClosed) => isClosed,
      )
      assert.equal((await client.send('GET', '/tools', undefined, { 'x-long': 'x'.repeat(20_000) })).status, 431)
      assert.equal((await client.send('GET', '/tools')).status, 200)
    })
  })

  it('mcp: one address has SVC_MAX_CONN_IP connections at most', async () => {
    await serving({ SVC_MAX_CONN_IP: '3' }, async (client) => {
      const open = await Promise.all([1, 2, 3].map(async () => await RawSocket.open(client.port)))
      const asked = async (): Promise<number> =>
        await client
          .send('GET', '/tools')
          .then(({ status }) => status)
          .catch(() => 0)
      await untilAsked(asked, (status) => status === 0)
      for (const socket of open) socket.destroy()
      await untilAsked(asked, (status) => status === 200)
    })
  })

  it('mcp: SVC_MAX_CONN_IP=0 is any number, and peers on a unix socket are not counted', async () => {
    await serving(NARROW, async (client) => {
      assert.equal((await client.send('GET', '/tools')).status, 200)
    })
    const socketPath = join(folder, 'counted.sock')
    await serving({ SVC_MAX_CONN_IP: '1', SVC_MCP_ADDR: `unix:${socketPath}` }, async () => {
      const ask = async (): Promise<number> =>
        await new Promise((resolve, reject) => {
          const asked = request({ socketPath, path: '/tools', agent: false }, (answer) => resolve(answer.statusCode ?? 0))
          asked.on('error', reject).end()
        })
      assert.deepEqual(await Promise.all([ask(), ask(), ask()]), [200, 200, 200])
    })
  })

  it('mcp: a client that exceeds the rate limit is one audit event, of transport http', async () => {
    const env = {
      SVC_AUDIT_ENABLED: 'true',
      SVC_MCP_RATE_LIMIT_ENABLED: 'true',
      SVC_MCP_RATE_LIMIT_REQUESTS: '2',
      SVC_MCP_RATE_LIMIT_BURST: '0',
      SVC_MCP_RATE_LIMIT_WINDOW: '24h',
    }
    await serving(env, async (client, server) => {
      await untilAsked(
        async () => await client.send('GET', '/tools'),
        ({ status }) => status === 429,
      )
      await client.send('GET', '/tools')
      const { events } = await auditOf(server, 'action=security.rate_limit_exceeded')
      assert.deepEqual(
        events.map(({ detail = '' }) => JSON.parse(detail) as unknown),
        [{ clientId: '127.0.0.1', transport: 'http' }],
      )
    })
  })

  it('mcp: a client that does not read its stream is disconnected, and one that reads keeps it', async () => {
    await serving({ SVC_LIMIT_MCP_STREAM_PULSE_MS: '20', SVC_LIMIT_MCP_STALL_MS_MAX: '300' }, async (client) => {
      const reader = await client.open('GET', '/sse')
      let pulses = ''
      reader.setEncoding('utf8').on('data', (chunk: string) => (pulses += chunk))
      const lazy = await client.open('GET', '/sse')
      const [chunk] = (await lazy.take(1).toArray()) as [Buffer]
      const [, path = ''] = /data: (\S+)/.exec(chunk.toString('utf8')) ?? []
      // It reads no more, while it asks for long answers: each is an error that repeats the id of its
      // request.
      const statuses: number[] = []
      const ask = async (): Promise<number> => {
        const { status } = await client.send('POST', path, { jsonrpc: '2.0', id: 'x'.repeat(300_000), method: 'no/such' })
        statuses.push(status)
        return status
      }
      await untilAsked(ask, (status) => status === 404)
      assert.ok(statuses.length < 100, `${statuses.length} answers were kept`)
      await untilAsked(
        async () => await Promise.resolve(pulses),
        (text) => text.split(': keep-alive').length > 20,
      )
      reader.destroy()
    })
  })

  it('mcp: a shutdown answers what is in progress, ends the streams, and does not wait for idle clients', async () => {
    const server = await startServer({ main: copy.main })
    const client = new McpClient(server)
    const session = await client.initialize()
    const stream = await session.open('GET', '/mcp', undefined, { accept: 'text/event-stream' })
    const old = await client.open('GET', '/sse')
    const ended = [stream, old].map(async (each) => await new Promise<void>((resolve) => each.resume().on('close', resolve)))
    const answer = session.ask('tools/call', { name: 'test_tool_with_progress', _meta: { progressToken: 1 } })
    await untilAsked(
      async () => (await session.send('POST', '/mcp', { jsonrpc: '2.0', id: 'x', method: 'ping' })).status,
      (status) => status === 200,
    )
    const begun = performance.now()
    assert.equal(await server.stop(), 0)
    assert.ok(performance.now() - begun < 5_000)
    assert.deepEqual((await answer).rpc.result.content, [{ type: 'text', text: 'done' }])
    await Promise.all(ended)
  })

  it('mcp: over TLS with the certificate of the server', { skip: LACKS_OPENSSL }, async () => {
    const authority = new CertificateAuthority(folder)
    const pair = authority.sign('server')
    const tls = authority.trust
    const secure = await startServer({
      main: copy.main,
      env: { SVC_TLS_ENABLED: 'true', SVC_TLS_CERT: pair.cert, SVC_TLS_KEY: pair.key },
      tls,
    })
    try {
      const port = Number(secure.addressOf('mcp').split(':').at(-1))
      const status = await new Promise<number>((resolve, reject) => {
        getTls({ host: '127.0.0.1', port, path: '/tools', ...tls }, (response) => resolve(response.resume().statusCode ?? 0)).on(
          'error',
          reject,
        )
      })
      assert.equal(status, 200)
    } finally {
      await secure.stop()
    }
  })

  it('mcp: over a unix socket', async () => {
    const socketPath = join(folder, 'mcp.sock')
    const local = await startServer({ main: copy.main, env: { SVC_MCP_ADDR: `unix:${socketPath}` } })
    try {
      const status = await new Promise<number>((resolve, reject) => {
        request({ socketPath, path: '/tools' }, (response) => resolve(response.resume().statusCode ?? 0))
          .on('error', reject)
          .end()
      })
      assert.equal(status, 200)
    } finally {
      await local.stop()
    }
  })
})
