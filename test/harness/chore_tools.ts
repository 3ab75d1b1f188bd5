/**
 * Arguments of chores in tests: a role that may change, telemetry that discards its counts, and a clock that
 * only the test advances.
 */
import { setImmediate as turn } from 'node:timers/promises'
import type { ChoreTools, Clock } from '../../src/chore.js'
import type { Role } from '../../src/role.js'

const telemetry = { countRound: () => undefined, setChoreState: () => undefined }

/** Chores with these tools run by the real clock. */
export function choreTools(role: Role = 'leader'): ChoreTools {
  return { role: { role }, telemetry }
}

/** A clock that advances only on request. */
export class StillClock implements Clock {
  #now = 0
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>()

  now(): number {
    return this.#now
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** The time of the next timer; undefined if there is none. */
  get nextAt(): number | undefined {
    return this.#timers.size === 0 ? undefined : Math.min(...[...this.#timers].map(({ at }) => at))
  }

  /** Runs the timers due until then, in order, and lets the work that they start proceed as far as it can. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    await turn()
    for (let at = this.nextAt; at !== undefined && at <= end; at = this.nextAt) {
      this.#now = Math.max(this.#now, at)
      for (const timer of [...this.#timers].filter((each) => each.at <= this.#now)) if (this.#timers.delete(timer)) timer.run()
      await turn()
    }
    this.#now = end
  }
}
