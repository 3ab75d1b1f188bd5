/**
 * The change of a document that a binlog entry stands for: what webhooks, triggers and the change feed
 * report. It follows from the entry alone, so that it is the same after a crash, in a replay and on a
 * follower.
 */
import type { EntryOrigin } from './entry_origin.js'

/** Both names of each change. The first is that of automation, the second that of webhooks and the feed. */
const EVENT_OF = { insert: 'doc.added', update: 'doc.updated', delete: 'doc.deleted' } as const
type ChangeType = keyof typeof EVENT_OF
type ChangeEvent = (typeof EVENT_OF)[ChangeType]

export interface DocumentChange {
  readonly lsn: bigint
  readonly type: ChangeType
  readonly event: ChangeEvent
  readonly collection: number
  /** The collection's name as the entry knows it; empty where the row of the collection was damaged. */
  readonly collectionName: string
  /** Empty if all documents of the collection were deleted with it. */
  readonly key: string
  readonly lang: string
  /** 0: all documents of the collection. */
  readonly docid: number
  /** Number of the document's state. 0: the document is deleted. */
  readonly revision: number
  /** Unix seconds. 0: the entry was written before entries had times. */
  readonly timestamp: number
  readonly actor: string | null
  readonly origin: EntryOrigin
  /** ENTRY_FLAGS. */
  readonly flags: number
  /** Documents that a deleted collection had. Undefined for any other change, and where it is not known. */
  readonly deletedCount?: number
}

/** The parts of a change that depend on the kind of its entry. */
type Changed = Pick<DocumentChange, 'type' | 'collectionName' | 'key' | 'lang' | 'revision' | 'deletedCount'> & {
  readonly timestamp: number | undefined
}

/** The parts that every entry has. */
type Entered = Pick<DocumentChange, 'lsn' | 'collection' | 'docid'> & Partial<Pick<DocumentChange, 'actor' | 'origin' | 'flags'>>

export function changeBy(entry: Entered, changed: Changed): DocumentChange {
  const { lsn, collection, docid, actor = null, origin = 'request', flags = 0 } = entry
  const { type, timestamp = 0 } = changed
  return { ...changed, lsn, collection, docid, actor, origin, flags, timestamp, event: EVENT_OF[type] }
}
