/**
 * Requests as they cross to a lane: one FlatBuffers batch (envelope.fbs) and beside it the bodies that are too large to copy into it, transferred. Encoded on the loop,
 * decoded in the lane. Decoded bodies are views of the message: the lane owns it.
 */
import { Builder, ByteBuffer } from 'flatbuffers'
import { INLINE_BODY_BYTES_MAX } from '../limits.js'
import { RequestBatch } from './envelope/request_batch.js'
import { RequestFrame } from './envelope/request_frame.js'
import type { Ticket } from './ticket.js'

const FLAG_GZIP = 1
const FLAG_COMMAND = 2
const FLAG_DIRECT = 4

/** The message of one batch, in either direction. */
export interface Envelope {
  readonly frames: Uint8Array
  readonly attachments: readonly Uint8Array[]
}

export interface LaneRequest {
  readonly slot: number
  readonly generation: number
  readonly operationIndex: number
  readonly acceptsGzip: boolean
  /** The body is a prepared command (write lane). */
  readonly isCommand: boolean
  /** Prepare and commit in one go (write lane). */
  readonly isDirect: boolean
  /** Milliseconds since the epoch, with fractions. */
  readonly queuedAt: number
  readonly query: string
  readonly params: readonly string[]
  readonly body: Uint8Array
}

const NO_BYTES = new Uint8Array(0)
// Reused: a batch is encoded in one go and copied out. It grows to the largest batch: 256 commands x INLINE_BODY_BYTES_MAX at most.
const builder = new Builder(64 * 1024)

/** @param epochOffset what turns the front end's monotonic milliseconds into milliseconds since the epoch. */
export function encodeRequests(tickets: readonly Ticket[], epochOffset: number): Envelope {
  builder.clear()
  const attachments: Uint8Array[] = []
  const frames = new Array<number>(tickets.length)
  for (let i = 0; i < tickets.length; i++) frames[i] = encodeRequest(tickets[i]!, epochOffset, attachments)
  const requests = RequestBatch.createRequestsVector(builder, frames)
  builder.finish(RequestBatch.createRequestBatch(builder, requests))
  return { frames: builder.asUint8Array().slice(), attachments }
}

function encodeRequest(ticket: Ticket, epochOffset: number, attachments: Uint8Array[]): number {
  const body = ticket.body ?? NO_BYTES
  let bodyAt = 0
  let attachment = -1
  if (body.length > INLINE_BODY_BYTES_MAX) {
    attachment = attachments.length
    attachments.push(transferable(body))
  } else if (body.length > 0) {
    // Not the generated createBodyVector, which goes byte by byte.
    bodyAt = builder.createByteVector(body)
  }
  const query = ticket.query === '' ? 0 : builder.createString(ticket.query)
  let params = 0
  if (ticket.params.length > 0) {
    params = RequestFrame.createParamsVector(
      builder,
      ticket.params.map((text) => builder.createString(text)),
    )
  }
  RequestFrame.startRequestFrame(builder)
  RequestFrame.addSlot(builder, ticket.slot)
  RequestFrame.addGeneration(builder, ticket.generation)
  RequestFrame.addOperation(builder, ticket.operationIndex)
  const flags =
    (ticket.acceptsGzip ? FLAG_GZIP : 0) |
    (ticket.queue === 'commit' && !ticket.direct ? FLAG_COMMAND : 0) |
    (ticket.direct ? FLAG_DIRECT : 0)
  RequestFrame.addFlags(builder, flags)
  RequestFrame.addQueuedAt(builder, epochOffset + ticket.queuedAt)
  if (query !== 0) RequestFrame.addQuery(builder, query)
  if (params !== 0) RequestFrame.addParams(builder, params)
  if (bodyAt !== 0) RequestFrame.addBody(builder, bodyAt)
  RequestFrame.addAttachment(builder, attachment)
  return RequestFrame.endRequestFrame(builder)
}

/**
 * A view whose buffer may be given to another thread: itself when it begins its buffer and is most of it, else a copy. (A small view of a shared pool or of a
 * message must not take its neighbours along.)
 */
export function transferable(bytes: Uint8Array): Uint8Array {
  const buffer = bytes.buffer
  const ownsBuffer = buffer instanceof ArrayBuffer && bytes.byteOffset === 0 && bytes.length * 2 >= buffer.byteLength
  return ownsBuffer ? new Uint8Array(buffer, 0, bytes.length) : new Uint8Array(bytes)
}

/** What the message needs in its transfer list. */
export function transferListOf(envelope: Envelope): ArrayBuffer[] {
  const list = [envelope.frames.buffer as ArrayBuffer]
  for (const attachment of envelope.attachments) list.push(attachment.buffer as ArrayBuffer)
  return list
}

export function decodeRequests(envelope: Envelope): LaneRequest[] {
  const batch = RequestBatch.getRootAsRequestBatch(new ByteBuffer(envelope.frames))
  const count = batch.requestsLength()
  const requests = new Array<LaneRequest>(count)
  const frame = new RequestFrame()
  for (let i = 0; i < count; i++) {
    batch.requests(i, frame)
    const flags = frame.flags()
    const params: string[] = []
    for (let p = 0; p < frame.paramsLength(); p++) params.push(frame.params(p))
    const attachment = frame.attachment()
    requests[i] = {
      slot: frame.slot(),
      generation: frame.generation(),
      operationIndex: frame.operation(),
      acceptsGzip: (flags & FLAG_GZIP) !== 0,
      isCommand: (flags & FLAG_COMMAND) !== 0,
      isDirect: (flags & FLAG_DIRECT) !== 0,
      queuedAt: frame.queuedAt(),
      query: frame.query() ?? '',
      params,
      body: attachment >= 0 ? envelope.attachments[attachment]! : (frame.bodyArray() ?? NO_BYTES),
    }
  }
  return requests
}
