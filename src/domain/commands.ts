/**
 * Commands: prepared by a read lane and decided by the write lane. They cross threads as msgpack bytes. The
 * byte strings in a decoded command are views of those bytes.
 */
import { Packr } from '../store/rows/packages.js'
import type { AccessCommand } from './access/access_changes.js'
import type { CancelIngestCommand, IngestError, SubmitIngestCommand } from './bulk_ingest.js'
import type { EmbeddedDocument } from './embedding/embedded_document.js'
import type { SettingsCommand } from './settings/settings_commands.js'
import type { WebhookCommand } from './settings/webhook_commands.js'
import type { ImportPagesCommand } from './wiki_import.js'

/**
 * A document as it will be stored, except for what only the write lane knows: docid, LSN, times, revision
 * number.
 */
export interface PreparedDocument {
  readonly key: string
  readonly lang: string
  /** JSON text with sorted keys. */
  readonly meta: string
  readonly metaTriples: number
  /** LSN of the collection's settings under which the metadata was checked: WriteRules. */
  readonly settingsLsn: bigint
  /** Id of the sealed collection that it was prepared for: WriteRules. 0 or absent: it was not sealed. */
  readonly sealedIn?: number
  /** HEAD_FLAGS. */
  readonly flags: number
  /** Hash of key, language, metadata and content: this document's part of the collection's checksum. */
  readonly contentHash: bigint
  readonly body: NewBody | SharedBody
  /** Present if the collection's bodies are stored in a storage backend. */
  readonly object?: PreparedObject
  /** The JSON-escaped content for the answer. Empty if the answer contains no document. */
  readonly escaped: Buffer
  /**
   * An upsert for the index without its stamp (docs/formats/index-batch.md). Empty if the document is not
   * indexed.
   */
  readonly index: Buffer
  /** Seconds to live from now on; 0: no expiry; null: the expiry does not change. */
  readonly ttl: number | null
  /** Expiry in Unix seconds. Overrides `ttl`. */
  readonly expiresAt?: number
  /** Set by the client instead of the clock. */
  readonly times?: StatedTimes
  /** No external receiver is notified of the write. Default: as configured. */
  readonly skipsWebhooks?: boolean
  /** Its vectors are computed if their input changes. Default: false. */
  readonly embeds?: boolean
}

/** Unix seconds. Undefined: set by the clock. */
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

/** The object of a body. An object store contains it before the command is committed. */
export interface PreparedObject {
  /** Id of the collection that it was created and sealed for. */
  readonly collection: number
  /** The record as it will be stored in the env. */
  readonly record: Uint8Array
  /** Process memory: the body record, which the write lane stores there. Else null. */
  readonly memoryRecord: Uint8Array | null
}

/** The content of another state of the same document, stored once. */
export interface SharedBody {
  readonly kind: 'shared'
  readonly lsn: bigint
  readonly rawBytes: number
  readonly storedBytes: number
}

/** The state that a command was prepared from. If it has changed since, the command is prepared again. */
export interface Base {
  readonly docid: number
  readonly lsn: bigint
}

export interface AddCommand {
  readonly kind: 'add'
  readonly collection: string
  readonly document: PreparedDocument
  /** Given: the facts of the answer say whether the document is new, and have these warnings. */
  readonly warnings?: readonly string[]
}

export interface AddBatchCommand {
  readonly kind: 'addBatch'
  readonly collection: string
  readonly documents: readonly PreparedDocument[]
  /** Errors of documents rejected during preparation, one per document. */
  readonly errors: readonly string[]
}

export interface IngestCommand {
  readonly kind: 'ingest'
  readonly collection: string
  readonly documents: readonly PreparedDocument[]
  /** Errors of documents rejected during preparation, one per document. */
  readonly errors: readonly string[]
  /** The type that the collection gets if a document of this command creates it. Null: none. */
  readonly type: string | null
  readonly report: IngestReport
}

/** What the answer says beside the counts of the write lane. */
export interface IngestReport {
  readonly profile: string
  /** Documents whose content is stored already. */
  readonly skipped: number
  readonly sanitized: number
  readonly keyCollisions: readonly string[]
  readonly warnings: readonly string[]
  /** Unix milliseconds. */
  readonly startedMs: number
}

export interface UpdateCommand {
  readonly kind: 'update'
  readonly collection: string
  readonly key: string
  readonly lang: string
  /** The parts of `document` that the request replaces. The others are those of the base. */
  readonly replaces: { readonly meta: boolean; readonly contentMd: boolean }
  readonly base: Base
  readonly document: PreparedDocument
}

/** Documents that were not there when the command was prepared are counted only. */
export interface UpdateBatchCommand {
  readonly kind: 'updateBatch'
  readonly collection: string
  readonly updates: readonly UpdateCommand[]
  readonly notFound: number
  readonly errors: readonly string[]
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

/** The newest revision of the given second, or exactly the numbered one. */
export interface WantedRevision {
  readonly timestamp: number
  readonly revision: number | null
}

/** A session, a message or a summary of conversational memory. */
export interface MemoryCommand {
  readonly kind: 'memory'
  readonly collection: string
  readonly document: PreparedDocument
  /** The session that the document belongs to. Null: it is a session itself. */
  readonly session: { readonly sessionId: string; readonly userId: string } | null
  /** Prolongs the session together with the document. Null: it stays as it is. */
  readonly touch: UpdateCommand | null
  /** The fields of the answer that are known before the write. */
  readonly answer: MemoryAnswer
}

export interface MemoryAnswer {
  readonly kind: 'session' | 'message' | 'summary'
  readonly fields: Readonly<Record<string, unknown>>
}

interface DeleteCommand {
  readonly kind: 'delete'
  readonly collection: string
  readonly key: string
  readonly lang: string
}

interface DeleteBatchCommand {
  readonly kind: 'deleteBatch'
  readonly collection: string
  readonly documents: readonly (readonly [key: string, lang: string])[]
  readonly errors: readonly string[]
}

export interface DeleteCollectionCommand {
  readonly kind: 'deleteCollection'
  readonly collection: string
  /** Whoever deletes it may take permissions away: those on its name end with it. */
  readonly endsGrants: boolean
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
  /** Id of the job. */
  readonly id: string
  readonly collection: string
  readonly documents: readonly PreparedDocument[]
  /** Documents that failed before this point, and their errors. */
  readonly failed: number
  readonly errors: readonly IngestError[]
  /** This is the last part of the job. */
  readonly isLast: boolean
}

/** Keeps the newest `keep` revisions of every document of the collection. */
export interface TruncateCommand {
  readonly kind: 'truncate'
  readonly collection: string
  readonly keep: number
}

interface RotateCommand {
  readonly kind: 'rotate'
  /** Null: all collections. */
  readonly collection: string | null
  /** Id of the job, if a new one is created. */
  readonly id: string
}

/** Moves the bodies of current states. Applies only to states that have not changed since. */
export interface MoveCommand {
  readonly kind: 'move'
  readonly collection: number
  readonly moves: readonly BodyMove[]
}

/** Documents that were embedded, or that will not be. */
export interface VectorsCommand {
  readonly kind: 'vectors'
  /** Epoch of the store that the documents belong to. Vectors computed for another store are not written. */
  readonly epoch: Uint8Array
  /** Id of the bulk ingest whose documents do not fit into the queue. Empty: none. */
  readonly job: string
  readonly documents: readonly EmbeddedDocument[]
}

/** Deletes the release timestamps up to a given time, and those of objects that have been removed. */
export interface ForgetReleasesCommand {
  readonly kind: 'forgetReleases'
  /** Unix seconds, inclusive. */
  readonly before: number
  /** Keys of releases. */
  readonly swept: readonly Uint8Array[]
}

export interface BodyMove {
  readonly docid: number
  readonly bodyLsn: bigint
  /** Null: the body is stored in the env only. */
  readonly object: PreparedObject | null
  /** The body that must be added to the env. Null: none. */
  readonly body: Uint8Array | null
}

export type Command =
  | AddCommand
  | AddBatchCommand
  | IngestCommand
  | UpdateCommand
  | UpdateBatchCommand
  | RestoreCommand
  | MemoryCommand
  | DeleteCommand
  | DeleteBatchCommand
  | DeleteCollectionCommand
  | SetTtlCommand
  | RotateCommand
  | SettingsCommand
  | AccessCommand
  | SubmitIngestCommand
  | CancelIngestCommand
  | IngestChunkCommand
  | ImportPagesCommand<PreparedDocument>
  | TruncateCommand
  | MoveCommand
  | VectorsCommand
  | ForgetReleasesCommand
  | WebhookCommand

/**
 * Whether nothing that the thread does before the command is decided changes its bytes, so that it need not
 * be packed to stay on the thread. The others have views of rows or objects of the request.
 */
export function ownsItsBytes({ kind }: Command): boolean {
  return kind === 'add' || kind === 'addBatch' || kind === 'ingest' || kind === 'delete' || kind === 'deleteBatch' || kind === 'setTtl'
}

/** About the bytes that a command of new documents adds to the store; 0 for others, which are small. */
export function bytesOfDocuments(command: Command): number {
  if (command.kind === 'add' || command.kind === 'memory') return bytesOfDocument(command.document)
  if (command.kind !== 'addBatch' && command.kind !== 'ingest' && command.kind !== 'importPages') return 0
  return command.documents.reduce((sum, document) => sum + bytesOfDocument(document), 0)
}

function bytesOfDocument({ body, index, meta }: PreparedDocument): number {
  return (body.kind === 'new' ? body.record.length : 0) + index.length + meta.length
}

const packr = new Packr({ useRecords: false, int64AsType: 'bigint' })

/**
 * Settings contain maps with names chosen by clients, and msgpack renames `__proto__`. They are therefore
 * packed as JSON.
 */
interface PackedSettings {
  readonly kind: 'settings'
  readonly json: string
}

/**
 * Bytes in a buffer of their own, which the caller may transfer. The packer's result is a view of its buffer,
 * which must stay with the packer.
 */
export function encodeCommand(command: Command): Uint8Array {
  return new Uint8Array(packr.pack(command.kind === 'settings' ? { kind: 'settings', json: JSON.stringify(command) } : command))
}

/**
 * @param bytes created by `encodeCommand` in this process; must not change during the lifetime of the command
 */
export function decodeCommand(bytes: Uint8Array): Command {
  const command = packr.unpack(bytes) as Command | PackedSettings
  return 'json' in command ? (JSON.parse(command.json) as SettingsCommand) : command
}
