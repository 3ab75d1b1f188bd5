/**
 * The front end's side of the port to a surface that runs in a thread of its own. Its requests take the same
 * path as those of HTTP: admission, audit, cached answers and queues. Nothing that the thread sends is
 * believed: a request that is not well-formed is refused. The requests in progress are bounded for each port,
 * and so is the time for which an answer waits for the request of its next part. Front-end thread only.
 */
import type { MessagePort } from 'node:worker_threads'
import { refusalOfMetrics } from '../../access/metrics_access.js'
import { GUEST, isClientPrincipal, type Principal } from '../../access/principal.js'
import type { Config } from '../../config/config.js'
import type { ErrorCode } from '../../errors.js'
import { AUDIT_USER_AGENT_CHARS_MAX } from '../../limits/process.js'
import { KIB, MIB } from '../../limits/units.js'
import { offered } from '../../operations/index.js'
import type { Operation } from '../../operations/row/operation.js'
import { metrics } from '../../operations/server/health.js'
import { canonicalAddress } from '../../outbound/networks.js'
import { passAuditLines } from '../../telemetry/audit.js'
import { log } from '../../telemetry/log.js'
import { type AnswerRest, type AnswerSink, type OutgoingAnswer, ownedBufferOf, releaseAnswer } from '../../wire/answer.js'
import { isEncodedInput } from '../../wire/form.js'
import type { SurfaceReply, SurfaceRequest } from '../../wire/messages/surface_messages.js'
import { refusal, refusalWith } from '../answers/answers.js'
import type { Dispatcher } from '../dispatcher.js'
import type { Identities } from '../identities.js'
import type { Surface } from '../surface.js'
import { KnownClient } from '../surface.js'
import type { ThreadTicket } from '../thread_operations.js'
import type { DispatchRequest, Ticket } from '../ticket.js'
import { PortTurns, UnreadAnswers } from './port_bounds.js'
import { PortPushes } from './port_pushes.js'
import { SpareBuffers } from './spare_buffers.js'

/** Requests in progress of a surface in a thread of its own. Further ones are refused as busy. */
const SURFACE_PORT_REQUESTS_MAX = 4096
/** Bytes of the inputs of these requests. */
const SURFACE_PORT_BYTES_MAX = 256 * MIB
/**
 * Searches of a surface in a thread that are under way, for each read lane: a batch in the lane, and one
 * whose answers the thread takes. Further ones wait.
 */
export const SURFACE_PORT_SEARCHES_OF_LANE_MAX = 4
/** Bytes of buffers of answers that a thread has given back, kept for its next ones: 16 of 1 MB. */
const SURFACE_PORT_SPARE_BYTES_MAX = 16 * MIB
/** Bytes of a query string, beside a body: more than fits in the headers that uWebSockets.js accepts. */
const HEAD_BYTES_MAX = 64 * KIB

type Ask = Extract<SurfaceRequest, { kind: 'ask' }>

/** A request in progress: in the dispatcher, or between two parts of its answer. */
interface Pending {
  readonly bytes: number
  ticket: Ticket | ThreadTicket | null
  rest: AnswerRest | null
  /** Runs while the thread has a part and has not requested the next one. */
  stall: NodeJS.Timeout | null
  /** Runs while a search waits for its turn. */
  wait?: NodeJS.Timeout
}

export class SurfacePort {
  readonly #operations: ReadonlyMap<string, Operation>
  readonly #pending = new Map<number, Pending>()
  readonly #unread: UnreadAnswers
  readonly #turns: PortTurns
  readonly #spare = new SpareBuffers(SURFACE_PORT_SPARE_BYTES_MAX)
  readonly #pushes: PortPushes
  #bytes = 0

  constructor(
    readonly port: MessagePort,
    readonly dispatcher: Dispatcher,
    readonly surface: Surface,
    readonly config: Config,
    readonly identities: Identities,
    /** The thread runs the server's own code, which asks for admission before it reads a body. */
    readonly asksAdmission = false,
    /**
     * The thread sends bodies on as they are, as the event loops of HTTP do. They keep up with the lanes, and
     * bound what clients have not read themselves.
     */
    readonly sendsBodiesOn = false,
  ) {
    this.#unread = new UnreadAnswers(config.limits.SURFACE_PORT_UNREAD_BYTES_MAX)
    this.#turns = new PortTurns(config.readLanes * SURFACE_PORT_SEARCHES_OF_LANE_MAX, config.limits.SURFACE_PORT_SEARCHES_WAITING_MAX)
    this.#pushes = new PortPushes(
      (reply) => port.postMessage(reply),
      (id) => this.#forgetPushed(id),
    )
    this.#operations = new Map(offered(config).map((row) => [row.name, row]))
  }

  /** Number of requests in progress, and of answers between two parts. */
  get underWay(): number {
    return this.#pending.size
  }

  /** @returns whether the message was a request */
  take(message: SurfaceRequest): boolean {
    switch (message.kind) {
      case 'ask':
        this.#guarded(message.id, () => this.#ask(message))
        return true
      case 'identify':
        void this.identities
          .identify(message.asked)
          .then((identity) => this.port.postMessage({ kind: 'identity', id: message.id, identity } satisfies SurfaceReply))
        return true
      case 'authFailure':
        if (isAddress(message.ip)) this.identities.onFailure(message.ip)
        return true
      case 'more':
        this.#guarded(message.id, () => this.#more(message.id))
        return true
      case 'taken':
        for (const id of message.ids) this.#taken(id)
        for (const buffer of message.buffers) this.#spare.keep(buffer)
        return true
      case 'audit':
        // Another thread could report anything.
        if (this.asksAdmission) passAuditLines(message.lines)
        return true
      case 'attached':
        this.#guarded(message.id, () => this.#pushes.attached(message.id))
        return true
      case 'pushTaken':
        this.#pushes.taken(message.acks)
        return true
      case 'detached':
        this.#pushes.detach(message.id, message.reason)
        return true
      case 'cancel':
        this.#cancel(message.id)
        return true
      default:
        return false
    }
  }

  /** Called when the thread has ended: cancels all its requests. */
  close(): void {
    for (const id of [...this.#pending.keys()]) this.#cancel(id)
  }

  /** What a client sends must not end the process: a programming error becomes the answer of its request. */
  #guarded(id: number, run: () => void): void {
    try {
      run()
    } catch (error) {
      log.error(`surface ${this.surface.name}: a request failed`, { fault: error })
      this.#cancel(id)
      this.#reply(id, refusal('internal'))
    }
  }

  #taken(id: number): void {
    this.#unread.taken(id)
    if (!this.#pending.has(id)) this.#turns.end(id)
  }

  #more(id: number): void {
    const pending = this.#pending.get(id)
    if (pending === undefined) return void this.#reply(id, refusalWith('notFound', 'unknown answer'))
    if (pending.stall === null) throw new Error(`request ${id} of surface ${this.surface.name} has no part to go on from`)
    clearTimeout(pending.stall)
    pending.stall = null
    pending.rest?.more(this.#sinkOf(id))
  }

  #ask({ id, operation: name, input, principal, deadlineMs, address, agent }: Ask): void {
    if (this.#pending.has(id)) throw new Error(`request ${id} of surface ${this.surface.name} is under way already`)
    if (!isEncodedInput(input)) return void this.#reply(id, refusalWith('invalid', 'invalid input'))
    const bytes = input.body?.length ?? 0
    const pending: Pending = { bytes, ticket: null, rest: null, stall: null }
    this.#pending.set(id, pending)
    this.#bytes += bytes
    const operation = this.#operations.get(name)
    if (operation === undefined) return this.#answer(id, unknownOperation(name))
    if (input.head.length > HEAD_BYTES_MAX) return this.#answer(id, refusalWith('invalid', 'invalid head'))
    if (bytes > this.config.bodyBytesMax) return this.#answer(id, refusal('bodyTooLarge'))
    const isFull = this.#pending.size > SURFACE_PORT_REQUESTS_MAX || this.#bytes > SURFACE_PORT_BYTES_MAX
    if (isFull) return this.#answer(id, refusal('overloaded'))
    // Its callers cannot show the token.
    const refused = !this.asksAdmission && operation === metrics ? refusalOfMetrics(this.config, '') : null
    if (refused !== null) return this.#answer(id, refusal(refused))
    if (!isClientPrincipal(principal)) return this.#answer(id, refusal('forbidden'))
    if (deadlineMs !== undefined && !(Number.isFinite(deadlineMs) && deadlineMs >= 0))
      return this.#answer(id, refusalWith('invalid', 'invalid deadline'))
    if (address !== undefined && (typeof address !== 'string' || canonicalAddress(address) === undefined))
      return this.#answer(id, refusalWith('invalid', 'invalid address'))
    if (agent !== undefined && typeof agent !== 'string') return this.#answer(id, refusalWith('invalid', 'invalid user agent'))
    const { admission } = this.dispatcher
    const admitted = this.asksAdmission ? admission.admitAgain(operation, this.surface) : admission.admit(operation, this.surface)
    if (typeof admitted === 'string') return this.#answer(id, refusal(admitted))
    const request = {
      admitted,
      input,
      receivedAt: performance.now(),
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
      ...(address === undefined && agent === undefined
        ? {}
        : { client: new KnownClient(address ?? '', agent?.slice(0, AUDIT_USER_AGENT_CHARS_MAX) ?? '') }),
      sink: this.#sinkOf(id),
    }
    const known = this.#principalOf(principal)
    if (!(known instanceof Promise)) this.#submit(id, pending, { ...request, principal: known })
    else
      void known.then((found) => {
        if (this.#pending.get(id) !== pending) return
        if (typeof found === 'string') this.#answer(id, refusal(found))
        else this.#guarded(id, () => this.#submit(id, pending, { ...request, principal: found }))
      })
  }

  #submit(id: number, pending: Pending, request: DispatchRequest): void {
    if (this.sendsBodiesOn || request.admitted.operation.cost !== 'search') {
      pending.ticket = this.dispatcher.submit(request)
      return
    }
    // As long as in the queue of the lanes.
    const { deadlineMs = Infinity } = request
    const waitMsMax = Math.min(deadlineMs, this.config.searchQueueMsMax)
    pending.wait = setTimeout(() => this.#answer(id, refusal(waitMsMax === deadlineMs ? 'deadline' : 'overloaded')), waitMsMax)
    const waits = this.#turns.begin(id, () => {
      clearTimeout(pending.wait)
      this.#guarded(id, () => (pending.ticket = this.dispatcher.submit(request)))
    })
    if (!waits) this.#answer(id, refusal('overloaded'))
  }

  /** A thread that does not check credentials has guests only, while access control is on. */
  #principalOf(principal: Principal): Principal | Promise<Principal | ErrorCode> {
    return principal.kind === 'anonymous' && this.config.authEnabled ? GUEST : this.identities.withRights(principal)
  }

  #sinkOf(id: number): AnswerSink {
    return { answer: (answer) => this.#answer(id, answer) }
  }

  #answer(id: number, answer: OutgoingAnswer): void {
    const { rest, push } = answer
    const pending = this.#pending.get(id)
    if (pending === undefined) {
      rest?.end()
      push?.detach('clientGone')
      return releaseAnswer(answer)
    }
    if (push !== undefined) {
      // The request stays in progress until either side ends the answer.
      pending.ticket = null
      this.#pushes.open(id, push)
      return void this.#reply(id, answer)
    }
    // Parts come one by one, when the thread asks for them.
    const isPart = rest !== undefined || pending.rest !== null
    pending.ticket = null
    pending.rest = rest ?? null
    if (rest === undefined) this.#forget(id, pending)
    else pending.stall = setTimeout(() => this.#cancel(id), this.config.limits.PART_STALL_MS_MAX)
    const isTooMuch = !isPart && !this.sendsBodiesOn && this.#unread.refuses(answer.body.length)
    if (isTooMuch) releaseAnswer(answer)
    const isOnItsWay = this.#reply(id, isTooMuch ? refusal('overloaded') : answer)
    if (rest === undefined && !isOnItsWay) this.#turns.end(id)
  }

  /** @returns whether the thread will say that it has taken the answer */
  #reply(id: number, answer: OutgoingAnswer): boolean {
    const { code, contentType, facts, isCompressed, rest, page, push } = answer
    const body = this.#bodyOf(answer)
    const isPage = page !== undefined
    const reply: SurfaceReply = {
      kind: 'answer',
      id,
      code,
      contentType,
      facts,
      isCompressed,
      body,
      isPage,
      hasMore: rest !== undefined,
      ...(push === undefined ? {} : { pushed: { pulse: push.pulse, farewell: push.farewell } }),
    }
    const isLarge = this.#unread.add(id, body.length)
    this.port.postMessage(reply, [body.buffer])
    return isLarge
  }

  /** The body is valid during this call only, unless its buffer is owned. */
  #bodyOf(answer: OutgoingAnswer): Uint8Array<ArrayBuffer> {
    const { body } = answer
    if (typeof body === 'string') return new TextEncoder().encode(body)
    return ownedBufferOf(answer) === null ? this.#spare.copyOf(body) : (body as Uint8Array<ArrayBuffer>)
  }

  #cancel(id: number): void {
    const pending = this.#pending.get(id)
    if (pending === undefined) return
    this.#forget(id, pending)
    this.#turns.end(id)
    if (pending.ticket !== null) this.dispatcher.abandon(pending.ticket)
    pending.rest?.end()
    this.#pushes.detach(id, 'clientGone')
  }

  #forgetPushed(id: number): void {
    const pending = this.#pending.get(id)
    if (pending !== undefined) this.#forget(id, pending)
  }

  #forget(id: number, { bytes, stall, wait }: Pending): void {
    clearTimeout(wait)
    if (stall !== null) clearTimeout(stall)
    this.#pending.delete(id)
    this.#bytes -= bytes
  }
}

/** @param value as the thread sent it; empty: the address is not known */
function isAddress(value: unknown): value is string {
  return typeof value === 'string' && (value === '' || canonicalAddress(value) !== undefined)
}

/** @param name as the client sent it, so it may be no text */
function unknownOperation(name: unknown): OutgoingAnswer {
  return refusalWith('unknownOperation', typeof name === 'string' ? `unknown operation ${name.slice(0, 100)}` : 'unknown operation')
}
