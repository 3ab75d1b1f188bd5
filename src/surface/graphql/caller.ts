/**
 * One request as its fields see it: who asks, and the operations of the core on its behalf. A read that the
 * thread can answer itself is answered at once; everything else is a promise. Only the thread of GraphQL has
 * callers.
 */
import type { Principal } from '../../access/principal.js'
import type { Admitted } from '../../dispatch/admission.js'
import { FieldsRequest } from '../../dispatch/fields_request.js'
import type { Surface } from '../../dispatch/surface.js'
import { KnownClient } from '../../dispatch/surface.js'
import type { ErrorCode } from '../../errors.js'
import { MIB } from '../../limits/units.js'
import { get } from '../../operations/documents/documents.js'
import type { AnyOperation, Operation } from '../../operations/row/operation.js'
import { emitAuditEvent, isAuditWanted } from '../../telemetry/audit.js'
import { factOf, type Facts, type OutgoingAnswer, textOf } from '../../wire/answer.js'
import type { PortCore } from '../thread/port_core.js'
import { readDocument } from './raw_text.js'
import { ANSWERS_TEXT, fieldError } from './texts.js'

/** Bytes of the answers of the core that one request puts together: those of ten long searches. */
const GRAPHQL_ANSWERS_BYTES_MAX = 64 * MIB

const GRAPHQL_PATH = '/graphql'

export type Maybe<Value> = Value | Promise<Value>

/** The JSON value of an answer, and the number of all matches if it has one. */
export interface Answered {
  readonly value: unknown
  readonly total: number | undefined
}

export interface CallerParts {
  readonly core: PortCore
  readonly surface: Surface
  /** Whether access control is on. */
  readonly isClosed: boolean
  readonly held: AnswersHeld
}

/** Bytes of answers of the core that requests of the thread have put together. One object a thread. */
interface AnswersHeld {
  bytes: number
  readonly bytesMax: number
}

interface Asking {
  readonly principal: Principal
  readonly address: string
  readonly agent: string
}

export class Caller {
  readonly #parts: CallerParts
  readonly #asking: Asking
  /** What the core has of this request: cancels it. */
  readonly #open = new Set<() => void>()
  #answerBytes = 0
  #isStopped = false
  #isMissed = false

  constructor(parts: CallerParts, asking: Asking) {
    this.#parts = parts
    this.#asking = asking
  }

  /** Whether the caller has shown valid credentials, where they are needed. */
  get isKnown(): boolean {
    return !this.#parts.isClosed || this.#asking.principal.kind === 'user'
  }

  /** A field was refused for want of credentials. An event, once, if there were none: wrong ones have one. */
  missCredentials(): void {
    const { principal, address, agent } = this.#asking
    if (this.#isMissed || principal.shown === 'refused' || !isAuditWanted()) return
    this.#isMissed = true
    emitAuditEvent({ action: 'auth.missing', actor: '', resource: GRAPHQL_PATH, result: 'fail', ip: address, userAgent: agent })
  }

  /** Whether it may do everything. */
  get isAdmin(): boolean {
    return !this.#parts.isClosed || this.#asking.principal.rights?.isAdmin === true
  }

  /**
   * Runs an operation with these fields as its input.
   * @throws GraphQLError the refusal, at once or by the promise
   */
  ask(operation: Operation, input: object): Maybe<Answered> {
    const { principal } = this.#asking
    if (operation.needsLogin === true && principal.shown === 'key') throw fieldError('loginRequired')
    const admitted = this.#admit(operation)
    if (typeof admitted === 'string') throw fieldError(admitted)
    if (this.#isStopped) throw fieldError('deadline')
    return this.#submit(admitted, input)
  }

  /** Its answer has left, or is not wanted. */
  end(): void {
    this.#parts.held.bytes -= this.#answerBytes
    this.#answerBytes = 0
  }

  /** The client has disconnected. */
  stop(): void {
    this.end()
    this.#isStopped = true
    for (const cancel of this.#open) cancel()
    this.#open.clear()
  }

  /** The request itself was accepted before a shutdown, so what it asks for is finished. */
  #admit(operation: Operation): Admitted | ErrorCode {
    const { core, surface } = this.#parts
    const admitted = core.admission.admit(operation, surface)
    return admitted === 'shuttingDown' ? core.admission.admitAgain(operation, surface) : admitted
  }

  #submit(admitted: Admitted, input: object): Maybe<Answered> {
    const { core } = this.#parts
    const { principal, address, agent } = this.#asking
    const taken: { outcome?: Answered | Error; settle?: (outcome: Answered | Error) => void } = {}
    const cancel = (): void => (handle === null ? undefined : core.abandon(handle))
    const answer = (given: OutgoingAnswer): void => {
      this.#open.delete(cancel)
      taken.outcome = this.#outcomeOf(admitted.operation, given)
      core.giveBack(given)
      taken.settle?.(taken.outcome)
    }
    const handle = core.submit(new FieldsRequest(admitted, input, { principal, client: new KnownClient(address, agent) }, { answer }))
    const { outcome } = taken
    if (outcome instanceof Error) throw outcome
    if (outcome !== undefined) return outcome
    this.#open.add(cancel)
    return new Promise((resolve, reject) => {
      taken.settle = (settled) => (settled instanceof Error ? reject(settled) : resolve(settled))
    })
  }

  #outcomeOf(operation: AnyOperation, answer: OutgoingAnswer): Answered | Error {
    try {
      return this.#read(operation, answer)
    } catch (error) {
      return error as Error
    }
  }

  /** @throws GraphQLError */
  #read(operation: AnyOperation, answer: OutgoingAnswer): Answered {
    const { code, body, facts, rest } = answer
    if (rest !== undefined) {
      rest.end()
      throw new Error('an answer in parts has no form in GraphQL')
    }
    // What comes after the end of the request is thrown away.
    if (this.#isStopped) throw fieldError('deadline')
    const { held } = this.#parts
    if (held.bytes + body.length > held.bytesMax) throw fieldError('overloaded')
    held.bytes += body.length
    this.#answerBytes += body.length
    if (this.#answerBytes > GRAPHQL_ANSWERS_BYTES_MAX) throw fieldError('invalid', ANSWERS_TEXT)
    const raw = operation === get && code === null && typeof body !== 'string' ? readDocument(body) : null
    if (raw !== null) return { value: raw, total: undefined }
    const value: unknown = JSON.parse(textOf(answer))
    if (code === null) return { value, total: totalOf(facts) }
    throw fieldError(code, (value as { readonly error?: string }).error)
  }
}

function totalOf(facts: Facts): number | undefined {
  const total = factOf(facts, 'total')
  return total === undefined ? undefined : Number(total)
}
