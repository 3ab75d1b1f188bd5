/**
 * The calls of the service: checks of rate and credentials, then the operation, then the answer as a message.
 * Each call is bound to its client: its deadline and its cancellation reach the lane. One object a thread.
 */
import { type sendUnaryData, status } from '@grpc/grpc-js'
import type { Authenticator } from '../../access/authenticator.js'
import type { Checked } from '../../access/checks.js'
import { emitIncident, rateIncident } from '../../access/checks.js'
import { clientKey } from '../../access/client_key.js'
import type { Principal } from '../../access/principal.js'
import type { RateLimit } from '../../access/rate_limit.js'
import { newFaultId } from '../../base/fault_id.js'
import type { Admitted } from '../../dispatch/admission.js'
import { awaitAnswer } from '../../dispatch/awaited_answers.js'
import { type Asking, FieldsRequest } from '../../dispatch/fields_request.js'
import type { Surface } from '../../dispatch/surface.js'
import { ServiceError } from '../../errors.js'
import { laneIndexOf } from '../../operations/index.js'
import type { Operation } from '../../operations/row/operation.js'
import { log, logs, logsAccess, slowMs } from '../../telemetry/log.js'
import type { Telemetry } from '../../telemetry/registry.js'
import { type AnswerSink, type OutgoingAnswer, textOf } from '../../wire/answer.js'
import type { HeldBytes } from '../thread/held_bytes.js'
import type { PortCore } from '../thread/port_core.js'
import { messageOf } from './answer_message.js'
import { GrpcCaller } from './caller.js'
import { sendChunks } from './export_stream.js'
import type { Message, Method } from './proto.js'
import { type Input, inputOf } from './request_input.js'
import { RPC_RULES } from './rpcs.js'
import type { StreamCall, UnaryCall } from './server_calls.js'
import { type Refusal, refusalOf, UNIMPLEMENTED } from './status.js'

/** Calls under way, over all connections. */
const GRPC_CALLS_MAX = 4_096

type Call = UnaryCall | StreamCall

interface CallsParts {
  readonly authenticator: Authenticator
  readonly rateLimit: RateLimit | null
  readonly telemetry: Telemetry
  readonly core: PortCore
  readonly surface: Surface
  /** Of the answers that clients have not read. */
  readonly unread: HeldBytes<string>
}

/** A call that the server has accepted. */
interface Accepted {
  readonly operation: Operation
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
    this.#underWay += 1
    const end = (outcome: Outcome): void => {
      this.#end(method, operation, call, outcome, begin)
      if ('refusal' in outcome) done(outcome.refusal)
      else done(null, outcome.message)
    }
    const run = new UnaryRun(this.#parts, method, call, end)
    if (accepted instanceof Promise) void accepted.then((given) => run.begin(given))
    else run.begin(accepted)
  }

  stream(method: Method, operation: Operation | null, call: StreamCall): void {
    const begin = performance.now()
    const accepted = this.#accept(method, operation, call)
    this.#underWay += 1
    void this.#stream(method, call, accepted).then((outcome) => {
      this.#end(method, operation, call, outcome, begin)
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

  /** Never rejects. */
  async #stream(method: Method, call: StreamCall, accepted: MaybeAccepted | Promise<MaybeAccepted>): Promise<Outcome> {
    try {
      const given = await accepted
      if ('refusal' in given) return given
      const { core } = this.#parts
      const wanted = wantedOf(this.#parts, method, call, given)
      if ('refusal' in wanted) return wanted
      const stop = new AbortController()
      call.on('cancelled', () => stop.abort())
      const first = await awaitAnswer(core, (sink) => new FieldsRequest(wanted.admitted, wanted.input, wanted, sink), stop.signal)
      if (first.code !== null) return refused(method, first)
      await sendChunks(call, first)
      return { message: {} }
    } catch (error) {
      return { refusal: call.cancelled ? CANCELLED : faultOf(error) }
    }
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

  #end(method: Method, operation: Operation | null, call: Call, outcome: Outcome, begin: number): void {
    this.#underWay -= 1
    this.#note(method, operation, call, 'refusal' in outcome ? outcome.refusal.code : status.OK, performance.now() - begin)
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

/** A call whose answer is one message. It ends exactly once. */
class UnaryRun implements AnswerSink {
  #isEnded = false

  constructor(
    readonly parts: CallsParts,
    readonly method: Method,
    readonly call: UnaryCall,
    readonly done: (outcome: Outcome) => void,
  ) {}

  begin(accepted: MaybeAccepted): void {
    const { parts, method, call } = this
    if ('refusal' in accepted) return this.#end(accepted)
    try {
      const wanted = wantedOf(parts, method, call, accepted)
      if ('refusal' in wanted) return this.#end(wanted)
      const handle = parts.core.submit(new FieldsRequest(wanted.admitted, wanted.input, wanted, this))
      if (handle === null) return
      // Emitted at the end of every call.
      call.once('cancelled', () => {
        if (this.#isEnded) return
        parts.core.abandon(handle)
        this.#end({ refusal: CANCELLED })
      })
    } catch (error) {
      this.#end({ refusal: faultOf(error) })
    }
  }

  answer(answer: OutgoingAnswer): void {
    try {
      this.#end(this.#outcomeOf(answer))
    } catch (error) {
      this.#end({ refusal: faultOf(error) })
    }
    this.parts.core.giveBack(answer)
  }

  #outcomeOf(answer: OutgoingAnswer): Outcome {
    const { method, call, parts } = this
    if (answer.code !== null) return refused(method, answer)
    if (call.cancelled) return { refusal: CANCELLED }
    const bytes = answer.body.length
    const held = parts.unread.take(call.getPeer(), bytes)
    if (held === null) return { refusal: refusalOf('overloaded') }
    // When its answer has been read or cannot be.
    call.once('cancelled', () => parts.unread.give(held, bytes))
    const parsed = JSON.parse(textOf(answer)) as Message
    return { message: messageOf(method.response, RPC_RULES[method.name]?.answer?.(parsed, answer.facts) ?? parsed) }
  }

  #end(outcome: Outcome): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.done(outcome)
  }
}

/** What a call asks of the core. */
interface Wanted extends Asking {
  readonly admitted: Admitted
  readonly input: Input
}

/** @throws ServiceError for a message that can't be read */
function wantedOf(
  { core, surface }: CallsParts,
  method: Method,
  call: Call,
  { caller, principal, operation }: Accepted,
): Wanted | { readonly refusal: Refusal } {
  if (call.cancelled) return { refusal: CANCELLED }
  const rules = RPC_RULES[method.name]
  const read = inputOf(method.request, call.request, rules?.always)
  const admitted = core.admission.admit(operation, surface)
  if (typeof admitted === 'string') return { refusal: refusalOf(admitted) }
  return { admitted, input: rules?.input?.(read) ?? read, principal, client: caller, deadlineMs: deadlineOf(call) }
}

function refused({ name }: Method, { code, body, facts }: OutgoingAnswer): { readonly refusal: Refusal } {
  return { refusal: refusalOf(code ?? 'internal', body, facts, RPC_RULES[name]?.missing) }
}

function acceptedAs(operation: Operation | null, caller: GrpcCaller, checked: Checked): MaybeAccepted {
  if (typeof checked === 'string') return { refusal: refusalOf(checked) }
  return operation === null ? { refusal: UNIMPLEMENTED } : { caller, principal: checked, operation }
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

function deadlineOf(call: Call): number | undefined {
  const deadline = call.getDeadline()
  const at = typeof deadline === 'number' ? deadline : deadline.getTime()
  return Number.isFinite(at) ? Math.max(0, at - Date.now()) : undefined
}
