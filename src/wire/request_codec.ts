/**
 * Requests as they cross to a lane: one FlatBuffers batch (envelope.fbs) and beside it the bodies that are too large to copy into it, transferred. Encoded on the loop,
 * decoded in the lane. Decoded bodies are views of the envelope, valid until the lane has settled the batch.
 */
import { Builder, ByteBuffer } from 'flatbuffers'
import { INLINE_BODY_BYTES_MAX } from '../limits.js'
import { bytesOf, carry, transferable, type Envelope } from './envelope.js'
import type { EnvelopeBlocks } from './envelope_blocks.js'
import { RequestBatch } from './envelope/request_batch.js'
import { RequestFrame } from './envelope/request_frame.js'
import type { Ticket } from '../dispatch/ticket.js'

const FLAG_GZIP = 1
const FLAG_COMMAND = 2
const FLAG_DIRECT = 4

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
  /** Not 0: the next part of that answer is wanted. */
  readonly stream: number
  readonly body: Uint8Array
}

const NO_BYTES = new Uint8Array(0)
// Reused: a batch is encoded in one go and copied out. It grows to the largest batch: 256 commands x INLINE_BODY_BYTES_MAX at most.
const builder = new Builder(64 * 1024)

/** @param epochOffset what turns the front end's monotonic milliseconds into milliseconds since the epoch. */
export function encodeRequests(tickets: readonly Ticket[], epochOffset: number, blocks: EnvelopeBlocks | null): Envelope {
  builder.clear()
  const attachments: Uint8Array[] = []
  const frames = new Array<number>(tickets.length)
  for (let i = 0; i < tickets.length; i++) frames[i] = encodeRequest(tickets[i]!, epochOffset, attachments)
  const requests = RequestBatch.createRequestsVector(builder, frames)
  builder.finish(RequestBatch.createRequestBatch(builder, requests))
  return { frames: carry(builder.asUint8Array(), blocks), attachments }
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
  RequestFrame.addStream(builder, ticket.stream)
  return RequestFrame.endRequestFrame(builder)
}

export function decodeRequests(envelope: Envelope, blocks: EnvelopeBlocks | null): LaneRequest[] {
  const batch = RequestBatch.getRootAsRequestBatch(new ByteBuffer(bytesOf(envelope.frames, blocks)))
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
      stream: frame.stream(),
      body: attachment >= 0 ? bytesOf(envelope.attachments[attachment]!, blocks) : (frame.bodyArray() ?? NO_BYTES),
    }
  }
  return requests
}
