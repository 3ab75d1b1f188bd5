/**
 * The pause of a background loop between two rounds; it does not keep the process alive. Front-end thread.
 */
import { setTimeout } from 'node:timers/promises'

export class Pause {
  #wake: (() => void) | undefined
  #isWoken = false

  /** Ends the pause; where a round is under way, the one after it. */
  wake(): void {
    this.#isWoken = true
    this.#wake?.()
  }

  async rest(ms: number): Promise<void> {
    if (!this.#isWoken) {
      const woken = new Promise<void>((resolve) => (this.#wake = resolve))
      const timer = new AbortController()
      await Promise.race([woken, setTimeout(ms, undefined, { signal: timer.signal, ref: false }).catch(() => undefined)])
      timer.abort()
      this.#wake = undefined
    }
    this.#isWoken = false
  }
}
