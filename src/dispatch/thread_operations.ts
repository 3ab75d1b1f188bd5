/**
 * Operations of cost `thread`: a thread of a surface runs them, and submits what it needs of the lanes as
 * requests of their own. They read no store, so what they touch is the server as a whole. They take no slot
 * and wait in no queue. Their number and the bytes of their bodies are bounded here, and so is their time.
 * Each is answered exactly once, unless its client has disconnected. Front-end thread only.
 */
import { authorize, collectionsOf } from '../access/authorize.js'
import type { ErrorCode } from '../errors.js'
import { MIB } from '../limits/units.js'
import type { AnyOperation } from '../operations/row/operation.js'
import type { Telemetry } from '../telemetry/registry.js'
import type { AnswerSink, OutgoingAnswer } from '../wire/answer.js'
import { refusal, refusalOf } from './answers/answers.js'
import type { DispatchRequest } from './ticket.js'

/** Requests that a thread of a surface has, or that wait for it. At 100 us each, 1 024 wait 100 ms. */
const THREAD_REQUESTS_MAX = 1_024
/** Bytes of the bodies of these requests: two of the largest, or the usual ones of all. */
const THREAD_BODIES_BYTES_MAX = 64 * MIB

/** Brings requests to a thread. */
export interface ThreadRunner {
  /** @param request ownership of its body passes to the runner */
  run(ticket: ThreadTicket, request: DispatchRequest): void
  /** The answer is not wanted any more. */
  stop(ticket: ThreadTicket): void
}

/** A request that a thread has. */
export class ThreadTicket {
  readonly #forget: (ticket: ThreadTicket) => void
  readonly #runner: ThreadRunner
  readonly #late: NodeJS.Timeout
  #sink: AnswerSink | null

  constructor(
    readonly bytes: number,
    { runner, sink, limitMs }: { readonly runner: ThreadRunner; readonly sink: AnswerSink; readonly limitMs: number },
    forget: (ticket: ThreadTicket) => void,
  ) {
    this.#runner = runner
    this.#sink = sink
    this.#forget = forget
    this.#late = setTimeout(() => this.refuse('deadline'), limitMs)
  }

  /** Has no effect on a ticket that is answered or abandoned. */
  answer(answer: OutgoingAnswer): void {
    const sink = this.#end()
    sink?.answer(answer)
  }

  /** Answers for the thread, which is told to stop. */
  refuse(code: ErrorCode): void {
    const sink = this.#end()
    if (sink === null) return
    this.#runner.stop(this)
    sink.answer(refusal(code))
  }

  abandon(): void {
    if (this.#end() !== null) this.#runner.stop(this)
  }

  #end(): AnswerSink | null {
    const sink = this.#sink
    if (sink === null) return null
    this.#sink = null
    clearTimeout(this.#late)
    this.#forget(this)
    return sink
  }
}

export class ThreadOperations {
  readonly #runners = new Map<AnyOperation, ThreadRunner>()
  readonly #open = new Set<ThreadTicket>()
  #bytes = 0

  constructor(readonly telemetry: Telemetry) {}

  /** @param runner of the thread that runs the operation */
  attach(operation: AnyOperation, runner: ThreadRunner): void {
    this.#runners.set(operation, runner)
  }

  /** @returns null: the request is already answered */
  submit(request: DispatchRequest): ThreadTicket | null {
    const { admitted, input, principal, sink } = request
    const { operation } = admitted
    try {
      authorize(
        operation,
        principal,
        collectionsOf(operation, {}, () => undefined),
        'loop',
      )
    } catch (error) {
      sink.answer(refusalOf(error))
      return null
    }
    const runner = this.#runners.get(operation)
    const bytes = input.body?.length ?? 0
    const isFull = this.#open.size >= THREAD_REQUESTS_MAX || this.#bytes + bytes > THREAD_BODIES_BYTES_MAX
    if (isFull) this.telemetry.add('refused_busy', 1)
    // Without a runner, the surface of the operation is off.
    if (isFull || runner === undefined) {
      sink.answer(refusal(isFull ? 'overloaded' : 'unknownOperation'))
      return null
    }
    const limitMs = Math.min(operation.deadlineMs, request.deadlineMs ?? Infinity)
    const ticket = new ThreadTicket(bytes, { runner, sink, limitMs }, (ended) => this.#forget(ended))
    this.#open.add(ticket)
    this.#bytes += bytes
    runner.run(ticket, request)
    return ticket
  }

  /** The client has disconnected: nothing is answered. */
  abandon(ticket: ThreadTicket): void {
    this.telemetry.add('aborted_requests', 1)
    ticket.abandon()
  }

  /** For a process that must not continue. What a request has written is not known. */
  failEverything(): void {
    for (const ticket of [...this.#open]) ticket.refuse('outcomeUnknown')
  }

  #forget(ticket: ThreadTicket): void {
    this.#open.delete(ticket)
    this.#bytes -= ticket.bytes
  }
}
