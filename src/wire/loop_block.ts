/**
 * What the event loops that serve HTTP share: the bytes that each buffers for its connections, so that one
 * bound holds for all, the number of its connections, and the row of counters of each. A loop writes its own
 * words only; the first loop, on the thread of the dispatcher, clears those of a loop that has died. Behind
 * them is the number of connections that the first loop waits for, and whether it was exceeded.
 */
const KINDS = ['row', 'bodies', 'unsent', 'connections'] as const
const SHARED_WORDS = 2
/** `bodies`: of requests; `unsent`: of answers. */
export type BudgetKind = Exclude<(typeof KINDS)[number], 'row' | 'connections'>

export class LoopBlock {
  readonly #words: Int32Array
  readonly #loops: number
  readonly #connections: Int32Array
  readonly #mostAt: number
  readonly #isExceededAt: number

  constructor(readonly buffer: SharedArrayBuffer) {
    this.#words = new Int32Array(buffer)
    this.#loops = (this.#words.length - SHARED_WORDS) / KINDS.length
    this.#connections = this.#wordsOf('connections')
    this.#mostAt = this.#words.length - 2
    this.#isExceededAt = this.#words.length - 1
  }

  static create(loops: number): LoopBlock {
    return new LoopBlock(new SharedArrayBuffer((loops * KINDS.length + SHARED_WORDS) * Int32Array.BYTES_PER_ELEMENT))
  }

  /** The bytes in use, a word for each loop. */
  bytes(kind: BudgetKind): Int32Array {
    return this.#wordsOf(kind)
  }

  /** The open connections of all loops. */
  connections(): number {
    let sum = 0
    for (let loop = 0; loop < this.#loops; loop++) sum += Atomics.load(this.#connections, loop)
    return sum
  }

  connectionOpened(loop: number): void {
    Atomics.add(this.#connections, loop, 1)
    const most = Atomics.load(this.#words, this.#mostAt)
    if (most > 0 && this.connections() > most && Atomics.exchange(this.#words, this.#isExceededAt, 1) === 0)
      Atomics.notify(this.#words, this.#isExceededAt)
  }

  connectionClosed(loop: number): void {
    Atomics.sub(this.#connections, loop, 1)
  }

  /** Resolves once more connections are open. The first loop only, one call at a time. */
  async moreConnectionsThan(most: number): Promise<void> {
    Atomics.store(this.#words, this.#mostAt, most)
    Atomics.store(this.#words, this.#isExceededAt, 0)
    if (this.connections() <= most) await Atomics.waitAsync(this.#words, this.#isExceededAt, 0).value
  }

  #wordsOf(kind: (typeof KINDS)[number]): Int32Array {
    const at = KINDS.indexOf(kind) * this.#loops
    return this.#words.subarray(at, at + this.#loops)
  }

  /** The loop has claimed this row of counters. */
  noteRow(loop: number, row: number): void {
    Atomics.store(this.#words, loop, row + 1)
  }

  /**
   * For a loop that has died: its bytes are not in use any more.
   * @returns its row of counters; -1 if it had none yet
   */
  clear(loop: number): number {
    for (const kind of ['bodies', 'unsent', 'connections'] as const) Atomics.store(this.#wordsOf(kind), loop, 0)
    return Atomics.exchange(this.#words, loop, 0) - 1
  }
}
