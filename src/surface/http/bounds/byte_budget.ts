/**
 * A bound on bytes that the whole server buffers for its connections. One budget covers request bodies from
 * their first chunk until their answer. Another covers the bytes of large answers that clients have not read
 * yet. Above the bound a connection is refused instead of allocating more memory. The loops that serve HTTP
 * share the bound: each counts in a word of its own. One object a loop.
 */
export class ByteBudget {
  /**
   * @param words bytes in use, one word for each loop, in shared memory if there are several
   * @param own index of this loop's word
   */
  constructor(
    readonly bytesMax: number,
    readonly words: Int32Array = new Int32Array(1),
    readonly own = 0,
    /** Told the bytes in use after each change. */
    readonly gauge: (used: number) => void = () => undefined,
  ) {}

  /** Of this loop. */
  get used(): number {
    return Atomics.load(this.words, this.own)
  }

  /**
   * Returns false, and takes nothing, if the bound would be exceeded. Two loops that take the last bytes at
   * the same time may both be refused.
   */
  take(bytes: number): boolean {
    // One request may be longer than a word can count.
    if (bytes > this.bytesMax) return false
    Atomics.add(this.words, this.own, bytes)
    if (this.#total() > this.bytesMax) {
      this.give(bytes)
      return false
    }
    this.gauge(this.used)
    return true
  }

  give(bytes: number): void {
    Atomics.sub(this.words, this.own, bytes)
    this.gauge(this.used)
  }

  #total(): number {
    let total = 0
    for (let loop = 0; loop < this.words.length; loop++) total += Atomics.load(this.words, loop)
    return total
  }
}
