/**
 * Reports of tokens and API keys that were refused, from one event loop to the object that notices bursts
 * (auth_failures.ts) on the front-end thread. A flood of them costs that thread a bounded number of messages
 * a second: a burst needs fewer than that to be noticed. One object an event loop.
 */
import type { Checked, CheckedRequest } from './checks.js'

/**
 * Refused tokens and API keys that one event loop reports in a second: enough for the largest threshold of a
 * burst. A report is a message of 0.1 KB between threads.
 */
const AUTH_FAILURES_REPORTED_MAX = 1_000

const SECOND_MS = 1000

export class FailureReports {
  readonly #report: (ip: string) => void
  readonly #now: () => number
  #second = 0
  #count = 0

  /**
   * @param report `ip` is the address of the client in canonical form; empty if it is not known
   * @param now milliseconds, monotonic
   */
  constructor(report: (ip: string) => void, now: () => number = () => performance.now()) {
    this.#report = report
    this.#now = now
  }

  /**
   * Reports the credential unless it is valid. Requests without one are no failures. The address is asked for
   * in this turn of the event loop, and only if the credential is not known to be valid.
   */
  watch(checked: Checked | Promise<Checked>, request: Pick<CheckedRequest, 'clientAddress'>): void {
    if (checked instanceof Promise) {
      const ip = request.clientAddress()
      void checked.then((outcome) => this.#note(outcome, ip))
    } else if (typeof checked === 'string') this.#note(checked, request.clientAddress())
  }

  #note(outcome: Checked, ip: string): void {
    if (outcome !== 'invalidToken' && outcome !== 'invalidApiKey') return
    const second = Math.floor(this.#now() / SECOND_MS)
    if (second !== this.#second) this.#count = 0
    this.#second = second
    this.#count += 1
    if (this.#count <= AUTH_FAILURES_REPORTED_MAX) this.#report(ip)
  }
}
