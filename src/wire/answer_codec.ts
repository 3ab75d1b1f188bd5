/**
 * Answers as they cross back to the event loop: several finished answers in one FlatBuffers message
 * (envelope.fbs), large bodies beside it, in blocks of their own or transferred. Encoded in the lane, decoded
 * on the event loop. A decoded body is a view of the envelope, valid until its blocks are released. The body
 * of a `forward` or `message` is a buffer of its own.
 */
import { Builder, ByteBuffer } from 'flatbuffers'
import { ERROR_CODES, type ErrorCode } from '../errors.js'
import { KIB } from '../limits/units.js'
import type { Facts } from './answer.js'
import { bytesOf, type Carried, carry, type Envelope, transferable } from './envelope.js'
import { AnswerBatch } from './envelope/answer_batch.js'
import { AnswerFrame } from './envelope/answer_frame.js'
import type { EnvelopeBlocks } from './envelope_blocks.js'

/**
 * Answer bodies up to this size are copied into the envelope, which is in memory that both threads share. A
 * larger one gets a block of its own, which saves one copy. Both are shared memory: a page of ten whole
 * documents has some 60 KB, and with 3 000 transfers a second the event loop spent a third of its time on
 * marking garbage.
 */
export const INLINE_ANSWER_BYTES_MAX = 32 * KIB

/**
 * `answer`: for the client. `forward`: the body is a prepared command for the write lane. `dropped`: not run,
 * because nobody waits for it. `message`: the front end has to do something first (messages.ts).
 */
type FrameKind = 'answer' | 'forward' | 'dropped' | 'message'

const KINDS: readonly FrameKind[] = ['answer', 'forward', 'dropped', 'message']

export interface LaneAnswer {
  readonly slot: number
  readonly generation: number
  readonly kind: FrameKind
  /** Null: a success. */
  readonly code: ErrorCode | null
  /** Null: JSON. */
  readonly contentType: string | null
  readonly facts: Facts
  readonly isCompressed: boolean
  /** Not 0: a part of an answer, and more parts can be requested under this number. */
  readonly stream: number
  /** The collections that the input names, for an answer that may be cached and for audit events. */
  readonly collections: readonly string[]
  /** The document that the input names, for audit events. Empty: none. */
  readonly key: string
  readonly body: Uint8Array
  /** The buffer of the body, if nothing else uses it. It is transferred, and belongs to the event loop. */
  readonly owned?: ArrayBuffer | undefined
}

/** Kinds whose body is a buffer of its own. */
const TAKEN: ReadonlySet<FrameKind> = new Set<FrameKind>(['forward', 'message'])

const NO_BYTES = new Uint8Array(0)
const NO_TEXTS: readonly string[] = []

/** Collects the answers of a lane as they are made, and packs those that are sent together. One per lane. */
export class AnswerEncoder {
  // Reused; it grows to the largest envelope: ANSWERS_COALESCED_MAX answers of INLINE_ANSWER_BYTES_MAX.
  readonly #builder = new Builder(64 * 1024)
  #frames: number[] = []
  #attachments: Carried[] = []

  /** @param blocks shared with the event loop; null: none */
  constructor(readonly blocks: EnvelopeBlocks | null) {}

  get count(): number {
    return this.#frames.length
  }

  /** Bytes of the frames so far, without attachments. */
  get bytes(): number {
    return this.#builder.offset()
  }

  /**
   * Copies the answer's body, unless it is owned. The buffer of a body that is not for the client is
   * transferred.
   */
  add(answer: LaneAnswer): void {
    const builder = this.#builder
    let bodyAt = 0
    let attachment = -1
    if (TAKEN.has(answer.kind) || answer.owned !== undefined) attachment = this.#attachments.push(transferable(answer.body)) - 1
    else if (answer.body.length > INLINE_ANSWER_BYTES_MAX) attachment = this.#attachments.push(carry(answer.body, this.blocks)) - 1
    // Not the generated createBodyVector, which copies byte by byte.
    else if (answer.body.length > 0) bodyAt = builder.createByteVector(answer.body)
    const contentType = answer.contentType === null ? 0 : builder.createString(answer.contentType)
    const facts = answer.facts.length === 0 ? 0 : AnswerFrame.createFactsVector(builder, strings(builder, answer.facts))
    const collections =
      answer.collections.length === 0 ? 0 : AnswerFrame.createCollectionsVector(builder, strings(builder, answer.collections))
    const key = answer.key === '' ? 0 : builder.createString(answer.key)
    AnswerFrame.startAnswerFrame(builder)
    AnswerFrame.addSlot(builder, answer.slot)
    AnswerFrame.addGeneration(builder, answer.generation)
    AnswerFrame.addKind(builder, KINDS.indexOf(answer.kind))
    if (answer.code !== null) AnswerFrame.addCode(builder, 1 + ERROR_CODES.indexOf(answer.code))
    AnswerFrame.addCompressed(builder, answer.isCompressed)
    if (contentType !== 0) AnswerFrame.addContentType(builder, contentType)
    if (facts !== 0) AnswerFrame.addFacts(builder, facts)
    if (collections !== 0) AnswerFrame.addCollections(builder, collections)
    if (key !== 0) AnswerFrame.addKey(builder, key)
    if (bodyAt !== 0) AnswerFrame.addBody(builder, bodyAt)
    AnswerFrame.addAttachment(builder, attachment)
    if (answer.stream !== 0) AnswerFrame.addStream(builder, answer.stream)
    this.#frames.push(AnswerFrame.endAnswerFrame(builder))
  }

  /** Returns the envelope of the added answers. The encoder is empty afterwards. */
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
    const code = frame.code()
    const attachment = frame.attachment()
    const carried = attachment >= 0 ? envelope.attachments[attachment]! : null
    answers[i] = {
      slot: frame.slot(),
      generation: frame.generation(),
      kind: KINDS[frame.kind()] ?? 'dropped',
      code: code === 0 ? null : (ERROR_CODES[code - 1] ?? 'internal'),
      contentType: frame.contentType(),
      facts: texts(frame.factsLength(), (at) => frame.facts(at)),
      isCompressed: frame.compressed(),
      collections: texts(frame.collectionsLength(), (at) => frame.collections(at)),
      key: frame.key() ?? '',
      stream: frame.stream(),
      body: carried === null ? (frame.bodyArray() ?? NO_BYTES) : bytesOf(carried, blocks),
      owned: carried instanceof Uint8Array ? (carried.buffer as ArrayBuffer) : undefined,
    }
  }
  return answers
}

function strings(builder: Builder, list: readonly string[]): number[] {
  return list.map((text) => builder.createString(text))
}

function texts(count: number, at: (index: number) => string): readonly string[] {
  if (count === 0) return NO_TEXTS
  const list: string[] = []
  for (let i = 0; i < count; i++) list.push(at(i))
  return list
}
