/**
 * Memory that two threads share to pass envelopes, cut into blocks: the writing thread fills a free block and
 * tells its number in a message, the reading thread gives the block back once it has read it. So a batch
 * costs one copy instead of a buffer that is allocated on one thread, transferred, and collected as garbage
 * by the other. One thread puts, one releases; a block's state word is all that they share beside its bytes,
 * and a message lies between writing and reading them. Most blocks hold an envelope; a few may be large, for
 * one answer of many documents each: such buffers, transferred, made the loop's thread collect garbage for
 * milliseconds after every few of them.
 */
import { ENVELOPE_BLOCK_BYTES, LARGE_BLOCK_BYTES } from '../limits/wire.js'

const FREE = 0
const TAKEN = 1
const STATE_BYTES = Int32Array.BYTES_PER_ELEMENT

/** Where an envelope's frames lie, or a body that is too large for them. */
export interface BlockRef {
  readonly block: number
  readonly bytes: number
}

/** What a thread needs to open the blocks that another has made. */
export interface BlockMemory {
  readonly buffer: SharedArrayBuffer
  readonly count: number
  readonly largeCount: number
}

export class EnvelopeBlocks {
  readonly #states: Int32Array
  readonly #blocks: readonly Uint8Array[]

  /** @param memory made by `create`, here or on the other thread */
  constructor(readonly memory: BlockMemory) {
    const { buffer, count, largeCount } = memory
    const largeAt = count * ENVELOPE_BLOCK_BYTES
    this.#blocks = [
      ...Array.from({ length: count }, (_, i) => new Uint8Array(buffer, i * ENVELOPE_BLOCK_BYTES, ENVELOPE_BLOCK_BYTES)),
      ...Array.from({ length: largeCount }, (_, i) => new Uint8Array(buffer, largeAt + i * LARGE_BLOCK_BYTES, LARGE_BLOCK_BYTES)),
    ]
    this.#states = new Int32Array(buffer, largeAt + largeCount * LARGE_BLOCK_BYTES, count + largeCount)
  }

  /** Pages that no envelope has reached cost no memory. */
  static create(count: number, largeCount = 0): EnvelopeBlocks {
    const bytes = count * (ENVELOPE_BLOCK_BYTES + STATE_BYTES) + largeCount * (LARGE_BLOCK_BYTES + STATE_BYTES)
    return new EnvelopeBlocks({ buffer: new SharedArrayBuffer(bytes), count, largeCount })
  }

  /**
   * Copies `bytes` into a free block. Null when none that is free holds them: they then travel in a buffer of
   * their own.
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

  /** Nobody may hold a view of the block any more. */
  release({ block }: BlockRef): void {
    Atomics.store(this.#states, block, FREE)
  }
}
