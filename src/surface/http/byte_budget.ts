/**
 * A bound on bytes that the whole server holds for its connections: request bodies, from their first chunk
 * until their answer; and what clients have not taken yet of large answers. Above it a connection is refused
 * rather than memory grown. Front-end thread only.
 */
export class ByteBudget {
  #used = 0

  constructor(readonly bytesMax: number) {}

  get used(): number {
    return this.#used
  }

  /** False, and nothing taken, when it would exceed the bound. */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.bytesMax) return false
    this.#used += bytes
    return true
  }

  give(bytes: number): void {
    this.#used -= bytes
  }
}
