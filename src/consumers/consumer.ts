/**
 * What follows the binlog: a consumer looks at the entries above its position, a slice at a time, and does
 * its own work for them. A new one is a file beside this one and a line in registry.ts. Who calls it, wakes
 * it and bounds it: src/worker/background/binlog_consumers.ts. Decision:
 * docs/decisions/0197-consumers-of-the-binlog.md.
 */
import type { WriteTransaction } from '../store/apply.js'
import type { View } from '../store/view.js'

export interface ConsumerSlice {
  /** LSN of the last entry that was looked at; the one that was asked for where there was none. */
  readonly lsn: bigint
  /** More entries are there. */
  readonly isMore: boolean
  /** Changes of the store, in the transaction that stores the position as well. */
  readonly change?: (transaction: WriteTransaction) => void
  /** Documents that the change writes. */
  readonly weight?: number
}

export interface BinlogConsumer {
  /** Part of a row of the store and of metrics: lower case and hyphens. Never given to another one. */
  readonly name: string
  /**
   * `stored`: its position is a row of the store, and the binlog keeps what it has not seen, up to a bound.
   * `present`: it begins with what is committed after the start of the lane, and keeps nothing.
   */
  readonly position: 'stored' | 'present'
  /** Whether it may run only where the server may write unasked (src/role.ts). */
  readonly writesUnasked: boolean
  /** Milliseconds from a commit to the slice: entries that come meanwhile are taken together. */
  readonly delayMs: number
  /** Milliseconds between two slices while more entries are there. */
  readonly pauseMs: number
  /** Looks at the entries above `after`. Runs synchronously on a snapshot. */
  readonly next: (view: View, after: bigint) => ConsumerSlice
  /**
   * It was too far behind and goes on with the last entry: what it has derived is to be made anew from the
   * present state, where that matters.
   */
  readonly onLost?: () => void
}

/** What a consumer is given by the lane. */
export interface ConsumerTools {
  /** Tells the front end that something has changed (src/dispatch/notices.ts). */
  readonly notify: (topics: readonly string[]) => void
}

export type ConsumerMaker = (tools: ConsumerTools) => BinlogConsumer
