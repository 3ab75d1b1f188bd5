/**
 * The interface of binlog consumers. A consumer reads the entries above its position, a slice at a time, and
 * does its own work for them. A new one is a file beside this one and a line in registry.ts. Its caller,
 * which wakes and bounds it: src/worker/background/binlog_consumers.ts. Decision:
 * docs/decisions/store/commits.md.
 */
import type { WriteTransaction } from '../store/apply.js'
import type { View } from '../store/view.js'

export interface ConsumerSlice {
  /** LSN of the last entry processed; the requested LSN if there was none. */
  readonly lsn: bigint
  /** Whether there are more entries. */
  readonly isMore: boolean
  /** Changes of the store, in the transaction that also stores the position. */
  readonly change?: (transaction: WriteTransaction) => void
  /** Number of documents that the change writes. */
  readonly weight?: number
}

export interface BinlogConsumer {
  /** Part of a row of the store and of metrics: lower case and hyphens. Never reused for another consumer. */
  readonly name: string
  /**
   * `stored`: its position is a row of the store, and the binlog keeps the entries that it has not seen, up
   * to a bound. `present`: it begins with the entries committed after the start of the lane, and retains
   * nothing; it compares `after` with `trimmedLsn` itself.
   */
  readonly position: 'stored' | 'present'
  /**
   * Where it begins in a store that has no position of it yet: with the oldest entry of the binlog, or after
   * the last one. Default: oldest.
   */
  readonly begins?: 'oldest' | 'last'
  /** Whether it may run only where background writes are allowed (src/role.ts). */
  readonly writesUnasked: boolean
  /** A commit wakes it only if this holds. Default: each commit does. */
  readonly isWanted?: () => boolean
  /** Milliseconds from a commit to the slice. Entries that arrive meanwhile are processed together. */
  readonly delayMs: number
  /** Milliseconds between two slices while there are more entries. */
  readonly pauseMs: number
  /** Processes the entries above `after`. Runs synchronously on a snapshot. */
  readonly next: (view: View, after: bigint) => ConsumerSlice
  /**
   * Called when entries were trimmed that it has not seen, and it continues with the last entry. Where that
   * matters, its derived data must be rebuilt from the present state. The slice that follows stores its
   * position: what has to be made up is part of the change of that slice. Called again after a crash before
   * that. Does not throw.
   */
  readonly onLost?: () => void
}

/** The lane's services for a consumer. */
export interface ConsumerTools {
  /** Notifies the front end of a change (src/dispatch/notices.ts). */
  readonly notify: (topics: readonly string[]) => void
  /** Deliveries that may wait for webhooks: for one, and for all. */
  readonly backlogMax: { readonly ofHook: number; readonly ofAll: number }
  /** Whether the change feed has clients. */
  readonly isFeedWatched: () => boolean
}

export type ConsumerMaker = (tools: ConsumerTools) => BinlogConsumer
