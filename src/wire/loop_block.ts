/**
 * What the event loops that serve HTTP share: the bytes that each buffers for its connections, so that one
 * bound holds for all, the number of its connections, and the row of counters of each. A loop writes its own
 * words only; the first loop, on the thread of the dispatcher, clears those of a loop that has died.
 */
const KINDS = ['row', 'bodies', 'unsent', 'connections'] as const
/** `bodies`: of requests; `unsent`: of answers. */
export type BudgetKind = Exclude<(typeof KINDS)[number], 'row' | 'connections'>

export class LoopBlock {
  readonly #words: Int32Array
  readonly #loops: number

  constructor(readonly buffer: SharedArrayBuffer) {
    this.#words = new Int32Array(buffer)
    this.#loops = this.#words.length / KINDS.length
  }

  static create(loops: number): LoopBlock {
    return new LoopBlock(new SharedArrayBuffer(loops * KINDS.length * Int32Array.BYTES_PER_ELEMENT))
  }

  /** The bytes in use, a word for each loop. */
  bytes(kind: BudgetKind): Int32Array {
    return this.#wordsOf(kind)
  }

  /** The open connections, a word for each loop. */
  connections(): Int32Array {
    return this.#wordsOf('connections')
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
