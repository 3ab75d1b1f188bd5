/**
 * Who may use the port of MCP: mcp.md, "Auth matrix for port 9000" and "Env"; Origin, rate limits, logs. On a
 * server with the fixtures of the conformance suite as its tools.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Answer, type Headers, McpClient } from '../../harness/clients/mcp_client.js'
import { FIXTURE_EDITS } from '../../harness/mcp_fixtures.js'
import { untilAsked } from '../../harness/process/until.js'
import { type ScratchCopy, scratchCopy } from '../../harness/scratch_copy.js'
import { ACCESS_ENV, Admin, asUser, bearer } from '../../harness/server/access.js'
import type { Server } from '../../harness/server/server.js'
import { type Env, ServerPool } from '../../harness/server/server_pool.js'

const PLAIN: Env = {}
const CLOSED: Env = { ...ACCESS_ENV, SVC_AUDIT_ENABLED: 'true' }
/** Keys of MCP without access control, and a log of everything. */
const KEYED: Env = {
  SVC_MCP_API_KEY_ENABLED: 'true',
  SVC_MCP_API_KEYS: 'k&1:robot,secret-of-tests:robot',
  SVC_MCP_LOGGING_ENABLED: 'true',
  SVC_LOG_LEVEL: 'debug',
}
/** Bound beyond the machine, with an origin of web pages, and requests logged below the level of the log. */
const REACHABLE: Env = {
  SVC_MCP_ADDR: '0.0.0.0:0',
  SVC_CORS_ORIGINS: 'https://app.example',
  SVC_MCP_LOGGING_ENABLED: 'true',
  SVC_MCP_LOGGING_LEVEL: 'debug',
}
/** With a name of its own, and requests logged as warnings. */
const NAMED: Env = { SVC_MCP_DOMAIN: 'mcp.example', SVC_MCP_LOGGING_ENABLED: 'true', SVC_MCP_LOGGING_LEVEL: 'warn' }
/** Of several tests. */
const KEPT = [PLAIN, CLOSED, KEYED, REACHABLE, NAMED]

describe('mcp: access', () => {
  let copy: ScratchCopy
  const pool = new ServerPool(() => ({ main: copy.main }))

  before(async () => (copy = await scratchCopy(FIXTURE_EDITS)))
  after(async () => {
    await pool.stop()
    copy.remove()
  })

  async function serving(env: Env, run: (client: McpClient, server: Server) => Promise<void>): Promise<void> {
    await pool.with(env, KEPT, async (server) => await run(new McpClient(server), server))
  }

  const printed = async (server: Server, line: RegExp): Promise<string> =>
    await untilAsked(
      async () => await Promise.resolve(server.output()),
      (output) => line.test(output),
    )

  const list = async (client: McpClient, headers: Headers = {}): Promise<Answer> => await client.stateless('tools/list', {}, headers)
  const statusOf = async (client: McpClient, headers: Headers = {}): Promise<number> => (await list(client, headers)).status

  it('mcp: with access control, a token or an API key is needed on every path, and 401 is answered without one', async () => {
    await serving(CLOSED, async (client, server) => {
      await new Admin(server).register('ada')
      const made = await server.post('/v1/auth/api-key', { description: 'x' }, asUser('ada'))
      const { key } = made.json<{ readonly key: string }>()
      for (const headers of [asUser('admin'), asUser('ada'), { 'x-api-key': key }, bearer(key)])
        assert.equal(await statusOf(client, headers), 200)
      const refused = await list(client)
      assert.deepEqual([refused.status, refused.rpc.error?.message], [401, 'missing authentication'])
      assert.equal(refused.headers['www-authenticate'], 'Bearer')
      for (const headers of [bearer('x.y.z'), { 'x-api-key': 'svc_live_0' }, { authorization: 'Basic x' }])
        assert.equal(await statusOf(client, headers), 401)
      for (const [method, path] of [
        ['GET', '/sse'],
        ['GET', '/tools'],
        ['GET', '/resources'],
        ['POST', '/tools/call'],
        ['POST', '/resources/read'],
        ['POST', '/message?sessionId=0'],
        ['GET', '/mcp'],
        ['DELETE', '/mcp'],
      ] as const)
        assert.equal((await client.send(method, path, method === 'POST' ? {} : undefined)).status, 401, path)
      const tools = await client.send('GET', '/tools')
      assert.deepEqual(JSON.parse(tools.text), { error: 'missing authentication' })
      // Keys in the query are for keys of MCP only.
      assert.equal((await client.send('GET', `/tools?api_key=${key}`)).status, 401)
    })
  })

  it('mcp: a session is for the identity that began it', async () => {
    await serving(CLOSED, async (client, server) => {
      await new Admin(server).register('cleo')
      await new Admin(server).register('bob')
      const cleo = await client.with(asUser('cleo')).initialize()
      assert.equal((await cleo.ask('ping')).status, 200)
      const bob = client.with({ ...asUser('bob'), 'mcp-session-id': cleo.session })
      for (const answer of [await bob.ask('ping'), await bob.send('DELETE', '/mcp'), await bob.send('GET', '/mcp')])
        assert.equal(answer.status, 404)
      assert.equal((await cleo.ask('ping')).status, 200)
    })
  })

  it('mcp: with keys of MCP, one of them is needed: in X-API-Key, as Bearer or in ?api_key=, and nothing else counts', async () => {
    const env = { ...ACCESS_ENV, SVC_MCP_API_KEY_ENABLED: 'true', SVC_MCP_API_KEYS: 'first-key:robot, second-key' }
    await serving(env, async (client) => {
      for (const headers of [{ 'x-api-key': 'first-key' }, { 'x-api-key': 'second-key' }, bearer('first-key')])
        assert.equal(await statusOf(client, headers), 200)
      assert.equal((await client.send('GET', '/tools?api_key=first-key')).status, 200)
      for (const headers of [{}, asUser('admin'), { 'x-api-key': 'first-kex' }, { 'x-api-key': 'robot' }, bearer('first-key:robot')])
        assert.equal(await statusOf(client, headers), 401)
      assert.equal((await client.send('GET', '/tools?api_key=x')).status, 401)
      assert.equal((await list(client, { 'x-api-key': 'x' })).rpc.error?.message, 'invalid api key')
    })
  })

  it('mcp: keys of MCP are needed without access control, too, and over /sse the path of messages repeats that of the query', async () => {
    await serving(KEYED, async (client) => {
      assert.equal(await statusOf(client), 401)
      assert.equal(await statusOf(client, { 'x-api-key': 'k&1' }), 200)
      const stream = await client.open('GET', '/sse?api_key=k%261', undefined, { accept: 'text/event-stream' })
      const [chunk] = (await stream.take(1).toArray()) as [Buffer]
      const [, path] = /data: (\S+)/.exec(chunk.toString('utf8')) ?? []
      assert.match(path ?? '', /^\/message\?sessionId=[0-9a-f]{32}&api_key=k%261$/)
    })
  })

  it('mcp: a key in a query is in no line of the log', async () => {
    await serving(KEYED, async (client, server) => {
      await client.send('GET', '/tools?api_key=secret-of-tests')
      await client.send('GET', '/tools?api_key=secret-of-nobody')
      await client.stateless('tools/call', { name: 'test_simple_text' }, { 'x-api-key': 'secret-of-tests' })
      await printed(server, /mcp request path=\/tools status=200/)
      await printed(server, /mcp request method=tools\/call operation=test_simple_text path=\/mcp status=200/)
      assert.doesNotMatch(server.output(), /secret-of/)
    })
  })

  it('mcp: requests are logged with SVC_MCP_LOGGING_ENABLED, at SVC_MCP_LOGGING_LEVEL', async () => {
    await serving(PLAIN, async (client, server) => {
      await list(client)
      assert.doesNotMatch(server.output(), /mcp request/)
    })
    await serving(REACHABLE, async (client, server) => {
      await list(client)
      assert.doesNotMatch(server.output(), /mcp request/)
    })
    await serving(NAMED, async (client, server) => {
      await list(client)
      await printed(server, /warn mcp request method=tools\/list/)
      // A batch has a line for each of its requests.
      const batches = await client.initialize('2025-03-26')
      await batches.post([
        { jsonrpc: '2.0', id: 1, method: 'ping' },
        { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'test_simple_text' } },
      ])
      await printed(server, /warn mcp request method=ping/)
      await printed(server, /warn mcp request method=tools\/call operation=test_simple_text/)
      // It is the least level of messages to clients, too.
      const session = await client.initialize()
      assert.equal((await session.ask('tools/call', { name: 'test_tool_with_logging' })).all.length, 1)
    })
  })

  it('mcp: without access control and keys, the port is open, with a warning where it is bound beyond the machine', async () => {
    await serving(PLAIN, async (client, server) => {
      assert.equal(await statusOf(client), 200)
      assert.doesNotMatch(server.output(), /access control is off/)
    })
    await serving(REACHABLE, async (_, server) => {
      await Promise.resolve()
      assert.match(server.output(), /access control is off/)
    })
  })

  it('mcp: a web page of another origin is refused, unless SVC_CORS_ORIGINS names it', async () => {
    await serving(NAMED, async (client) => {
      for (const origin of ['http://evil.example', 'null', 'http://10.0.0.1:1']) {
        const { status, rpc } = await list(client, { origin })
        assert.equal(status, 403, origin)
        assert.match(rpc.error?.message ?? '', /SVC_CORS_ORIGINS/)
      }
      for (const origin of ['http://localhost:3000', 'http://127.0.0.1:1', 'https://mcp.example', undefined])
        assert.equal(await statusOf(client, { origin }), 200, origin)
      assert.equal(await statusOf(client, { host: 'evil.example' }), 403)
      assert.equal(await statusOf(client, { host: 'mcp.example' }), 200)
    })
    await serving(REACHABLE, async (client) => {
      const { status, headers } = await list(client, { origin: 'https://app.example' })
      assert.deepEqual([status, headers['access-control-allow-origin']], [200, 'https://app.example'])
      assert.match(String(headers['access-control-expose-headers']), /Mcp-Session-Id/)
      assert.equal(await statusOf(client, { origin: 'https://other.example' }), 403)
      const preflight = await client.send('OPTIONS', '/mcp', undefined, { origin: 'https://app.example' })
      assert.equal(preflight.status, 204)
      assert.match(String(preflight.headers['access-control-allow-headers']), /Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name/)
    })
    await serving(CLOSED, async (client) => {
      assert.equal(await statusOf(client, { origin: 'https://any.example', ...asUser('admin') }), 200)
    })
  })

  const LIMIT = {
    SVC_MCP_RATE_LIMIT_ENABLED: 'true',
    SVC_MCP_RATE_LIMIT_REQUESTS: '3',
    SVC_MCP_RATE_LIMIT_BURST: '2',
    SVC_MCP_RATE_LIMIT_WINDOW: '1h',
  }

  it('mcp: the rate limit answers 429 with Retry-After beyond requests and burst, and says what is left', async () => {
    await serving(LIMIT, async (client, server) => {
      for (let left = 4; left >= 0; left--) {
        const { status, headers } = await list(client)
        assert.deepEqual([status, headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']], [200, '5', String(left)])
        const secondsLeft = Number(headers['x-ratelimit-reset']) - Date.now() / 1000
        assert.ok(secondsLeft > 600 && secondsLeft <= 3601, 'the window is an hour, not a minute')
      }
      const { status, headers, rpc } = await list(client)
      assert.deepEqual([status, rpc.error?.message, headers['x-ratelimit-remaining']], [429, 'rate limit exceeded', '0'])
      assert.ok(Number(headers['retry-after']) >= 1)
      // The limit of MCP is its own.
      assert.equal((await server.get('/v1/stats')).status, 200)
    })
    await serving(PLAIN, async (client) => assert.equal((await list(client)).headers['x-ratelimit-limit'], undefined))
  })

  it('mcp: clients are counted by key or by session where that is configured, and by address without one', async () => {
    const keys = { SVC_MCP_API_KEY_ENABLED: 'true', SVC_MCP_API_KEYS: 'one,two', SVC_MCP_RATE_LIMIT_BY: 'api_key' }
    await serving({ ...LIMIT, ...keys }, async (client) => {
      for (let n = 0; n < 5; n++) assert.equal(await statusOf(client, { 'x-api-key': 'one' }), 200)
      assert.equal(await statusOf(client, { 'x-api-key': 'one' }), 429)
      assert.equal(await statusOf(client, { 'x-api-key': 'two' }), 200)
      for (let n = 0; n < 5; n++) assert.equal(await statusOf(client, { 'x-api-key': `wrong${n}` }), 401)
      assert.equal(await statusOf(client, { 'x-api-key': 'wrong' }), 429)
    })
    await serving({ ...LIMIT, SVC_MCP_RATE_LIMIT_BY: 'session' }, async (client) => {
      const [first, second] = [await client.initialize(), await client.initialize()]
      for (let n = 0; n < 5; n++) assert.equal((await first.ask('ping')).status, 200)
      assert.equal((await first.ask('ping')).status, 429)
      assert.equal((await second.ask('ping')).status, 200)
      // Two initializations are counted by address; three more requests without a session are left.
      const invented = client.with({ 'mcp-session-id': '0'.repeat(32) })
      for (let n = 0; n < 3; n++) assert.equal((await invented.ask('ping')).status, 404)
      assert.equal((await invented.ask('ping')).status, 429)
    })
  })

  it('mcp: requests count in the rate limit of the server, and behind a trusted proxy by the address that it names', async () => {
    const env = {
      SVC_RATE_LIMIT_ENABLED: 'true',
      SVC_RATE_LIMIT_REQUESTS: '2',
      SVC_RATE_LIMIT_BURST: '0',
      SVC_RATE_LIMIT_WINDOW: '1h',
      SVC_TRUSTED_PROXIES: '127.0.0.1',
    }
    await serving(env, async (client, server) => {
      const from = (address: string): Headers => ({ 'x-forwarded-for': address })
      assert.equal((await server.get('/v1/stats', { 'x-forwarded-for': '203.0.113.5' })).status, 200)
      assert.equal(await statusOf(client, from('203.0.113.5')), 200)
      assert.equal(await statusOf(client, from('203.0.113.5')), 429)
      assert.equal(await statusOf(client, from('203.0.113.6')), 200)
    })
  })

  it('mcp: the audit log has the checks of credentials on the port of MCP', async () => {
    await serving(CLOSED, async (client, server) => {
      await list(client)
      await list(client, asUser('admin'))
      const { events } = (await server.get('/v1/audit?limit=100', asUser('admin'))).json<{
        readonly events: readonly { readonly action: string; readonly resource: string; readonly result: string; readonly actor?: string }[]
      }>()
      const ours = events.filter(({ resource }) => resource === '/mcp').map(({ action, result }) => `${action} ${result}`)
      assert.ok(ours.includes('auth.missing fail') && ours.includes('auth.jwt ok'), ours.join())
    })
  })
})
