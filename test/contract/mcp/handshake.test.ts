/**
 * MCP of the handshake era over streamable HTTP: mcp.md, "Transports" and "JSON-RPC methods". On a server
 * with the fixtures of the conformance suite as its tools.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Answer, McpClient } from '../../harness/clients/mcp_client.js'
import { FIXTURE_EDITS } from '../../harness/mcp_fixtures.js'
import { untilAsked } from '../../harness/process/until.js'
import { type ScratchCopy, scratchCopy } from '../../harness/scratch_copy.js'
import { type Server, startServer } from '../../harness/server/server.js'

describe('mcp: the handshake era', () => {
  let copy: ScratchCopy
  let server: Server
  let client: McpClient

  before(async () => {
    copy = await scratchCopy(FIXTURE_EDITS)
    server = await startServer({
      main: copy.main,
      env: {
        SVC_MCP_SERVER_NAME: 'notes',
        SVC_MCP_SERVER_DESCRIPTION: 'the notes of tests',
        SVC_MCP_SERVER_VENDOR: 'ada',
        SVC_MCP_SERVER_HOMEPAGE: 'https://notes.example',
        SVC_MCP_INSTRUCTIONS: 'Search before you answer.',
        SVC_LIMIT_MCP_PAGE_ITEMS: '2',
      },
    })
    client = new McpClient(server)
  })

  after(async () => {
    await server.stop()
    copy.remove()
  })

  const noted = async (): Promise<number> => {
    const { mcpSessions } = (await server.get('/health')).json<{ readonly mcpSessions: { readonly streamable: number } }>()
    return mcpSessions.streamable
  }

  it('mcp: initialize agrees on the revision that the client asks for, or else on the newest', async () => {
    for (const revision of ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']) {
      const { answer } = await client.initialize(revision)
      assert.equal(answer.rpc.result.protocolVersion, revision)
    }
    assert.equal((await client.initialize('1999-01-01')).answer.rpc.result.protocolVersion, '2025-11-25')
    assert.equal((await client.ask('initialize', {})).rpc.error?.code, -32602)
  })

  it('mcp: name, description, vendor, homepage and instructions come from the environment', async () => {
    const { answer } = await client.initialize()
    const { serverInfo, instructions } = answer.rpc.result
    const { name, description, vendor, homepage, version = '' } = serverInfo
    assert.deepEqual([name, description, vendor, homepage], ['notes', 'the notes of tests', 'ada', 'https://notes.example'])
    assert.match(version, /^\d+\.\d+\.\d+$/)
    assert.equal(instructions, 'Search before you answer.')
  })

  it('mcp: listChanged and subscribe are false', async () => {
    const { answer } = await client.initialize()
    assert.deepEqual(answer.rpc.result.capabilities, {
      tools: { listChanged: false },
      resources: { listChanged: false, subscribe: false },
      prompts: { listChanged: false },
      completions: {},
      logging: {},
    })
  })

  it('mcp: the session is given at initialize in MCP-Session-Id, and every request needs it', async () => {
    const session = await client.initialize()
    assert.match(session.session, /^[0-9a-f]{32}$/)
    assert.equal((await session.ask('ping')).status, 200)
    assert.deepEqual((await session.ask('ping')).rpc.result, {})
    const without = await client.ask('ping')
    assert.deepEqual([without.status, without.rpc.error?.code], [400, -32000])
    const unknown = await client.with({ 'mcp-session-id': '0'.repeat(32) }).ask('ping')
    assert.deepEqual([unknown.status, unknown.rpc.error?.code], [404, -32001])
  })

  it('mcp: DELETE /mcp answers 204 and ends the session', async () => {
    const session = await client.initialize()
    assert.deepEqual(await session.send('DELETE', '/mcp').then(({ status, text }) => [status, text]), [204, ''])
    assert.equal((await session.ask('ping')).status, 404)
    assert.equal((await session.send('DELETE', '/mcp')).status, 404)
    assert.equal((await client.send('DELETE', '/mcp')).status, 400)
  })

  it('mcp: notifications and responses answer 202 without a body', async () => {
    const session = await client.initialize()
    for (const message of [
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', method: 'notifications/roots/list_changed' },
      { jsonrpc: '2.0', id: 1, result: {} },
    ]) {
      const { status, text } = await session.post(message)
      assert.deepEqual([status, text], [202, ''])
    }
  })

  it('mcp: a header MCP-Protocol-Version with a revision that is not served is refused', async () => {
    const session = await client.initialize()
    assert.equal((await session.ask('ping', undefined, { 'mcp-protocol-version': '2025-06-18' })).status, 200)
    const { status, rpc } = await session.ask('ping', undefined, { 'mcp-protocol-version': '2023-01-01' })
    assert.deepEqual([status, rpc.error?.code], [400, -32000])
  })

  it('mcp: an unknown method is -32601, with the id of the request', async () => {
    const session = await client.initialize()
    for (const method of ['no/such', 'server/discover', 'subscriptions/listen', 'constructor']) {
      const { status, rpc } = await session.post({ jsonrpc: '2.0', id: 'a', method })
      assert.deepEqual([status, rpc.id, rpc.error?.code], [200, 'a', -32601], method)
    }
  })

  it('mcp: bad parameters are -32602, a resource that is not there -32002', async () => {
    const session = await client.initialize()
    const codeOf = async (method: string, params: object): Promise<number | undefined> =>
      (await session.ask(method, params)).rpc.error?.code
    assert.equal(await codeOf('tools/call', {}), -32602)
    assert.equal(await codeOf('tools/call', { name: 'no_such_tool' }), -32602)
    assert.equal(await codeOf('tools/call', { name: 'test_simple_text', arguments: [] }), -32602)
    assert.equal(await codeOf('prompts/get', { name: 5 }), -32602)
    assert.equal(await codeOf('logging/setLevel', { level: 'loud' }), -32602)
    assert.equal(await codeOf('resources/subscribe', {}), -32602)
    assert.equal(await codeOf('resources/read', { uri: 'test://none' }), -32002)
  })

  it('mcp: tools, resources, templates and prompts are listed in pages, by cursors', async () => {
    const session = await client.initialize()
    for (const [method, member, least] of [
      ['tools/list', 'tools', 5],
      ['resources/list', 'resources', 3],
      ['prompts/list', 'prompts', 4],
      ['resources/templates/list', 'resourceTemplates', 1],
    ] as const) {
      const names: string[] = []
      let cursor: string | undefined
      do {
        const { result } = (await session.ask(method, cursor === undefined ? {} : { cursor })).rpc
        assert.ok(result[member].length <= 2)
        names.push(...result[member].map(({ name }) => name))
        cursor = result.nextCursor
      } while (cursor !== undefined)
      assert.ok(names.length >= least, method)
      assert.equal(new Set(names).size, names.length, method)
      for (const bad of ['x', '', 7, Buffer.from('at:9999').toString('base64url'), Buffer.from('at:-1').toString('base64url')])
        assert.equal((await session.ask(method, { cursor: bad })).rpc.error?.code, -32602, `${method} ${bad}`)
    }
  })

  it('mcp: tools/call, resources/read, prompts/get and completion/complete answer with the result of the catalogue', async () => {
    const session = await client.initialize()
    const tool = await session.ask('tools/call', { name: 'test_simple_text', arguments: {} })
    assert.deepEqual(tool.rpc.result, { content: [{ type: 'text', text: 'This is a simple text response for testing.' }] })
    assert.equal((await session.ask('tools/call', { name: 'test_error_handling' })).rpc.result.isError, true)
    assert.equal((await session.ask('resources/read', { uri: 'test://static-text' })).rpc.result.contents[0]?.mimeType, 'text/plain')
    assert.equal((await session.ask('prompts/get', { name: 'test_simple_prompt' })).rpc.result.messages.length, 1)
    const ref = { type: 'ref/prompt', name: 'test_simple_prompt' }
    const { result } = (await session.ask('completion/complete', { ref, argument: { name: 'a', value: '' } })).rpc
    assert.deepEqual(result.completion.values, [])
    assert.deepEqual((await session.ask('resources/subscribe', { uri: 'test://static-text' })).rpc.result, {})
  })

  it('mcp: an answer is JSON, and a stream of events where notifications come before it', async () => {
    const session = await client.initialize()
    const plain = await session.ask('tools/call', { name: 'test_simple_text' })
    assert.match(String(plain.headers['content-type']), /^application\/json/)
    const streamed = await session.ask('tools/call', { name: 'test_tool_with_progress', _meta: { progressToken: 't1' } })
    assert.match(String(streamed.headers['content-type']), /^text\/event-stream/)
    assert.deepEqual(
      streamed.all.map(({ method }) => method),
      ['notifications/progress', 'notifications/progress', 'notifications/progress', undefined],
    )
    const only = await session.ask('ping', undefined, { accept: 'text/event-stream' })
    assert.match(String(only.headers['content-type']), /^text\/event-stream/)
    assert.deepEqual(only.rpc.result, {})
    const json = await session.ask(
      'tools/call',
      { name: 'test_tool_with_progress', _meta: { progressToken: 't1' } },
      { accept: 'application/json' },
    )
    assert.match(String(json.headers['content-type']), /^application\/json/)
    assert.equal((await session.ask('ping', undefined, { accept: 'text/html' })).status, 406)
    assert.equal((await session.ask('ping', undefined, { 'content-type': 'text/plain' })).status, 415)
  })

  it('mcp: progress is delivered under the token of the request, and not without one', async () => {
    const session = await client.initialize()
    const { all } = await session.ask('tools/call', { name: 'test_tool_with_progress', _meta: { progressToken: 7 } })
    const sent = all.filter(({ method }) => method === 'notifications/progress').map(({ params }) => params)
    assert.deepEqual(
      sent.map((params) => [params?.['progressToken'], params?.['progress'], params?.['total']]),
      [
        [7, 0, 100],
        [7, 50, 100],
        [7, 100, 100],
      ],
    )
    assert.equal((await session.ask('tools/call', { name: 'test_tool_with_progress' })).all.length, 1)
  })

  it('mcp: messages of the log are delivered from the level on that logging/setLevel names', async () => {
    const session = await client.initialize()
    const count = async (): Promise<number> =>
      (await session.ask('tools/call', { name: 'test_tool_with_logging' })).all.filter(({ method }) => method === 'notifications/message')
        .length
    assert.equal(await count(), 3)
    assert.deepEqual((await session.ask('logging/setLevel', { level: 'warning' })).rpc.result, {})
    assert.equal(await count(), 0)
    await session.ask('logging/setLevel', { level: 'debug' })
    assert.equal(await count(), 3)
  })

  it('mcp: notifications/cancelled ends a request, which is then not answered', async () => {
    const session = await client.initialize()
    const waiting = session.post({ jsonrpc: '2.0', id: 'long', method: 'tools/call', params: { name: 'test_waits' } })
    const again = async (): Promise<Answer> => await session.post({ jsonrpc: '2.0', id: 'long', method: 'ping' })
    // A request with the same id is refused while the first one is in progress.
    await untilAsked(again, ({ rpc }) => rpc.error?.code === -32600)
    await session.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'other' } })
    assert.equal((await again()).rpc.error?.code, -32600)
    await session.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'long', reason: 'enough' } })
    const { all } = await waiting
    assert.deepEqual(all, [])
    assert.deepEqual((await again()).rpc.result, {})
  })

  it('mcp: a client that disconnects ends its request', async () => {
    const session = await client.initialize()
    const abort = new AbortController()
    const gone = fetch(`${client.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-session-id': session.session },
      body: JSON.stringify({ jsonrpc: '2.0', id: 'gone', method: 'tools/call', params: { name: 'test_waits' } }),
      signal: abort.signal,
    }).catch(() => undefined)
    const again = async (): Promise<Answer> => await session.post({ jsonrpc: '2.0', id: 'gone', method: 'ping' })
    await untilAsked(again, ({ rpc }) => rpc.error?.code === -32600)
    abort.abort()
    await gone
    await untilAsked(again, ({ rpc }) => rpc.error === undefined)
  })

  it('mcp: batches are for the revisions that have them', async () => {
    const batch = [
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 2, method: 'no/such' },
    ]
    const { status, all } = await (await client.initialize('2025-03-26')).post(batch)
    assert.deepEqual(
      [status, all.map(({ id, error }) => [id, error?.code])],
      [
        200,
        [
          [1, undefined],
          [2, -32601],
        ],
      ],
    )
    const newer = await client.initialize('2025-06-18')
    assert.deepEqual(await newer.post(batch).then((answer) => [answer.status, answer.rpc.error?.code]), [400, -32600])
    const older = await client.initialize('2025-03-26')
    for (const bad of [
      [],
      [1],
      Array.from({ length: 101 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' })),
      [{ jsonrpc: '2.0', id: 1, method: 'initialize' }],
    ])
      assert.equal((await older.post(bad)).status, 400)
    assert.equal((await older.post([{ jsonrpc: '2.0', method: 'notifications/initialized' }])).status, 202)
  })

  it('mcp: GET /mcp opens a stream to a session, and a further one replaces it', async () => {
    const session = await client.initialize()
    assert.equal((await client.send('GET', '/mcp', undefined, { accept: 'text/event-stream' })).status, 400)
    assert.equal((await session.send('GET', '/mcp', undefined, { accept: 'application/json' })).status, 406)
    const first = await session.open('GET', '/mcp', undefined, { accept: 'text/event-stream' })
    assert.equal(first.statusCode, 200)
    assert.match(String(first.headers['content-type']), /^text\/event-stream/)
    const ended = new Promise<void>((resolve) => first.resume().on('end', resolve))
    const second = await session.open('GET', '/mcp', undefined, { accept: 'text/event-stream' })
    await ended
    await session.send('DELETE', '/mcp')
    await new Promise<void>((resolve) => second.resume().on('end', resolve))
  })

  it('mcp: health counts the sessions', async () => {
    const before = await noted()
    const session = await client.initialize()
    assert.equal(await noted(), before + 1)
    await session.send('DELETE', '/mcp')
    assert.equal(await noted(), before)
  })

  it('mcp: what is no message of JSON-RPC 2.0 is refused with the code that says so', async () => {
    const session = await client.initialize()
    const refused = async (body: unknown): Promise<readonly [number, number | undefined]> => {
      const { status, rpc } = await session.send('POST', '/mcp', body)
      return [status, rpc.error?.code]
    }
    for (const text of ['', '{', 'nothing', '{"jsonrpc":"2.0","id":1', '[1,', '"\u0000'])
      assert.deepEqual(await refused(text), [400, -32700], text)
    assert.deepEqual(await refused(Buffer.from([0x7b, 0xff, 0x7d])), [400, -32700])
    for (const value of [
      1,
      null,
      'x',
      {},
      { jsonrpc: '1.0', id: 1, method: 'ping' },
      { jsonrpc: '2.0', id: {}, method: 'ping' },
      { jsonrpc: '2.0', id: 1.5, method: 'ping' },
      { jsonrpc: '2.0', id: 1, method: 5 },
      { jsonrpc: '2.0', id: 1, method: 'ping', params: [] },
      { jsonrpc: '2.0', id: 1 },
    ])
      assert.deepEqual(await refused(JSON.stringify(value)), [400, -32600], JSON.stringify(value))
    const deep = (levels: number): string =>
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: {} }).replace(
        '{}',
        `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`,
      )
    assert.equal((await session.send('POST', '/mcp', deep(78))).status, 200)
    assert.deepEqual(await refused(deep(79)), [400, -32700])
    assert.equal(
      (await session.send('POST', '/mcp', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { a: '['.repeat(200) } })))
        .status,
      200,
    )
  })

  it('mcp: other paths and methods are 404 and 405', async () => {
    assert.equal((await client.send('GET', '/nothing')).status, 404)
    for (const [method, path, allow] of [
      ['PUT', '/mcp', 'POST, GET, DELETE'],
      ['POST', '/sse', 'GET'],
      ['GET', '/tools/call', 'POST'],
    ] as const) {
      const { status, headers } = await client.send(method, path)
      assert.deepEqual([status, headers.allow], [405, allow])
    }
  })
})
