/**
 * Circuit breaker of one provider. Closed: requests are sent. After some failures in a row, or when the
 * provider named a time, open: none is sent until the pause is over. Then one is, as a trial; its success
 * closes the circuit, its failure opens it for twice as long. Time is given by the caller
 * (performance.now()). Pure state; front-end thread. Why it is our own:
 * docs/decisions/0134-embedding-providers.md.
 */
import { EMBEDDING_FAILURES_IN_ROW_MAX, EMBEDDING_PAUSE_MS_FIRST, EMBEDDING_PAUSE_MS_MAX } from '../../limits/providers.js'

export type BreakerState = 'closed' | 'open' | 'trial'

export class Breaker {
  #failures = 0
  #openUntil = 0
  #isOpen = false
  #isTrying = false
  #pauseMs = EMBEDDING_PAUSE_MS_FIRST

  constructor(readonly onState: (state: BreakerState) => void) {}

  /** @returns for how many ms no request may be sent; 0: this one may, and its outcome has to be told */
  enter(now: number): number {
    if (!this.#isOpen) return 0
    if (now < this.#openUntil) return Math.ceil(this.#openUntil - now)
    if (this.#isTrying) return EMBEDDING_PAUSE_MS_FIRST
    this.#isTrying = true
    this.onState('trial')
    return 0
  }

  /** There was an answer of the provider, be it of use or not. */
  succeeded(): void {
    this.#failures = 0
    this.#pauseMs = EMBEDDING_PAUSE_MS_FIRST
    this.#isTrying = false
    if (!this.#isOpen) return
    this.#isOpen = false
    this.onState('closed')
  }

  /**
   * @param pauseMs how long the provider wants to be left alone, or a failure that time does not heal is
   * worth; undefined: one failure of several
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

  /** It ended without telling anything of the provider: its caller gave up. */
  left(): void {
    if (!this.#isTrying) return
    this.#isTrying = false
    this.onState('open')
  }
}
