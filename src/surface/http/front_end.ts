/**
 * The HTTP surface: sockets, routes, and the checks before an operation: framing, foreign web pages,
 * admission. It builds the input from URL, query string and body, submits it to the dispatcher, and writes
 * the answer. One object for each event loop that serves HTTP (http_loops.ts).
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import type { Authenticator } from '../../access/authenticator.js'
import type { Checked } from '../../access/checks.js'
import { addressKeyOf } from '../../access/client_key.js'
import { refusalOfMetrics } from '../../access/metrics_access.js'
import { GUEST, type Principal } from '../../access/principal.js'
import { newFaultId } from '../../base/fault_id.js'
import type { Config, ListenAddress } from '../../config/config.js'
import type { Admitted } from '../../dispatch/admission.js'
import { refusalWith } from '../../dispatch/answers/answers.js'
import type { Core, Handle } from '../../dispatch/core.js'
import type { LoopInput } from '../../dispatch/loop_operations.js'
import { SpareBuffers } from '../../dispatch/port/spare_buffers.js'
import type { Surface } from '../../dispatch/surface.js'
import type { DispatchRequest } from '../../dispatch/ticket.js'
import { CATALOGUE, type ErrorCode } from '../../errors.js'
import { HSTS_SECONDS } from '../../limits/access.js'
import { BODIES_SPARE_BYTES_MAX, QUIET_STEP_MS, REQUEST_ON_ITS_WAY_MS } from '../../limits/surfaces.js'
import { laneIndexOf, offered, operations } from '../../operations/index.js'
import type { FilesForm } from '../../operations/row/http_form.js'
import { metrics } from '../../operations/server/health.js'
import { log, logs, logsAccess, slowMs } from '../../telemetry/log.js'
import type { Telemetry } from '../../telemetry/registry.js'
import type { AnswerSink, OutgoingAnswer } from '../../wire/answer.js'
import type { ControlBlock } from '../../wire/control_block.js'
import type { EncodedInput } from '../../wire/form.js'
import type { BudgetKind } from '../../wire/loop_block.js'
import type { TlsFiles } from '../../wire/tls_files.js'
import { guardedPush } from '../guarded_push.js'
import { type HttpAnswer, httpAnswer, httpRefusal } from './answer/http_answer.js'
import { Forms } from './body/forms.js'
import type { FormConsumer } from './body/received_form.js'
import { BodyWatch } from './bounds/body_watch.js'
import { ByteBudget } from './bounds/byte_budget.js'
import type { LoopResources } from './bounds/loop_resources.js'
import { Misframed } from './bounds/misframed.js'
import { OpenStreams } from './bounds/open_streams.js'
import { WriteTurns } from './bounds/write_turns.js'
import { listenOn } from './connections/listening.js'
import type { LoopConnections } from './connections/loop_connections.js'
import { TlsApps } from './connections/tls_apps.js'
import { uWS } from './connections/uws.js'
import { type CorsPolicy, corsPolicy } from './cors.js'
import { Exchange, type ExchangeListener } from './exchange.js'
import { type HttpLimit, NOT_LIMITED } from './http_limit.js'
import { LocalGuard } from './local_guard.js'
import { type Entry, PLAIN_ENTRY } from './loop_start.js'
import { policyOf } from './pages/page_policies.js'
import { Pages } from './pages/pages.js'
import { resumedQuery } from './request_head.js'
import { logRequest } from './request_log.js'
import { type Route, RouteTable } from './routes.js'
import { TrustedProxies } from './trusted_proxies.js'

/**
 * Answers `loadtestConstantBytes` bytes on the event loop, so that a load test can measure the cost of the
 * hand-over to the lanes. Absent unless configured.
 */
export const CONSTANT_PATH = '/loadtest/constant'

/** What a front end needs of its event loop. */
interface FrontEndParts {
  readonly config: Config
  readonly core: Core
  readonly telemetry: Telemetry
  readonly surface: Surface
  readonly control: Pick<ControlBlock, 'isLeaving' | 'accessEpoch'>
  readonly authenticator: Authenticator
  /** Of this loop; default: those of the only one. */
  readonly budgets?: Readonly<Record<BudgetKind, ByteBudget>>
  /** Absent or null: no rate limit. */
  readonly limit?: HttpLimit | null
  /** Absent: connections are not counted. */
  readonly connections?: LoopConnections
  /** Buffers for long bodies. Default: the loop has its own. */
  readonly spare?: SpareBuffers
  /** Default: clients connect to the loop, without TLS. */
  readonly entry?: Entry
}

export class FrontEnd {
  readonly #parts: FrontEndParts & { readonly forms: Forms }
  readonly #plain: TemplatedApp | null
  readonly #tls: TlsApps | null
  readonly #securityHeaders: readonly string[]
  readonly #routes: RouteTable
  readonly #cors: CorsPolicy
  readonly #loop: LoopResources
  readonly #constant: HttpAnswer | null
  readonly #guard: LocalGuard | null
  /** Null: none is trusted. */
  readonly #proxies: TrustedProxies | null
  readonly #misframed = new Misframed()
  readonly #newcomers = new Set<Exchange>()
  #listenSocket: us_listen_socket | undefined
  #open = 0
  /** Requests so far. */
  #begun = 0
  /** Open connections, with or without a request. */
  #connected = 0
  #idleWaiters: (() => void)[] = []

  constructor(parts: FrontEndParts) {
    this.#parts = { ...parts, forms: new Forms(parts.config) }
    const rows = new Set(offered(parts.config))
    this.#routes = new RouteTable(operations, (operation) => rows.has(operation))
    this.#cors = corsPolicy(parts.config)
    this.#guard = parts.config.guardsLocal
      ? new LocalGuard(parts.config.allowedHosts, (method, path) => this.#mayBeLinked(method, path))
      : null
    this.#proxies = parts.config.trustedProxies.length === 0 ? null : new TrustedProxies(parts.config.trustedProxies)
    const constantBytes = parts.config.loadtestConstantBytes
    this.#constant =
      constantBytes > 0 ? { status: 200, contentType: null, headers: [], gzip: false, body: Buffer.alloc(constantBytes, 0x20) } : null
    const { files, isBehindGate } = parts.entry ?? PLAIN_ENTRY
    const { BODIES_IN_FLIGHT_BYTES_MAX, BODY_PROGRESS_MS_MAX, ANSWERS_UNSENT_BYTES_MAX, PART_STALL_MS_MAX } = parts.config.limits
    this.#loop = {
      bodies: parts.budgets?.bodies ?? new ByteBudget(BODIES_IN_FLIGHT_BYTES_MAX),
      receiving: new BodyWatch(BODY_PROGRESS_MS_MAX),
      unsent: parts.budgets?.unsent ?? new ByteBudget(ANSWERS_UNSENT_BYTES_MAX),
      spare: parts.spare ?? new SpareBuffers(BODIES_SPARE_BYTES_MAX),
      turns: new WriteTurns(),
      streams: new OpenStreams(),
      stallMsMax: PART_STALL_MS_MAX,
      readsAgent: parts.config.auditEnabled,
      isLeaving: () => parts.control.isLeaving,
      isBehindGate,
    }
    this.#securityHeaders = parts.config.tlsEnabled ? [...SECURITY_HEADERS, ...HSTS] : SECURITY_HEADERS
    this.#tls = files === null ? null : new TlsApps(files, (app) => this.#serve(app))
    this.#plain = files === null ? this.#serve(uWS.App()) : null
  }

  /**
   * @param isShared whether other event loops listen on the port, too
   * @returns the address with the real port
   * @throws Error with a one-line message if the address is not available
   */
  async listen(address: ListenAddress, isShared = false): Promise<ListenAddress> {
    const socket = await listenOn(this.#tls?.acceptor ?? this.#plain!, address, isShared)
    this.#listenSocket = socket
    return address.kind === 'unix' ? address : { ...address, port: uWS.us_socket_local_port(socket) }
  }

  /** Accepts no new connections. Requests on open ones are answered 503 once the phase is `draining`. */
  stopListening(): void {
    if (this.#listenSocket !== undefined) uWS.us_listen_socket_close(this.#listenSocket)
    this.#listenSocket = undefined
    this.#loop.streams.end()
  }

  /**
   * Settles when no request is being read, executed or answered. A client that was answered just before the
   * shutdown may have sent its next request, which is still on its way: it is waited for on open connections.
   */
  async idle(): Promise<void> {
    for (let quietMs = 0, begun = this.#begun; this.#open > 0 || (this.#connected > 0 && quietMs < REQUEST_ON_ITS_WAY_MS);) {
      if (this.#open > 0) await new Promise<void>((resolve) => this.#idleWaiters.push(resolve))
      else await sleep(QUIET_STEP_MS)
      quietMs = begun === this.#begun ? quietMs + QUIET_STEP_MS : 0
      begun = this.#begun
    }
  }

  /** Accepts connections with this pair from now on. A pair that is not usable changes nothing. */
  renew(files: TlsFiles): void {
    try {
      this.#tls?.renew(files)
    } catch (error) {
      log.error('TLS: the certificate stays as it is', { reason: error })
    }
  }

  /** Closes every connection. */
  close(): void {
    this.#tls?.close()
    this.#plain?.close()
  }

  /** For each app that has connections; those of the gate are counted there. */
  #serve(app: TemplatedApp): TemplatedApp {
    const { connections } = this.#parts
    app.filter((response, change) => {
      this.#connected += Math.sign(change)
      if (connections !== undefined && !this.#loop.isBehindGate) countSocket(connections, response, change)
    })
    return app.any('/*', (response, request) => this.#onRequest(response, request))
  }

  #onRequest(response: HttpResponse, request: HttpRequest): void {
    this.#open += 1
    this.#begun += 1
    const call = new Call(
      this.#parts,
      () => this.#onDone(),
      (exchange) => this.#newcomers.has(exchange),
    )
    const readsPeer = logsAccess() || slowMs() > 0
    const exchange = new Exchange(response, request, call, this.#loop, this.#securityHeaders, readsPeer)
    exchange.proxies = this.#proxies
    if (logs('debug')) this.#note(exchange)
    if (exchange.isMisframed || this.#misframed.has(exchange)) {
      this.#misframed.add(exchange)
      exchange.answerAndClose(httpRefusal('badFraming'))
      return
    }
    const limited = this.#parts.limit?.take(exchange, this.#parts.authenticator) ?? NOT_LIMITED
    if (limited.headers.length > 0) exchange.commonHeaders = [...this.#securityHeaders, ...limited.headers]
    const foreign = this.#guard?.refusalOf(exchange) ?? null
    if (foreign !== null) {
      exchange.answer(httpRefusal(foreign))
      return
    }
    exchange.commonHeaders = [...exchange.commonHeaders, ...this.#cors.headersFor(exchange.origin)]
    if (limited.refusal !== null) {
      exchange.answer(limited.refusal)
      return
    }
    try {
      this.#route(exchange, call)
    } catch (error) {
      call.onFault(exchange, error)
    }
  }

  /**
   * Whether the request is for a page about the server itself. A route that reads or writes stored data is
   * not a page: `GET /v1/backup` writes.
   */
  #mayBeLinked(method: string, path: string): boolean {
    if (method !== 'GET' && method !== 'HEAD') return false
    const match = this.#routes.match(method, path)
    return path === '/' || (match.kind === 'found' && match.route.operation.effect === 'system')
  }

  /**
   * Remembers the requests of this turn of the event loop. If a pipelined request follows one that is not
   * answered yet, uWS closes the connection without reporting the reason.
   */
  #note(exchange: Exchange): void {
    if (this.#newcomers.size === 0) setImmediate(() => this.#newcomers.clear())
    this.#newcomers.add(exchange)
  }

  #route(exchange: Exchange, call: Call): void {
    if (exchange.method === 'OPTIONS') {
      exchange.answer({ status: 204, contentType: null, headers: this.#cors.preflightHeaders, gzip: false, body: '' })
      return
    }
    if (this.#constant !== null && exchange.path === CONSTANT_PATH) {
      call.constant = this.#constant
      exchange.readBody(this.#parts.config.bodyBytesMax)
      return
    }
    if (exchange.path === '/' && (exchange.method === 'GET' || exchange.method === 'HEAD')) {
      exchange.answer(TO_DOCS)
      return
    }
    const match = this.#routes.match(exchange.method, exchange.path)
    if (match.kind === 'notFound') {
      exchange.answer(httpRefusal('notFound'))
    } else if (match.kind === 'methodNotAllowed') {
      exchange.answer({ ...httpRefusal('methodNotAllowed'), headers: ['Allow', match.allow] })
    } else {
      const { operation } = match.route
      call.route = match.route
      call.params = match.params
      const checked = operation === metrics ? this.#checkMetrics(exchange) : this.#parts.authenticator.check(operation, exchange)
      const refused = typeof checked === 'string' ? checked : null
      const admitted = refused ?? this.#parts.core.admission.admit(operation, this.#parts.surface)
      if (typeof admitted === 'string') {
        exchange.answer(httpRefusal(admitted))
        return
      }
      call.admitted = admitted
      if (typeof checked !== 'string') call.checked = checked
      const form = operation.http?.files
      if (form === undefined) exchange.readBody(this.#parts.config.bodyBytesMax)
      else call.receiveForm(exchange, form)
    }
  }

  /** Metrics that are closed without a token are for administrators. */
  #checkMetrics(exchange: Exchange): Checked | Promise<Checked> {
    const { config, authenticator } = this.#parts
    const refused = refusalOfMetrics(config, exchange.authorization)
    if (refused === null) return authenticator.check(metrics, exchange)
    return config.authEnabled && config.metricsToken === '' ? authenticator.checkAdmin(exchange) : refused
  }

  #onDone(): void {
    this.#open -= 1
    if (this.#open > 0) return
    const waiters = this.#idleWaiters
    this.#idleWaiters = []
    for (const resolve of waiters) resolve()
  }
}

/** @param change 1: the connection has opened; -1: it has closed, and its address is not known any more */
function countSocket(connections: LoopConnections, response: HttpResponse, change: number): void {
  if (change < 0) connections.closed()
  else if (!connections.opened(() => addressKeyOf(new Uint8Array(response.getRemoteAddress())))) response.close()
}

/** Redirects browsers that open the server's address. */
const TO_DOCS: HttpAnswer = {
  status: 302,
  contentType: 'text/plain; charset=utf-8',
  headers: ['Location', '/docs'],
  gzip: false,
  body: '',
}

const CLOSED_AT_ONCE = 'connection closed: a request came behind one that was not answered yet, or the client went'

const pages = new Pages()
/**
 * Of every answer. A browser must not interpret a stored document as another type, and must not send the URL
 * of a request, whose query may be confidential, to other sites.
 */
const SECURITY_HEADERS: readonly string[] = ['X-Content-Type-Options', 'nosniff', 'Referrer-Policy', 'no-referrer']
const HSTS: readonly string[] = ['Strict-Transport-Security', `max-age=${HSTS_SECONDS}`]

const NO_INPUT: EncodedInput = { form: 'json', head: '', params: [], body: null, mayCompress: false }

/** One request on its way through the surface, and as the core has it: it receives the core's answer. */
class Call implements ExchangeListener, DispatchRequest, AnswerSink {
  route: Route | null = null
  params = NO_INPUT.params
  /** Set before the body is read. */
  admitted!: Admitted
  constant: HttpAnswer | null = null
  /** Whose request it is; a promise while that is looked up. */
  checked: Principal | Promise<Checked> = GUEST
  /** Set with the body, as the two that follow. */
  client!: Exchange
  principal: Principal = GUEST
  /** A client on a slow line does not use up the deadline of its request. */
  receivedAt = 0
  /** Has its body until the request is submitted. */
  input = NO_INPUT
  readonly sink = this
  #handle: Handle | null = null
  #form: FormConsumer | null = null

  constructor(
    readonly parts: FrontEndParts & { readonly forms: Forms },
    readonly ended: () => void,
    /** Whether the exchange began in this turn of the event loop. */
    readonly isNew: (exchange: Exchange) => boolean,
  ) {}

  onBody(exchange: Exchange, body: Uint8Array | null): void {
    if (body !== null) this.parts.telemetry.add('body_bytes_received', body.length)
    if (this.constant !== null) exchange.answer(this.constant)
    else this.#runFor(exchange, resumedQuery(exchange, this.route?.operation.http?.resumesBy), body)
  }

  /** The operation runs once all files of the body are in the data directory. */
  receiveForm(exchange: Exchange, form: FilesForm): void {
    const refuse = (code: ErrorCode, text?: string): void =>
      exchange.answer(text === undefined ? httpRefusal(code) : httpAnswer(null, refusalWith(code, text)))
    this.#form = this.parts.forms.open(form, exchange, {
      formReceived: (fields, body, bytes) => {
        this.parts.telemetry.add('body_bytes_received', bytes)
        this.#runFor(exchange, fields, body)
      },
      formRefused: refuse,
      formFault: (error) => this.onFault(exchange, error),
    })
    // A body that is declared too long is answered within this call.
    if (this.#form !== null) exchange.streamBody(this.#form, form.bodyBytesMax)
  }

  onAborted(exchange: Exchange): void {
    if (this.isNew(exchange)) log.debug(CLOSED_AT_ONCE, { method: exchange.method, path: exchange.path })
    if (this.#handle !== null) this.parts.core.abandon(this.#handle)
  }

  onDone(exchange: Exchange, status: number, bodyBytes: number): void {
    if (this.#form !== null) this.parts.forms.release(this.#form)
    if (this.constant === null) {
      const ms = performance.now() - exchange.acceptedAt
      logRequest(exchange, status, bodyBytes, ms)
      if (status !== 0) {
        this.parts.telemetry.countRequest(this.route === null ? -1 : laneIndexOf(this.route.operation), status, ms / 1000)
        this.parts.telemetry.add('answer_bytes_sent', bodyBytes)
      }
    }
    this.ended()
  }

  /**
   * Handles a programming error while the request was on the event loop. The request is answered 500; other
   * requests continue.
   */
  onFault(exchange: Exchange, error: unknown): void {
    const requestId = newFaultId()
    log.error('front end', { fault: error, requestId })
    const refused = httpRefusal('internal')
    if (!exchange.isDone) exchange.answer({ ...refused, body: JSON.stringify({ error: CATALOGUE.internal.text, requestId }) })
  }

  answer(answer: OutgoingAnswer): void {
    const { client, admitted } = this
    const { page, push } = answer
    const given = push === undefined ? answer : { ...answer, push: guardedPush(push, this.parts, client) }
    client.answer(page === undefined ? httpAnswer(admitted.operation, given) : pages.answer(page, client, policyOf(admitted.operation)))
  }

  #runFor(exchange: Exchange, head: string, body: Uint8Array | null): void {
    this.client = exchange
    this.receivedAt = performance.now()
    this.input = { form: 'json', head, params: this.params, body, mayCompress: exchange.acceptsGzip }
    const { checked } = this
    if (!(checked instanceof Promise)) return this.#run(checked)
    void checked
      .then((found) => {
        if (exchange.isDone) return
        if (typeof found === 'string') exchange.answer(httpRefusal(found))
        else this.#run(found)
      })
      .catch((error: unknown) => this.onFault(exchange, error))
  }

  #run(principal: Principal): void {
    this.principal = principal
    this.#handle = this.parts.core.submit(this)
    this.input = NO_INPUT
  }
}

/** Input of an operation that is answered on the event loop: query string and path parameters. */
export function readLoopInput({ head, params }: EncodedInput): LoopInput {
  const input: Record<string, string> = head === '' ? {} : Object.fromEntries(new URLSearchParams(head))
  for (let i = 0; i < params.length; i += 2) input[params[i]!] = params[i + 1]!
  return input
}
