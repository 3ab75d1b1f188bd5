/**
 * Holds requests back while the lanes switch generations. `writes` holds requests that may write and heavy
 * ones, `everything` holds all requests. The number of held requests is bounded by the queues, and the wait
 * of each by its deadline. Front-end thread only.
 */
export type Held = 'nothing' | 'writes' | 'everything'

export class Hold {
  #held: Held = 'nothing'
  #waiters: (() => void)[] = []

  /** @param isQuiet whether no request of the held classes is in a lane */
  constructor(readonly isQuiet: (held: Held) => boolean) {}

  get held(): Held {
    return this.#held
  }

  /**
   * Resolves when no request of the held classes is in a lane and every prepared write has been committed.
   */
  async begin(held: Held): Promise<void> {
    this.#held = held
    if (!this.isQuiet(held)) await new Promise<void>((resolve) => this.#waiters.push(resolve))
  }

  end(): void {
    this.#held = 'nothing'
  }

  /** Resolves waiting `begin` calls if the lanes are quiet. Called when a request may have left a lane. */
  notify(): void {
    if (this.#waiters.length === 0 || !this.isQuiet(this.#held)) return
    const waiters = this.#waiters
    this.#waiters = []
    for (const resolve of waiters) resolve()
  }
}
