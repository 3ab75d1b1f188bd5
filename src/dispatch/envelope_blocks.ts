/**
 * Memory that two threads share to pass envelopes, cut into blocks: the writing thread fills a free block and tells its number in a message, the reading thread gives the
 * block back once it has read it. So a batch costs one copy instead of a buffer that is allocated on one thread, transferred, and collected as garbage by the other.
 * One thread puts, one releases; a block's state word is all that they share beside its bytes, and a message lies between writing and reading them.
 */
import { ENVELOPE_BLOCK_BYTES } from '../limits.js'

const FREE = 0
const TAKEN = 1
const STATE_BYTES = Int32Array.BYTES_PER_ELEMENT

/** Where an envelope's frames lie. */
export interface BlockRef {
  readonly block: number
  readonly bytes: number
}

export class EnvelopeBlocks {
  readonly #states: Int32Array
  readonly #blocks: readonly Uint8Array[]

  constructor(readonly buffer: SharedArrayBuffer) {
    const count = buffer.byteLength / (ENVELOPE_BLOCK_BYTES + STATE_BYTES)
    this.#blocks = Array.from({ length: count }, (_, i) => new Uint8Array(buffer, i * ENVELOPE_BLOCK_BYTES, ENVELOPE_BLOCK_BYTES))
    this.#states = new Int32Array(buffer, count * ENVELOPE_BLOCK_BYTES, count)
  }

  /** Pages that no envelope has reached cost no memory. */
  static create(count: number): EnvelopeBlocks {
    return new EnvelopeBlocks(new SharedArrayBuffer(count * (ENVELOPE_BLOCK_BYTES + STATE_BYTES)))
  }

  /** Copies `bytes` into a free block. Null when they do not fit or no block is free: the envelope then travels as a buffer of its own. */
  put(bytes: Uint8Array): BlockRef | null {
    if (bytes.length > ENVELOPE_BLOCK_BYTES) return null
    for (let block = 0; block < this.#blocks.length; block++) {
      if (Atomics.load(this.#states, block) !== FREE) continue
      Atomics.store(this.#states, block, TAKEN)
      this.#blocks[block]!.set(bytes)
      return { block, bytes: bytes.length }
    }
    return null
  }

  /** Valid until the block is released. */
  view({ block, bytes }: BlockRef): Uint8Array {
    return this.#blocks[block]!.subarray(0, bytes)
  }

  /** Nobody may hold a view of the block any more. */
  release({ block }: BlockRef): void {
    Atomics.store(this.#states, block, FREE)
  }
}
