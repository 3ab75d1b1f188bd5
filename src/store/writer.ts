/**
 * The one place that opens write transactions: a group of entries is decided and applied in one transaction
 * callback, committed and flushed. Runs on the write lane only.
 *
 * The flush is waited for on this thread (docs/decisions/0034-the-write-lane-waits-for-its-flush.md). A throw
 * in the callback and a refused commit are the end: nothing more is acknowledged, `onFailure` is called once,
 * and the process must end by SIGKILL and recover from disk. It is never retried here. A commit that neither
 * returns nor throws is noticed by the front end, which is told by `onCommit` when one begins and ends. The
 * one exception is a full disk: a commit that LMDB refuses for want of space, and of which a fresh read shows
 * that nothing is there, is `NoSpace`, and the next group may be written
 * (docs/decisions/0150-a-full-disk-refuses-writes.md).
 */
import { writeSync } from 'node:fs'
import { WriteTransaction } from './apply.js'
import { readStoreCounters } from './counters.js'
import { isNoSpace } from './disk_space.js'
import { cutTail, type Environment } from './environment.js'

export class StorageFailure extends Error {
  constructor(detail: string, options?: ErrorOptions) {
    super(`storage failure: ${detail}`, options)
    this.name = 'StorageFailure'
  }
}

/** The disk had no room for the group: the store is as it was before it. */
export class NoSpace extends Error {}

/** What the store showed when a group began. */
interface Before {
  readonly transaction: number
  readonly lastLsn: bigint
}

export interface WriterOptions {
  /** `async`: a group counts as written once it is committed, before the disk has it. */
  readonly durability: 'sync' | 'async'
  /** Writes are told by the histories of their documents. Default: not. */
  readonly tracksHistory?: boolean
  readonly onCommit: (isRunning: boolean) => void
  readonly onFailure: (failure: StorageFailure) => void
}

export class Writer {
  readonly #environment: Environment
  readonly #options: WriterOptions
  /** Of the group under way; undefined until its transaction has begun. */
  #before: Before | undefined

  constructor(environment: Environment, options: WriterOptions) {
    this.#environment = environment
    this.#options = options
  }

  /**
   * Runs `change` in one write transaction, synchronously; a throw in it is a failure of the storage, because
   * what it had written by then would be committed. To be called again only once the group before has
   * settled.
   * @returns what `change` returned, once the group is visible to readers and, unless durability is `async`,
   * on disk. Never settles after a failure.
   * @throws NoSpace
   */
  async group<T>(now: () => number, change: (transaction: WriteTransaction) => T): Promise<T> {
    const { root } = this.#environment
    const apply = (): T => this.#apply(now, change)
    this.#options.onCommit(true)
    this.#before = undefined
    try {
      // lmdb-js flushes a synchronous transaction before it returns: data by fdatasync, then the meta page
      // through a descriptor that is O_DSYNC.
      return this.#options.durability === 'sync' ? root.transactionSync(apply) : await root.transaction(apply)
    } catch (cause) {
      // What was undone has corrected it.
      this.#environment.tallies.running = undefined
      if (isNoSpace(cause) && this.#isUndone()) {
        cutTail(this.#environment)
        throw new NoSpace('no space for a commit', { cause })
      }
      this.#options.onFailure(new StorageFailure('commit refused', { cause }))
      return await new Promise<never>(() => undefined)
    } finally {
      this.#options.onCommit(false)
    }
  }

  /** Whether a group that has settled is on disk; else `flushed` tells. */
  get isDurable(): boolean {
    return this.#options.durability === 'sync'
  }

  /** Resolves when every group that has settled so far is on disk. */
  async flushed(): Promise<void> {
    if (!this.isDurable) await this.#environment.root.flushed
  }

  /**
   * Whether a fresh read, which takes the newest meta page that is whole, shows the store as it was before
   * the group. Where the meta page itself could not be written LMDB refuses reads as well: then nothing is
   * known. What had been flushed before is untouched by a failed flush; without flushes (`async`) earlier
   * groups may have been lost with it, so only another process can tell.
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

  #apply<T>(now: () => number, change: (transaction: WriteTransaction) => T): T {
    try {
      const transaction = new WriteTransaction(this.#environment, now(), this.#options.tracksHistory)
      this.#before = { transaction: this.#environment.root.getWriteTxnId(), lastLsn: transaction.nextLsn - 1n }
      const result = change(transaction)
      transaction.finish()
      return result
    } catch (cause) {
      // Said at once and by this thread: nothing that waits for its turn is said any more.
      writeSync(2, `fatal: apply threw: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}\n`)
      // lmdb-js commits what a throwing callback had written: this must not return.
      this.#options.onFailure(new StorageFailure('apply threw', { cause }))
      return process.kill(process.pid, 'SIGKILL') as never
    }
  }
}
