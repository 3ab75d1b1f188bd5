/**
 * Slows down failed logins: for each pair of user and address, and for each address. The first failures are
 * free, up to a number that refills within a minute. Each further attempt has to wait, twice as long as the
 * one before it, up to a longest wait. A quiet time after the last wait forgets it all.
 *
 * An attempt is charged when it is admitted, before its password is hashed. So parallel attempts are no way
 * around. `succeeded` takes the charge back. Memory is bounded: above the bound, the pairs and addresses
 * whose last attempt is longest ago are forgotten. Front-end thread only; takes microseconds. Decision:
 * docs/decisions/operation/throttles.md.
 */
import { addressKey } from './client_key.js'

/** Pairs of user and address, and addresses, whose failures are known: 2 x 10 000 x 0.3 KB are 6 MB. */
export const LOGIN_ENTRIES_MAX = 10_000
/** UTF-16 units of a user name that identify it here. Longer names share the counter of their beginning. */
const LOGIN_NAME_CHARS_MAX = 64
/** Failed logins in a minute before each further one has to wait: in production, and elsewhere. */
const LOGIN_FAILURES_STRICT = 10
const LOGIN_FAILURES_LENIENT = 600
/** First wait in milliseconds, which doubles, and the longest one: in production, and elsewhere. */
const LOGIN_WAIT_MS_STRICT = 6_000
const LOGIN_WAIT_MS_MAX_STRICT = 900_000
const LOGIN_WAIT_MS_LENIENT = 100
const LOGIN_WAIT_MS_MAX_LENIENT = 1_000
/** Milliseconds without an attempt after which waits begin again with the first one. */
export const LOGIN_QUIET_MS = 600_000

export interface LoginRules {
  /** Failures in a minute that need not wait. */
  readonly failures: number
  readonly waitMs: number
  readonly waitMsMax: number
}

/**
 * Outside of production the limits are above what hashing passwords allows for one client, so no client of
 * the contract meets them; they bound what a flood of attempts costs.
 */
export function loginRules({ production }: { readonly production: boolean }): LoginRules {
  return production
    ? { failures: LOGIN_FAILURES_STRICT, waitMs: LOGIN_WAIT_MS_STRICT, waitMsMax: LOGIN_WAIT_MS_MAX_STRICT }
    : { failures: LOGIN_FAILURES_LENIENT, waitMs: LOGIN_WAIT_MS_LENIENT, waitMsMax: LOGIN_WAIT_MS_MAX_LENIENT }
}

/** Times in milliseconds. */
interface Attempts {
  /** Attempts that need not wait; used while `waits` is 0. */
  tokens: number
  /** When `tokens` was computed. */
  at: number
  /** How often attempts had to wait. */
  waits: number
  /** No attempt before. */
  readyAt: number
}

export class LoginThrottle {
  readonly #rules: LoginRules
  readonly #now: () => number
  /** In the order of the last attempts. */
  readonly #known = { pair: new Map<string, Attempts>(), address: new Map<string, Attempts>() }

  /** @param now milliseconds, monotonic */
  constructor(rules: LoginRules, now: () => number = () => performance.now()) {
    this.#rules = rules
    this.#now = now
  }

  /**
   * Called before a password is hashed.
   * @param ip address of the client in canonical form; empty if it is not known
   * @returns 0: go on; else milliseconds to wait before another attempt, and nothing is charged
   */
  admit(user: string, ip: string): number {
    const now = this.#now()
    const both = [this.#attempts('pair', pairKey(user, ip), now), this.#attempts('address', addressKey(ip), now)]
    const wait = Math.max(...both.map(({ readyAt }) => readyAt - now))
    if (wait > 0) return wait
    for (const attempts of both) this.#charge(attempts, now)
    return 0
  }

  /**
   * The attempt that `admit` let through had the right password. The pair is forgotten. The address gets back
   * what the attempt was charged, and no more: an attacker with an account gains nothing for other accounts.
   */
  succeeded(user: string, ip: string): void {
    this.#known.pair.delete(pairKey(user, ip))
    const attempts = this.#known.address.get(addressKey(ip))
    if (attempts === undefined) return
    if (attempts.waits > 0) {
      attempts.waits -= 1
      attempts.readyAt = this.#now()
    }
    if (attempts.waits === 0) attempts.tokens = Math.min(this.#rules.failures, attempts.tokens + 1)
  }

  /** Pairs and addresses that are known. */
  get size(): number {
    return this.#known.pair.size + this.#known.address.size
  }

  /** Returns the entry, refilled, and moves it to the end of its map. */
  #attempts(kind: 'pair' | 'address', key: string, now: number): Attempts {
    const known = this.#known[kind]
    const found = known.get(key)
    const isForgotten = found === undefined || (found.waits > 0 && now - found.readyAt >= LOGIN_QUIET_MS)
    const attempts = isForgotten ? { tokens: this.#rules.failures, at: now, waits: 0, readyAt: now } : found
    known.delete(key)
    known.set(key, attempts)
    if (known.size > LOGIN_ENTRIES_MAX) for (const oldest of known.keys()) { known.delete(oldest); break } // prettier-ignore
    if (attempts.waits === 0) {
      const refilled = ((now - attempts.at) / 60_000) * this.#rules.failures
      attempts.tokens = Math.min(this.#rules.failures, attempts.tokens + refilled)
      attempts.at = now
    }
    return attempts
  }

  #charge(attempts: Attempts, now: number): void {
    const { waitMs, waitMsMax } = this.#rules
    if (attempts.waits === 0) attempts.tokens -= 1
    if (attempts.waits === 0 && attempts.tokens >= 1) return
    attempts.readyAt = now + Math.min(waitMsMax, waitMs * 2 ** attempts.waits)
    attempts.waits += 1
  }
}

function pairKey(user: string, ip: string): string {
  return `${addressKey(ip)} ${user.slice(0, LOGIN_NAME_CHARS_MAX)}`
}
