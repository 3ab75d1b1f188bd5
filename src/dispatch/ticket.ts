/**
 * One accepted request on its way through the lanes: from the queue of its class to the frame that ends it.
 * Front-end thread only. A ticket holds its slot until the lane has sent a frame for it (or the lane is
 * lost), even when the client has long gone: only then may the slot be given away.
 */
import type { Principal } from '../access/principal.js'
import { laneIndexOf } from '../operations/index.js'
import type { AnyOperation } from '../operations/operation.js'
import type { AnswerSink, OutgoingAnswer } from '../wire/answer.js'
import type { EncodedInput } from '../wire/form.js'
import type { QueueClass } from '../operations/queue_class.js'
import type { Admitted } from './admission.js'
import type { Surface } from './surface.js'

/** What a surface asks for. The body of the input is given away. */
export interface DispatchRequest {
  readonly admitted: Admitted
  readonly input: EncodedInput
  readonly principal: Principal
  /** Milliseconds, monotonic (`performance.now()` of the front end). */
  readonly acceptedAt: number
  /** Milliseconds from then on. Default, and at most: the row's. */
  readonly deadlineMs?: number
  readonly sink: AnswerSink
}

export interface Ticket {
  readonly operation: AnyOperation
  readonly operationIndex: number
  readonly input: Omit<EncodedInput, 'body'>
  readonly principal: Principal
  readonly surface: Surface
  readonly acceptedAt: number
  readonly deadlineAt: number
  /** Bytes that count against BODIES_IN_FLIGHT_BYTES_MAX until the ticket ends. */
  bodyBytes: number
  slot: number
  generation: number
  queue: QueueClass
  /** Not 0: the next part of that answer is wanted, or nobody wants it any more. */
  readonly stream: number
  /** When it entered the queue it is in now; infinite while it is suspended (suspensions.ts). */
  queuedAt: number
  /** The request body, later the prepared command; null once handed to a lane. */
  body: Uint8Array | null
  /** Prepare and commit in one go on the write lane. */
  direct: boolean
  /**
   * The batch with which a lane has it, 0 while it is queued. What a lane does with it is known only from a
   * frame.
   */
  batch: number
  /**
   * Receives what the write lane says of the command that the front end has made of the request (io.ts);
   * null: the answer goes to the sink.
   */
  onCommitted: ((answer: OutgoingAnswer | null) => void) | null
  /** Null once answered or abandoned. */
  sink: AnswerSink | null
}

export function ticketOf(request: DispatchRequest, queue: QueueClass): Ticket {
  const { admitted, input, acceptedAt } = request
  const { operation, surface } = admitted
  return {
    operation,
    operationIndex: laneIndexOf(operation),
    input: { form: input.form, head: input.head, params: input.params, mayCompress: input.mayCompress },
    principal: request.principal,
    surface,
    acceptedAt,
    deadlineAt: acceptedAt + Math.min(operation.deadlineMs, request.deadlineMs ?? Infinity),
    bodyBytes: input.body?.length ?? 0,
    slot: -1,
    generation: 0,
    queue,
    stream: 0,
    queuedAt: performance.now(),
    body: input.body,
    direct: false,
    batch: 0,
    onCommitted: null,
    sink: request.sink,
  }
}
