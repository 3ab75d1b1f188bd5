/**
 * Requests as they cross to a lane: one FlatBuffers batch (envelope.fbs), and beside it the bodies that are
 * too large to copy into it, transferred. Encoded on the event loop, decoded in the lane. Decoded bodies are
 * views of the envelope, valid until the lane has settled the batch.
 */
import assert from 'node:assert/strict'
import { Builder, ByteBuffer } from 'flatbuffers'
import { type Principal, PRINCIPAL_KINDS } from '../access/principal.js'
import { KIB } from '../limits/units.js'
import type { QueueClass } from '../operations/row/queue_class.js'
import { bytesOf, carry, type Envelope, transferable } from './envelope.js'
import { RequestBatch } from './envelope/request_batch.js'
import { RequestFrame } from './envelope/request_frame.js'
import type { EnvelopeBlocks } from './envelope_blocks.js'
import { type EncodedInput, FORMS } from './form.js'

/**
 * Bodies up to this size are copied into a batch; the buffer of a larger one is transferred. A transfer costs
 * about as much as copying 8 KB.
 */
export const INLINE_BODY_BYTES_MAX = 8 * KIB

const FLAG_COMPRESS = 1
const FLAG_COMMAND = 2
const FLAG_DIRECT = 4

/** Names of the input for the audit event. */
export interface AuditedNames {
  readonly collections: readonly string[]
  /** The document; empty if the input names none. */
  readonly key: string
}

const NOT_AUDITED: AuditedNames = { collections: [], key: '' }

export interface LaneRequest {
  readonly slot: number
  readonly generation: number
  readonly operationIndex: number
  /** The encoding of the body, `head` and `params`, unless the body is a command. */
  readonly form: EncodedInput['form']
  readonly mayCompress: boolean
  readonly principal: Principal
  /** The body is a prepared command (write lane). */
  readonly isCommand: boolean
  /** Prepare and commit in one step (write lane). */
  readonly isDirect: boolean
  /** Milliseconds since the epoch, with fractions. */
  readonly queuedAt: number
  readonly head: string
  readonly params: readonly string[]
  /** Not 0: the next part of that answer is requested. */
  readonly stream: number
  readonly body: Uint8Array
  /** What its input names, set once it is read, if its audit event needs it. */
  audited: AuditedNames
}

/** A request to be sent to a lane. */
interface OutgoingRequest {
  readonly slot: number
  readonly generation: number
  readonly operationIndex: number
  readonly input: Omit<EncodedInput, 'body'>
  /** Body of the input, or a prepared command. */
  readonly body: Uint8Array | null
  readonly queue: QueueClass
  /** Prepare and commit in one step. */
  readonly direct: boolean
  readonly principal: Principal
  /** Milliseconds, monotonic, of the front end. */
  readonly queuedAt: number
  readonly stream: number
}

const NO_BYTES = new Uint8Array(0)
// Reused: a batch is encoded at once and copied out. The builder grows to the largest batch: 256 commands x
// INLINE_BODY_BYTES_MAX at most.
const builder = new Builder(64 * 1024)

/** @param epochOffset converts the front end's monotonic milliseconds into milliseconds since the epoch */
export function encodeRequests(requests: readonly OutgoingRequest[], epochOffset: number, blocks: EnvelopeBlocks | null): Envelope {
  builder.clear()
  const attachments: Uint8Array[] = []
  const frames = new Array<number>(requests.length)
  for (let i = 0; i < requests.length; i++) frames[i] = encodeRequest(requests[i]!, epochOffset, attachments)
  builder.finish(RequestBatch.createRequestBatch(builder, RequestBatch.createRequestsVector(builder, frames)))
  return { frames: carry(builder.asUint8Array(), blocks), attachments }
}

function encodeRequest(request: OutgoingRequest, epochOffset: number, attachments: Uint8Array[]): number {
  const body = request.body ?? NO_BYTES
  let bodyAt = 0
  let attachment = -1
  if (body.length > INLINE_BODY_BYTES_MAX) {
    attachment = attachments.length
    attachments.push(transferable(body))
  } else if (body.length > 0) {
    // Not the generated createBodyVector, which copies byte by byte.
    bodyAt = builder.createByteVector(body)
  }
  const { input, principal } = request
  const head = input.head === '' ? 0 : builder.createString(input.head)
  let params = 0
  if (input.params.length > 0) {
    params = RequestFrame.createParamsVector(
      builder,
      input.params.map((text) => builder.createString(text)),
    )
  }
  const name = principal.name === '' ? 0 : builder.createString(principal.name)
  RequestFrame.startRequestFrame(builder)
  RequestFrame.addSlot(builder, request.slot)
  RequestFrame.addGeneration(builder, request.generation)
  RequestFrame.addOperation(builder, request.operationIndex)
  const flags =
    (input.mayCompress ? FLAG_COMPRESS : 0) |
    (request.queue === 'commit' && !request.direct ? FLAG_COMMAND : 0) |
    (request.direct ? FLAG_DIRECT : 0)
  RequestFrame.addFlags(builder, flags)
  RequestFrame.addQueuedAt(builder, epochOffset + request.queuedAt)
  RequestFrame.addForm(builder, FORMS.indexOf(input.form))
  if (head !== 0) RequestFrame.addHead(builder, head)
  if (params !== 0) RequestFrame.addParams(builder, params)
  if (bodyAt !== 0) RequestFrame.addBody(builder, bodyAt)
  RequestFrame.addAttachment(builder, attachment)
  RequestFrame.addStream(builder, request.stream)
  RequestFrame.addPrincipal(builder, PRINCIPAL_KINDS.indexOf(principal.kind))
  if (name !== 0) RequestFrame.addPrincipalName(builder, name)
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
      form: FORMS[frame.form()] ?? 'json',
      mayCompress: (flags & FLAG_COMPRESS) !== 0,
      principal: principalOf(frame.principal(), frame.principalName()),
      isCommand: (flags & FLAG_COMMAND) !== 0,
      isDirect: (flags & FLAG_DIRECT) !== 0,
      queuedAt: frame.queuedAt(),
      head: frame.head() ?? '',
      params,
      stream: frame.stream(),
      audited: NOT_AUDITED,
      body: attachment >= 0 ? bytesOf(envelope.attachments[attachment]!, blocks) : (frame.bodyArray() ?? NO_BYTES),
    }
  }
  return requests
}

function principalOf(kind: number, name: string | null): Principal {
  const known = PRINCIPAL_KINDS[kind]
  assert(known !== undefined, `no kind ${kind} of principals: both sides load the same list`)
  return { kind: known, name: name ?? '' }
}
