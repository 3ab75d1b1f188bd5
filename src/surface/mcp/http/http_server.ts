/**
 * The HTTP server on the port of MCP: its sockets and their bounds, and the way of a request: foreign web
 * pages, rate limits, credential, endpoint. On node's server, which keeps up with the lanes: docs/decisions/
 * 0260. One object a thread.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import { createServer as createTlsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Authenticator } from '../../../access/authenticator.js'
import { newFaultId } from '../../../base/fault_id.js'
import type { Config } from '../../../config/config.js'
import type { ErrorCode } from '../../../errors.js'
import { CATALOGUE, entryOf } from '../../../errors.js'
import { KIB } from '../../../limits/units.js'
import { log } from '../../../telemetry/log.js'
import type { TlsFiles } from '../../../wire/tls_files.js'
import { admitsConnection } from '../../descriptors.js'
import { corsPolicy } from '../../http/cors.js'
import { TrustedProxies } from '../../http/trusted_proxies.js'
import { AddressCounts } from '../../thread/address_counts.js'
import { HeldBytes } from '../../thread/held_bytes.js'
import { boundHandshakes } from '../../tls/handshakes.js'
import { listenerOptions, refuseWrongCertificates, renewPair } from '../../tls/thread_tls.js'
import type { McpAuthenticator } from '../mcp_authenticator.js'
import { INTERNAL_ERROR, refusal, REFUSED } from '../protocol/codes.js'
import type { ChangeFeedPath } from './change_feed_path.js'
import type { ClientLimits } from './client_limits.js'
import type { StreamTimes } from './event_stream.js'
import { Exchange } from './exchange.js'
import { LegacySse } from './legacy_sse.js'
import { OriginGate } from './origin_gate.js'
import type { Asker, EndpointParts } from './parts.js'
import { answerError, PlainPaths } from './plain_paths.js'
import { SESSION_HEADER, Streamable } from './streamable.js'

/** Bytes of the head of a request. */
const MCP_HEAD_BYTES_MAX = 16 * KIB
/** How long a request may take, from its first byte to its last. */
const MCP_REQUEST_MS_MAX = 120_000
/** How often connections are checked for requests that take too long. */
const MCP_CHECK_MS = 2_000
/** A connection without a request is closed after this time. */
const MCP_IDLE_MS = 120_000
/** Open connections in all. Those of one address: SVC_MAX_CONN_IP. */
const MCP_CONNECTIONS_MAX = 4_096

type Endpoint = (exchange: Exchange, asker: Asker) => void | Promise<void>

interface HttpServerParts {
  readonly config: Config
  readonly endpoints: EndpointParts
  readonly authenticator: Authenticator
  readonly mcpAuthenticator: McpAuthenticator
  readonly limits: ClientLimits
  /** Null: the change feed is off. */
  readonly feed: ChangeFeedPath | null
  /** Whether the server shuts down: connections close behind their answers. */
  readonly isLeaving: () => boolean
  /** Null: connections are not encrypted. */
  readonly tls: TlsFiles | null
  /** Called at the end of each request. */
  readonly onDone: (exchange: Exchange) => void
}

export class HttpServer {
  readonly #parts: HttpServerParts
  readonly #server: Server | TlsServer
  readonly #routes: ReadonlyMap<string, ReadonlyMap<string, Endpoint>>
  readonly #proxies: TrustedProxies
  readonly #gate: OriginGate
  readonly #corsOf: (origin: string) => readonly string[]
  /** Large answers that clients have not read. */
  readonly #unsent: HeldBytes<Socket>
  readonly #times: StreamTimes
  readonly #connections: AddressCounts
  #open = 0
  #onIdle: (() => void) | null = null

  constructor(parts: HttpServerParts) {
    this.#parts = parts
    const { config, endpoints, tls, feed } = parts
    const streamable = new Streamable(endpoints)
    const sse = new LegacySse(endpoints)
    const plain = new PlainPaths(endpoints)
    this.#routes = new Map([
      ['/mcp', new Map<string, Endpoint>([
        ['POST', (exchange, asker) => streamable.post(exchange, asker)],
        ['GET', (exchange, asker) => streamable.get(exchange, asker)],
        ['DELETE', (exchange, asker) => streamable.delete(exchange, asker)],
      ])],
      ['/sse', new Map<string, Endpoint>([['GET', (exchange, asker) => sse.open(exchange, asker)]])],
      ['/message', new Map<string, Endpoint>([['POST', (exchange, asker) => sse.post(exchange, asker)]])],
      ['/tools', new Map<string, Endpoint>([['GET', (exchange) => plain.tools(exchange)]])],
      ['/tools/call', new Map<string, Endpoint>([['POST', (exchange, asker) => plain.call(exchange, asker)]])],
      ['/resources', new Map<string, Endpoint>([['GET', (exchange) => plain.resources(exchange)]])],
      ['/resources/read', new Map<string, Endpoint>([['POST', (exchange, asker) => plain.read(exchange, asker)]])],
      ...(feed === null ? [] : [['/events', new Map<string, Endpoint>([['GET', (exchange, asker) => feed.open(exchange, asker)]])] as const]),
    ]) // prettier-ignore
    this.#proxies = new TrustedProxies(config.trustedProxies)
    this.#times = { pulseMs: config.limits.MCP_STREAM_PULSE_MS, stallMs: config.limits.MCP_STALL_MS_MAX }
    this.#unsent = new HeldBytes(config.limits.MCP_UNSENT_BYTES_MAX, (socket) => socket.destroy())
    this.#gate = new OriginGate(config)
    this.#corsOf = mcpCors(config)
    const options = {
      maxHeaderSize: MCP_HEAD_BYTES_MAX,
      connectionsCheckingInterval: Math.min(MCP_CHECK_MS, config.limits.MCP_HEAD_MS_MAX),
      keepAlive: true,
      noDelay: true,
    }
    const onRequest = (request: IncomingMessage, response: ServerResponse): void => this.#take(request, response)
    this.#server =
      tls === null ? createServer(options, onRequest) : createTlsServer({ ...options, ...listenerOptions(tls, config) }, onRequest)
    this.#server.maxConnections = MCP_CONNECTIONS_MAX
    this.#server.headersTimeout = config.limits.MCP_HEAD_MS_MAX
    this.#server.requestTimeout = MCP_REQUEST_MS_MAX
    this.#server.keepAliveTimeout = MCP_IDLE_MS
    this.#connections = new AddressCounts(config.connectionsOfAddressMax)
    this.#server.on('connection', (socket: Socket) => {
      if (!admitsConnection() || !this.#connections.admits(socket)) socket.destroy()
    })
    if (tls !== null) boundHandshakes(this.#server, config.limits)
    if (tls !== null) refuseWrongCertificates(this.#server, tls)
  }

  /**
   * @param descriptor of a socket that listens
   * @returns its port; 0 for a unix socket
   */
  async listen(descriptor: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen({ fd: descriptor }, () => resolve())
    })
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  /** Accepts connections with this pair from now on. */
  renew(files: TlsFiles): void {
    renewPair(this.#server as TlsServer, files)
  }

  /** Accepts no new connections. @param onIdle called when the last request has ended */
  drain(onIdle: () => void): void {
    this.#onIdle = onIdle
    this.#parts.feed?.drain()
    this.#server.close()
    this.#server.closeIdleConnections()
    this.#reportIdle()
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    this.#open += 1
    response.shouldKeepAlive &&= !this.#parts.isLeaving()
    const exchange = new Exchange(request, response, this.#proxies, this.#unsent, this.#times)
    response.once('close', () => {
      this.#open -= 1
      this.#parts.onDone(exchange)
      this.#reportIdle()
    })
    this.#serve(exchange).catch((error: unknown) => {
      const requestId = newFaultId()
      log.error('mcp', { fault: error, requestId })
      exchange.refuse(refusal(500, INTERNAL_ERROR, CATALOGUE.internal.text, { requestId }))
    })
  }

  async #serve(exchange: Exchange): Promise<void> {
    const foreign = this.#gate.refusalOf(exchange)
    if (foreign !== null) return refuse(exchange, foreign)
    const origin = exchange.header('origin') ?? ''
    exchange.commonHeaders = [...SECURITY_HEADERS, ...this.#corsOf(origin)]
    const { authenticator, mcpAuthenticator, limits } = this.#parts
    if (!limits.admitsFirst(exchange, authenticator)) return
    if (exchange.method === 'OPTIONS') return exchange.answerEmpty(204, PREFLIGHT)
    const methods = this.#routes.get(exchange.path)
    if (methods === undefined) return answerError(exchange, 404, CATALOGUE.notFound.text)
    const endpoint = methods.get(exchange.method)
    if (endpoint === undefined)
      return answerError(exchange, 405, CATALOGUE.methodNotAllowed.text, ['Allow', [...methods.keys()].join(', ')])
    const found = await mcpAuthenticator.check(exchange)
    const session = exchange.header(SESSION_HEADER) ?? exchange.param('sessionId') ?? undefined
    const identity = typeof found === 'string' ? undefined : found.identity
    const isKnown = session !== undefined && identity !== undefined && this.#parts.endpoints.sessions.has(session, identity)
    if (!limits.admits(exchange, { identity, session: isKnown ? session : undefined })) return
    if (typeof found === 'string') return refuse(exchange, found)
    const { config } = this.#parts
    const agent = config.auditEnabled ? exchange.userAgent() : ''
    await endpoint(exchange, { ...found, caller: { principal: found.principal, address: exchange.clientAddress(), agent } })
  }

  #reportIdle(): void {
    if (this.#open === 0) this.#onIdle?.()
  }
}

/** Of every answer, as on the port of HTTP. */
const SECURITY_HEADERS: readonly string[] = ['X-Content-Type-Options', 'nosniff', 'Referrer-Policy', 'no-referrer']
/** Endpoints whose refusals are in the form of JSON-RPC. */
const RPC_PATHS: readonly string[] = ['/mcp', '/message', '/sse']

/** Headers of answers that web pages may read, as `Access-Control-Expose-Headers` has them. */
const EXPOSED = 'Mcp-Session-Id, MCP-Protocol-Version, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After'

const PREFLIGHT: readonly string[] = [
  'Access-Control-Allow-Methods', 'GET, POST, DELETE, OPTIONS',
  'Access-Control-Allow-Headers',
  'Content-Type, Accept, Authorization, X-API-Key, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID',
  'Access-Control-Max-Age', '86400',
] // prettier-ignore

/**
 * Cross-origin headers: those of HTTP, with the headers that MCP has.
 * @returns the headers of an answer to a request with this origin: name, value ...
 */
function mcpCors(config: Pick<Config, 'corsOrigins' | 'panelMode'>): (origin: string) => readonly string[] {
  const policy = corsPolicy(config)
  return (origin) => {
    if (origin === '') return []
    const headers = policy.headersFor(origin)
    const at = headers.indexOf('Access-Control-Expose-Headers')
    return at < 0 ? headers : [...headers.slice(0, at + 1), EXPOSED, ...headers.slice(at + 2)]
  }
}

function refuse(exchange: Exchange, code: ErrorCode): void {
  const { http, text, kind, retryAfterSeconds } = entryOf(code)
  const headers = [
    ...(http === 401 ? ['WWW-Authenticate', 'Bearer'] : []),
    ...(retryAfterSeconds === undefined ? [] : ['Retry-After', String(retryAfterSeconds)]),
  ]
  if (!RPC_PATHS.includes(exchange.path)) return answerError(exchange, http, text, headers)
  exchange.refuse(refusal(http, kind === 'fault' ? INTERNAL_ERROR : REFUSED, text), null, headers)
}
