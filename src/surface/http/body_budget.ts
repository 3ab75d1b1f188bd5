/**
 * Bytes of request bodies that the whole server holds, from their first chunk until their answer. Above the bound a request is refused rather than memory grown.
 * Front-end thread only.
 */
export class BodyBudget {
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
