/**
 * A plain client of MCP for tests: JSON-RPC over HTTP, with nothing added that a test does not name. The
 * official clients are in test/contract/mcp/clients.test.ts.
 */
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from 'node:http'
import type { Server } from '../server/server.js'

export const REVISION = '2026-07-28'
export const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion'
export const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities'
export const SERVER_KEY = 'io.modelcontextprotocol/serverInfo'
export const META = { [VERSION_KEY]: REVISION, [CAPABILITIES_KEY]: {} }
const ACCEPT = 'application/json, text/event-stream'

export type Headers = Readonly<Record<string, string | undefined>>

/** A JSON-RPC response, or a notification. */
export interface Rpc {
  readonly id?: string | number | null
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result: Result
  readonly error?: { readonly code: number; readonly message: string; readonly data: { readonly supported?: readonly string[] } }
}

interface Named {
  readonly name: string
}

/** Members of results. A result has those of its method; tests read what they expect, or fail. */
export interface Result {
  readonly protocolVersion: string
  readonly supportedVersions: readonly string[]
  readonly serverInfo: Readonly<Record<string, string>>
  readonly capabilities: Readonly<Record<string, object>>
  readonly instructions: string
  readonly resultType: string
  readonly _meta: Readonly<Record<string, unknown>>
  readonly ttlMs: number
  readonly cacheScope: string
  readonly nextCursor?: string
  readonly tools: readonly Named[]
  readonly resources: readonly Named[]
  readonly resourceTemplates: readonly Named[]
  readonly prompts: readonly Named[]
  readonly content: readonly { readonly type: string; readonly text: string }[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly contents: readonly { readonly uri: string; readonly mimeType: string; readonly text: string }[]
  readonly messages: readonly object[]
  readonly completion: { readonly values: readonly string[] }
}

const NOTHING = { result: undefined } as unknown as Rpc

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The only message of the body, or the last one of a stream. */
  readonly rpc: Rpc
  /** All messages. */
  readonly all: readonly Rpc[]
}

/** Its free connections do not keep the process running. */
const agent = new Agent({ keepAlive: true, maxSockets: 64 })
let lastId = 0

export class McpClient {
  readonly port: number

  /** @param headers of every request */
  constructor(
    readonly server: Server,
    readonly headers: Headers = {},
  ) {
    this.port = Number(server.addressOf('mcp').split(':').at(-1))
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** The same port, with these headers beside the client's. */
  with(headers: Headers): McpClient {
    return new McpClient(this.server, { ...this.headers, ...headers })
  }

  async send(method: string, path: string, body?: unknown, headers: Headers = {}): Promise<Answer> {
    const response = await this.open(method, path, body, headers)
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString('utf8')
    const all = messagesOf(text, response.headers['content-type'] ?? '')
    return { status: response.statusCode ?? 0, headers: response.headers, text, all, rpc: all.at(-1) ?? NOTHING }
  }

  /** Resolves with the head of the answer. */
  async open(method: string, path: string, body?: unknown, headers: Headers = {}): Promise<IncomingMessage> {
    const bytes =
      body === undefined ? undefined : Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
    const own = {
      accept: ACCEPT,
      ...(bytes === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(bytes.length) }),
    }
    const sent = Object.entries({ ...own, ...this.headers, ...headers }).filter((pair): pair is [string, string] => pair[1] !== undefined)
    return await new Promise((resolve, reject) => {
      const request = httpRequest({ host: '127.0.0.1', port: this.port, agent, method, path, headers: Object.fromEntries(sent) }, resolve)
      request.on('error', reject)
      request.end(bytes)
    })
  }

  async post(message: object, headers: Headers = {}): Promise<Answer> {
    return await this.send('POST', '/mcp', message, headers)
  }

  /** A request of the handshake era; `this.headers` have the session. */
  async ask(method: string, params?: object, headers: Headers = {}): Promise<Answer> {
    return await this.post({ jsonrpc: '2.0', id: ++lastId, method, ...(params === undefined ? {} : { params }) }, headers)
  }

  /** A whole request of the stateless era. */
  async stateless(method: string, params: Readonly<Record<string, unknown>> = {}, headers: Headers = {}): Promise<Answer> {
    const name = params['name'] ?? params['uri']
    const named = typeof name === 'string' ? { 'mcp-name': name } : {}
    const own = { 'mcp-protocol-version': REVISION, 'mcp-method': method, ...named }
    const message = { jsonrpc: '2.0', id: ++lastId, method, params: { _meta: META, ...params } }
    return await this.post(message, { ...own, ...headers })
  }

  /** Begins a session. @returns a client that has it */
  async initialize(
    revision = '2025-11-25',
    headers: Headers = {},
  ): Promise<McpClient & { readonly answer: Answer; readonly session: string }> {
    const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: 'test', version: '1' } }
    const answer = await this.ask('initialize', params, headers)
    const session = String(answer.headers['mcp-session-id'])
    return Object.assign(this.with({ 'mcp-session-id': session }), { answer, session })
  }
}

export function messagesOf(text: string, contentType: string): readonly Rpc[] {
  if (contentType.startsWith('text/event-stream'))
    return [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, data]) => JSON.parse(data!) as Rpc)
  if (text === '' || !contentType.startsWith('application/json')) return []
  const value = JSON.parse(text) as Rpc | readonly Rpc[]
  return Array.isArray(value) ? (value as readonly Rpc[]) : [value as Rpc]
}
