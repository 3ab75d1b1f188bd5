/**
 * The HTTP surface: what happens to a request between its socket and the dispatcher. Refusals that need no lane (unknown path, wrong method, access mode, warm-up, drain)
 * are made here, before anything is queued; operations of cost `loop` are answered here; everything else is submitted. Front-end thread only.
 */
import * as uWS from 'uWebSockets.js'
import type { Config, ListenAddress } from '../../config.js'
import { formatAddress } from '../../config.js'
import { outgoing, refusal } from '../../dispatch/answers.js'
import type { ControlBlock } from '../../dispatch/control_block.js'
import type { Dispatcher } from '../../dispatch/dispatcher.js'
import type { LoopHandler, ServerState } from '../../dispatch/server_state.js'
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
import { RouteTable, type Route } from './routes.js'

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
  #listenSocket: uWS.us_listen_socket | undefined
  #open = 0
  #idleWaiters: (() => void)[] = []

  constructor(parts: FrontEndParts) {
    this.#parts = parts
    const rows = new Set(offered(parts.config))
    this.#routes = new RouteTable(operations, (operation) => rows.has(operation))
    this.#cors = corsPolicy(parts.config.corsOrigins)
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
    const call = new Call(this.#parts, this.#answers, () => this.#onDone())
    const exchange = new Exchange(response, request, call, this.#budget, this.#unsent, NOSNIFF, this.#parts.config.limits.PART_STALL_MS_MAX)
    exchange.commonHeaders = [...NOSNIFF, ...this.#cors.headersFor(exchange.origin)]
    try {
      this.#route(exchange, call)
    } catch (error) {
      call.onFault(exchange, error)
    }
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
  #refusalOf({ effect, cost }: Operation): keyof typeof CATALOGUE | null {
    const { config, control } = this.#parts
    if (effect === 'write' && config.httpMode === 'read') return 'readOnlyMode'
    if (effect === 'read' && config.httpMode === 'write') return 'writeOnlyMode'
    const phase = control.phase
    if (phase === 'draining' && cost !== 'loop') return 'shuttingDown'
    if (phase === 'unhealthy' && effect === 'write') return 'unhealthy'
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

/** Apart, so that neither drives out the other: those whose request allows it, and those of operations that always do. */
interface KeptAnswers {
  readonly asked: AnswerCache
  readonly unasked: AnswerCache
}

/** The form of `listen` that the type declarations leave out. */
interface ListenWithHost {
  listen(host: string, port: number, options: number, callback: (socket: uWS.us_listen_socket | false) => void): void
}

// Answers are JSON; a browser must not guess anything else into a stored document.
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
  ) {}

  onBody(exchange: Exchange, body: Uint8Array | null): void {
    if (body !== null) this.parts.telemetry.add('body_bytes_received', body.length)
    if (this.constant !== null) exchange.answer(this.constant)
    else if (this.route !== null) this.#run(exchange, this.route, body)
  }

  onAborted(): void {
    if (this.#ticket !== null) this.parts.dispatcher.abandon(this.#ticket)
  }

  onDone(exchange: Exchange, status: number, bodyBytes: number): void {
    if (status !== 0 && this.constant === null) {
      this.parts.telemetry.countRequest(this.route?.operationIndex ?? -1, status, (performance.now() - exchange.acceptedAt) / 1000)
      this.parts.telemetry.add('answer_bytes_sent', bodyBytes)
    }
    this.ended()
  }

  /** A fault of ours while the request was on the loop: it is that request's 500, not the end of the others. */
  onFault(exchange: Exchange, error: unknown): void {
    console.error('front end:', error)
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
      return outgoing(handler(this.parts.state, input))
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return { status: error.http, contentType: null, headers: [], gzip: false, body: JSON.stringify({ error: error.message }) }
    }
  }
}
