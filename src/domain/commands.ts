/**
 * Commands: what a read lane has prepared and the write lane decides on. They cross threads as msgpack bytes;
 * the byte strings in a decoded command are views of those bytes.
 */
import type { CancelIngestCommand, IngestError, SubmitIngestCommand } from './bulk_ingest.js'
import { Packr } from '../store/packages.js'
import type { EmbeddedDocument } from './embedding/embedded_document.js'
import type { SettingsCommand } from './settings/settings_commands.js'

/**
 * A document as it will be stored, but for what only the write lane knows: docid, LSN, times, revision
 * number.
 */
export interface PreparedDocument {
  readonly key: string
  readonly lang: string
  /** JSON text with sorted keys. */
  readonly meta: string
  readonly metaTriples: number
  /** The settings of the collection under which the metadata was checked: WriteRules. */
  readonly settingsLsn: bigint
  /** HEAD_FLAGS. */
  readonly flags: number
  /** CRC32 of identity, metadata and content: this document's part of the collection's checksum. */
  readonly contentHash: number
  readonly body: NewBody | SharedBody
  /** Present where the collection's bodies lie in a storage backend. */
  readonly object?: PreparedObject
  /** The JSON-escaped content for the answer; empty where the answer holds no document. */
  readonly escaped: Buffer
  /**
   * An upsert for the index without its stamp (docs/formats/index-batch.md); empty where the document is not
   * indexed.
   */
  readonly index: Buffer
  /** Seconds to live from now on; 0 for ever; null keeps the expiry as it is. */
  readonly ttl: number | null
  /** Unix seconds: says when it expires in place of `ttl`. */
  readonly expiresAt?: number
  /** Stated by the client in place of the clock's. */
  readonly times?: StatedTimes
  /** Nobody outside is notified of the write. Default: as configured. */
  readonly skipsWebhooks?: boolean
  /** Its vectors are wanted, where what they are made of changes. Default: not. */
  readonly embeds?: boolean
}

/** Unix seconds; undefined: as without it. */
export interface StatedTimes {
  readonly addedAt?: number
  readonly updatedAt?: number
}

export interface NewBody {
  readonly kind: 'new'
  /** Body record. */
  readonly record: Buffer
  readonly rawBytes: number
}

/** The object of a body. In an object store it is there before the command is committed. */
export interface PreparedObject {
  /** Id of the collection for which it was made, and sealed. */
  readonly collection: number
  /** As the env will hold it. */
  readonly record: Uint8Array
  /** For process memory: the body record, which the write lane puts there; else null. */
  readonly held: Uint8Array | null
}

/** The content of another state of the same document, stored once. */
export interface SharedBody {
  readonly kind: 'shared'
  readonly lsn: bigint
  readonly rawBytes: number
  readonly storedBytes: number
}

/** The state that a command was prepared from: where it has moved on, the command is prepared again. */
export interface Base {
  readonly docid: number
  readonly lsn: bigint
}

export interface AddCommand {
  readonly kind: 'add'
  readonly collection: string
  readonly document: PreparedDocument
}

export interface AddBatchCommand {
  readonly kind: 'addBatch'
  readonly collection: string
  readonly documents: readonly PreparedDocument[]
  /** What was refused during preparation, one text a document. */
  readonly errors: readonly string[]
}

export interface UpdateCommand {
  readonly kind: 'update'
  readonly collection: string
  readonly key: string
  readonly lang: string
  /** Which parts of `document` the request asked for; the others are those of the base. */
  readonly replaces: { readonly meta: boolean; readonly contentMd: boolean }
  readonly base: Base
  readonly document: PreparedDocument
}

export interface RestoreCommand {
  readonly kind: 'restore'
  readonly collection: string
  readonly key: string
  readonly lang: string
  readonly wanted: WantedRevision
  readonly base: Base
  readonly document: PreparedDocument
}

/** The newest revision of that second, or exactly the numbered one. */
export interface WantedRevision {
  readonly timestamp: number
  readonly revision: number | null
}

export interface DeleteCommand {
  readonly kind: 'delete'
  readonly collection: string
  readonly key: string
  readonly lang: string
}

export interface DeleteBatchCommand {
  readonly kind: 'deleteBatch'
  readonly collection: string
  readonly documents: readonly (readonly [key: string, lang: string])[]
  readonly errors: readonly string[]
}

export interface DeleteCollectionCommand {
  readonly kind: 'deleteCollection'
  readonly collection: string
}

export interface SetTtlCommand {
  readonly kind: 'setTtl'
  readonly collection: string
  readonly key: string
  readonly lang: string
  readonly ttl: number
}

/** A part of a bulk ingest. */
export interface IngestChunkCommand {
  readonly kind: 'ingestChunk'
  /** Of the job. */
  readonly id: string
  readonly collection: string
  readonly documents: readonly PreparedDocument[]
  /** Documents that did not get so far, and what there is to say of them. */
  readonly failed: number
  readonly errors: readonly IngestError[]
  /** The job ends with it. */
  readonly isLast: boolean
}

/** Of every document of the collection the newest `keep` revisions stay. */
export interface TruncateCommand {
  readonly kind: 'truncate'
  readonly collection: string
  readonly keep: number
}

export interface RotateCommand {
  readonly kind: 'rotate'
  /** Null: all. */
  readonly collection: string | null
  /** For the job, if it becomes a new one. */
  readonly id: string
}

/** Bodies of present states lie elsewhere from now on: of those that are still the same. */
export interface PlaceCommand {
  readonly kind: 'place'
  readonly collection: number
  readonly placements: readonly Placement[]
}

/** What was embedded, or will not be. */
export interface VectorsCommand {
  readonly kind: 'vectors'
  /** Of the store whose documents these are: what was embedded for another is not written. */
  readonly epoch: Uint8Array
  /** Id of a bulk ingest whose documents these are, which have no room among those that wait; empty: none. */
  readonly job: string
  readonly documents: readonly EmbeddedDocument[]
}

/**
 * Since when objects have been nobody's is forgotten where that was before, and of those that have been
 * removed.
 */
export interface ForgetReleasesCommand {
  readonly kind: 'forgetReleases'
  /** Unix seconds, and including. */
  readonly before: number
  /** Keys of releases. */
  readonly swept: readonly Uint8Array[]
}

export interface Placement {
  readonly docid: number
  readonly bodyLsn: bigint
  /** Null: it lies in the env only. */
  readonly object: PreparedObject | null
  /** What the env has to hold from now on, where it did not. */
  readonly body: Uint8Array | null
}

export type Command =
  | AddCommand
  | AddBatchCommand
  | UpdateCommand
  | RestoreCommand
  | DeleteCommand
  | DeleteBatchCommand
  | DeleteCollectionCommand
  | SetTtlCommand
  | RotateCommand
  | SettingsCommand
  | SubmitIngestCommand
  | CancelIngestCommand
  | IngestChunkCommand
  | TruncateCommand
  | PlaceCommand
  | VectorsCommand
  | ForgetReleasesCommand

const packr = new Packr({ useRecords: false, int64AsType: 'bigint' })

/** Settings hold maps with names of the client's choosing, and msgpack gives the name `__proto__` another. */
interface PackedSettings {
  readonly kind: 'settings'
  readonly json: string
}

/**
 * Bytes in a buffer of their own, which the caller may transfer: the packer's buffer, of which they would be
 * a view, must stay with the packer.
 */
export function encodeCommand(command: Command): Uint8Array {
  return new Uint8Array(packr.pack(command.kind === 'settings' ? { kind: 'settings', json: JSON.stringify(command) } : command))
}

/** @param bytes made by `encodeCommand` in this process; must stay unchanged while the command lives. */
export function decodeCommand(bytes: Uint8Array): Command {
  const command = packr.unpack(bytes) as Command | PackedSettings
  return 'json' in command ? (JSON.parse(command.json) as SettingsCommand) : command
}
