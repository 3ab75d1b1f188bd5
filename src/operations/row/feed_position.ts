/** Positions of the change feed, as clients know them by the ids of events. Pure; any thread. */

/** A place between two entries of the binlog: of one LSN, under one epoch of the store. */
export interface FeedPosition {
  readonly lsn: number
  /** The first 8 digits of the epoch; empty: the client does not say. */
  readonly epoch: string
}

/**
 * The id of an event: LSN, and the epoch under which it was assigned, because a restore assigns LSNs again.
 */
export function printPosition({ lsn, epoch }: FeedPosition): string {
  return `${lsn}-${epoch}`
}
