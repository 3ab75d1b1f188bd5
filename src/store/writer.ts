/**
 * The one place that opens write transactions: a group of entries is decided and applied in one `transaction()` callback, and its outcome is told apart in two steps, committed (readers
 * see it) and flushed (it survives a power cut). Runs on the write lane only.
 *
 * lmdb-js never rejects `flushed` and can leave either promise pending for ever after an I/O error. So the writer keeps one promise per group, settles them strictly in order, and treats a
 * throw in the callback, a rejected commit, a flush that overtakes an earlier one, and ten seconds of silence alike: nothing more is acknowledged, `onFailure` is called once, and the process
 * must end by SIGKILL and recover from disk. It is never retried here.
 */
import { COMMIT_SILENCE_MS_MAX } from '../limits.js'
import type { Environment } from './environment.js'
import { WriteTransaction } from './apply.js'

export class StorageFailure extends Error {
  constructor(detail: string, options?: ErrorOptions) {
    super(`storage failure: ${detail}`, options)
    this.name = 'StorageFailure'
  }
}

export interface Group<T> {
  /** Resolves with what the callback returned once the group is visible to readers. Never resolves after a failure. */
  readonly committed: Promise<T>
  /** Resolves once the group and all groups before it are on disk. Never resolves after a failure. */
  readonly flushed: Promise<void>
}

export interface WriterOptions {
  /** `async` answers without waiting for the disk: `flushed` then resolves with the commit. */
  readonly durability: 'sync' | 'async'
  readonly onFailure: (failure: StorageFailure) => void
}

export class Writer {
  readonly #environment: Environment
  readonly #options: WriterOptions
  #failed = false
  #groupLast = 0
  #flushedLast = 0
  #tail: Promise<void> = Promise.resolve()

  constructor(environment: Environment, options: WriterOptions) {
    this.#environment = environment
    this.#options = options
  }

  /**
   * Runs `change` in one write transaction. It is called later, once, synchronously; a throw in it is a failure of the storage, because what it had written by then would be committed.
   */
  group<T>(now: () => number, change: (transaction: WriteTransaction) => T): Group<T> {
    const number = ++this.#groupLast
    const outcome = this.#environment.root.transaction((): T => {
      try {
        const transaction = new WriteTransaction(this.#environment, now())
        const result = change(transaction)
        transaction.finish()
        return result
      } catch (cause) {
        // lmdb-js commits what a throwing callback had written: this must not return.
        this.#fail(new StorageFailure('apply threw', { cause }))
        return process.kill(process.pid, 'SIGKILL') as never
      }
    })
    // Read in the same turn: `flushed` belongs to the batch that is being written now.
    const onDisk =
      this.#options.durability === 'sync'
        ? new Promise<unknown>((resolve, reject) => void this.#environment.root.flushed.then(resolve, reject))
        : outcome
    const committed = this.#watch(outcome, 'commit')
    const flushed = this.#watch(onDisk, 'flush').then(() => this.#settle(number))
    const previous = this.#tail
    this.#tail = Promise.all([previous, committed, flushed]).then(() => undefined)
    return { committed, flushed: this.#tail }
  }

  /** Resolves when every group so far is on disk. */
  async drain(): Promise<void> {
    await this.#tail
  }

  /** @returns what stays pending after a failure, so that nothing is acknowledged any more */
  #settle(number: number): void | Promise<never> {
    if (number === this.#flushedLast + 1) {
      this.#flushedLast = number
      return
    }
    this.#fail(new StorageFailure(`flush ${number} settled after flush ${this.#flushedLast}`))
    return new Promise<never>(() => undefined)
  }

  /** Passes the outcome on unless the storage has failed; silence and rejection are failures, after which the promise stays pending. */
  #watch<T>(outcome: Promise<T>, what: string): Promise<T> {
    return new Promise((resolve) => {
      const alarm = setTimeout(
        () => this.#fail(new StorageFailure(`${what} not settled after ${COMMIT_SILENCE_MS_MAX} ms`)),
        COMMIT_SILENCE_MS_MAX,
      )
      outcome.then(
        (value) => {
          clearTimeout(alarm)
          if (!this.#failed) resolve(value)
        },
        (cause: unknown) => {
          clearTimeout(alarm)
          this.#fail(new StorageFailure(`${what} rejected`, { cause }))
        },
      )
    })
  }

  #fail(failure: StorageFailure): void {
    if (this.#failed) return
    this.#failed = true
    this.#options.onFailure(failure)
  }
}
