/**
 * Circuit breaker of one provider.
 * - Closed: requests are sent.
 * - Open: no request is sent until the pause is over. The circuit opens after several consecutive failures,
 *   or when the provider names a time.
 * - Trial: after the pause, one request is sent. Its success closes the circuit; its failure opens it for
 *   twice as long.
 *
 * The caller supplies the time (performance.now()). Pure state; front-end thread. Why it is our own:
 * docs/decisions/search/embedding.md.
 */
import { EMBEDDING_PAUSE_MS_MAX } from '../../limits/embedding.js'

/** Consecutive failed requests after which no more are sent. */
export const EMBEDDING_FAILURES_IN_ROW_MAX = 5
/** How long no requests are sent then. Doubled with each trial that fails. */
export const EMBEDDING_PAUSE_MS_FIRST = 5_000

export type BreakerState = 'closed' | 'open' | 'trial'

export class Breaker {
  #failures = 0
  #openUntil = 0
  #isOpen = false
  #isTrying = false
  #pauseMs = EMBEDDING_PAUSE_MS_FIRST

  constructor(readonly onState: (state: BreakerState) => void) {}

  /**
   * @returns for how many ms no request may be sent; 0: the request may be sent, and its outcome must be
   * reported
   */
  enter(now: number): number {
    if (!this.#isOpen) return 0
    if (now < this.#openUntil) return Math.ceil(this.#openUntil - now)
    if (this.#isTrying) return EMBEDDING_PAUSE_MS_FIRST
    this.#isTrying = true
    this.onState('trial')
    return 0
  }

  /** The provider responded, whether or not the response was usable. */
  succeeded(): void {
    this.#failures = 0
    this.#pauseMs = EMBEDDING_PAUSE_MS_FIRST
    this.#isTrying = false
    if (!this.#isOpen) return
    this.#isOpen = false
    this.onState('closed')
  }

  /**
   * @param pauseMs pause that the provider requested, or the pause after a failure that does not heal with
   * time; undefined: an ordinary failure, of which several open the circuit
   */
  failed(now: number, pauseMs?: number): void {
    this.#failures++
    if (this.#isTrying) this.#pauseMs = Math.min(2 * this.#pauseMs, EMBEDDING_PAUSE_MS_MAX)
    const mustOpen = this.#isTrying || pauseMs !== undefined || this.#failures >= EMBEDDING_FAILURES_IN_ROW_MAX
    this.#isTrying = false
    if (!mustOpen) return
    this.#openUntil = Math.max(this.#openUntil, now + (pauseMs ?? this.#pauseMs))
    this.#isOpen = true
    this.onState('open')
  }

  /** The request ended without information about the provider, because its caller gave up. */
  left(): void {
    if (!this.#isTrying) return
    this.#isTrying = false
    this.onState('open')
  }
}
