/**
 * MCP of the stateless era, revision 2026-07-28, over streamable HTTP: mcp.md, "JSON-RPC methods". On a
 * server with the fixtures of the conformance suite as its tools.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  type Answer,
  CAPABILITIES_KEY,
  type Headers,
  McpClient,
  META,
  REVISION,
  SERVER_KEY,
  VERSION_KEY,
} from '../../harness/clients/mcp_client.js'
import { FIXTURE_EDITS } from '../../harness/mcp_fixtures.js'
import { type ScratchCopy, scratchCopy } from '../../harness/scratch_copy.js'
import { runToEnd, type Server, startServer } from '../../harness/server/server.js'

const LEVEL_KEY = 'io.modelcontextprotocol/logLevel'
const CLIENT_KEY = 'io.modelcontextprotocol/clientInfo'

describe('mcp: the stateless era', () => {
  let copy: ScratchCopy
  let server: Server
  let client: McpClient

  before(async () => {
    copy = await scratchCopy(FIXTURE_EDITS)
    server = await startServer({ main: copy.main, env: { SVC_LIMIT_MCP_PAGE_ITEMS: '3', SVC_MCP_INSTRUCTIONS: 'Search first.' } })
    client = new McpClient(server)
  })

  after(async () => {
    await server.stop()
    copy.remove()
  })

  const outcome = ({ status, rpc }: Answer): readonly [number, number | undefined] => [status, rpc.error?.code]

  it('mcp: server/discover answers without a handshake: versions, capabilities, name and instructions', async () => {
    const { status, rpc, headers } = await client.stateless('server/discover')
    assert.equal(status, 200)
    assert.equal(headers['mcp-session-id'], undefined)
    const { supportedVersions, capabilities, serverInfo, instructions, resultType, ttlMs, cacheScope } = rpc.result
    assert.deepEqual(supportedVersions, [REVISION])
    assert.deepEqual(capabilities['tools'], { listChanged: false })
    assert.deepEqual([serverInfo['name'], instructions], ['mddbd', 'Search first.'])
    assert.deepEqual([resultType, ttlMs, cacheScope], ['complete', 3_600_000, 'public'])
  })

  it('mcp: every result has resultType complete, and names the server in its _meta', async () => {
    for (const [method, params] of [
      ['tools/list', {}],
      ['tools/call', { name: 'test_simple_text' }],
      ['resources/read', { uri: 'test://static-text' }],
      ['prompts/get', { name: 'test_simple_prompt' }],
      ['completion/complete', { ref: { type: 'ref/prompt', name: 'test_simple_prompt' }, argument: { name: 'a', value: '' } }],
    ] as const) {
      const { status, rpc } = await client.stateless(method, params)
      assert.equal(status, 200, method)
      assert.equal(rpc.result.resultType, 'complete', method)
      assert.equal((rpc.result._meta[SERVER_KEY] as { readonly name: string }).name, 'mddbd', method)
    }
  })

  it('mcp: lists carry ttlMs 3600000 and cacheScope public, resources/read 0 and private, calls neither', async () => {
    for (const method of ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list']) {
      const { ttlMs, cacheScope } = (await client.stateless(method)).rpc.result
      assert.deepEqual([ttlMs, cacheScope], [3_600_000, 'public'], method)
    }
    const read = (await client.stateless('resources/read', { uri: 'test://static-text' })).rpc.result
    assert.deepEqual([read.ttlMs, read.cacheScope], [0, 'private'])
    const called = (await client.stateless('tools/call', { name: 'test_simple_text' })).rpc.result
    assert.deepEqual([called.ttlMs, called.cacheScope], [undefined, undefined])
  })

  it('mcp: tools/list has pages by cursors in the stateless era, too', async () => {
    const names: string[] = []
    let cursor: string | undefined
    do {
      const { result } = (await client.stateless('tools/list', cursor === undefined ? {} : { cursor })).rpc
      names.push(...result.tools.map(({ name }) => name))
      cursor = result.nextCursor
    } while (cursor !== undefined)
    assert.ok(names.length > 6 && new Set(names).size === names.length)
  })

  it('mcp: _meta needs protocolVersion and clientCapabilities; clientInfo and logLevel are optional', async () => {
    const without = async (_meta: object | undefined): Promise<readonly [number, number | undefined]> =>
      outcome(await client.stateless('tools/list', { _meta }))
    assert.deepEqual(await without(undefined), [400, -32602])
    assert.deepEqual(await without({}), [400, -32602])
    assert.deepEqual(await without({ [VERSION_KEY]: REVISION }), [400, -32602])
    assert.deepEqual(await without({ [CAPABILITIES_KEY]: {} }), [400, -32602])
    assert.deepEqual(await without({ [VERSION_KEY]: 7, [CAPABILITIES_KEY]: {} }), [400, -32602])
    assert.deepEqual(await without({ ...META, [CAPABILITIES_KEY]: [] }), [400, -32602])
    assert.deepEqual(await without({ ...META, [CLIENT_KEY]: 'x' }), [400, -32602])
    assert.deepEqual(await without({ ...META, [LEVEL_KEY]: 'loud' }), [400, -32602])
    assert.deepEqual(await without({ ...META, [CLIENT_KEY]: { name: 'x', version: '1' }, [LEVEL_KEY]: 'error' }), [200, undefined])
    const { rpc } = await client.stateless('tools/list', { _meta: { [VERSION_KEY]: REVISION } })
    assert.match(rpc.error?.message ?? '', /clientCapabilities/)
  })

  it('mcp: the headers MCP-Protocol-Version and Mcp-Method are required, and agree with the body', async () => {
    const given = async (headers: Headers): Promise<readonly [number, number | undefined]> =>
      outcome(await client.stateless('tools/list', {}, headers))
    assert.deepEqual(await given({}), [200, undefined])
    assert.deepEqual(await given({ 'mcp-protocol-version': undefined }), [400, -32020])
    assert.deepEqual(await given({ 'mcp-method': undefined }), [400, -32020])
    assert.deepEqual(await given({ 'mcp-protocol-version': '2025-11-25' }), [400, -32020])
    assert.deepEqual(await given({ 'mcp-method': 'tools/call' }), [400, -32020])
    assert.deepEqual(await given({ 'mcp-method': '  tools/list\t' }), [200, undefined])
  })

  it('mcp: Mcp-Name is required where the body names something, and is plain or =?base64?..?=', async () => {
    const called = async (name: string | undefined): Promise<readonly [number, number | undefined]> =>
      outcome(await client.stateless('tools/call', { name: 'test_simple_text' }, { 'mcp-name': name }))
    const coded = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`
    assert.deepEqual(await called('test_simple_text'), [200, undefined])
    assert.deepEqual(await called(coded('test_simple_text')), [200, undefined])
    assert.deepEqual(await called(undefined), [400, -32020])
    assert.deepEqual(await called('test_image_content'), [400, -32020])
    assert.deepEqual(await called(coded('test_image_content')), [400, -32020])
    assert.deepEqual(await called('=?base64?!!?='), [400, -32020])
    assert.deepEqual(await called(`=?base64?${Buffer.from([0xff, 0xfe]).toString('base64')}?=`), [400, -32020])
    // A resource with a name beyond ASCII, which is not there.
    const uri = 'test://ü'
    assert.deepEqual(outcome(await client.stateless('resources/read', { uri }, { 'mcp-name': coded(uri) })), [200, -32602])
    assert.deepEqual(outcome(await client.stateless('prompts/get', { name: 'test_simple_prompt' }, { 'mcp-name': 'x' })), [400, -32020])
  })

  it('mcp: another revision is -32022 with those that are supported', async () => {
    for (const version of ['2027-01-01', '2025-11-25', 'x']) {
      const { status, rpc } = await client.stateless(
        'tools/list',
        { _meta: { ...META, [VERSION_KEY]: version } },
        { 'mcp-protocol-version': version },
      )
      assert.deepEqual([status, rpc.error?.code, rpc.error?.data], [400, -32022, { supported: [REVISION], requested: version }])
    }
  })

  it('mcp: an unknown method is -32601 with status 404, those of the handshake era among them', async () => {
    for (const method of ['no/such', 'initialize', 'ping', 'logging/setLevel', 'resources/subscribe', '__proto__'])
      assert.deepEqual(outcome(await client.stateless(method)), [404, -32601], method)
  })

  it('mcp: bad parameters and a resource that is not there are -32602 within an answer of status 200', async () => {
    assert.deepEqual(outcome(await client.stateless('tools/call', { name: 'no_such_tool' })), [200, -32602])
    assert.deepEqual(outcome(await client.stateless('tools/call', {})), [200, -32602])
    assert.deepEqual(outcome(await client.stateless('resources/read', { uri: 'test://none' })), [200, -32602])
    assert.deepEqual(outcome(await client.stateless('tools/list', { cursor: 'x' })), [200, -32602])
  })

  it('mcp: progress is delivered, and messages of the log where _meta names a level', async () => {
    const called = async (name: string, more: object): Promise<readonly (string | undefined)[]> =>
      (await client.stateless('tools/call', { name, _meta: { ...META, ...more } })).all
        .map(({ method }) => method)
        .filter((each) => each !== undefined)
    assert.equal((await called('test_tool_with_progress', { progressToken: 'p' })).length, 3)
    assert.deepEqual(await called('test_tool_with_progress', {}), [])
    assert.deepEqual(await called('test_tool_with_logging', {}), [])
    assert.deepEqual(await called('test_tool_with_logging', { [LEVEL_KEY]: 'error' }), [])
    assert.equal((await called('test_tool_with_logging', { [LEVEL_KEY]: 'info' })).length, 3)
  })

  it('mcp: subscriptions/listen acknowledges that nothing is notified, and ends', async () => {
    const { status, headers, all } = await client.stateless('subscriptions/listen', {
      notifications: { toolsListChanged: true, resourceSubscriptions: ['test://static-text'] },
    })
    assert.equal(status, 200)
    assert.match(String(headers['content-type']), /^text\/event-stream/)
    const [acknowledged, end] = all
    assert.equal(acknowledged?.method, 'notifications/subscriptions/acknowledged')
    const key = 'io.modelcontextprotocol/subscriptionId'
    assert.deepEqual(acknowledged?.params, { notifications: {}, _meta: { [key]: end?.id } })
    assert.deepEqual([end?.result.resultType, end?.result._meta[key]], ['complete', end?.id])
    assert.deepEqual(outcome(await client.stateless('subscriptions/listen', {})), [200, -32602])
  })

  it('mcp: notifications answer 202, and initialize with a header of the stateless era is refused', async () => {
    const headers = { 'mcp-protocol-version': REVISION }
    assert.equal((await client.post({ jsonrpc: '2.0', method: 'notifications/x', params: { _meta: META } }, headers)).status, 202)
    assert.equal((await client.post({ jsonrpc: '2.0', method: 'notifications/x' }, headers)).status, 202)
    assert.deepEqual(outcome(await client.ask('initialize', { protocolVersion: '2025-11-25' }, headers)), [400, -32020])
  })

  it('mcp: SVC_MCP_PROTOCOL_VERSION serves one revision, and an unknown value stops the start', async () => {
    const stateless = await startServer({ main: copy.main, env: { SVC_MCP_PROTOCOL_VERSION: REVISION } })
    try {
      const only = new McpClient(stateless)
      assert.equal((await only.stateless('tools/list')).status, 200)
      const { status, rpc } = await only.ask('initialize', {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 't', version: '1' },
      })
      assert.deepEqual([status, rpc.error?.code, rpc.error?.data.supported], [400, -32022, [REVISION]])
      for (const [method, path] of [
        ['GET', '/mcp'],
        ['DELETE', '/mcp'],
        ['GET', '/sse'],
      ] as const)
        assert.equal((await only.send(method, path)).status, 405)
      const { protocols } = (await stateless.get('/v1/config')).json<{ readonly protocols: { readonly mcp: Record<string, unknown> } }>()
      const { revision, supportedRevisions, revisionPinned, handshakeRevision } = protocols.mcp
      assert.deepEqual([revision, supportedRevisions, revisionPinned, handshakeRevision], [REVISION, [REVISION], true, ''])
    } finally {
      await stateless.stop()
    }
    const handshake = await startServer({ main: copy.main, env: { SVC_MCP_PROTOCOL_VERSION: '2025-06-18' } })
    try {
      const only = new McpClient(handshake)
      assert.equal((await only.initialize('2025-11-25')).answer.rpc.result.protocolVersion, '2025-06-18')
      const { status, rpc } = await only.stateless('tools/list')
      assert.deepEqual([status, rpc.error?.code, rpc.error?.data.supported], [400, -32022, ['2025-06-18']])
    } finally {
      await handshake.stop()
    }
    const refused = await runToEnd({ main: copy.main, env: { SVC_MCP_PROTOCOL_VERSION: '2025-01-01' } })
    assert.equal(refused.code, 2)
    assert.match(refused.output, /SVC_MCP_PROTOCOL_VERSION/)
  })

  it('mcp: /v1/config tells the address and the revisions of MCP', async () => {
    const { protocols } = (await server.get('/v1/config')).json<{ readonly protocols: { readonly mcp: Record<string, unknown> } }>()
    assert.deepEqual(protocols.mcp, {
      enabled: true,
      addr: server.addressOf('mcp'),
      mode: 'wr',
      stdio: false,
      revision: REVISION,
      supportedRevisions: [REVISION, '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
      revisionPinned: false,
      handshakeRevision: '2025-11-25',
    })
  })
})
