/**
 * How the port of MCP is configured, and the paths for clients without JSON-RPC: mcp.md, "Env" and
 * "Transports". On a server with the fixtures of the conformance suite as its tools.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { McpClient } from '../../harness/clients/mcp_client.js'
import { FIXTURE_EDITS } from '../../harness/mcp_fixtures.js'
import { freePort } from '../../harness/process/ports.js'
import { type ScratchCopy, scratchCopy } from '../../harness/scratch_copy.js'
import { ACCESS_ENV } from '../../harness/server/access.js'
import { type Server, type ServerOptions, startServer } from '../../harness/server/server.js'

describe('mcp: configuration and plain paths', () => {
  let copy: ScratchCopy
  let folder: string

  before(async () => {
    copy = await scratchCopy(FIXTURE_EDITS)
    folder = mkdtempSync(join(tmpdir(), 'mds-mcp-'))
  })

  after(() => {
    copy.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  async function serving(options: ServerOptions, run: (server: Server) => Promise<void>): Promise<void> {
    const server = await startServer({ main: copy.main, ...options })
    try {
      await run(server)
    } finally {
      await server.stop()
    }
  }

  it('mcp: tools and resources are there without JSON-RPC: /tools, /tools/call, /resources, /resources/read', async () => {
    await serving({}, async (server) => {
      const client = new McpClient(server)
      const json = async (method: string, path: string, body?: unknown): Promise<readonly [number, unknown]> => {
        const { status, text } = await client.send(method, path, body)
        return [status, JSON.parse(text)]
      }
      const [status, { tools }] = (await json('GET', '/tools')) as [number, { readonly tools: readonly { readonly name: string }[] }]
      assert.equal(status, 200)
      assert.ok(tools.some(({ name }) => name === 'test_simple_text'))
      const simple = { content: [{ type: 'text', text: 'This is a simple text response for testing.' }] }
      assert.deepEqual(await json('POST', '/tools/call', { name: 'test_simple_text', arguments: {} }), [200, simple])
      assert.deepEqual(await json('POST', '/tools/call', { name: 'no_such_tool' }), [400, { error: 'unknown tool: no_such_tool' }])
      assert.deepEqual(await json('POST', '/tools/call', []), [400, { error: 'an object expected' }])
      assert.equal((await json('POST', '/tools/call', '{'))[0], 400)
      const [, listed] = (await json('GET', '/resources')) as [
        number,
        { readonly resources: readonly object[]; readonly resourceTemplates: readonly object[] },
      ]
      assert.deepEqual([listed.resources.length, listed.resourceTemplates.length], [3, 1])
      const contents = [{ uri: 'test://static-text', mimeType: 'text/plain', text: 'This is the content of the static text resource.' }]
      assert.deepEqual(await json('POST', '/resources/read', { uri: 'test://static-text' }), [200, { contents }])
      assert.deepEqual(await json('POST', '/resources/read', { uri: 'test://none' }), [404, { error: 'Resource not found' }])
    })
  })

  it('mcp: SVC_MCP_ENABLED, --mcp-enabled, --mcp-addr, SVC_MCP_PORT and the block mcp of the YAML file configure the port', async () => {
    await serving({ env: { SVC_MCP_ENABLED: 'false' } }, async (server) => {
      assert.throws(() => server.addressOf('mcp'))
      const { protocols } = (await server.get('/v1/config')).json<{ readonly protocols: { readonly mcp: object } }>()
      assert.deepEqual(protocols.mcp, { enabled: false, addr: '' })
      assert.equal((await server.get('/health')).text.includes('mcpSessions'), false)
    })
    await serving({ args: ['--no-mcp-enabled'] }, async (server) => assert.throws(() => server.addressOf('mcp')))
    const port = await freePort()
    await serving({ args: ['--mcp-addr', `127.0.0.1:${port}`] }, async (server) =>
      assert.equal(server.addressOf('mcp'), `127.0.0.1:${port}`),
    )
    await serving({ env: { SVC_MCP_ADDR: undefined, SVC_MCP_PORT: `127.0.0.1:${port}` } }, async (server) => {
      assert.equal(server.addressOf('mcp'), `127.0.0.1:${port}`)
    })
    const file = join(folder, 'server.yaml')
    writeFileSync(
      file,
      [
        'mcp:',
        '  enabled: true',
        `  addr: 127.0.0.1:${port}`,
        '  domain: mcp.example',
        '  apiKeyEnabled: true',
        '  apiKeys: yaml-key:robot',
        '  loggingEnabled: true',
        '  rateLimit: { enabled: true, requests: 7, burst: 0 }',
        '  serverInfo: { name: from yaml, vendor: ada }',
        '  instructions: Read first.',
        '',
      ].join('\n'),
    )
    await serving({ env: { SVC_MCP_ADDR: undefined }, args: ['--config', file] }, async (server) => {
      assert.equal(server.addressOf('mcp'), `127.0.0.1:${port}`)
      const client = new McpClient(server, { 'x-api-key': 'yaml-key', origin: 'https://mcp.example' })
      const { answer } = await client.initialize()
      const { serverInfo, instructions } = answer.rpc.result
      assert.deepEqual([serverInfo['name'], serverInfo['vendor'], instructions], ['from yaml', 'ada', 'Read first.'])
      assert.equal(answer.headers['x-ratelimit-limit'], '7')
      assert.equal((await client.with({ 'x-api-key': 'other' }).ask('ping')).status, 401)
    })
  })

  it('mcp: keys of SVC_MCP_API_KEYS that cannot be are a configuration error which does not show them', async () => {
    const { runToEnd } = await import('../../harness/server/server.js')
    const { code, output } = await runToEnd({ main: copy.main, env: { ...ACCESS_ENV, SVC_MCP_API_KEYS: 'the same:a,the same:b' } })
    assert.equal(code, 2)
    assert.match(output, /SVC_MCP_API_KEYS/)
    assert.doesNotMatch(output, /the same/)
  })
})
