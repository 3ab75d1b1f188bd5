/**
 * The core on every thread but that of the dispatcher. It checks admission by the shared words, answers what
 * the thread can read itself, and hands everything else to the dispatcher by the port, whose other side is
 * src/dispatch/port/surface_port.ts. One object a thread.
 */
import type { AskedIdentity, Identity } from '../../access/principal.js'
import { failPoint } from '../../base/fail_point.js'
import type { Admission } from '../../dispatch/admission.js'
import type { Core } from '../../dispatch/core.js'
import type { LoopReads } from '../../dispatch/loop_reads.js'
import type { DispatchRequest } from '../../dispatch/ticket.js'
import type { ErrorCode } from '../../errors.js'
import { PORT_TRANSFER_BYTES_MIN } from '../../limits/lanes.js'
import { type AnyOperation, isInternal } from '../../operations/row/operation.js'
import { isAuditWanted } from '../../telemetry/audit.js'
import { type Answer, type AnswerSink, type OutgoingAnswer, ownedBufferOf } from '../../wire/answer.js'
import type { CoreReply } from '../../wire/messages/surface_messages.js'
import type { ThreadPort } from './thread_port.js'
import { ThreadPushes } from './thread_pushes.js'

type PortAnswer = Extract<CoreReply, { kind: 'answer' }>

/** A request that the dispatcher has. */
interface Asked {
  readonly id: number
  readonly operation: AnyOperation
  /** Of the part that is awaited. */
  sink: AnswerSink
}

export class PortCore implements Core {
  readonly #port: ThreadPort
  readonly #reads: LoopReads
  readonly #waiting = new Map<number, Asked>()
  readonly #identifying = new Map<number, (identity: Identity | null | ErrorCode) => void>()
  /** Large answers of this turn of the event loop. */
  readonly #taken: number[] = []
  /** Buffers of answers that are not needed any more. */
  readonly #read: ArrayBuffer[] = []
  /** The first answer of each operation that answers with a page: surfaces recognise it by its identity. */
  readonly #pages = new Map<AnyOperation, Answer>()
  readonly #pushes: ThreadPushes
  #lastId = 0

  constructor(
    port: ThreadPort,
    readonly admission: Admission,
    reads: LoopReads,
  ) {
    this.#port = port
    this.#reads = reads
    this.#pushes = new ThreadPushes((message) => port.post(message))
    port.onReply = (reply) => {
      if (reply.kind === 'answer') return this.#settle(reply)
      if (reply.kind === 'pushed') return this.#pushes.take(reply)
      if (reply.kind === 'pushEnd') return this.#pushes.end(reply)
      this.#identifying.get(reply.id)?.(reply.identity)
      this.#identifying.delete(reply.id)
    }
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
    const needsAddress = isAudited || (!isInternal(operation) && operation.needsAddress === true)
    const address = (needsAddress && client?.clientAddress()) || undefined
    const agent = (isAudited && isAuditWanted() && client?.userAgent()) || undefined
    const asked = { id: ++this.#lastId, operation, sink }
    this.#waiting.set(asked.id, asked)
    const message = { kind: 'ask', id: asked.id, operation: operation.name, input, principal, deadlineMs, address, agent } as const
    this.#port.post(message, transferredOf(input.body))
    return asked
  }

  abandon({ id }: Pick<Asked, 'id'>): void {
    this.#waiting.delete(id)
    this.#port.post({ kind: 'cancel', id })
  }

  identify(asked: AskedIdentity): Promise<Identity | null | ErrorCode> {
    const id = ++this.#lastId
    return new Promise((resolve) => {
      this.#identifying.set(id, resolve)
      this.#port.post({ kind: 'identify', id, asked })
    })
  }

  /** The body of an answer is not needed any more: its memory is used for others. */
  giveBack(answer: OutgoingAnswer): void {
    const buffer = ownedBufferOf(answer)
    if (buffer === null || answer.body.length < PORT_TRANSFER_BYTES_MIN) return
    this.#report()
    this.#read.push(buffer)
  }

  #settle(answer: PortAnswer): void {
    const { id, body, hasMore, pushed } = answer
    if (body.length >= PORT_TRANSFER_BYTES_MIN) {
      this.#report()
      this.#taken.push(id)
    }
    const asked = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (asked !== undefined) {
      failPoint('loop.answer')
      asked.sink.answer(this.#outgoing(asked, answer))
    } else if (hasMore || pushed !== undefined) this.abandon(answer)
  }

  #outgoing(asked: Asked, { code, contentType, facts, isCompressed, body, isPage, hasMore, pushed }: PortAnswer): OutgoingAnswer {
    const owned = !isPage && body.buffer instanceof ArrayBuffer ? body.buffer : undefined
    const given = { code, contentType, facts, isCompressed, body, owned }
    if (isPage) return { ...given, page: this.#pageOf(asked.operation, given) }
    if (pushed !== undefined) return { ...given, push: this.#pushes.bodyOf(asked.id, pushed) }
    if (!hasMore) return given
    const more = (sink: AnswerSink): void => {
      asked.sink = sink
      this.#waiting.set(asked.id, asked)
      this.#port.post({ kind: 'more', id: asked.id })
    }
    return { ...given, rest: { more, end: () => this.abandon(asked) } }
  }

  #pageOf(operation: AnyOperation, { contentType, body }: OutgoingAnswer): Answer {
    let page = this.#pages.get(operation)
    if (page === undefined) {
      page = { body, isPage: true, ...(contentType === null ? {} : { contentType }) }
      this.#pages.set(operation, page)
    }
    return page
  }

  /**
   * Reported in a later turn of the event loop: what comes for it is then handled after what the sockets
   * have.
   */
  #report(): void {
    if (this.#taken.length + this.#read.length === 0) setImmediate(() => this.#sendTaken())
  }

  #sendTaken(): void {
    const buffers = this.#read.splice(0)
    this.#port.post({ kind: 'taken', ids: this.#taken.splice(0), buffers }, buffers)
  }
}

/** The memory of a long body that has its buffer for itself. Other bodies are copied. */
function transferredOf(body: Uint8Array | null): readonly ArrayBuffer[] {
  if (body === null || body.length < PORT_TRANSFER_BYTES_MIN || !(body.buffer instanceof ArrayBuffer)) return []
  return body.length === body.buffer.byteLength ? [body.buffer] : []
}
