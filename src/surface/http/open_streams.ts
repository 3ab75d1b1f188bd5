/**
 * The streamed request bodies and pushed answers that are open: they end when their client or their producer
 * wants, which may be never, so a shutdown ends them. Front-end thread only.
 */
export interface OpenStream {
  /** Ends in order. Must remove itself from the set, now or once the client has taken what it was sent. */
  shutDown(): void
}

export class OpenStreams {
  readonly #open = new Set<OpenStream>()
  #isEnding = false

  get isEnding(): boolean {
    return this.#isEnding
  }

  get count(): number {
    return this.#open.size
  }

  /** False, and not added, once the shutdown has begun. */
  add(stream: OpenStream): boolean {
    if (!this.#isEnding) this.#open.add(stream)
    return !this.#isEnding
  }

  delete(stream: OpenStream): void {
    this.#open.delete(stream)
  }

  /** Ends all; none is taken any more. */
  end(): void {
    this.#isEnding = true
    for (const stream of [...this.#open]) stream.shutDown()
  }
}
