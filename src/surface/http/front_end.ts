/**
 * The HTTP surface: what happens to a request between its socket and the dispatcher. Refusals that need no lane (unknown path, wrong method, access mode, warm-up, drain)
 * are made here, before anything is queued; operations of cost `loop` are answered here; everything else is submitted. Front-end thread only.
 */
import * as uWS from 'uWebSockets.js'
import type { Config, ListenAddress } from '../../config.js'
import { formatAddress } from '../../config.js'
import { outgoing, refusal } from '../../dispatch/answers.js'
import type { ControlBlock } from '../../wire/control_block.js'
import type { Dispatcher } from '../../dispatch/dispatcher.js'
import type { LoopHandler, ServerState } from '../../system/server_state.js'
import type { AnswerSink, OutgoingAnswer, Ticket } from '../../dispatch/ticket.js'
import type { CATALOGUE } from '../../errors.js'
import { ServiceError } from '../../errors.js'
import { ANSWERS_CACHED_BYTES_MAX, ANSWERS_KEPT_BYTES_MAX, ANSWERS_KEPT_MAX } from '../../limits.js'
import { offered, operations } from '../../operations/index.js'
import type { Operation } from '../../operations/operation.js'
import type { Telemetry } from '../../telemetry/registry.js'
import { AnswerCache, asksForCache, cacheSecondsOf } from './answer_cache.js'
import { ByteBudget } from './byte_budget.js'
import { corsPolicy, PREFLIGHT_HEADERS, type CorsPolicy } from './cors.js'
import { Exchange, type ExchangeListener } from './exchange.js'
import { LocalGuard } from './local_guard.js'
import { OpenStreams } from './open_streams.js'
import { Pages } from './pages.js'
import { RouteTable, type Route } from './routes.js'
import { log, logs, logsAccess, slowMs } from '../../telemetry/log.js'

/** Answers `loadtestConstantBytes` bytes on the loop, so that a load test can tell what the hand-over to the lanes costs. Absent unless configured. */
export const CONSTANT_PATH = '/loadtest/constant'

// LIBUS_LISTEN_EXCLUSIVE_PORT, which the package declares as an enum but does not export as one. The default shares the port with whoever else asks, and a second server
// would take half of the first one's requests.
const LISTEN_EXCLUSIVE = 1

export interface FrontEndParts {
  readonly config: Config
  readonly state: ServerState
  readonly control: ControlBlock
  readonly dispatcher: Dispatcher
  readonly telemetry: Telemetry
  readonly loopHandlers: ReadonlyMap<string, LoopHandler>
}

export class FrontEnd {
  readonly #parts: FrontEndParts
  readonly #app = uWS.App()
  readonly #routes: RouteTable
  readonly #cors: CorsPolicy
  readonly #budget: ByteBudget
  readonly #unsent: ByteBudget
  readonly #answers: KeptAnswers
  readonly #constant: OutgoingAnswer | null
  readonly #guard: LocalGuard | null
  readonly #misframed = new Misframed()
  readonly #streams = new OpenStreams()
  readonly #newcomers = new Set<Exchange>()
  #listenSocket: uWS.us_listen_socket | undefined
  #open = 0
  #idleWaiters: (() => void)[] = []

  constructor(parts: FrontEndParts) {
    this.#parts = parts
    const rows = new Set(offered(parts.config))
    this.#routes = new RouteTable(operations, (operation) => rows.has(operation))
    this.#cors = corsPolicy(parts.config.corsOrigins)
    this.#guard = parts.config.guardsLocal
      ? new LocalGuard(parts.config.allowedHosts, (method, path) => this.#mayBeLinked(method, path))
      : null
    this.#budget = new ByteBudget(parts.config.limits.BODIES_IN_FLIGHT_BYTES_MAX)
    this.#unsent = new ByteBudget(parts.config.limits.ANSWERS_UNSENT_BYTES_MAX)
    const commits = (): number => parts.control.published
    this.#answers = {
      asked: new AnswerCache(parts.config.searchCacheSize, ANSWERS_CACHED_BYTES_MAX, commits),
      unasked: new AnswerCache(ANSWERS_KEPT_MAX, ANSWERS_KEPT_BYTES_MAX, commits),
    }
    const constantBytes = parts.config.loadtestConstantBytes
    this.#constant =
      constantBytes > 0 ? { status: 200, contentType: null, headers: [], gzip: false, body: Buffer.alloc(constantBytes, 0x20) } : null
    this.#app.any('/*', (response, request) => this.#onRequest(response, request))
  }

  /** @returns the printed address with the real port. @throws Error in one line when the address can't be had. */
  async listen(address: ListenAddress): Promise<string> {
    const socket = await new Promise<uWS.us_listen_socket | false>((resolve) => {
      if (address.kind === 'unix') {
        this.#app.listen_unix(resolve, address.path)
        return
      }
      if (address.host === '') this.#app.listen(address.port, LISTEN_EXCLUSIVE, resolve)
      else (this.#app as unknown as ListenWithHost).listen(address.host, address.port, LISTEN_EXCLUSIVE, resolve)
    })
    if (socket === false) throw new Error(`${formatAddress(address)} can't be listened on: in use, or not an address of this machine`)
    this.#listenSocket = socket
    return formatAddress(address.kind === 'unix' ? address : { ...address, port: uWS.us_socket_local_port(socket) })
  }

  /** No new connections; requests on open ones are answered 503 from now on (the phase is `draining`). */
  stopListening(): void {
    if (this.#listenSocket !== undefined) uWS.us_listen_socket_close(this.#listenSocket)
    this.#listenSocket = undefined
    this.#streams.end()
  }

  /** Settles when no request is being read, waited for or answered. */
  async idle(): Promise<void> {
    if (this.#open === 0) return
    await new Promise<void>((resolve) => this.#idleWaiters.push(resolve))
  }

  /** Closes every connection. */
  close(): void {
    ;(this.#app as unknown as { close(): void }).close()
  }

  #onRequest(response: uWS.HttpResponse, request: uWS.HttpRequest): void {
    this.#open += 1
    const call = new Call(
      this.#parts,
      this.#answers,
      () => this.#onDone(),
      (exchange) => this.#newcomers.has(exchange),
    )
    const { PART_STALL_MS_MAX } = this.#parts.config.limits
    const readsPeer = logsAccess() || slowMs() > 0
    const exchange = new Exchange(response, request, call, this.#budget, this.#unsent, NOSNIFF, PART_STALL_MS_MAX, readsPeer, this.#streams)
    if (logs('debug')) this.#note(exchange)
    if (exchange.isMisframed || this.#misframed.has(exchange)) {
      this.#misframed.add(exchange)
      exchange.answerAndClose(refusal('badFraming'))
      return
    }
    const foreign = this.#guard?.refusalOf(exchange) ?? null
    if (foreign !== null) {
      exchange.answer(refusal(foreign))
      return
    }
    exchange.commonHeaders = [...NOSNIFF, ...this.#cors.headersFor(exchange.origin)]
    try {
      this.#route(exchange, call)
    } catch (error) {
      call.onFault(exchange, error)
    }
  }

  /**
   * Pages about the server itself. What reads or writes stored data is not a page: `GET /v1/backup` writes.
   */
  #mayBeLinked(method: string, path: string): boolean {
    if (method !== 'GET' && method !== 'HEAD') return false
    const match = this.#routes.match(method, path)
    return path === '/' || (match.kind === 'found' && match.route.operation.effect === 'system')
  }

  /**
   * Notes the requests of this turn of the loop: when a pipelined request follows one that waits, uWS closes
   * the connection without a notice of the reason.
   */
  #note(exchange: Exchange): void {
    if (this.#newcomers.size === 0) setImmediate(() => this.#newcomers.clear())
    this.#newcomers.add(exchange)
  }

  #route(exchange: Exchange, call: Call): void {
    if (exchange.method === 'OPTIONS') {
      exchange.answer({ status: 204, contentType: null, headers: PREFLIGHT_HEADERS, gzip: false, body: '' })
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
      exchange.answer(refusal('notFound'))
    } else if (match.kind === 'methodNotAllowed') {
      exchange.answer({ ...refusal('methodNotAllowed'), headers: ['Allow', match.allow] })
    } else {
      call.route = match.route
      call.params = match.params
      const refused = this.#refusalOf(match.route.operation)
      if (refused !== null) exchange.answer(refusal(refused))
      else exchange.readBody(this.#parts.config.bodyBytesMax)
    }
  }

  /** What forbids the operation now, before its body is read. */
  #refusalOf({ effect, cost, freesSpace }: Operation): keyof typeof CATALOGUE | null {
    const { config, control } = this.#parts
    if (effect === 'write' && config.httpMode === 'read') return 'readOnlyMode'
    if (effect === 'read' && config.httpMode === 'write') return 'writeOnlyMode'
    const phase = control.phase
    if (phase === 'draining' && cost !== 'loop') return 'shuttingDown'
    if (phase === 'unhealthy' && effect === 'write') return 'unhealthy'
    if (control.diskFull && effect === 'write' && freesSpace !== true) return 'diskFull'
    if (phase === 'warming_up' && (effect === 'write' || cost === 'search')) return 'warmingUp'
    if (cost === 'search' && control.indexStale) return 'warmingUp'
    return null
  }

  #onDone(): void {
    this.#open -= 1
    this.#parts.telemetry.set('bodies_in_flight_bytes', this.#budget.used)
    this.#parts.telemetry.set('answers_unsent_bytes', this.#unsent.used)
    if (this.#open > 0) return
    const waiters = this.#idleWaiters
    this.#idleWaiters = []
    for (const resolve of waiters) resolve()
  }
}

/**
 * The peers that have sent a misframed request in this turn of the loop. uWS closes the connection only after
 * it has parsed the whole packet, and calls the handler for each request in it: those may be smuggled, and
 * are refused too. uWS does not say which connection a request belongs to, so peers are known by their
 * address.
 */
class Misframed {
  readonly #peers = new Set<string>()

  has(exchange: Exchange): boolean {
    return this.#peers.size > 0 && this.#peers.has(exchange.peerText())
  }

  add(exchange: Exchange): void {
    if (this.#peers.size === 0) setImmediate(() => this.#peers.clear())
    this.#peers.add(exchange.peerText())
  }
}

/** Apart, so that neither drives out the other: those whose request allows it, and those of operations that always do. */
interface KeptAnswers {
  readonly asked: AnswerCache
  readonly unasked: AnswerCache
}

/** The form of `listen` that the type declarations leave out. */
interface ListenWithHost {
  listen(host: string, port: number, options: number, callback: (socket: uWS.us_listen_socket | false) => void): void
}

/** For people who open the address in a browser. */
const TO_DOCS: OutgoingAnswer = {
  status: 302,
  contentType: 'text/plain; charset=utf-8',
  headers: ['Location', '/docs'],
  gzip: false,
  body: '',
}

const CLOSED_AT_ONCE = 'connection closed: a request came behind one that was not answered yet, or the client went'

// Answers are JSON; a browser must not guess anything else into a stored document.
const pages = new Pages()
const NOSNIFF: readonly string[] = ['X-Content-Type-Options', 'nosniff']

/** One request's way through the surface: what was found out about it, and its ticket once it is in the dispatcher. */
class Call implements ExchangeListener {
  route: Route | null = null
  params: readonly string[] = []
  constant: OutgoingAnswer | null = null
  #ticket: Ticket | null = null

  constructor(
    readonly parts: FrontEndParts,
    readonly answers: KeptAnswers,
    readonly ended: () => void,
    /** It came in this turn of the loop. */
    readonly isNew: (exchange: Exchange) => boolean,
  ) {}

  onBody(exchange: Exchange, body: Uint8Array | null): void {
    if (body !== null) this.parts.telemetry.add('body_bytes_received', body.length)
    if (this.constant !== null) exchange.answer(this.constant)
    else if (this.route !== null) this.#run(exchange, this.route, body)
  }

  onAborted(exchange: Exchange): void {
    if (this.isNew(exchange)) log.debug(CLOSED_AT_ONCE, { method: exchange.method, path: exchange.path })
    if (this.#ticket !== null) this.parts.dispatcher.abandon(this.#ticket)
  }

  onDone(exchange: Exchange, status: number, bodyBytes: number): void {
    if (this.constant === null) {
      const ms = performance.now() - exchange.acceptedAt
      logRequest(exchange, status, bodyBytes, ms)
      if (status !== 0) {
        this.parts.telemetry.countRequest(this.route?.operationIndex ?? -1, status, ms / 1000)
        this.parts.telemetry.add('answer_bytes_sent', bodyBytes)
      }
    }
    this.ended()
  }

  /** A fault of ours while the request was on the loop: it is that request's 500, not the end of the others. */
  onFault(exchange: Exchange, error: unknown): void {
    log.error('front end', { fault: error })
    if (!exchange.isDone) exchange.answer(refusal('internal'))
  }

  #run(exchange: Exchange, { operation, operationIndex }: Route, body: Uint8Array | null): void {
    const handler = this.parts.loopHandlers.get(operation.name)
    if (handler !== undefined) {
      exchange.answer(this.#answerOnLoop(exchange, handler))
      return
    }
    const sink = this.#repeat(exchange, operation, operationIndex, body)
    if (sink === null) return
    this.#ticket = this.parts.dispatcher.submit({
      operation,
      operationIndex,
      query: exchange.query,
      params: this.params,
      acceptsGzip: exchange.acceptsGzip,
      acceptedAt: exchange.acceptedAt,
      body,
      sink,
    })
  }

  /** Answers with what is kept, or says where the answer is to go. */
  #repeat(
    exchange: Exchange,
    { isRepeatable, keptSeconds }: Operation,
    operationIndex: number,
    body: Uint8Array | null,
  ): AnswerSink | null {
    if (isRepeatable !== true && (keptSeconds === undefined || body !== null)) return exchange
    const { query, acceptsGzip, credentials } = exchange
    const request = { operationIndex, query, body, acceptsGzip, credentials }
    if (keptSeconds === undefined && !asksForCache(request)) return exchange
    const cache = keptSeconds === undefined ? this.answers.asked : this.answers.unasked
    const found = cache.find(request, performance.now())
    if (found === null) return exchange
    if ('status' in found) {
      exchange.answer(found)
      return null
    }
    return {
      answer: (answer) => {
        cache.offer(found, answer, keptSeconds ?? cacheSecondsOf(answer), performance.now())
        exchange.answer(answer)
      },
    }
  }

  #answerOnLoop(exchange: Exchange, handler: LoopHandler): OutgoingAnswer {
    const input: Record<string, string> = exchange.query === '' ? {} : Object.fromEntries(new URLSearchParams(exchange.query))
    for (let i = 0; i < this.params.length; i += 2) input[this.params[i]!] = this.params[i + 1]!
    try {
      const answer = handler(this.parts.state, input)
      return answer.isPage === true ? pages.answer(answer, exchange) : outgoing(answer)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return { status: error.http, contentType: null, headers: [], gzip: false, body: JSON.stringify({ error: error.message }) }
    }
  }
}

/** Without the query string, which may hold what a log must not. */
function logRequest({ method, path, peer }: Exchange, status: number, bytes: number, ms: number): void {
  const isSlow = slowMs() > 0 && ms > slowMs()
  if (!isSlow && !logsAccess()) return
  const fields = { method, path, status, bytes, ms: Math.round(ms * 10) / 10, peer }
  if (isSlow) log.warn('slow request', fields)
  else log.info('request', fields)
}
