/**
 * Ends a call when its time is up or its caller no longer wants it. One per call: it holds the timer and the
 * listener on the caller's signal until `end`.
 */
import { MdsConnectionError, MdsError, MdsTimeoutError } from './errors.js'

/** 24.8 days: timers of JavaScript that are longer, or not finite, end at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1

export class CallLimit {
  readonly #controller = new AbortController()
  readonly #caller: AbortSignal | undefined
  readonly #timeoutMs: number
  #timer: ReturnType<typeof setTimeout> | undefined
  #dueMs = Infinity
  #isLate = false

  /** @throws the reason of `caller` if it is aborted already */
  constructor(caller: AbortSignal | undefined, timeoutMs: number) {
    caller?.throwIfAborted()
    this.#caller = caller
    this.#timeoutMs = timeoutMs
    caller?.addEventListener('abort', this.#abort)
    this.start()
  }

  readonly #abort = (): void => this.#controller.abort()

  /** For fetch. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get remainingMs(): number {
    return this.#dueMs - Date.now()
  }

  /** Begins the time anew. */
  start(): void {
    this.pause()
    if (!(this.#timeoutMs > 0 && this.#timeoutMs <= TIMER_MS_MAX)) return
    this.#dueMs = Date.now() + this.#timeoutMs
    this.#timer = setTimeout(() => {
      this.#isLate = true
      this.#abort()
    }, this.#timeoutMs)
  }

  pause(): void {
    clearTimeout(this.#timer)
    this.#dueMs = Infinity
  }

  /** @param isWanted false: the connection is given up, too */
  end(isWanted = true): void {
    this.pause()
    this.#caller?.removeEventListener('abort', this.#abort)
    if (!isWanted) this.#abort()
  }

  /** What the caller is told for a failure of fetch. */
  errorFor(cause: unknown): unknown {
    if (this.#isLate) return new MdsTimeoutError(this.#timeoutMs)
    if (this.#caller?.aborted === true) return this.#caller.reason as unknown
    return cause instanceof MdsError ? cause : new MdsConnectionError(cause)
  }

  /** Settles after `ms`, at most `TIMER_MS_MAX`, or rejects when the call ends. */
  async wait(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer)
        this.signal.removeEventListener('abort', end)
        resolve()
      }
      const timer = setTimeout(end, ms)
      this.signal.addEventListener('abort', end)
    })
    if (this.signal.aborted) throw this.errorFor(undefined)
  }
}
