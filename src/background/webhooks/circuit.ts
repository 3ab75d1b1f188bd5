/**
 * A circuit breaker for each receiver: after failures in a row nothing is sent to it for a while, then one
 * delivery, whose success opens the way for the others. Pure, but for the clock that its callers pass.
 */

/** Failures in a row after which a receiver is left alone: more than one delivery has attempts in a row. */
const FAILURES_IN_ROW_MAX = 5
/** Pause after the first of them. It doubles with each further failure. */
const PAUSE_MS_FIRST = 1_000
const PAUSE_MS_MAX = 60_000

interface Failing {
  inRow: number
  /** Nothing is sent before. */
  pausedUntil: number
}

export class Circuits {
  readonly #failing = new Map<string, Failing>()

  /** @param pausePercent pauses, in hundredths of the usual ones */
  constructor(readonly pausePercent: number) {}

  /** How many deliveries may be under way to the receiver, of `most`. */
  allowed(receiver: string, most: number, now: number): number {
    const failing = this.#failing.get(receiver)
    if (failing === undefined || failing.inRow < FAILURES_IN_ROW_MAX) return most
    return now < failing.pausedUntil ? 0 : 1
  }

  /** When the receiver is tried again; 0: at once. */
  pausedUntil(receiver: string): number {
    const failing = this.#failing.get(receiver)
    return failing === undefined || failing.inRow < FAILURES_IN_ROW_MAX ? 0 : failing.pausedUntil
  }

  accepted(receiver: string): void {
    this.#failing.delete(receiver)
  }

  failed(receiver: string, now: number): void {
    const failing = this.#failing.get(receiver) ?? { inRow: 0, pausedUntil: 0 }
    failing.inRow++
    const pauses = failing.inRow - FAILURES_IN_ROW_MAX
    if (pauses >= 0) failing.pausedUntil = now + (Math.min(PAUSE_MS_FIRST * 2 ** pauses, PAUSE_MS_MAX) * this.pausePercent) / 100
    this.#failing.set(receiver, failing)
  }

  get open(): number {
    return [...this.#failing.values()].filter(({ inRow }) => inRow >= FAILURES_IN_ROW_MAX).length
  }
}
