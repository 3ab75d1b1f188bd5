/**
 * Matches the death of a lane with its reason. The port of the lane reports the death and the pool reports
 * the reason, in either order. The earlier report waits for the other. Front-end thread only.
 */
import { LANE_DEATH_REASON_MS } from '../../limits/lanes.js'

export class DeathReasons {
  #said: { readonly text: string; readonly at: number } | undefined
  readonly #waiting: ((reason: string) => void)[] = []

  constructor(readonly msMax = LANE_DEATH_REASON_MS) {}

  say(text: string): void {
    this.#said = { text, at: performance.now() }
    for (const settle of this.#waiting.splice(0)) settle(text)
  }

  ask(reported: (reason: string) => void): void {
    const said = this.#said
    if (said !== undefined && performance.now() - said.at < LANE_DEATH_REASON_MS) {
      reported(said.text)
      return
    }
    const settle = (reason: string): void => {
      clearTimeout(late)
      reported(reason)
    }
    const late = setTimeout(() => {
      this.#waiting.splice(this.#waiting.indexOf(settle), 1)
      reported('no reason was given')
    }, this.msMax)
    this.#waiting.push(settle)
  }
}
