/**
 * The only code that opens write transactions. A group of entries is decided and applied in one transaction
 * callback, committed and flushed. Runs on the write lane only.
 *
 * This thread waits for the flush (docs/decisions/store/commits.md). An error thrown in the callback and a
 * refused commit are fatal: nothing more is acknowledged, `onFailure` is called once, and the process must
 * end by SIGKILL and recover from disk. Nothing is retried here. `onCommit` notifies the front end when a
 * commit begins and ends, so that it detects a commit that neither returns nor throws.
 *
 * The only exception is a full disk. If LMDB refuses a commit for lack of space (it reports a write that was
 * cut short as an I/O error), and a fresh read shows that nothing of it was stored, the error is `NoSpace`
 * and the next group may be written (docs/decisions/store/disks.md).
 */
import { writeSync } from 'node:fs'
import { isNoSpace } from '../base/free_space.js'
import { WriteTransaction } from './apply.js'
import { readStoreCounters } from './counters.js'
import { cutTail, type Environment } from './environment.js'
import type { DiskSpace } from './files/disk_space.js'

class StorageFailure extends Error {
  constructor(detail: string, options?: ErrorOptions) {
    super(`storage failure: ${detail}`, options)
    this.name = 'StorageFailure'
  }
}

/** The disk had no space for the group. The store is as it was before the group. */
export class NoSpace extends Error {}

/** The state of the store when a group began. */
interface Before {
  readonly transaction: number
  readonly lastLsn: bigint
}

export interface WriterOptions {
  /** `async`: a group counts as written once it is committed, before it is on disk. */
  readonly durability: 'sync' | 'async'
  /** Whether writes are recorded in the histories of their documents. Default: false. */
  readonly tracksHistory?: boolean
  /** Tells refusals for lack of space from others. Default: by the error alone. */
  readonly space?: Pick<DiskSpace, 'isCauseOf'>
  readonly onCommit: (isRunning: boolean) => void
  readonly onFailure: (failure: StorageFailure) => void
}

export class Writer {
  readonly #environment: Environment
  readonly #options: WriterOptions
  /** State before the current group; undefined until its transaction has begun. */
  #before: Before | undefined

  constructor(environment: Environment, options: WriterOptions) {
    this.#environment = environment
    this.#options = options
  }

  /**
   * Runs `change` synchronously in one write transaction. An error thrown in it is a failure of the storage,
   * because the rows that it had written by then would be committed. Must not be called again until the
   * previous group has settled.
   * @returns the result of `change`, once the group is visible to readers and, unless durability is `async`,
   * on disk. The promise never settles after a failure
   * @throws NoSpace
   */
  async group<T>(now: () => number, change: (transaction: WriteTransaction) => T): Promise<T> {
    const { root } = this.#environment
    const apply = (): T => this.#apply(now, change)
    this.#options.onCommit(true)
    this.#before = undefined
    try {
      // lmdb-js flushes a synchronous transaction before it returns: the data by fdatasync, then the meta
      // page through an O_DSYNC descriptor.
      return this.#options.durability === 'sync' ? root.transactionSync(apply) : await root.transaction(apply)
    } catch (cause) {
      // The undone group has already corrected the tally.
      this.#environment.tallies.running = undefined
      if (this.#isNoSpace(cause) && this.#isUndone()) {
        cutTail(this.#environment)
        throw new NoSpace('no space for a commit', { cause })
      }
      this.#options.onFailure(new StorageFailure('commit refused', { cause }))
      return await new Promise<never>(() => undefined)
    } finally {
      this.#options.onCommit(false)
    }
  }

  /** Whether a settled group is on disk. If false, `flushed` reports when it is. */
  get isDurable(): boolean {
    return this.#options.durability === 'sync'
  }

  /** Resolves when every group settled so far is on disk. */
  async flushed(): Promise<void> {
    if (!this.isDurable) await this.#environment.root.flushed
  }

  /**
   * Whether a fresh read, which uses the newest intact meta page, shows the store as it was before the group.
   * If the meta page itself could not be written, LMDB refuses reads as well; then the state is unknown. A
   * failed flush does not affect data that was flushed before. Without flushes (`async`), earlier groups may
   * have been lost with this one, and only another process can detect that.
   */
  #isUndone(): boolean {
    const before = this.#before
    if (before === undefined || !this.isDurable) return false
    const { root } = this.#environment
    root.resetReadTxn()
    try {
      const { lastTxnId } = root.getStats() as { readonly lastTxnId: number }
      return lastTxnId < before.transaction && readStoreCounters(this.#environment).lastLsn === before.lastLsn
    } catch {
      return false
    } finally {
      root.resetReadTxn()
    }
  }

  #isNoSpace(refusal: unknown): boolean {
    const { space } = this.#options
    return space === undefined ? isNoSpace(refusal) : space.isCauseOf(refusal)
  }

  #apply<T>(now: () => number, change: (transaction: WriteTransaction) => T): T {
    try {
      const transaction = new WriteTransaction(this.#environment, now(), this.#options.tracksHistory)
      this.#before = { transaction: this.#environment.root.getWriteTxnId(), lastLsn: transaction.nextLsn - 1n }
      const result = change(transaction)
      transaction.finish()
      return result
    } catch (cause) {
      // Written synchronously by this thread: queued log lines would not be written any more.
      writeSync(2, `fatal: apply threw: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}\n`)
      // lmdb-js commits what a throwing callback had written, so this must not return.
      this.#options.onFailure(new StorageFailure('apply threw', { cause }))
      return process.kill(process.pid, 'SIGKILL') as never
    }
  }
}
