/**
 * The change feed between lanes and front end: what a client asks for, as its lane has checked it, and a page
 * of events. Pure types.
 */
import type { FeedPosition } from '../../operations/row/feed_position.js'

export interface FeedAsked {
  /** Lower-cased; empty: all that the client may read. */
  readonly collection: string
  /** Names of events, as the feed writes them; empty: all. */
  readonly events: readonly string[]
  /** Prefix of keys, lower-cased. */
  readonly key: string
  /** Id of a job: no other job, and no document. */
  readonly job: string
  readonly withDocuments: boolean
  /** Where the client goes on; null: with what comes next. */
  readonly since: FeedPosition | null
  /** Position of the store when the request was checked. */
  readonly present: FeedPosition
}

/** What has happened to a document, encoded for all clients. */
export interface ChangeEvent {
  readonly lsn: number
  readonly event: string
  readonly collection: string
  /** Empty: all documents of the collection. */
  readonly key: string
  /** The event in the form of server-sent events. */
  readonly text: string
}

/** The course of a job. The front end finds out which event it is. */
export interface JobNews {
  readonly lsn: number
  readonly job: string
  readonly collection: string
  readonly status: string
  /** The job was made by this entry. */
  readonly isNew: boolean
  /** As requests for the job show it. */
  readonly record: object
}

export interface FeedPage {
  /** Of the store now. */
  readonly epoch: string
  /** The position that was asked for is not in the binlog any more: the page begins with the oldest entry. */
  readonly isReset: boolean
  readonly after: number
  /** The page has all events above `after`, up to this LSN. */
  readonly lsn: number
  /** LSN of the last entry of the binlog. */
  readonly last: number
  readonly events: readonly (ChangeEvent | JobNews)[]
}
