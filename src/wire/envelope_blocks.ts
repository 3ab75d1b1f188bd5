/**
 * Memory shared by two threads to pass envelopes, divided into blocks. The writing thread fills a free block
 * and sends its number in a message. The reading thread releases the block once it has read it. So a batch
 * costs one copy instead of a buffer that is allocated on one thread, transferred, and garbage-collected by
 * the other.
 *
 * One thread puts, one releases. Beside its bytes they share only a block's state word, and a message
 * separates writing from reading. Most blocks hold an envelope. A few may be large, each for one answer of
 * many documents: such buffers, when transferred, made the event loop's thread collect garbage for
 * milliseconds after every few of them.
 */
import { KIB, MIB } from '../limits/units.js'

/**
 * Size of a block of the memory for envelopes: `ENVELOPE_BYTES_WANTED`, one more answer and its frame, or a
 * page of up to 150 documents of 5 KB. A larger batch is sent in a buffer of its own.
 */
export const ENVELOPE_BLOCK_BYTES = 768 * KIB
/**
 * A large block: one answer of at most 1 600 documents of 5 KB. A larger answer is copied into a buffer of
 * its own, which is transferred.
 */
export const LARGE_BLOCK_BYTES = 8 * MIB

const FREE = 0
const TAKEN = 1
const STATE_BYTES = Int32Array.BYTES_PER_ELEMENT

/** Location of an envelope's frames, or of a body that is too large for them. */
export interface BlockRef {
  readonly block: number
  readonly bytes: number
}

/** The data that a thread needs to open the blocks of another thread. */
export interface BlockMemory {
  readonly buffer: SharedArrayBuffer
  readonly count: number
  readonly largeCount: number
}

export class EnvelopeBlocks {
  readonly #states: Int32Array
  readonly #blocks: readonly Uint8Array[]

  /** @param memory made by `create`, on this or the other thread */
  constructor(readonly memory: BlockMemory) {
    const { buffer, count, largeCount } = memory
    const largeAt = count * ENVELOPE_BLOCK_BYTES
    this.#blocks = [
      ...Array.from({ length: count }, (_, i) => new Uint8Array(buffer, i * ENVELOPE_BLOCK_BYTES, ENVELOPE_BLOCK_BYTES)),
      ...Array.from({ length: largeCount }, (_, i) => new Uint8Array(buffer, largeAt + i * LARGE_BLOCK_BYTES, LARGE_BLOCK_BYTES)),
    ]
    this.#states = new Int32Array(buffer, largeAt + largeCount * LARGE_BLOCK_BYTES, count + largeCount)
  }

  /** Pages that no envelope has used yet occupy no memory. */
  static create(count: number, largeCount = 0): EnvelopeBlocks {
    const bytes = count * (ENVELOPE_BLOCK_BYTES + STATE_BYTES) + largeCount * (LARGE_BLOCK_BYTES + STATE_BYTES)
    return new EnvelopeBlocks({ buffer: new SharedArrayBuffer(bytes), count, largeCount })
  }

  /**
   * Copies `bytes` into a free block. Null if no free block is large enough: the bytes are then sent in a
   * buffer of their own.
   */
  put(bytes: Uint8Array): BlockRef | null {
    for (let block = 0; block < this.#blocks.length; block++) {
      if (bytes.length > this.#blocks[block]!.length || Atomics.load(this.#states, block) !== FREE) continue
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

  /** There must be no view of the block any more. */
  release({ block }: BlockRef): void {
    Atomics.store(this.#states, block, FREE)
  }
}
