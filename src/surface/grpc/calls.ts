/**
 * The calls of the service: checks of rate and credentials, then the operation, then the answer as a message.
 * Each call is bound to its client: its deadline and its cancellation reach the lane. One object a thread.
 */
import { status, type sendUnaryData } from '@grpc/grpc-js'
import type { Authenticator } from '../../access/authenticator.js'
import type { Checked } from '../../access/checks.js'
import { clientKey } from '../../access/client_key.js'
import { emitIncident, rateIncident } from '../../access/incidents.js'
import type { Principal } from '../../access/principal.js'
import type { RateLimit } from '../../access/rate_limit.js'
import { newFaultId } from '../../fault_id.js'
import { ServiceError } from '../../errors.js'
import { GRPC_CALLS_MAX } from '../../limits/grpc.js'
import { get } from '../../operations/documents.js'
import { laneIndexOf } from '../../operations/index.js'
import type { Operation } from '../../operations/operation.js'
import { log, logs, logsAccess, slowMs } from '../../telemetry/log.js'
import type { Telemetry } from '../../telemetry/registry.js'
import type { CoreAnswer, CoreClient } from '../thread/core_client.js'
import { messageOf } from './answer_message.js'
import { GrpcCaller } from './caller.js'
import { sendChunks } from './export_stream.js'
import type { HeldBytes } from '../thread/held_bytes.js'
import type { Method, Message } from './proto.js'
import type { StreamCall, UnaryCall } from './server_calls.js'
import { inputOf } from './request_input.js'
import type { ResidentGet } from './resident_get.js'
import { RPC_RULES } from './rpcs.js'
import { refusalOf, UNIMPLEMENTED, type Refusal } from './status.js'

type Call = UnaryCall | StreamCall

export interface CallsParts {
  readonly authenticator: Authenticator
  readonly rateLimit: RateLimit | null
  readonly telemetry: Telemetry
  readonly core: CoreClient
  readonly resident: ResidentGet
  /** Of the answers that clients have not read. */
  readonly unread: HeldBytes<string>
}

/** A call that the server has accepted. */
interface Accepted {
  readonly caller: GrpcCaller
  readonly principal: Principal
}

export class GrpcCalls {
  readonly #parts: CallsParts
  #underWay = 0

  constructor(parts: CallsParts) {
    this.#parts = parts
  }

  /** @param operation null: this version of the server has none */
  unary(method: Method, operation: Operation | null, call: UnaryCall, done: sendUnaryData<Message>): void {
    const begin = performance.now()
    const accepted = this.#accept(method, operation, call)
    const document = operation === get ? this.#read(method, call, accepted) : null
    if (document !== null) {
      const refusal = this.#refusalOf(call, document.length)
      if (refusal === null) done(null, messageOf(method.response, parsedFrom(document) as Message))
      else done(refusal)
      this.#note(method, operation, call, refusal?.code ?? status.OK, performance.now() - begin)
      return
    }
    const answer = async (given: Accepted): Promise<Outcome> => await this.#answer(method, operation!, call, given)
    void this.#run(method, operation, call, { begin, accepted, answer }).then((outcome) => {
      if ('refusal' in outcome) done(outcome.refusal)
      else done(null, outcome.message)
    })
  }

  stream(method: Method, operation: Operation | null, call: StreamCall): void {
    const begin = performance.now()
    const accepted = this.#accept(method, operation, call)
    const answer = async (given: Accepted): Promise<Outcome> => {
      const first = await this.#ask(method, operation!, call, given)
      if ('refusal' in first) return first
      await sendChunks(call, this.#parts.core, first)
      return { message: {} }
    }
    void this.#run(method, operation, call, { begin, accepted, answer }).then((outcome) => {
      if ('refusal' in outcome) call.emit('error', outcome.refusal)
      else call.end()
    })
  }

  /** Whether the caller may see what every authenticated user may. */
  async mayLook(call: ConstructorParameters<typeof GrpcCaller>[0], path: string): Promise<Refusal | null> {
    const caller = new GrpcCaller(call, path)
    const limited = this.#limitOf(caller, 'grpc-stream')
    if (limited !== null) return limited
    const checked = await this.#parts.authenticator.checkUser(caller)
    return typeof checked === 'string' ? refusalOf(checked) : null
  }

  async #run(method: Method, operation: Operation | null, call: Call, { begin, accepted, answer }: Running): Promise<Outcome> {
    this.#underWay += 1
    let outcome: Outcome
    try {
      const given = await accepted
      outcome = 'refusal' in given ? given : await answer(given)
    } catch (error) {
      outcome = { refusal: call.cancelled ? CANCELLED : faultOf(error) }
    }
    this.#underWay -= 1
    this.#note(method, operation, call, 'refusal' in outcome ? outcome.refusal.code : status.OK, performance.now() - begin)
    return outcome
  }

  /** Must be called in the turn of the event loop in which the call came. Never rejects. */
  #accept(method: Method, operation: Operation | null, call: Call): MaybeAccepted | Promise<MaybeAccepted> {
    const caller = new GrpcCaller(call, call.getPath())
    const limited = this.#limitOf(caller, method.isStream ? 'grpc-stream' : 'grpc')
    if (limited !== null) return { refusal: limited }
    if (this.#underWay >= GRPC_CALLS_MAX) return { refusal: refusalOf('overloaded') }
    const { authenticator } = this.#parts
    const checked = operation === null ? authenticator.checkUser(caller) : authenticator.check(operation, caller)
    return checked instanceof Promise
      ? checked.then((found) => acceptedAs(operation, caller, found))
      : acceptedAs(operation, caller, checked)
  }

  /** @returns the document that is read at once; null: the call takes the usual way */
  #read(method: Method, call: UnaryCall, accepted: MaybeAccepted | Promise<MaybeAccepted>): Uint8Array | null {
    if (accepted instanceof Promise || 'refusal' in accepted) return null
    try {
      return this.#parts.resident.read(inputOf(method.request, call.request), accepted.principal)
    } catch {
      // The usual way finds the same, and says it.
      return null
    }
  }

  #limitOf(caller: GrpcCaller, transport: 'grpc' | 'grpc-stream'): Refusal | null {
    const { rateLimit, authenticator, telemetry } = this.#parts
    if (rateLimit === null) return null
    const name = rateLimit.by === 'user' ? authenticator.known(caller).name : ''
    const client = clientKey(name, () => caller.addressKey())
    const { isAllowed, isEvent, retryAfterSeconds } = rateLimit.take(client)
    if (isAllowed) return null
    telemetry.add('requests_rate_limited', 1)
    if (isEvent) emitIncident(rateIncident(name, caller.clientAddress(), client, transport), caller.userAgent())
    return refusalOf('rateLimited', undefined, ['retryAfterSeconds', String(retryAfterSeconds)])
  }

  async #answer(method: Method, operation: Operation, call: UnaryCall, accepted: Accepted): Promise<Outcome> {
    const answer = await this.#ask(method, operation, call, accepted)
    if ('refusal' in answer) return answer
    const refusal = call.cancelled ? CANCELLED : this.#refusalOf(call, answer.body.length)
    if (refusal !== null) {
      this.#parts.core.read(answer)
      return { refusal }
    }
    const parsed = parsedFrom(answer.body) as Message
    this.#parts.core.read(answer)
    const rules = RPC_RULES[method.name]
    return { message: messageOf(method.response, rules?.answer?.(parsed, answer.facts) ?? parsed) }
  }

  /** Counts an answer until its call has ended. @returns why it cannot be sent, or null */
  #refusalOf(call: UnaryCall, bytes: number): Refusal | null {
    // Nothing is sent to one that has ended, and it does not say so again.
    if (call.cancelled) return null
    const { unread } = this.#parts
    const held = unread.take(call.getPeer(), bytes)
    if (held === null) return refusalOf('overloaded')
    // Emitted at the end of every call, when its answer has been read or cannot be.
    call.once('cancelled', () => unread.give(held, bytes))
    return null
  }

  async #ask(
    method: Method,
    operation: Operation,
    call: Call,
    { caller, principal }: Accepted,
  ): Promise<CoreAnswer | { readonly refusal: Refusal }> {
    if (call.cancelled) return { refusal: CANCELLED }
    const rules = RPC_RULES[method.name]
    const read = inputOf(method.request, call.request, rules?.always)
    const input = rules?.input?.(read) ?? read
    const stop = new AbortController()
    call.on('cancelled', () => stop.abort())
    const options = { principal, signal: stop.signal, ...deadlineOf(call), ...clientOf(operation, caller) }
    const answer = await this.#parts.core.ask(operation.name, input, options)
    if (answer.code === null) return answer
    return { refusal: refusalOf(answer.code, answer.body, answer.facts, rules?.missing) }
  }

  #note(method: Method, operation: Operation | null, call: Call, code: status, ms: number): void {
    this.#parts.telemetry.countRequest(operation === null ? -1 : laneIndexOf(operation), HTTP_STATUSES[code] ?? 500, ms / 1000)
    const isSlow = slowMs() > 0 && ms > slowMs()
    if (!isSlow && !logsAccess() && !(code === status.INTERNAL && logs('debug'))) return
    const fields = { method: 'gRPC', path: `/${method.name}`, status: status[code], ms: Math.round(ms * 10) / 10, peer: call.getPeer() }
    if (isSlow) log.warn('slow request', fields)
    else log.info('request', fields)
  }
}

type Outcome = { readonly message: Message } | { readonly refusal: Refusal }
type MaybeAccepted = Accepted | { readonly refusal: Refusal }

interface Running {
  readonly begin: number
  readonly accepted: MaybeAccepted | Promise<MaybeAccepted>
  readonly answer: (accepted: Accepted) => Promise<Outcome>
}

function acceptedAs(operation: Operation | null, caller: GrpcCaller, checked: Checked): MaybeAccepted {
  if (typeof checked === 'string') return { refusal: refusalOf(checked) }
  return operation === null ? { refusal: UNIMPLEMENTED } : { caller, principal: checked }
}

function parsedFrom(json: Uint8Array): unknown {
  return JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.length).toString())
}

const CANCELLED: Refusal = { code: status.CANCELLED, details: 'cancelled' }

/** By which the counters of requests are labelled. */
const HTTP_STATUSES: Readonly<Partial<Record<status, number>>> = {
  [status.OK]: 200, [status.INVALID_ARGUMENT]: 400, [status.FAILED_PRECONDITION]: 400, [status.UNAUTHENTICATED]: 401,
  [status.PERMISSION_DENIED]: 403, [status.NOT_FOUND]: 404, [status.ALREADY_EXISTS]: 409, [status.RESOURCE_EXHAUSTED]: 429,
  [status.CANCELLED]: 499, [status.UNIMPLEMENTED]: 501, [status.UNAVAILABLE]: 503, [status.DEADLINE_EXCEEDED]: 503,
} // prettier-ignore

/** What reading a request has thrown: a refusal, or a fault of the server. */
function faultOf(error: unknown): Refusal {
  if (error instanceof ServiceError) return { ...refusalOf(error.code), details: error.message }
  log.error('gRPC', { fault: error, requestId: newFaultId() })
  return refusalOf('internal')
}

function deadlineOf(call: Call): { readonly deadlineMs?: number } {
  const deadline = call.getDeadline()
  const at = typeof deadline === 'number' ? deadline : deadline.getTime()
  return Number.isFinite(at) ? { deadlineMs: Math.max(0, at - Date.now()) } : {}
}

/** Audit events have both. */
function clientOf({ audit }: Operation, caller: GrpcCaller): { readonly address?: string; readonly agent?: string } {
  if (audit === null) return {}
  const address = caller.clientAddress()
  return { ...(address === '' ? {} : { address }), agent: caller.userAgent() }
}
