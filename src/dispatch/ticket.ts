/**
 * One accepted request on its way through the lanes, from the queue of its class to the frame that ends it.
 * Front-end thread only. A ticket holds its slot until the lane has sent a frame for it (or the lane is
 * lost), even if the client has disconnected long ago. Only then may the slot be reused.
 */
import type { Principal } from '../access/principal.js'
import { laneIndexOf } from '../operations/index.js'
import type { AnyOperation } from '../operations/row/operation.js'
import type { QueueClass } from '../operations/row/queue_class.js'
import type { AnswerSink, OutgoingAnswer } from '../wire/answer.js'
import type { EncodedInput } from '../wire/form.js'
import type { Admitted } from './admission.js'
import { type PendingEvent, pendingEvent } from './audit_trail.js'
import type { RequestClient, Surface } from './surface.js'

/** A request of a surface. Ownership of the input's body passes to the dispatcher. */
export interface DispatchRequest {
  readonly admitted: Admitted
  /** Read once, if at all. */
  readonly input: EncodedInput
  /** The input as its surface has it, if not encoded: what a thread answers itself needs no encoding. */
  readonly fields?: object | undefined
  readonly principal: Principal
  /** Absent for requests of the server itself. */
  readonly client?: RequestClient | undefined
  /** When the whole of it had come: milliseconds, monotonic (`performance.now()` of the front end). */
  readonly receivedAt: number
  /** Milliseconds from `receivedAt`, finite. Default and maximum: the operation's deadline. */
  readonly deadlineMs?: number | undefined
  readonly sink: AnswerSink
}

export interface Ticket {
  readonly operation: AnyOperation
  readonly operationIndex: number
  readonly input: Omit<EncodedInput, 'body'>
  readonly principal: Principal
  readonly client: RequestClient | undefined
  readonly surface: Surface
  readonly receivedAt: number
  readonly deadlineAt: number
  /** Milliseconds that the request may take, and each further part of its answer. */
  readonly limitMs: number
  /** Bytes that count against BODIES_IN_FLIGHT_BYTES_MAX until the ticket ends. */
  bodyBytes: number
  slot: number
  generation: number
  queue: QueueClass
  /** Not 0: the ticket requests the next part of that answer, or reports that it is not wanted. */
  readonly stream: number
  /** The ticket counts as an open answer of its surface (answers/answer_parts.ts). */
  holdsAnswer: boolean
  /** When the ticket entered its present queue; infinite while it is suspended (suspensions.ts). */
  queuedAt: number
  /** The request body, later the prepared command; null once it is handed to a lane. */
  body: Uint8Array | null
  /** The write lane both prepares and commits the request. */
  direct: boolean
  /**
   * Id of the batch in a lane that contains the ticket; 0 while queued. The result comes with a frame only.
   */
  batch: number
  /**
   * Receives the write lane's answer to a command that the front end has made from the request (io.ts). Null:
   * the answer goes to the sink.
   */
  onCommitted: ((answer: OutgoingAnswer | null) => void) | null
  /** Null once the ticket is answered or abandoned. */
  sink: AnswerSink | null
  /** The audit event to emit when the outcome is known. Null: none, or emitted already. */
  audit: PendingEvent | null
}

/** @param sink in place of that of the request */
export function ticketOf(request: DispatchRequest, queue: QueueClass, sink: AnswerSink): Ticket {
  const { admitted, input, receivedAt } = request
  const { operation, surface } = admitted
  const limitMs = Math.min(operation.deadlineMs, request.deadlineMs ?? Infinity)
  return {
    operation,
    operationIndex: laneIndexOf(operation),
    input: { form: input.form, head: input.head, params: input.params, mayCompress: input.mayCompress },
    principal: request.principal,
    client: request.client,
    surface,
    receivedAt,
    deadlineAt: receivedAt + limitMs,
    limitMs,
    bodyBytes: input.body?.length ?? 0,
    slot: -1,
    generation: 0,
    queue,
    stream: 0,
    holdsAnswer: false,
    queuedAt: performance.now(),
    body: input.body,
    direct: false,
    batch: 0,
    onCommitted: null,
    sink,
    audit: pendingEvent(operation, request.principal, input.params, request.client),
  }
}
