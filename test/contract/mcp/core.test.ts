/**
 * How MCP reaches the core: as the caller, within the access mode, and no longer than its client waits. On a
 * server with a fixture that asks operations by name.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { McpClient } from '../../harness/clients/mcp_client.js'
import { embeddingEnv, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer } from '../../harness/embedding/embedding_server.js'
import { FIXTURE_EDITS } from '../../harness/mcp_fixtures.js'
import { untilAsked } from '../../harness/process/until.js'
import { type ScratchCopy, scratchCopy } from '../../harness/scratch_copy.js'
import { ACCESS_ENV, Admin, asUser } from '../../harness/server/access.js'
import { startServer } from '../../harness/server/server.js'

describe('mcp: the core', () => {
  let copy: ScratchCopy

  before(async () => (copy = await scratchCopy(FIXTURE_EDITS)))
  after(() => copy.remove())

  const asked = async (client: McpClient, operation: string, input: object): Promise<string> =>
    (await client.stateless('tools/call', { name: 'test_ask', arguments: { operation, input } })).rpc.result.content[0]?.text ?? ''

  it('mcp: a get answers what HTTP answers, and so do an add and a search', async () => {
    const server = await startServer({ main: copy.main })
    try {
      const client = new McpClient(server)
      const document = { collection: 'c', key: 'k', lang: 'en' }
      // Every name of a member reaches the lane.
      const meta: unknown = JSON.parse('{"kind":["ü"],"__proto__":["x"]}')
      assert.match(await asked(client, 'add', { ...document, contentMd: 'an otter', meta }), /^ok \{"id":"c\|k\|en"/)
      const got = await server.post('/v1/get', document)
      assert.match(got.text, /"__proto__":\["x"\]/)
      for (let n = 0; n < 3; n++) assert.equal(await asked(client, 'get', document), `ok ${got.text}`)
      assert.equal(await asked(client, 'get', { ...document, env: {} }), `ok ${got.text}`)
      assert.equal(await asked(client, 'get', { ...document, key: 'none' }), 'notFound {"error":"not found"}')
      assert.match(await asked(client, 'get', { collection: 'c' }), /^(?:invalid|missingFields) \{"error":/)
      const found = (await server.post('/v1/fts', { collection: 'c', query: 'otter' })).json<{ readonly results: object }>()
      const { results } = JSON.parse((await asked(client, 'fts', { collection: 'c', query: 'otter' })).slice(3)) as {
        readonly results: object
      }
      assert.deepEqual(results, found.results)
      assert.match(await asked(client, 'no such', {}), /^unknownOperation/)
    } finally {
      await server.stop()
    }
  })

  it('mcp: a tool has the rights of its caller, and no others', async () => {
    const server = await startServer({ main: copy.main, env: ACCESS_ENV })
    try {
      const admin = new Admin(server)
      await admin.register('ada')
      await admin.do('POST', '/v1/add', { collection: 'open', key: 'k', lang: 'en', contentMd: 'x' })
      await admin.do('POST', '/v1/add', { collection: 'closed', key: 'k', lang: 'en', contentMd: 'x' })
      await admin.grant('ada', 'open', { read: true })
      const ada = new McpClient(server, asUser('ada'))
      const document = { key: 'k', lang: 'en' }
      assert.match(await asked(ada, 'get', { collection: 'open', ...document }), /^ok/)
      assert.equal(await asked(ada, 'get', { collection: 'closed', ...document }), 'forbidden {"error":"forbidden"}')
      assert.match(await asked(ada, 'add', { collection: 'open', ...document, contentMd: 'y' }), /^forbidden/)
      const root = new McpClient(server, asUser('admin'))
      assert.match(await asked(root, 'get', { collection: 'closed', ...document }), /^ok/)
      // A right that is taken away holds from the next request on.
      await admin.grant('ada', 'open', { read: false })
      assert.match(await asked(ada, 'get', { collection: 'open', ...document }), /^forbidden/)
    } finally {
      await server.stop()
    }
  })

  it('mcp: SVC_MCP_MODE is the access mode of MCP, and that of the server where it is not set', async () => {
    const write = { collection: 'c', key: 'k', lang: 'en', contentMd: 'x' }
    for (const [env, isWritten] of [
      [{ SVC_MCP_MODE: 'read' }, false],
      [{ SVC_MODE: 'read', SVC_MCP_MODE: 'wr' }, true],
      [{ SVC_MODE: 'write' }, true],
    ] as const) {
      const server = await startServer({ main: copy.main, env })
      try {
        assert.match(await asked(new McpClient(server), 'add', write), isWritten ? /^ok/ : /^readOnlyMode/, JSON.stringify(env))
      } finally {
        await server.stop()
      }
    }
  })

  it('mcp: a call that is cancelled, or whose client has gone, is ended in its lane', async () => {
    const provider = await EmbeddingServer.start()
    const server = await startServer({ main: copy.main, env: embeddingEnv(provider) })
    try {
      await server.post('/v1/add', { collection: 'c', key: 'a', lang: 'en', contentMd: 'an otter' })
      await whenEmbedded(server, { c: 1 })
      provider.standing = 'hang'
      const ended = async (): Promise<number> =>
        Number(/^mddb_aborted_requests_total (\d+)$/m.exec((await server.get('/metrics')).text)?.[1])
      const session = await new McpClient(server).initialize()
      const params = { name: 'test_ask', arguments: { operation: 'vectorSearch', input: { collection: 'c', query: 'stone' } } }
      const search = { jsonrpc: '2.0', id: 's', method: 'tools/call', params }
      const isRunning = async (): Promise<boolean> =>
        (await session.post({ jsonrpc: '2.0', id: 's', method: 'ping' })).rpc.error !== undefined
      const cancelled = session.post(search)
      await untilAsked(isRunning, (running) => running)
      assert.equal(await ended(), 0)
      await session.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 's' } })
      assert.deepEqual((await cancelled).all, [])
      await untilAsked(ended, (count) => count === 1)
      const gone = new AbortController()
      const abandoned = fetch(`${session.url}/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'mcp-session-id': session.session },
        body: JSON.stringify(search),
        signal: gone.signal,
      }).catch(() => null)
      await untilAsked(isRunning, (running) => running)
      gone.abort()
      await abandoned
      await untilAsked(ended, (count) => count === 2)
    } finally {
      await server.stop()
      await provider.stop()
    }
  })
})
