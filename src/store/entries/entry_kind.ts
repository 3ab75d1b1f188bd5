/**
 * The definition of a kind of binlog entries: its code, the layout of its fields, what it changes in the
 * store, its effect on the index, and what the group that commits it has to do. Each kind is a folder beside
 * this file and is registered in kinds.ts. Code outside a kind's folder does not test for its name.
 */
import type { CollectionCounters } from '../counters.js'
import type { HeadReader } from '../documents/heads.js'
import type { Identity } from '../documents/identities.js'
import type { RevisionView } from '../documents/revisions.js'
import type { Environment } from '../environment.js'
import type { Head } from '../head.js'
import type { Job } from '../jobs.js'
import type { DocumentChange } from './document_change.js'
import type { EntryOrigin } from './entry_origin.js'

/** What consumers of the binlog skip for an entry. */
export const ENTRY_FLAGS = { skipsWebhooks: 1, skipsFullText: 2 } as const

/** Who made an entry. */
export interface EntryAuthor {
  readonly origin: EntryOrigin
  /** Name of the principal. Null: anonymous, or the server itself. */
  readonly actor: string | null
}

export interface EntryBase extends Partial<EntryAuthor> {
  readonly lsn: bigint
  /** 0: the entry concerns the server. */
  readonly collection: number
  /** 0: the entry concerns no document. */
  readonly docid: number
  /** ENTRY_FLAGS. Default: none. */
  readonly flags?: number
}

/** The fields of a stored entry after collection and docid. */
export type Fields = readonly unknown[]

/** The target of `apply`: the state inside one write transaction. */
export interface ApplyTarget {
  readonly environment: Environment
  readonly heads: HeadReader
  readonly revisions: RevisionView
  /** Of entries that do not name theirs. */
  readonly author: EntryAuthor
  /** Whether writes are recorded in the histories of their documents. */
  readonly tracksHistory: boolean
  /** Changed in place by the caller; stored at the end of the transaction. */
  counters(collection: number): CollectionCounters
  /** Drops the counters of a deleted collection. */
  forgetCounters(collection: number): void
  /** The body has this object from now on. It replaces an earlier one. */
  setObject(body: Buffer, record: Buffer): void
  /** The body no longer has an object. */
  dropObject(body: Buffer): void
}

/** A document that is to be embedded. */
interface QueuedDocument {
  readonly collection: number
  readonly docid: number
  /** LSN of the write that wants it. */
  readonly queued: number
  readonly force: boolean
}

/** The work of a group of entries outside the store, done once the group is committed. */
export interface EntryEffects {
  /** Collections whose sealing was switched on or off. */
  readonly sealings: { readonly collection: number; readonly isSealed: boolean }[]
  /** Documents to be embedded. */
  readonly queued: QueuedDocument[]
  /** The embedding queue has changed. */
  isQueueChanged: boolean
  /** Rights of principals may have changed. */
  isAccessChanged: boolean
}

/**
 * Effect on the full-text and metadata index. `document`: the document is indexed as it is now, or deleted.
 * `collection`: everything of the collection is deleted. `none`: the index is not affected.
 */
type IndexEffect = 'document' | 'collection' | 'none'

/**
 * How an entry is sealed. `collection`: as its collection is. `never`: it contains nothing secret. `server`:
 * as its collection is, and with the server's key if the collection is plaintext.
 */
type EntrySecrecy = 'collection' | 'never' | 'server'

/** Checks that refuse what a table would not accept. Error messages name the field as the client knows it. */
export interface FieldChecks {
  readonly holds: (isStorable: boolean, field: string) => void
  /** A 32-bit unsigned integer. */
  readonly whole: (field: string, value: unknown) => void
  readonly lsn: (field: string, value: unknown) => void
  readonly collectionName: (name: unknown) => void
  readonly identity: (key: unknown, lang: unknown) => void
  readonly head: (record: Buffer) => void
  readonly object: (record: Buffer | null) => void
  /** A body record. Undefined: the entry brings none. */
  readonly body: (record: Buffer | undefined) => void
}

/** What a decision has read of the document that its entry changes, as it is when the entry is applied. */
export interface PresentState {
  /** Expired or not. Undefined: there is none. */
  readonly head: Head | undefined
  readonly identity: Identity | undefined
}

export interface EntryKind<E extends EntryBase & { readonly kind: string }> {
  readonly name: E['kind']
  /** Code on disk, below 64. It never changes and is never reused. */
  readonly code: number
  readonly index: IndexEffect
  /** Whether the entry may create its collection. It then has the collection's name. */
  readonly makesCollection: boolean
  /** Whether the entry changes the counters of its collection. */
  readonly isCounted: boolean
  /** Whether the record that comes with the entry is kept for readers of the binlog. */
  readonly keepsBody: boolean
  /**
   * Whether an entry is marked in its record, so that a consumer finds it without decoding all others.
   * Default: no entry is marked.
   */
  readonly isMarked?: (entry: E) => boolean
  /** Head of the state that the entry adds to its document, which it may create. Default: it adds none. */
  readonly stateOf?: (entry: E) => Buffer
  /** Topic of the notice that reports the entry (src/consumers/change_notices.ts). Default: no notice. */
  readonly topicOf?: (entry: E) => string
  /**
   * The change of a document that webhooks and the change feed report. Default: the entry changes nothing
   * that a client has written.
   */
  readonly changeOf?: (entry: E) => DocumentChange
  /** The job whose course the change feed reports, as the entry leaves it. Default: none. */
  readonly jobOf?: (entry: E) => Job | undefined
  readonly secrecyOf: (entry: E) => EntrySecrecy
  readonly encode: (entry: E) => Fields
  /** @throws Error for a value that only a later version knows */
  readonly decode: (base: EntryBase, fields: Fields) => E
  /**
   * Refuses an entry that `apply` could not process, or that nobody could read.
   * @param body the record that comes with the entry
   */
  readonly check: (entry: E, checks: FieldChecks, body: Buffer | undefined) => void
  /**
   * Changes the state. Deterministic; it fails only on I/O errors or a broken invariant.
   * @param body the record that came with the entry
   * @param present what the decision has read already; default: it is read here
   */
  readonly apply: (target: ApplyTarget, entry: E, body: Buffer | undefined, present?: PresentState) => void
  /** Adds the work that the group has to do for the entry. Default: none. */
  readonly addEffects?: (entry: E, effects: EntryEffects) => void
}

export const inCollection = (): EntrySecrecy => 'collection'
export const neverSealed = (): EntrySecrecy => 'never'
