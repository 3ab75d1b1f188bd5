/**
 * Answers as they cross back to the loop: several finished answers in one FlatBuffers message (envelope.fbs), large bodies beside it, in blocks of their own or transferred. Encoded in the lane,
 * decoded on the loop. A decoded body is a view of the envelope, valid until its blocks are released; that of a `forward`, `io`, `store`, `fetch`, `room` or `embed` is a buffer of its own.
 */
import { Builder, ByteBuffer } from 'flatbuffers'
import { INLINE_ANSWER_BYTES_MAX } from '../limits.js'
import { AnswerBatch } from './envelope/answer_batch.js'
import { AnswerFrame } from './envelope/answer_frame.js'
import { bytesOf, carry, transferable, type Carried, type Envelope } from './envelope.js'
import type { EnvelopeBlocks } from './envelope_blocks.js'

/**
 * `answer`: for the client. `forward`: the body is a prepared command for the write lane. `dropped`: not run, nobody waits for it. `io`: the body is a message for the front end (io.ts).
 * `store`: the body is a command with what has to be in an object store before it is committed; `fetch`: the request with the objects that it needs (object_codec.ts).
 * `room`: the answer for when the documents of the write have room among those that wait for vectors (embedding_codec.ts). `embed`: the request with the texts that it lacks vectors of (text_vectors_codec.ts).
 * `switch`: the answer for when every lane serves the generation that is the value of its one header.
 */
export type FrameKind = 'answer' | 'forward' | 'dropped' | 'io' | 'switch' | 'store' | 'fetch' | 'room' | 'embed'

const KINDS: readonly FrameKind[] = ['answer', 'forward', 'dropped', 'io', 'switch', 'store', 'fetch', 'room', 'embed']

export interface LaneAnswer {
  readonly slot: number
  readonly generation: number
  readonly kind: FrameKind
  readonly status: number
  /** Null: JSON. */
  readonly contentType: string | null
  /** name, value, name, value ... */
  readonly headers: readonly string[]
  readonly gzip: boolean
  /** Not 0: a part of an answer, and more can be asked for under this number. */
  readonly stream: number
  readonly body: Uint8Array
  /** In a lane: the body is a buffer that nothing else uses any more, and need not be copied. */
  readonly isOwned?: boolean
}

/** Kinds whose body is a buffer of its own. */
const TAKEN: ReadonlySet<FrameKind> = new Set<FrameKind>(['forward', 'io', 'store', 'fetch', 'room', 'embed'])

const NO_BYTES = new Uint8Array(0)
const NO_HEADERS: readonly string[] = []

/** Collects the answers of a lane as they are made, and packs those that leave together. One per lane. */
export class AnswerEncoder {
  // Reused; it grows to the largest envelope: ANSWERS_COALESCED_MAX answers of INLINE_ANSWER_BYTES_MAX.
  readonly #builder = new Builder(64 * 1024)
  #frames: number[] = []
  #attachments: Carried[] = []

  /** @param blocks that the loop shares; null: none */
  constructor(readonly blocks: EnvelopeBlocks | null) {}

  get count(): number {
    return this.#frames.length
  }

  /** Bytes of the frames so far, without attachments. */
  get bytes(): number {
    return this.#builder.offset()
  }

  /** Copies the answer's body, unless it is owned; what is not for the client is taken. */
  add(answer: LaneAnswer): void {
    const builder = this.#builder
    let bodyAt = 0
    let attachment = -1
    if (TAKEN.has(answer.kind) || answer.isOwned === true) attachment = this.#attachments.push(transferable(answer.body)) - 1
    else if (answer.body.length > INLINE_ANSWER_BYTES_MAX) attachment = this.#attachments.push(carry(answer.body, this.blocks)) - 1
    // Not the generated createBodyVector, which goes byte by byte.
    else if (answer.body.length > 0) bodyAt = builder.createByteVector(answer.body)
    const contentType = answer.contentType === null ? 0 : builder.createString(answer.contentType)
    let headers = 0
    if (answer.headers.length > 0) {
      headers = AnswerFrame.createHeadersVector(
        builder,
        answer.headers.map((text) => builder.createString(text)),
      )
    }
    AnswerFrame.startAnswerFrame(builder)
    AnswerFrame.addSlot(builder, answer.slot)
    AnswerFrame.addGeneration(builder, answer.generation)
    AnswerFrame.addKind(builder, KINDS.indexOf(answer.kind))
    AnswerFrame.addStatus(builder, answer.status)
    AnswerFrame.addGzip(builder, answer.gzip)
    if (contentType !== 0) AnswerFrame.addContentType(builder, contentType)
    if (headers !== 0) AnswerFrame.addHeaders(builder, headers)
    if (bodyAt !== 0) AnswerFrame.addBody(builder, bodyAt)
    AnswerFrame.addAttachment(builder, attachment)
    if (answer.stream !== 0) AnswerFrame.addStream(builder, answer.stream)
    this.#frames.push(AnswerFrame.endAnswerFrame(builder))
  }

  /** The envelope of what was added; the encoder is empty afterwards. */
  finish(): Envelope {
    const builder = this.#builder
    builder.finish(AnswerBatch.createAnswerBatch(builder, AnswerBatch.createAnswersVector(builder, this.#frames)))
    const envelope = { frames: carry(builder.asUint8Array(), this.blocks), attachments: this.#attachments }
    builder.clear()
    this.#frames = []
    this.#attachments = []
    return envelope
  }
}

export function decodeAnswers(envelope: Envelope, blocks: EnvelopeBlocks | null): LaneAnswer[] {
  const batch = AnswerBatch.getRootAsAnswerBatch(new ByteBuffer(bytesOf(envelope.frames, blocks)))
  const count = batch.answersLength()
  const answers = new Array<LaneAnswer>(count)
  const frame = new AnswerFrame()
  for (let i = 0; i < count; i++) {
    batch.answers(i, frame)
    const headerCount = frame.headersLength()
    let headers = NO_HEADERS
    if (headerCount > 0) {
      const texts: string[] = []
      for (let h = 0; h < headerCount; h++) texts.push(frame.headers(h))
      headers = texts
    }
    const attachment = frame.attachment()
    answers[i] = {
      slot: frame.slot(),
      generation: frame.generation(),
      kind: KINDS[frame.kind()] ?? 'dropped',
      status: frame.status(),
      contentType: frame.contentType(),
      headers,
      gzip: frame.gzip(),
      stream: frame.stream(),
      body: attachment >= 0 ? bytesOf(envelope.attachments[attachment]!, blocks) : (frame.bodyArray() ?? NO_BYTES),
    }
  }
  return answers
}
