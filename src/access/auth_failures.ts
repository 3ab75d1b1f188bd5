/**
 * Notices bursts of failed authentication: as many failures of one actor from one address, within a sliding
 * window, as `SVC_INCIDENT_AUTH_THRESHOLD` says. Each burst is one incident; the next one about the same
 * actor and address follows after `SVC_INCIDENT_AUTH_COOLDOWN_SEC` at the earliest.
 *
 * Memory is bounded by the number of times that are kept. Above it, the actors whose last failure is longest
 * ago are forgotten. Front-end thread only; other threads send their failures to it.
 */
import type { Config } from '../config/config.js'
import { emitIncident, type Incident } from './checks.js'
import { addressKey } from './client_key.js'

/** Times of failures that are kept, over all actors: 100 000 x 8 B, and 0.3 KB for each actor: 31 MB. */
export const AUTH_BURST_TIMES_MAX = 100_000
/** Characters of a name in an event. */
const AUTH_ACTOR_CHARS_MAX = 64

type BurstRules = Pick<Config, 'incidentAuthThreshold' | 'incidentAuthWindowSeconds' | 'incidentAuthCooldownSeconds'>

interface Failures {
  /** Of the last ones, up to the threshold; oldest first, in milliseconds. */
  readonly times: number[]
  /** No event before this time. */
  quietUntil: number
}

export class AuthFailures {
  readonly #rules: BurstRules
  readonly #publish: (incident: Incident) => void
  readonly #now: () => number
  /** In the order of the last failures. */
  readonly #known = new Map<string, Failures>()
  #times = 0

  /** @param now milliseconds, monotonic */
  constructor(rules: BurstRules, publish: (incident: Incident) => void = emitIncident, now: () => number = () => performance.now()) {
    this.#rules = rules
    this.#publish = publish
    this.#now = now
  }

  /**
   * @param actor the name that was tried; empty for a token or key that names nobody
   * @param ip address of the client in canonical form; empty if it is not known
   */
  failed(actor: string, ip: string): void {
    const name = actor.slice(0, AUTH_ACTOR_CHARS_MAX)
    const key = `${addressKey(ip)} ${name}`
    const now = this.#now()
    const { times, quietUntil } = this.#touched(key)
    const { incidentAuthThreshold: threshold, incidentAuthWindowSeconds: windowSec, incidentAuthCooldownSeconds } = this.#rules
    times.push(now)
    this.#times += 1
    while (times.length > threshold || (times[0] ?? now) <= now - windowSec * 1000) {
      times.shift()
      this.#times -= 1
    }
    if (times.length >= threshold && now >= quietUntil) {
      this.#known.set(key, { times, quietUntil: now + incidentAuthCooldownSeconds * 1000 })
      const detail = JSON.stringify({ actor: name, ip, count: times.length, windowSec })
      this.#publish({ action: 'security.auth_failure_burst', actor: name, ip, detail })
    }
    this.#bound()
  }

  /** Times that are kept, over all actors. */
  get kept(): number {
    return this.#times
  }

  /** Moves the entry to the end of the map, which is the order in which entries are forgotten. */
  #touched(key: string): Failures {
    const failures = this.#known.get(key) ?? { times: [], quietUntil: 0 }
    this.#known.delete(key)
    this.#known.set(key, failures)
    return failures
  }

  #bound(): void {
    for (const [key, { times }] of this.#known) {
      if (this.#times <= AUTH_BURST_TIMES_MAX) return
      this.#known.delete(key)
      this.#times -= times.length
    }
  }
}
