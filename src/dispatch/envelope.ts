/**
 * What crosses the border between the front end and a lane, in either direction: the frames of one batch (FlatBuffers, envelope.fbs), in a shared block or in a buffer of
 * their own, and beside them the bodies that are too large to copy, transferred.
 */
import type { BlockRef, EnvelopeBlocks } from './envelope_blocks.js'

export interface Envelope {
  readonly frames: Uint8Array | BlockRef
  readonly attachments: readonly Uint8Array[]
}

/** @param frames valid during the call only: copied. @param blocks null: always in a buffer of its own. */
export function envelopeOf(frames: Uint8Array, attachments: readonly Uint8Array[], blocks: EnvelopeBlocks | null): Envelope {
  return { frames: blocks?.put(frames) ?? frames.slice(), attachments }
}

/** The frames. In a block they are valid until `releaseFrames`. */
export function framesOf(envelope: Envelope, blocks: EnvelopeBlocks | null): Uint8Array {
  if (envelope.frames instanceof Uint8Array) return envelope.frames
  if (blocks === null) throw new Error('an envelope in a block reached a thread that shares none')
  return blocks.view(envelope.frames)
}

export function releaseFrames(envelope: Envelope, blocks: EnvelopeBlocks | null): void {
  if (!(envelope.frames instanceof Uint8Array)) blocks?.release(envelope.frames)
}

/** What the message needs in its transfer list. */
export function transferListOf(envelope: Envelope): ArrayBuffer[] {
  const list = envelope.attachments.map((attachment) => attachment.buffer as ArrayBuffer)
  if (envelope.frames instanceof Uint8Array) list.push(envelope.frames.buffer as ArrayBuffer)
  return list
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
