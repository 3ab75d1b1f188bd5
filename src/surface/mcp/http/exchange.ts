/**
 * One request over HTTP and its answer, on the port of MCP. The only owner of node's request and response:
 * they are used while the client is there, and answered once.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { addressKey } from '../../../access/client_key.js'
import { CATALOGUE } from '../../../errors.js'
import { AUDIT_USER_AGENT_CHARS_MAX } from '../../../limits/process.js'
import { MCP_COUNTED_BYTES_MIN } from '../../../limits/surfaces.js'
import { KIB } from '../../../limits/units.js'
import type { TrustedProxies } from '../../http/trusted_proxies.js'
import type { HeldBytes } from '../../thread/held_bytes.js'
import type { McpRequest } from '../mcp_authenticator.js'
import { type Refusal, refusal, REFUSED } from '../protocol/codes.js'
import { errorText } from '../protocol/message.js'
import type { Bodies } from './body.js'
import { EventStream, type StreamTimes } from './event_stream.js'

/** Bytes of a refused body that are read and thrown away: a new connection costs more. */
const MCP_REST_BYTES_MAX = 64 * KIB

const JSON_TYPE = ['Content-Type', 'application/json'] as const

export class Exchange implements McpRequest {
  readonly method: string
  readonly path: string
  /** Without `?`; may contain a key, so it is not logged. */
  readonly query: string
  readonly startedAt = performance.now()
  /** Of every answer: name, value ... */
  commonHeaders: readonly string[] = []
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #proxies: TrustedProxies
  readonly #unsent: HeldBytes<Socket>
  readonly #times: StreamTimes
  readonly #gone = new AbortController()
  #isAnswered = false
  #address: string | null = null

  constructor(request: IncomingMessage, response: ServerResponse, proxies: TrustedProxies, unsent: HeldBytes<Socket>, times: StreamTimes) {
    this.#request = request
    this.#response = response
    this.#proxies = proxies
    this.#unsent = unsent
    this.#times = times
    this.method = request.method ?? ''
    const url = request.url ?? '/'
    const mark = url.indexOf('?')
    this.path = mark < 0 ? url : url.slice(0, mark)
    this.query = mark < 0 ? '' : url.slice(mark + 1)
    response.once('close', () => {
      if (!response.writableFinished) this.#gone.abort()
    })
  }

  /** Aborts when the client has disconnected before the end of its answer. */
  get gone(): AbortSignal {
    return this.#gone.signal
  }

  get isAnswered(): boolean {
    return this.#isAnswered
  }

  get status(): number {
    return this.#isAnswered ? this.#response.statusCode : 0
  }

  get authorization(): string {
    return this.#request.headers.authorization ?? ''
  }

  get apiKey(): string {
    return this.header('x-api-key') ?? ''
  }

  get queryKey(): string {
    return this.param('api_key') ?? ''
  }

  /** @param name in lower case. @returns undefined if the header is absent */
  header(name: string): string | undefined {
    const value = this.#request.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }

  param(name: string): string | null {
    return this.query === '' ? null : new URLSearchParams(this.query).get(name)
  }

  get peer(): string {
    return this.#request.socket.remoteAddress ?? ''
  }

  clientAddress(): string {
    return (this.#address ??= this.#proxies.clientOf(this.peer, this.header('x-forwarded-for') ?? ''))
  }

  addressKey(): string {
    return addressKey(this.clientAddress())
  }

  userAgent(): string {
    return (this.header('user-agent') ?? '').slice(0, AUDIT_USER_AGENT_CHARS_MAX)
  }

  /** Whether the client accepts a content type; without a header it accepts every one. */
  accepts(type: 'application/json' | 'text/event-stream'): boolean {
    const accepted = this.header('accept')
    if (accepted === undefined || accepted.includes(type) || accepted.includes('*/*')) return true
    return accepted.includes(`${type.slice(0, type.indexOf('/'))}/*`)
  }

  async readBody(bodies: Bodies): ReturnType<Bodies['read']> {
    return await bodies.read(this.#request)
  }

  /** @param text JSON. @param headers name, value ... */
  answerJson(status: number, text: string, headers: readonly string[] = []): void {
    const bytes = Buffer.byteLength(text)
    this.#answer(status, [...JSON_TYPE, 'Content-Length', String(bytes), ...headers], text, bytes)
  }

  answerEmpty(status: number, headers: readonly string[] = []): void {
    this.#answer(status, ['Content-Length', '0', ...headers], '', 0)
  }

  /** In the form of JSON-RPC. */
  refuse(refused: Refusal, id: string | number | null = null, headers: readonly string[] = []): void {
    this.answerJson(refused.status, errorText(id, refused), headers)
  }

  /** Answers with a stream. @returns null if the client has gone */
  openStream(headers: readonly string[] = [], onPulse?: () => void): EventStream | null {
    if (this.#isAnswered || this.#response.destroyed) return null
    this.#isAnswered = true
    return new EventStream(this.#response, [...this.commonHeaders, ...headers], {
      times: this.#times,
      count: (bytes) => this.#count(bytes),
      onPulse,
    })
  }

  onClose(run: () => void): void {
    this.#response.once('close', run)
  }

  /** Whether so much of the body is not read that a new connection costs less than its rest. */
  #leavesTooMuch(): boolean {
    if (this.#request.complete) return false
    return 'transfer-encoding' in this.#request.headers || Number(this.#request.headers['content-length'] ?? 0) > MCP_REST_BYTES_MAX
  }

  /** Bytes of the answer that the client has not read: until they are given back, or the answer ends. */
  #count(bytes: number): (() => void) | null {
    const held = this.#unsent.take(this.#request.socket, bytes)
    if (held === null) return null
    let isHeld = true
    const give = (): void => {
      if (isHeld) this.#unsent.give(held, bytes)
      isHeld = false
    }
    this.#response.once('close', give)
    return give
  }

  #answer(status: number, headers: readonly string[], text: string, bytes: number): void {
    if (this.#isAnswered || this.#response.destroyed) return
    if (bytes >= MCP_COUNTED_BYTES_MIN && this.#count(bytes) === null) return this.refuse(refusal(503, REFUSED, CATALOGUE.overloaded.text))
    this.#isAnswered = true
    const closes = this.#leavesTooMuch() ? ['Connection', 'close'] : []
    this.#response.writeHead(status, [...headers, ...this.commonHeaders, ...closes])
    // Ends with the answer: then the connection waits for its next request.
    if (bytes >= MCP_COUNTED_BYTES_MIN) this.#response.setTimeout(this.#times.stallMs, () => this.#response.destroy())
    this.#response.end(text)
  }
}
