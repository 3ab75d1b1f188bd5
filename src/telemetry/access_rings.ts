/**
 * Transfers document reads from the lanes that made them to the write lane, which stores them. There is one
 * ring per thread in shared memory. A lane writes only to its own ring, and the write lane reads all rings;
 * neither waits for the other. A read that finds its ring full is not counted, and a counter counts such
 * reads.
 *
 * Each ring begins with two words, both modulo 2^32: the number of entries that its lane has ever written,
 * and the number of entries that the write lane has ever taken. The lane writes an entry, then the first word
 * (Atomics.store). The write lane reads that word, then the entries, then writes the second word, after which
 * the lane may reuse their slots. If a lane dies in between, its unfinished entry is never read; the thread
 * that takes over its row continues where it stopped.
 */
import { THREADS_MAX } from '../limits/lanes.js'

/**
 * Reads that one thread may record before the write lane collects them. A power of two; 512 KB per thread, of
 * which untouched pages cost nothing.
 */
export const ACCESS_RING_ENTRIES = 32_768

/** Flags of an entry: how the read is recorded. */
export const ACCESS = { tracked: 1, hot: 2 } as const

const HEADER_WORDS = 2
/** Collection, docid, Unix seconds, flags. */
const ENTRY_WORDS = 4
const RING_WORDS = HEADER_WORDS + ACCESS_RING_ENTRIES * ENTRY_WORDS

export class AccessRings {
  readonly #words: Int32Array
  readonly #begin: number

  /** @param row of the recording thread; the thread that takes entries needs no row of its own */
  constructor(
    readonly buffer: SharedArrayBuffer,
    row: number,
  ) {
    this.#words = new Int32Array(buffer)
    this.#begin = row * RING_WORDS
  }

  static create(threads = THREADS_MAX): SharedArrayBuffer {
    return new SharedArrayBuffer(threads * RING_WORDS * Int32Array.BYTES_PER_ELEMENT)
  }

  /** @returns false if the ring is full: the read is not counted */
  record(collection: number, docid: number, second: number, flags: number): boolean {
    const words = this.#words
    const begin = this.#begin
    const written = words[begin] as number
    if (((written - Atomics.load(words, begin + 1)) | 0) >= ACCESS_RING_ENTRIES) return false
    const at = begin + HEADER_WORDS + slotOf(written) * ENTRY_WORDS
    words[at] = collection
    words[at + 1] = docid
    words[at + 2] = second
    words[at + 3] = flags
    Atomics.store(words, begin, (written + 1) | 0)
    return true
  }

  /** Takes all entries of all rings, in the order of each ring. */
  take(visit: (collection: number, docid: number, second: number, flags: number) => void): void {
    const words = this.#words
    for (let begin = 0; begin < words.length; begin += RING_WORDS) {
      const written = Atomics.load(words, begin)
      let taken = words[begin + 1] as number
      for (; taken !== written; taken = (taken + 1) | 0) {
        const at = begin + HEADER_WORDS + slotOf(taken) * ENTRY_WORDS
        visit(unsigned(words[at]), unsigned(words[at + 1]), unsigned(words[at + 2]), words[at + 3] as number)
      }
      Atomics.store(words, begin + 1, taken)
    }
  }
}

/** The number of entries is a power of two, so that slot numbers stay consistent when the counts wrap. */
function slotOf(count: number): number {
  return count & (ACCESS_RING_ENTRIES - 1)
}

function unsigned(word: number | undefined): number {
  return (word as number) >>> 0
}
