/**
 * Answers as they cross back to the loop: several finished answers in one FlatBuffers message (envelope.fbs), large bodies beside it, transferred. Encoded in the lane,
 * decoded on the loop. Decoded bodies are views of the message, valid as long as somebody holds them.
 */
import { Builder, ByteBuffer } from 'flatbuffers'
import { INLINE_BODY_BYTES_MAX } from '../limits.js'
import { AnswerBatch } from './envelope/answer_batch.js'
import { AnswerFrame } from './envelope/answer_frame.js'
import { transferable, type Envelope } from './request_codec.js'

/** `answer`: for the client. `forward`: the body is a prepared command for the write lane. `dropped`: not run, nobody waits for it. */
export type FrameKind = 'answer' | 'forward' | 'dropped'

const KINDS: readonly FrameKind[] = ['answer', 'forward', 'dropped']

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
  readonly body: Uint8Array
}

const NO_BYTES = new Uint8Array(0)
const NO_HEADERS: readonly string[] = []
const builder = new Builder(64 * 1024)

export function encodeAnswers(answers: readonly LaneAnswer[]): Envelope {
  builder.clear()
  const attachments: Uint8Array[] = []
  const frames = new Array<number>(answers.length)
  for (let i = 0; i < answers.length; i++) frames[i] = encodeAnswer(answers[i]!, attachments)
  const vector = AnswerBatch.createAnswersVector(builder, frames)
  builder.finish(AnswerBatch.createAnswerBatch(builder, vector))
  return { frames: builder.asUint8Array().slice(), attachments }
}

function encodeAnswer(answer: LaneAnswer, attachments: Uint8Array[]): number {
  let bodyAt = 0
  let attachment = -1
  if (answer.body.length > INLINE_BODY_BYTES_MAX) {
    attachment = attachments.length
    attachments.push(transferable(answer.body))
  } else if (answer.body.length > 0) {
    bodyAt = builder.createByteVector(answer.body)
  }
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
  return AnswerFrame.endAnswerFrame(builder)
}

export function decodeAnswers(envelope: Envelope): LaneAnswer[] {
  const batch = AnswerBatch.getRootAsAnswerBatch(new ByteBuffer(envelope.frames))
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
      body: attachment >= 0 ? envelope.attachments[attachment]! : (frame.bodyArray() ?? NO_BYTES),
    }
  }
  return answers
}
