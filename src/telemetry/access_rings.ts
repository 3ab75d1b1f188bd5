/**
 * Reads of documents on their way from the lanes that made them to the write lane, which stores them: one
 * ring a thread in shared memory. A lane writes to its own ring alone, and the write lane reads all of them;
 * neither waits for the other. What finds its ring full is not counted, and that is counted.
 *
 * Each ring begins with two words: how many entries its lane has ever written, and how many the write lane
 * has ever taken, modulo 2^32. The lane writes an entry, then its word (Atomics.store); the write lane reads
 * that word, then the entries, then writes its own, after which the lane may use their places again. A lane
 * that dies between the two leaves nothing half written that anybody reads; the thread that takes its row
 * goes on where it ended.
 */
import { THREADS_MAX } from '../limits/lanes.js'
import { ACCESS_RING_ENTRIES } from '../limits/temporal.js'

/** What is kept of a read. */
export const ACCESS = { tracked: 1, hot: 2 } as const

const HEADER_WORDS = 2
/** Collection, docid, unix seconds, flags. */
const ENTRY_WORDS = 4
const RING_WORDS = HEADER_WORDS + ACCESS_RING_ENTRIES * ENTRY_WORDS

export class AccessRings {
  readonly #words: Int32Array
  readonly #begin: number

  /** @param row of the thread that records; the one that takes needs none of its own */
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

  /** @returns false where the ring is full: the read is not counted */
  record(collection: number, docid: number, second: number, flags: number): boolean {
    const words = this.#words
    const begin = this.#begin
    const written = words[begin] as number
    if (((written - Atomics.load(words, begin + 1)) | 0) >= ACCESS_RING_ENTRIES) return false
    const at = begin + HEADER_WORDS + placeOf(written) * ENTRY_WORDS
    words[at] = collection
    words[at + 1] = docid
    words[at + 2] = second
    words[at + 3] = flags
    Atomics.store(words, begin, (written + 1) | 0)
    return true
  }

  /** Takes what all rings hold, in the order of each. */
  take(visit: (collection: number, docid: number, second: number, flags: number) => void): void {
    const words = this.#words
    for (let begin = 0; begin < words.length; begin += RING_WORDS) {
      const written = Atomics.load(words, begin)
      let taken = words[begin + 1] as number
      for (; taken !== written; taken = (taken + 1) | 0) {
        const at = begin + HEADER_WORDS + placeOf(taken) * ENTRY_WORDS
        visit(unsigned(words[at]), unsigned(words[at + 1]), unsigned(words[at + 2]), words[at + 3] as number)
      }
      Atomics.store(words, begin + 1, taken)
    }
  }
}

/** The number of entries is a power of two, so that places go round where the counts do. */
function placeOf(count: number): number {
  return count & (ACCESS_RING_ENTRIES - 1)
}

function unsigned(word: number | undefined): number {
  return (word as number) >>> 0
}
