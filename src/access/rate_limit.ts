/**
 * The rate limit: each client has a number of requests in a fixed window of time, over all event loops and
 * surfaces together. Counters are in shared memory (window_counters.ts). One object for each thread that
 * serves clients. Decision: docs/decisions/operation/throttles.md.
 */
import type { Config } from '../config/config.js'
import { WindowCounters } from './window_counters.js'

/** Events of exceeded limits that one event loop reports in a window: a flood must not fill the audit log. */
export const RATE_EVENTS_MAX = 256

export interface RateVerdict {
  readonly isAllowed: boolean
  /** Requests that the client has left in the window. */
  readonly remaining: number
  /** Unix seconds at which the window ends, rounded up. */
  readonly resetSeconds: number
  /** Seconds until then, at least one. */
  readonly retryAfterSeconds: number
  /** The first request of the client in the window that is refused, to be reported as an event. */
  readonly isEvent: boolean
}

type RateRules = Pick<Config, 'rateLimitRequests' | 'rateLimitBurst' | 'rateLimitWindowMs' | 'rateLimitBy'>

export class RateLimit {
  readonly by: RateRules['rateLimitBy']
  /** Requests in a window. */
  readonly ceiling: number
  readonly #counters: WindowCounters
  readonly #windowMs: number
  readonly #now: () => number
  #window = 0
  #events = 0

  /**
   * @param memory of the first object of the process; default: this is the first
   * @param now milliseconds of the clock of `monotonicMs`
   */
  constructor(rules: RateRules, memory?: SharedArrayBuffer, now: () => number = monotonicMs) {
    this.by = rules.rateLimitBy
    this.ceiling = rules.rateLimitRequests + rules.rateLimitBurst
    this.#windowMs = rules.rateLimitWindowMs
    this.#counters = memory === undefined ? WindowCounters.create() : new WindowCounters(memory)
    this.#now = now
  }

  /** For the objects of other threads. */
  get memory(): SharedArrayBuffer {
    return this.#counters.buffer
  }

  /**
   * Counts a request.
   * @param client as client_key.ts makes it; any text of a surface that knows its clients otherwise
   */
  take(client: string): RateVerdict {
    const now = this.#now()
    const window = Math.floor(now / this.#windowMs) + 1
    const leftMs = window * this.#windowMs - now
    const count = this.#counters.add(client, window, this.ceiling)
    const isAllowed = count <= this.ceiling
    return {
      isAllowed,
      remaining: isAllowed ? this.ceiling - count : 0,
      resetSeconds: Math.ceil((Date.now() + leftMs) / 1000),
      retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1000)),
      isEvent: count === this.ceiling + 1 && this.#mayReport(window),
    }
  }

  #mayReport(window: number): boolean {
    if (window !== this.#window) this.#events = 0
    this.#window = window
    this.#events += 1
    return this.#events <= RATE_EVENTS_MAX
  }
}

// performance.now() counts from the start of its thread, hrtime from one moment for the whole process.
const THREAD_STARTED_MS = Number(process.hrtime.bigint() / 1000n) / 1000 - performance.now()

/** Milliseconds of a clock that never goes back and is the same in all threads of the process. */
function monotonicMs(): number {
  return THREAD_STARTED_MS + performance.now()
}
