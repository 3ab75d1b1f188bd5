/**
 * The open streams: streamed request bodies and pushed answers. A stream ends when its client or its producer
 * ends it, which may be never, so a shutdown ends all of them. Front-end thread only.
 */
interface OpenStream {
  /**
   * Ends in order. Must remove itself from the set, now or after the client has read the bytes sent to it.
   */
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

  /** Returns false, without adding the stream, once the shutdown has begun. */
  add(stream: OpenStream): boolean {
    if (!this.#isEnding) this.#open.add(stream)
    return !this.#isEnding
  }

  delete(stream: OpenStream): void {
    this.#open.delete(stream)
  }

  /** Ends all streams. No further stream is accepted. */
  end(): void {
    this.#isEnding = true
    for (const stream of [...this.#open]) stream.shutDown()
  }
}
