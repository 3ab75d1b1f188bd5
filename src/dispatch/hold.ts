/**
 * Requests are held back while the lanes change what they serve: `writes` those that may write and heavy
 * ones, `everything` all. Bounded by the queues, and each request by its deadline. Front-end thread only.
 */
export type Held = 'nothing' | 'writes' | 'everything'

export class Hold {
  #held: Held = 'nothing'
  #waiters: (() => void)[] = []

  /** @param isQuiet whether nothing of what is held is in a lane any more */
  constructor(readonly isQuiet: (held: Held) => boolean) {}

  get held(): Held {
    return this.#held
  }

  /**
   * Resolves when nothing of what is held is in a lane any more, and every prepared write has been committed.
   */
  async begin(held: Held): Promise<void> {
    this.#held = held
    if (!this.isQuiet(held)) await new Promise<void>((resolve) => this.#waiters.push(resolve))
  }

  end(): void {
    this.#held = 'nothing'
  }

  /** To be called when something may have left a lane. */
  tell(): void {
    if (this.#waiters.length === 0 || !this.isQuiet(this.#held)) return
    const waiters = this.#waiters
    this.#waiters = []
    for (const resolve of waiters) resolve()
  }
}
