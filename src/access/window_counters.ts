/**
 * Counters by key in fixed windows of time, in memory that all threads share: an open-addressed table of
 * bounded size. A slot has three words: the window in which it is in use, the tag of its key, the count.
 *
 * Every slot of an earlier window is free; nothing else frees one. So a flood of other keys never evicts a
 * counter before its window ends. A key is searched for in `RATE_PROBES_MAX` slots from the one that its hash
 * names, up to the first free slot, and takes that one. As no slot becomes free within a window, a key that
 * has a slot is found again. A key that finds neither takes one of the counters that such keys share.
 *
 * Concurrency: a thread claims a free slot by exchanging its window word for the negative number of the
 * window, stores tag and count, then the window. A thread that meets the claim reads the word again until it
 * is the window. A thread that dies in between leaves one slot that others skip until the window ends.
 * Threads read the time a moment apart, so a slot may be of a later window than the reader's: the reader
 * continues in that window.
 */
import { KeyedHash, newHashKey } from './keyed_hash.js'

/** Clients with a counter of their own in one window: 65 536 x 12 B are 768 KiB of shared memory. */
export const RATE_KEYS_MAX = 65_536
/**
 * Slots that are looked at for one client. With 32 a table finds a slot for nearly every client until it is
 * nine tenths full; all of them are in 6 cache lines.
 */
const RATE_PROBES_MAX = 32
/**
 * Counters that the clients without a slot share. One client in a full table meets another one's with a
 * probability of 1 in 4 096. 48 KiB.
 */
export const RATE_SHARED_COUNTERS = 4_096
/** Reads of a slot that another thread is claiming, which takes three stores: below a microsecond. */
const RATE_CLAIM_READS_MAX = 1_000

const WORDS = 3
const [WINDOW, TAG, COUNT] = [0, 1, 2] as const
/** Words of the key of the hash, before the slots. */
const HEAD = 2
/** Not a tag: the slot is shared by the keys that have none. */
const SHARED_TAG = 0

export class WindowCounters {
  readonly #words: Int32Array
  readonly #hash: KeyedHash
  /** A power of two. */
  readonly #keys: number

  /** @param buffer from `create`, of this or another thread */
  constructor(readonly buffer: SharedArrayBuffer) {
    this.#words = new Int32Array(buffer)
    this.#hash = new KeyedHash([this.#words[0] ?? 0, this.#words[1] ?? 0])
    this.#keys = (this.#words.length - HEAD) / WORDS - RATE_SHARED_COUNTERS
  }

  /** @param keys a power of two: those that have a slot of their own in one window */
  static create(keys = RATE_KEYS_MAX): WindowCounters {
    const words = HEAD + (keys + RATE_SHARED_COUNTERS) * WORDS
    const buffer = new SharedArrayBuffer(words * Int32Array.BYTES_PER_ELEMENT)
    new Int32Array(buffer).set(newHashKey())
    return new WindowCounters(buffer)
  }

  /**
   * Counts one more of the key.
   * @param window its number, from 1 to 2^30, the same for all threads
   * @param most the count stays at `most + 1`, so it does not overflow
   * @returns the count after it; `most + 2` for all but the first that exceeds `most`
   */
  add(key: string, window: number, most: number): number {
    this.#hash.hash(key)
    const { first, second } = this.#hash
    const slot = this.#slotOf(first, second === SHARED_TAG ? 1 : second, window)
    const at = slot + COUNT
    if (Atomics.load(this.#words, at) > most) return most + 2
    const count = Atomics.add(this.#words, at, 1) + 1
    return count > most + 1 ? most + 2 : count
  }

  /** @returns the index of the first word of a slot that is in use for the key */
  #slotOf(first: number, tag: number, window: number): number {
    const home = first & (this.#keys - 1)
    for (let probe = 0; probe < RATE_PROBES_MAX; probe++) {
      const slot = HEAD + ((home + probe) & (this.#keys - 1)) * WORDS
      const used = this.#used(slot, tag, window)
      if (used > window) return this.#slotOf(first, tag, used)
      if (used === window && Atomics.load(this.#words, slot + TAG) === tag) return slot
    }
    const shared = HEAD + (this.#keys + ((tag >>> 0) % RATE_SHARED_COUNTERS)) * WORDS
    const used = this.#used(shared, SHARED_TAG, window)
    return used > window ? this.#slotOf(first, tag, used) : shared
  }

  /**
   * Claims the slot if it is free.
   * @returns the window in which the slot is in use; 0: it is still being claimed by another thread
   */
  #used(slot: number, tag: number, window: number): number {
    for (let reads = 0; reads < RATE_CLAIM_READS_MAX; reads++) {
      const used = Atomics.load(this.#words, slot + WINDOW)
      if (used >= window) return used
      // Being claimed, for this window or a later one. A claim of an earlier one is left of a dead thread.
      if (used <= -window) continue
      if (Atomics.compareExchange(this.#words, slot + WINDOW, used, -window) !== used) continue
      Atomics.store(this.#words, slot + TAG, tag)
      Atomics.store(this.#words, slot + COUNT, 0)
      Atomics.store(this.#words, slot + WINDOW, window)
      return window
    }
    return 0
  }
}
