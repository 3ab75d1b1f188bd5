/**
 * The core on an event loop other than that of the dispatcher. It checks admission by the shared words,
 * answers what the loop can read itself, and hands everything else to the dispatcher by the port. One object
 * a thread.
 */
import { Admission } from '../../dispatch/admission.js'
import type { Core } from '../../dispatch/core.js'
import type { LoopReads } from '../../dispatch/loop_reads.js'
import type { DispatchRequest } from '../../dispatch/ticket.js'
import { failPoint } from '../../fail_point.js'
import { isInternal, type AnyOperation } from '../../operations/operation.js'
import { isAuditWanted } from '../../telemetry/audit.js'
import type { Answer, AnswerSink, OutgoingAnswer } from '../../wire/answer.js'
import type { ControlBlock } from '../../wire/control_block.js'
import type { CoreAnswer, CorePort } from './core_port.js'

/** A request that the dispatcher has. */
interface Asked {
  readonly id: number
}

export class RemoteCore implements Core<Asked> {
  readonly admission: Admission
  readonly #port: CorePort
  readonly #reads: LoopReads
  /** The first answer of each operation that answers with a page: surfaces recognise it by its identity. */
  readonly #pages = new Map<AnyOperation, Answer>()

  /** @param givesBuffersBack whether sinks of the thread have read a body when they return */
  constructor(
    port: CorePort,
    control: ControlBlock,
    reads: LoopReads,
    readonly givesBuffersBack: boolean,
  ) {
    this.admission = new Admission(control)
    this.#port = port
    this.#reads = reads
  }

  submit(request: DispatchRequest): Asked | null {
    const read = this.#reads.answer(request)
    if (read !== null) {
      request.sink.answer(read)
      return null
    }
    const { admitted, input, principal, deadlineMs, client, sink } = request
    const { operation } = admitted
    // Audit events have both, and the throttle of logins needs the address. A thread's operation may be any.
    const isAudited = !isInternal(operation) && (operation.audit !== null || operation.cost === 'thread')
    const address = isAudited ? (client?.clientAddress() ?? '') : ''
    const agent = isAudited && isAuditWanted() ? (client?.userAgent() ?? '') : ''
    const optional = {
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
      ...(address === '' ? {} : { address }),
      ...(agent === '' ? {} : { agent }),
    }
    const id = this.#port.ask({ operation: operation.name, input, principal, ...optional }, (answer) => this.#give(operation, answer, sink))
    return { id }
  }

  abandon({ id }: Asked): void {
    this.#port.cancel(id)
  }

  #give(operation: AnyOperation, answer: CoreAnswer, sink: AnswerSink): void {
    failPoint('loop.answer')
    sink.answer(this.#outgoing(operation, answer))
    if (this.givesBuffersBack && !answer.isPage) this.#port.read(answer)
  }

  #outgoing(operation: AnyOperation, answer: CoreAnswer): OutgoingAnswer {
    const { id, code, contentType, facts, isCompressed, body, isPage, hasMore } = answer
    // A page is kept, and a body whose buffer goes back is only read.
    const isOwned = !this.givesBuffersBack && !isPage && body.buffer instanceof ArrayBuffer
    const owned = isOwned ? body.buffer : undefined
    const given = { code, contentType, facts, isCompressed, body, owned }
    if (isPage) return { ...given, page: this.#pageOf(operation, answer) }
    if (!hasMore) return given
    const more = (sink: AnswerSink): void => this.#port.more(id, (next) => this.#give(operation, next, sink))
    return { ...given, rest: { more, end: () => this.#port.cancel(id) } }
  }

  #pageOf(operation: AnyOperation, { contentType, body }: CoreAnswer): Answer {
    let page = this.#pages.get(operation)
    if (page === undefined) {
      page = { body, isPage: true, ...(contentType === null ? {} : { contentType }) }
      this.#pages.set(operation, page)
    }
    return page
  }
}
