/**
 * One accepted request on its way through the lanes: from the queue of its class to the frame that ends it. Front-end thread only. A ticket holds its slot until the
 * lane has sent a frame for it (or the lane is lost), even when the client has long gone: only then may the slot be given away.
 */
import type { Operation } from '../operations/operation.js'
import type { QueueClass } from '../wire/queue_class.js'
import type { PushedBody } from './body_streams.js'

/** What goes back to the client, whoever made it. */
export interface OutgoingAnswer {
  readonly status: number
  /** Null: JSON. */
  readonly contentType: string | null
  /** name, value, name, value ... */
  readonly headers: readonly string[]
  /** The body is gzip already. */
  readonly gzip: boolean
  /** Valid until `answer` returns, unless the sink copies it. */
  readonly body: Uint8Array | string
  /** Absent: the body is all. */
  readonly rest?: AnswerRest
  /** The body is pushed, and `body` is empty. */
  readonly push?: PushedBody
}

/** The rest of an answer that comes in parts. One part is asked for at a time. */
export interface AnswerRest {
  /** The next part goes to `sink`, or a refusal, after which nothing comes any more. */
  more(sink: AnswerSink): void
  /** The client has gone: nobody is answered any more. */
  end(): void
}

/** Where an answer goes. Called at most once. */
export interface AnswerSink {
  answer(answer: OutgoingAnswer): void
}

/** What a surface asks for. `body` is given away. */
export interface DispatchRequest {
  readonly operation: Operation
  readonly operationIndex: number
  readonly query: string
  /** Path parameters: name, value, name, value ... */
  readonly params: readonly string[]
  readonly acceptsGzip: boolean
  readonly acceptedAt: number
  readonly body: Uint8Array | null
  readonly sink: AnswerSink
}

export interface Ticket {
  readonly operation: Operation
  readonly operationIndex: number
  readonly query: string
  readonly params: readonly string[]
  readonly acceptsGzip: boolean
  /** Milliseconds, monotonic (`performance.now()` of the front end). */
  readonly acceptedAt: number
  readonly deadlineAt: number
  /** Bytes that count against BODIES_IN_FLIGHT_BYTES_MAX until the ticket ends. */
  bodyBytes: number
  slot: number
  generation: number
  queue: QueueClass
  /** Not 0: the next part of that answer is wanted, or nobody wants it any more. */
  readonly stream: number
  /** When it entered the queue it is in now; infinite while it is in none because the front end does something for it (detours.ts). */
  queuedAt: number
  /** The request body, later the prepared command; null once handed to a lane. */
  body: Uint8Array | null
  /** Prepare and commit in one go on the write lane. */
  direct: boolean
  /** The batch with which a lane has it, 0 while it is queued. What a lane does with it is known only from a frame. */
  batch: number
  /** Told what the write lane said of the command that the front end has made of the request (io.ts); null: the answer is the sink's. */
  onCommitted: ((answer: OutgoingAnswer | null) => void) | null
  /** Null once answered or abandoned. */
  sink: AnswerSink | null
}

export function ticketOf(request: DispatchRequest, queue: QueueClass): Ticket {
  return {
    operation: request.operation,
    operationIndex: request.operationIndex,
    query: request.query,
    params: request.params,
    acceptsGzip: request.acceptsGzip,
    acceptedAt: request.acceptedAt,
    deadlineAt: request.acceptedAt + request.operation.deadlineMs,
    bodyBytes: request.body?.length ?? 0,
    slot: -1,
    generation: 0,
    queue,
    stream: 0,
    queuedAt: performance.now(),
    body: request.body,
    direct: false,
    batch: 0,
    onCommitted: null,
    sink: request.sink,
  }
}
