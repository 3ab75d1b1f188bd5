/**
 * The unit of transfer between the front end and a lane, in either direction: the frames of one batch
 * (FlatBuffers, envelope.fbs), in a shared block or in a buffer of their own. Bodies that are too large for
 * the frames are beside them, likewise in a block or a buffer.
 */
import type { BlockRef, EnvelopeBlocks } from './envelope_blocks.js'

/** Bytes in a buffer that is transferred, or in a block. */
export type Carried = Uint8Array | BlockRef

export interface Envelope {
  readonly frames: Carried
  readonly attachments: readonly Carried[]
}

/**
 * @param bytes valid during the call only: copied
 * @param blocks null: always into a buffer of its own
 */
export function carry(bytes: Uint8Array, blocks: EnvelopeBlocks | null): Carried {
  return blocks?.put(bytes) ?? new Uint8Array(bytes)
}

/** Bytes in a block are valid until `releaseEnvelope`. */
export function bytesOf(carried: Carried, blocks: EnvelopeBlocks | null): Uint8Array {
  if (carried instanceof Uint8Array) return carried
  if (blocks === null) throw new Error('an envelope in a block reached a thread that shares none')
  return blocks.view(carried)
}

export function releaseEnvelope({ frames, attachments }: Envelope, blocks: EnvelopeBlocks | null): void {
  if (!(frames instanceof Uint8Array)) blocks?.release(frames)
  for (const attachment of attachments) if (!(attachment instanceof Uint8Array)) blocks?.release(attachment)
}

/** The transfer list of the message. */
export function transferListOf({ frames, attachments }: Envelope): ArrayBuffer[] {
  const list: ArrayBuffer[] = []
  for (const attachment of attachments) if (attachment instanceof Uint8Array) list.push(attachment.buffer as ArrayBuffer)
  if (frames instanceof Uint8Array) list.push(frames.buffer as ArrayBuffer)
  return list
}

/**
 * Returns a view whose buffer may be transferred to another thread: `bytes` itself if it begins its buffer
 * and covers at least half of it, otherwise a copy. (A small view of a shared pool or of a message must not
 * transfer the neighbouring bytes.)
 */
export function transferable(bytes: Uint8Array): Uint8Array {
  const buffer = bytes.buffer
  const ownsBuffer = buffer instanceof ArrayBuffer && bytes.byteOffset === 0 && bytes.length * 2 >= buffer.byteLength
  return ownsBuffer ? new Uint8Array(buffer, 0, bytes.length) : new Uint8Array(bytes)
}
