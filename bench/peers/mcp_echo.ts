/**
 * Peers of bench/surfaces/mcp_tool_call.ts, each a process of its own with a constant answer: `bare`, node's
 * HTTP server that reads a request's body; `sdk`, the official implementation of MCP with one tool. Prints
 * its port.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'

const [kind = 'bare', bytes = '0'] = process.argv.slice(2)

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
}

function bare(): (request: IncomingMessage, response: ServerResponse) => void {
  const text = JSON.stringify({ answer: 'x'.repeat(Math.max(0, Number(bytes) - 13)) })
  return (request, response) => {
    request.on('data', () => undefined)
    request.on('end', () => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
      response.end(text)
    })
  }
}

function sdk(): (request: IncomingMessage, response: ServerResponse) => void {
  const text = 'x'.repeat(Number(bytes))
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'peer', version: '1' }, { capabilities: { tools: {} } })
    server.registerTool('get', { description: 'a constant' }, () => ({ content: [{ type: 'text', text }] }))
    return server
  })
  return (request, response) => {
    void bodyOf(request).then(async (body) => {
      const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)])
      const asked = new Request(`http://localhost${request.url ?? ''}`, { method: 'POST', headers, body: new Uint8Array(body) })
      const answered = await handler.fetch(asked)
      const answer = Buffer.from(await answered.arrayBuffer())
      response.writeHead(answered.status, { 'Content-Type': answered.headers.get('content-type') ?? '', 'Content-Length': answer.length })
      response.end(answer)
    })
  }
}

const server = createServer(kind === 'sdk' ? sdk() : bare())
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
