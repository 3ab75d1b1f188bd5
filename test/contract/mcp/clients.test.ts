/**
 * The official clients of MCP, of both eras, over every transport: mcp.md, "Transports". On a server with the
 * fixtures of the conformance suite as its tools.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport as NewStdio } from '@modelcontextprotocol/client/stdio'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { McpClient, messagesOf, META, REVISION, type Rpc } from '../../harness/clients/mcp_client.js'
import { FIXTURE_EDITS } from '../../harness/mcp_fixtures.js'
import { MARK, spawn } from '../../harness/process/owned_processes.js'
import { untilAsked } from '../../harness/process/until.js'
import { type ScratchCopy, scratchCopy } from '../../harness/scratch_copy.js'
import { type Server, startServer } from '../../harness/server/server.js'

const INFO = { name: 'test', version: '1' }
const TEXT = [{ type: 'text', text: 'This is a simple text response for testing.' }]

describe('mcp: the official clients', () => {
  let copy: ScratchCopy
  let server: Server
  let folder: string

  before(async () => {
    copy = await scratchCopy(FIXTURE_EDITS)
    server = await startServer({ main: copy.main })
    folder = mkdtempSync(join(tmpdir(), 'mds-mcp-'))
  })

  after(async () => {
    await server.stop()
    copy.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  const url = (path: string): URL => new URL(`http://${server.addressOf('mcp')}${path}`)

  /** How a client starts the server for standard input and output. */
  const stdio = (
    name: string,
  ): { readonly command: string; readonly args: string[]; readonly env: Record<string, string>; readonly stderr: 'pipe' } => ({
    command: process.execPath,
    args: [copy.main, '--db', join(folder, name), '--mcp-stdio'],
    env: { ...MARK, PATH: process.env['PATH'] ?? '', SVC_EMBEDDING_AUTODETECT: '0' },
    stderr: 'pipe',
  })

  async function exercised(transport: Transport): Promise<void> {
    const client = new Client(INFO, { capabilities: {} })
    const logged: unknown[] = []
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params.data))
    await client.connect(transport)
    try {
      assert.equal(client.getServerVersion()?.name, 'mddbd')
      await client.ping()
      assert.ok((await client.listTools()).tools.some(({ name }) => name === 'test_simple_text'))
      assert.deepEqual((await client.callTool({ name: 'test_simple_text', arguments: {} })).content, TEXT)
      const progress: number[] = []
      await client.callTool({ name: 'test_tool_with_progress' }, undefined, {
        onprogress: ({ progress: done }) => void progress.push(done),
      })
      assert.deepEqual(progress, [0, 50, 100])
      await client.setLoggingLevel('info')
      await client.callTool({ name: 'test_tool_with_logging' })
      assert.equal(logged.length, 3)
      const abort = new AbortController()
      const waiting = client.callTool({ name: 'test_waits' }, undefined, { signal: abort.signal })
      abort.abort('enough')
      await assert.rejects(waiting)
      await assert.rejects(client.callTool({ name: 'no_such_tool' }), /-32602/)
      assert.equal((await client.readResource({ uri: 'test://static-text' })).contents.length, 1)
      assert.equal((await client.getPrompt({ name: 'test_simple_prompt' })).messages.length, 1)
    } finally {
      await client.close()
    }
  }

  it('mcp: a client of the handshake era works over streamable HTTP, with progress and messages of the log', async () => {
    const transport = new StreamableHTTPClientTransport(url('/mcp'))
    await exercised(transport)
  })

  it('mcp: a client of the handshake era works over /sse and /message', async () => {
    await exercised(new SSEClientTransport(url('/sse')))
  })

  it('mcp: a client of the handshake era works over standard input and output', async () => {
    await exercised(new StdioClientTransport(stdio('old')))
  })

  it('mcp: a client of the stateless era works over streamable HTTP', async () => {
    const client = new NewClient(INFO, { versionNegotiation: { mode: 'auto' } })
    await client.connect(new NewTransport(url('/mcp')))
    assert.equal(client.getNegotiatedProtocolVersion(), REVISION)
    assert.deepEqual((await client.callTool({ name: 'test_simple_text', arguments: {} })).content, TEXT)
    const progress: number[] = []
    await client.callTool({ name: 'test_tool_with_progress' }, { onprogress: ({ progress: done }) => void progress.push(done) })
    assert.deepEqual(progress, [0, 50, 100])
    const tools = await client.listTools()
    assert.ok(tools.tools.length > 5)
    assert.equal((await client.readResource({ uri: 'test://static-text' })).contents.length, 1)
    const abort = new AbortController()
    const waiting = client.callTool({ name: 'test_waits' }, { signal: abort.signal })
    abort.abort('enough')
    await assert.rejects(waiting)
    await client.close()
  })

  it('mcp: a client of the stateless era works over standard input and output', async () => {
    const client = new NewClient(INFO, { versionNegotiation: { mode: 'auto' } })
    await client.connect(new NewStdio(stdio('new')))
    assert.equal(client.getNegotiatedProtocolVersion(), REVISION)
    assert.deepEqual((await client.callTool({ name: 'test_simple_text', arguments: {} })).content, TEXT)
    await client.close()
  })

  it('mcp: the newer client agrees on the handshake where it asks for it', async () => {
    const client = new NewClient(INFO, { versionNegotiation: { mode: 'legacy' } })
    await client.connect(new NewTransport(url('/mcp')))
    assert.equal(client.getNegotiatedProtocolVersion(), '2025-11-25')
    assert.deepEqual((await client.callTool({ name: 'test_simple_text', arguments: {} })).content, TEXT)
    await client.close()
  })

  it('mcp: the first event of /sse names the path of messages, and responses come on the stream', async () => {
    const client = new McpClient(server)
    const stream = await client.open('GET', '/sse', undefined, { accept: 'text/event-stream' })
    let received = ''
    stream.setEncoding('utf8').on('data', (chunk: string) => (received += chunk))
    await untilAsked(
      async () => await Promise.resolve(received),
      (text) => text.includes('\n\n'),
    )
    const [, path] = /^event: endpoint\ndata: (\/message\?sessionId=[0-9a-f]{32})\n\n/.exec(received) ?? []
    assert.ok(path)
    assert.deepEqual(
      await client.send('POST', path, { jsonrpc: '2.0', id: 9, method: 'ping' }).then(({ status, text }) => [status, text]),
      [202, ''],
    )
    const answers = await untilAsked(
      async () => await Promise.resolve(messagesOf(received, 'text/event-stream')),
      (all) => all.length > 0,
    )
    assert.deepEqual(answers, [{ jsonrpc: '2.0', id: 9, result: {} }])
    assert.equal((await client.send('POST', path, 'x')).status, 400)
    assert.equal((await client.send('POST', '/message?sessionId=0')).status, 404)
    stream.destroy()
    await untilAsked(
      async () => await client.send('POST', path, { jsonrpc: '2.0', id: 9, method: 'ping' }),
      ({ status }) => status === 404,
    )
  })

  it('mcp: over standard output come one message a line and nothing else, and the end of the input ends the server', async () => {
    const { command, args, env } = stdio('lines')
    const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] })
    let output = ''
    let errors = ''
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (errors += chunk))
    const ended = new Promise<number | null>((resolve) => child.on('exit', resolve))
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: INFO }
    const messages = [
      { jsonrpc: '2.0', id: 1, method: 'initialize', params },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'test_tool_with_progress', _meta: { progressToken: 'p' } } },
      { jsonrpc: '2.0', id: 3, method: 'server/discover', params: { _meta: META } },
      { jsonrpc: '2.0', id: 4, method: 'subscriptions/listen', params: { notifications: {}, _meta: META } },
    ]
    child.stdin.write(`${messages.map((message) => JSON.stringify(message)).join('\n')}\r\n\nnot json\n[1]\n`)
    child.stdin.end(JSON.stringify({ jsonrpc: '2.0', id: 5, method: 'ping' }) + '\n')
    assert.equal(await ended, 0)
    const lines = output
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Rpc)
    const byId = new Map(lines.filter(({ method }) => method === undefined).map((line) => [line.id, line]))
    assert.equal(byId.get(1)?.result.protocolVersion, '2025-11-25')
    assert.deepEqual(byId.get(2)?.result.content, [{ type: 'text', text: 'done' }])
    assert.deepEqual(byId.get(3)?.result.supportedVersions, [REVISION])
    assert.equal(byId.get(4)?.result.resultType, 'complete')
    assert.deepEqual(byId.get(5)?.result, {})
    assert.deepEqual(
      lines.filter(({ error }) => error !== undefined).map(({ error }) => error?.code),
      [-32700, -32600],
    )
    assert.equal(lines.filter(({ method }) => method === 'notifications/progress').length, 3)
    assert.match(errors, /ready on stdio/)
  })

  it('mcp: with SVC_MCP_STDIO, neither HTTP nor gRPC is served', async () => {
    const client = new Client(INFO, { capabilities: {} })
    const { command, args, env, stderr } = stdio('alone')
    const flags = args.filter((flag) => flag !== '--mcp-stdio')
    const transport = new StdioClientTransport({
      command,
      args: flags,
      env: { ...env, SVC_MCP_STDIO: 'true', SVC_ADDR: '127.0.0.1:0' },
      stderr,
    })
    let errors = ''
    transport.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString('utf8')))
    await client.connect(transport)
    await untilAsked(
      async () => await Promise.resolve(errors),
      (text) => text.includes('ready on stdio'),
    )
    assert.doesNotMatch(errors, /ready on 127|grpc on/)
    await client.close()
  })
})
