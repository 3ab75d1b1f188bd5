/**
 * What a kind of binlog entry is made of: its code, how its fields are stored, what it changes, what the
 * index has to do for it, and what it asks of the group that commits it. Each kind is a folder beside this
 * file; they are registered in kinds.ts. Nothing outside of a kind's folder asks for its name.
 */
import type { Environment } from '../environment.js'
import type { CollectionCounters } from '../counters.js'
import type { HeadReader } from '../documents/heads.js'
import type { RevisionView } from '../documents/revisions.js'

/**
 * Where an entry comes from, in the order of the codes on disk: a request; the expiry of a document; a bulk
 * ingest; the binlog of another server; upkeep that the server does unasked.
 */
export const ENTRY_ORIGINS = ['request', 'expiry', 'import', 'replication', 'upkeep'] as const
export type EntryOrigin = (typeof ENTRY_ORIGINS)[number]

/** What consumers of the binlog are to leave out for an entry. */
export const ENTRY_FLAGS = { skipsWebhooks: 1, skipsFullText: 2 } as const

/** Who made an entry. */
export interface EntryAuthor {
  readonly origin: EntryOrigin
  /** Name of the principal; null: anonymous, or the server itself. */
  readonly actor: string | null
}

export interface EntryBase extends Partial<EntryAuthor> {
  readonly lsn: bigint
  /** 0: it concerns the server. */
  readonly collection: number
  /** 0: it concerns no document. */
  readonly docid: number
  /** ENTRY_FLAGS. Default: none. */
  readonly flags?: number
}

/** The fields of a stored entry behind collection and docid. Entries of older versions may have fewer. */
export type Fields = readonly unknown[]

/** What an entry is applied to: the state inside one write transaction. */
export interface ApplyTarget {
  readonly environment: Environment
  readonly heads: HeadReader
  readonly revisions: RevisionView
  /** Whether writes are noted in the histories of their documents. */
  readonly tracksHistory: boolean
  /** To be changed in place; stored at the end of the transaction. */
  counters(collection: number): CollectionCounters
  /** The collection is gone. */
  forgetCounters(collection: number): void
  /** The body has an object from here on, in place of the one that it had. */
  setObject(body: Buffer, record: Buffer): void
  /** The body has no object any more. */
  dropObject(body: Buffer): void
}

/** A document that is to be embedded. */
export interface QueuedDocument {
  readonly collection: number
  readonly docid: number
  /** LSN of the write that wants it. */
  readonly queued: number
  readonly force: boolean
}

/** What a group of entries has to do beside the store, once it is committed. */
export interface EntryEffects {
  /** Collections that are sealed from now on, or are not. */
  readonly sealings: { readonly collection: number; readonly isSealed: boolean }[]
  /** Documents that want vectors. */
  readonly queued: QueuedDocument[]
  /** Documents that wait for vectors are others than before. */
  isQueueChanged: boolean
}

/**
 * Of the full-text and metadata index: the document is indexed as it is now, or deleted; everything of the
 * collection is deleted; the entry does not concern it.
 */
export type IndexEffect = 'document' | 'collection' | 'none'

/**
 * Where an entry lies sealed: as its collection does; never, because what it has to say is no secret; as its
 * collection does, and with the server's key where that lies in clear.
 */
export type EntrySecrecy = 'collection' | 'never' | 'server'

/** Refuses what a table would not accept. The fields are named for the client. */
export interface FieldChecks {
  readonly holds: (isStorable: boolean, field: string) => void
  /** A number of 32 bits. */
  readonly whole: (field: string, value: unknown) => void
  readonly lsn: (field: string, value: unknown) => void
  readonly collectionName: (name: unknown) => void
  readonly identity: (key: unknown, lang: unknown) => void
  readonly head: (record: Buffer) => void
  readonly object: (record: Buffer | null) => void
}

export interface EntryKind<E extends EntryBase & { readonly kind: string }> {
  readonly name: E['kind']
  /** On disk; below 64, never changed and never given again. */
  readonly code: number
  readonly index: IndexEffect
  /** Whether it may make its collection: then it has the name. */
  readonly makesCollection: boolean
  /** Whether it changes the counters of its collection. */
  readonly isCounted: boolean
  /** Whether the record that comes with the entry stays for the readers of the binlog. */
  readonly keepsBody: boolean
  /**
   * Marks an entry in its record, so that a consumer finds it without decoding all others. Default: none is
   * marked.
   */
  readonly isMarked?: (entry: E) => boolean
  /** What an entry changes that others may watch (src/consumers/change_notices.ts). Default: nothing. */
  readonly topicOf?: (entry: E) => string
  readonly secrecyOf: (entry: E) => EntrySecrecy
  readonly encode: (entry: E) => Fields
  /** @throws Error where a later version has written what this one does not know */
  readonly decode: (base: EntryBase, fields: Fields) => E
  /** Refuses what `apply` could not do. */
  readonly check: (entry: E, checks: FieldChecks) => void
  /**
   * Changes the state. Deterministic; can't fail but for I/O or a broken invariant.
   * @param body the record that came with the entry
   */
  readonly apply: (target: ApplyTarget, entry: E, body: Buffer | undefined) => void
  /** Adds what the group has to do for the entry. Default: nothing. */
  readonly addEffects?: (entry: E, effects: EntryEffects) => void
}

export const inCollection = (): EntrySecrecy => 'collection'
export const neverSealed = (): EntrySecrecy => 'never'
