/**
 * A bound on bytes that the whole server buffers for its connections. One budget covers request bodies from
 * their first chunk until their answer. Another covers the bytes of large answers that clients have not read
 * yet. Above the bound a connection is refused instead of allocating more memory. Front-end thread only.
 */
export class ByteBudget {
  #used = 0

  constructor(readonly bytesMax: number) {}

  get used(): number {
    return this.#used
  }

  /** Returns false, and takes nothing, if the bound would be exceeded. */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.bytesMax) return false
    this.#used += bytes
    return true
  }

  give(bytes: number): void {
    this.#used -= bytes
  }
}
