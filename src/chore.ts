/**
 * A chore: background work in rounds that never overlap. A round returns the time until the next round, or
 * that there is nothing to do until the chore is woken. A round that throws is logged and retried after a
 * back-off. A chore that writes unasked (src/chore_list.ts) runs only while the role allows it. Timers do not
 * keep the process alive.
 *
 * Runs on the thread that starts it: the front end or the write lane.
 */
import { type ChoreName, CHORES, type ChoreState } from './chore_list.js'
import { CHORE_RETRY_MS_FIRST, CHORE_RETRY_MS_MAX, CHORE_STANDBY_MS } from './limits/lanes.js'
import { mayWriteUnasked, type RoleSource } from './role.js'
import type { Service } from './services.js'
import { log } from './telemetry/log.js'

/** Longest rest of a chore: the maximum of a timer of Node.js. */
const CHORE_REST_MS_MAX = 2 ** 31 - 1

/** Milliseconds of a monotonic clock, and its timers. */
export interface Clock {
  now(): number
  /** @returns a function that cancels the timer */
  after(ms: number, run: () => void): () => void
}

/** Receives the counters of a chore: src/telemetry/registry.ts. */
interface ChoreTelemetry {
  countRound(chore: ChoreName, seconds: number, isFailed: boolean): void
  setChoreState(chore: ChoreName, state: ChoreState): void
}

/** Shared by the chores of a thread. */
export interface ChoreTools {
  readonly role: RoleSource
  readonly telemetry: ChoreTelemetry
  readonly clock?: Clock
}

/** Milliseconds until the next round; `idle`: none until the chore is woken. */
export type Rest = number | 'idle'

export interface ChoreOptions {
  readonly name: ChoreName
  /**
   * Runs one bounded piece of work. @param signal aborted when the chore is to stop: the round then ends soon
   */
  readonly round: (signal: AbortSignal) => Rest | Promise<Rest>
  /** Milliseconds until the first round. Default 0; `idle`: none until the chore is woken. */
  readonly first?: Rest
  /** The message of the log line for a round that failed. */
  readonly failure: string
  /** Milliseconds after a commit until the next round, where the chore is idle. Default: not woken by one. */
  readonly afterCommitMs?: number
  /** A commit also shortens a rest. A pause after a failed round is never shortened. */
  readonly commitsEndRest?: true
  /** Milliseconds until a failed round is retried: doubled each time, from the first to the longest. */
  readonly retry?: { readonly firstMs: number; readonly longestMs: number }
}

const DEFAULT_RETRY = { firstMs: CHORE_RETRY_MS_FIRST, longestMs: CHORE_RETRY_MS_MAX }

export class Chore implements Service {
  readonly #options: ChoreOptions
  readonly #tools: ChoreTools
  readonly #clock: Clock
  readonly #end = new AbortController()
  #state: ChoreState = 'stopped'
  #isStarted = false
  /** Time of the next round; Infinity: no timer is set. */
  #dueAt = Infinity
  /** The earliest time requested by a wake-up before the start or during a round. */
  #wokenAt = Infinity
  #cancel: (() => void) | undefined
  #running: Promise<void> | undefined
  #failuresInRow = 0
  /** Whether a commit was noted during the round. */
  #isCommitted = false

  constructor(tools: ChoreTools, options: ChoreOptions) {
    this.#options = options
    this.#tools = tools
    this.#clock = tools.clock ?? SYSTEM_CLOCK
  }

  get name(): ChoreName {
    return this.#options.name
  }

  /** Whether `noteCommit` may wake it. */
  get isWokenByCommits(): boolean {
    return this.#options.afterCommitMs !== undefined
  }

  get state(): ChoreState {
    return this.#state
  }

  /** The first call starts the rounds. A chore that was stopped does not start again. */
  start(): void {
    if (this.#isStarted || this.#end.signal.aborted) return
    this.#isStarted = true
    this.#restUntil(this.#options.first ?? 0, 'resting')
  }

  /** The next round begins in `delayMs` at the latest; if one is running, after its end. */
  wake(delayMs = 0, now = this.#clock.now()): void {
    if (this.#end.signal.aborted) return
    const at = now + delayMs
    if (!this.#isStarted || this.#state === 'running') this.#wokenAt = Math.min(this.#wokenAt, at)
    else if (at < this.#dueAt) this.#arm(at)
  }

  /** Called after each commit. @param now by the clock of the chore */
  noteCommit(now = this.#clock.now()): void {
    const { afterCommitMs, commitsEndRest } = this.#options
    if (afterCommitMs === undefined) return
    if (this.#state === 'running') this.#isCommitted = true
    else if (this.#state === 'idle' || (this.#state === 'resting' && commitsEndRest)) this.wake(afterCommitMs, now)
  }

  /** Resolves when the current round has ended. No other one begins. */
  async stop(): Promise<void> {
    this.#end.abort()
    this.#disarm()
    await this.#running
    this.#enter('stopped')
  }

  #begin(): void {
    this.#disarm()
    if (CHORES[this.name].writesUnasked && !mayWriteUnasked(this.#tools.role)) {
      this.#enter('standby')
      this.#arm(this.#clock.now() + CHORE_STANDBY_MS)
      return
    }
    this.#wokenAt = Infinity
    this.#enter('running')
    const running = this.#run()
    // A round that threw synchronously has ended already.
    if (this.#state === 'running') this.#running = running
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const begunAt = this.#clock.now()
    let rest: Rest
    try {
      rest = await this.#options.round(this.#end.signal)
      this.#failuresInRow = 0
    } catch (error) {
      rest = this.#backOff(error)
    }
    this.#tools.telemetry.countRound(this.name, (this.#clock.now() - begunAt) / 1000, this.#failuresInRow > 0)
    this.#running = undefined
    if (!this.#end.signal.aborted) this.#restUntil(rest, this.#failuresInRow > 0 ? 'retrying' : 'resting')
  }

  #backOff(error: unknown): number {
    this.#failuresInRow++
    const { firstMs, longestMs } = this.#options.retry ?? DEFAULT_RETRY
    // An error of a round that was aborted by the stop is not logged.
    if (!this.#end.signal.aborted) log.warn(this.#options.failure, { chore: this.name, reason: error })
    return Math.min(firstMs * 2 ** (this.#failuresInRow - 1), longestMs)
  }

  #restUntil(rest: Rest, state: ChoreState): void {
    let at = Math.min(rest === 'idle' ? Infinity : this.#clock.now() + rest, this.#wokenAt)
    const { afterCommitMs = Infinity, commitsEndRest } = this.#options
    const endsRest = rest === 'idle' || (state === 'resting' && commitsEndRest)
    if (this.#isCommitted && endsRest) at = Math.min(at, this.#clock.now() + afterCommitMs)
    this.#isCommitted = false
    this.#wokenAt = Infinity
    this.#enter(at === Infinity ? 'idle' : state)
    if (at < Infinity) this.#arm(at)
  }

  #arm(at: number): void {
    this.#disarm()
    this.#dueAt = at
    const ms = Math.min(Math.max(0, at - this.#clock.now()), CHORE_REST_MS_MAX)
    this.#cancel = this.#clock.after(ms, () => this.#begin())
  }

  #disarm(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#dueAt = Infinity
  }

  #enter(state: ChoreState): void {
    this.#state = state
    this.#tools.telemetry.setChoreState(this.name, state)
  }
}

const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  after: (ms, run) => {
    if (ms <= 0) {
      // Not unref'd: an unref'd immediate does not end the event loop's wait for input.
      const immediate = setImmediate(run)
      return () => clearImmediate(immediate)
    }
    const timer = setTimeout(run, ms).unref()
    return () => clearTimeout(timer)
  },
}
