/**
 * A signal that aborts when a time limit is over or an outer signal aborts. In Node 20 `AbortSignal.any([…,
 * AbortSignal.timeout(n)])` can lose its timeout at a garbage collection, because the composite holds its
 * sources by weak references only. Here the timer holds the controller. `end` must be called when the work is
 * done.
 */
export class TimeLimit {
  readonly #controller = new AbortController()
  readonly #timer: NodeJS.Timeout
  #isOver = false

  constructor(
    ms: number,
    readonly outer?: AbortSignal,
  ) {
    this.#timer = setTimeout(() => {
      this.#isOver = true
      this.#abort(new DOMException(`not done within ${ms} ms`, 'TimeoutError'))
    }, ms).unref()
    if (outer?.aborted === true) this.#leave()
    else outer?.addEventListener('abort', this.#leave, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** True if the time limit aborted the signal, not the outer signal. */
  get isOver(): boolean {
    return this.#isOver
  }

  end(): void {
    clearTimeout(this.#timer)
    this.outer?.removeEventListener('abort', this.#leave)
  }

  readonly #leave = (): void => this.#abort(this.outer?.reason)

  #abort(reason: unknown): void {
    this.end()
    this.#controller.abort(reason)
  }
}
