/**
 * Binlog entries: what happened, complete and deterministic, so that local writes, replay and followers all go through the same `apply`. Layout: docs/formats/binlog.md.
 * A body is not repeated in the entry: it is stored once under (collection, docid, LSN), where the entry's reader finds it.
 */
import { revisionOfRecord } from './head.js'
import { JOB_KINDS } from './jobs.js'
import type { JobKind } from './jobs.js'
import { pack, unpack } from './packages.js'
import { CorruptRecord, checkRecord, sealRecord } from './record.js'
import { CLEAR, entryPlace } from './sealing/collection_seal.js'
import { keyIdOf } from './sealing/sealed_record.js'
import type { Seals } from './sealing/seals.js'
import { SETTING_KINDS } from './settings.js'
import type { SettingKind } from './settings.js'
import { holdsCredential } from './stored_settings.js'

interface EntryBase {
  readonly lsn: bigint
  readonly collection: number
  readonly docid: number
}

/** A new state of a document. Creates the collection when its id is new. */
export interface PutEntry extends EntryBase {
  readonly kind: 'put'
  readonly collectionName: string
  readonly key: string
  readonly lang: string
  /** The head record as stored. */
  readonly head: Buffer
  /** Superseded states with a lower number are let go of; 0: all are kept. */
  readonly trimBelow: number
  /** Record of the object that the body has in a storage backend; null: it has none, or that which it had. */
  readonly object: Buffer | null
  /** The document is to be embedded. */
  readonly wantsVectors: boolean
}

/** The expiry of a document changed, and nothing else. */
export interface ExpiryEntry extends EntryBase {
  readonly kind: 'expiry'
  readonly head: Buffer
}

/** Superseded states with a number below `trimBelow` are let go of. The head is the same state as before; it may count as a revision no more. */
export interface TrimEntry extends EntryBase {
  readonly kind: 'trim'
  readonly head: Buffer
  readonly trimBelow: number
}

export interface DeleteEntry extends EntryBase {
  readonly kind: 'delete'
  readonly key: string
  readonly lang: string
}

/** docid is 0. */
export interface DropEntry extends EntryBase {
  readonly kind: 'drop'
  readonly collectionName: string
}

/** A setting of a collection changed; docid is 0. Creates the collection when its id is new. */
export interface SettingEntry extends EntryBase {
  readonly kind: 'setting'
  readonly collectionName: string
  readonly setting: SettingKind
  /** Which one, where a collection has several of the kind; else empty. */
  readonly id: string
  /** JSON text; null: the setting is gone. */
  readonly value: string | null
}

/** A job came to be, went on or was forgotten; collection and docid are 0. */
export interface JobEntry extends EntryBase {
  readonly kind: 'job'
  readonly job: JobKind
  readonly id: string
  /** The record as stored; null: it is gone. */
  readonly record: Buffer | null
}

/** From here on what is written to the collection is sealed, or is not; docid is 0. Creates the collection when its id is new. */
export interface SealingEntry extends EntryBase {
  readonly kind: 'sealing'
  readonly collectionName: string
  readonly isSealed: boolean
  /** Of the collection's keys, where it has none yet. */
  readonly salt: Buffer
}

/** The body of a document's present state lies elsewhere from here on; its content is the same. */
export interface PlaceEntry extends EntryBase {
  readonly kind: 'place'
  readonly bodyLsn: bigint
  /** Record of the object; null: the body lies in the env only. */
  readonly object: Buffer | null
}

/** What was embedded of a document, or that it is not to be. Its vectors are not part of the entry: they lie in the table until an entry sets others. */
export interface VectorsEntry extends EntryBase {
  readonly kind: 'vectors'
  /** LSN of the write that wanted it, which does not wait any more; 0: none. */
  readonly queued: bigint
  /** `restamp`: the vectors stay, and are those of the body with this LSN from here on. */
  readonly change: 'keep' | 'set' | 'restamp'
  readonly bodyLsn: bigint
}

export type Entry =
  PutEntry | ExpiryEntry | DeleteEntry | DropEntry | SettingEntry | JobEntry | SealingEntry | TrimEntry | PlaceEntry | VectorsEntry

/** What is left of an entry of a sealed collection that was deleted, and its keys with it. */
export interface ShedEntry {
  readonly kind: 'shed'
  readonly lsn: bigint
  readonly collection: number
}

export type StoredEntry = Entry | ShedEntry

const PREFIX_BYTES = 12
const SEALED_PREFIX_BYTES = 16
const KIND_AT = 5
/** In the byte of the kind, of a put: the document had at least two states before, so that a kept one of them has a later one to be stored as the difference from. */
const FLAG_SUPERSEDES_TWO = 0x80
/** Whose key an entry is sealed with. */
const SCOPE_AT = 7
const SCOPE = { clear: 0, collection: 1, server: 2 } as const
const KINDS = ['put', 'expiry', 'delete', 'drop', 'setting', 'job', 'sealing', 'trim', 'place', 'vectors'] as const
const VECTOR_CHANGES = ['keep', 'set', 'restamp'] as const

/** @param bodyBytes bytes of the body that came with the entry: they count toward the binlog's retention. */
export function encodeEntry(entry: Entry, bodyBytes: number): Buffer {
  const packed = pack(fieldsOf(entry))
  const record = Buffer.allocUnsafeSlow(PREFIX_BYTES + packed.length)
  const flags = entry.kind === 'put' && revisionOfRecord(entry.head) > 2 ? FLAG_SUPERSEDES_TWO : 0
  record[KIND_AT] = KINDS.indexOf(entry.kind) | flags
  record[6] = 0
  record[7] = 0
  record.writeUInt32LE(bodyBytes, 8)
  record.set(packed, PREFIX_BYTES)
  sealRecord(record)
  return record
}

function fieldsOf(entry: Entry): unknown[] {
  switch (entry.kind) {
    case 'put':
      return [
        ...[entry.collection, entry.docid, entry.collectionName, entry.key, entry.lang, entry.head, entry.trimBelow, entry.object],
        entry.wantsVectors,
      ]
    case 'vectors':
      return [entry.collection, entry.docid, entry.queued, VECTOR_CHANGES.indexOf(entry.change), entry.bodyLsn]
    case 'expiry':
      return [entry.collection, entry.docid, entry.head]
    case 'trim':
      return [entry.collection, entry.docid, entry.head, entry.trimBelow]
    case 'place':
      return [entry.collection, entry.docid, entry.bodyLsn, entry.object]
    case 'delete':
      return [entry.collection, entry.docid, entry.key, entry.lang]
    case 'drop':
      return [entry.collection, 0, entry.collectionName]
    case 'setting':
      return [entry.collection, 0, entry.collectionName, SETTING_KINDS.indexOf(entry.setting), entry.id, entry.value]
    case 'job':
      return [0, 0, JOB_KINDS.indexOf(entry.job), entry.id, entry.record]
    case 'sealing':
      return [entry.collection, 0, entry.collectionName, entry.isSealed, entry.salt]
  }
}

/**
 * The record of an entry as it may lie on disk: sealed where its collection is sealed, or where it brings credentials. What names a collection only stays in clear, and so does how it is sealed.
 */
export function storeEntry(seals: Seals, entry: Entry, bodyBytes: number): Buffer {
  const record = encodeEntry(entry, bodyBytes)
  if (entry.kind === 'drop' || entry.kind === 'job' || entry.kind === 'sealing') return record
  return sealEntry(seals, entry.lsn, entry.collection, record, entry.kind === 'setting' && holdsCredential(entry.setting, entry.value))
}

/** @param record in clear @param isSecret it is sealed for the server where its collection is not sealed */
function sealEntry(seals: Seals, lsn: bigint, collection: number, record: Buffer, isSecret: boolean): Buffer {
  const seal = seals.of(collection)
  const isSealed = seal !== undefined && seal.writtenForm !== CLEAR
  if (!isSealed && !isSecret) return record
  const prefixed = Buffer.concat([record.subarray(0, PREFIX_BYTES), Buffer.alloc(4), record.subarray(PREFIX_BYTES)])
  prefixed[SCOPE_AT] = isSealed ? SCOPE.collection : SCOPE.server
  prefixed.writeUInt32LE(collection, PREFIX_BYTES)
  return isSealed ? seal.seal(entryPlace(lsn), prefixed) : seals.sealForServer(entryPlace(lsn), prefixed)
}

/** The entry of a record as it lies on disk. @throws CorruptRecord */
export function openEntry(seals: Seals, lsn: bigint, record: Buffer): StoredEntry {
  const clear = clearEntry(seals, lsn, record)
  return Buffer.isBuffer(clear) ? decodeEntry(lsn, clear) : clear
}

/** The record in clear, or what is left of it. @throws CorruptRecord */
function clearEntry(seals: Seals, lsn: bigint, record: Buffer): Buffer | ShedEntry {
  const scope = record[SCOPE_AT]
  if (scope === SCOPE.clear) return record
  const name = (): string => `binlog entry ${lsn}`
  if (record.length < SEALED_PREFIX_BYTES) throw new CorruptRecord(name(), `${record.length} bytes`)
  const collection = collectionOfSealed(record)
  const seal = scope === SCOPE.collection ? seals.of(collection) : undefined
  if (scope === SCOPE.collection && seal === undefined) return { kind: 'shed', lsn, collection }
  const opened = seal === undefined ? seals.openForServer(entryPlace(lsn), record, name) : seal.open(entryPlace(lsn), record, name)
  const clear = Buffer.concat([opened.subarray(0, PREFIX_BYTES), opened.subarray(SEALED_PREFIX_BYTES)])
  clear[SCOPE_AT] = SCOPE.clear
  sealRecord(clear)
  return clear
}

/** How an entry is sealed: with whose key, and which. */
export interface EntrySeal {
  readonly scope: number
  readonly keyId: number
}

/** Without opening it. */
export function sealOfEntry(record: Buffer): EntrySeal {
  return { scope: record[SCOPE_AT] as number, keyId: record[SCOPE_AT] === SCOPE.clear ? CLEAR : keyIdOf(record) }
}

/**
 * How a stored entry is to be sealed now; undefined where there is nothing to do for it.
 * @param only entries of this collection, where one is named
 * @throws CorruptRecord
 */
export function wantedSealOfEntry(seals: Seals, lsn: bigint, record: Buffer, only: number | undefined): EntrySeal | undefined {
  const entry = openEntry(seals, lsn, record)
  if (entry.kind === 'shed' || entry.kind === 'drop' || entry.kind === 'job' || entry.kind === 'sealing') return undefined
  if (only !== undefined && entry.collection !== only) return undefined
  const form = seals.of(entry.collection)?.writtenForm ?? CLEAR
  if (form !== CLEAR) return { scope: SCOPE.collection, keyId: form }
  const isSecret = entry.kind === 'setting' && holdsCredential(entry.setting, entry.value)
  return isSecret ? { scope: SCOPE.server, keyId: seals.keyring.primaryId } : { scope: SCOPE.clear, keyId: CLEAR }
}

/** The record as it would be stored now. @throws CorruptRecord */
export function resealEntry(seals: Seals, lsn: bigint, record: Buffer): Buffer {
  const clear = clearEntry(seals, lsn, record)
  if (!Buffer.isBuffer(clear)) return record
  return storeEntry(seals, decodeEntry(lsn, clear), clear.readUInt32LE(8))
}

function collectionOfSealed(record: Buffer): number {
  return record.readUInt32LE(PREFIX_BYTES)
}

/** Bytes that an entry counts for in the binlog, its body included; read without decoding it. */
export function retainedBytes(record: Buffer): number {
  return record.length >= PREFIX_BYTES ? record.length + record.readUInt32LE(8) : record.length
}

/** Whether the entry is a put that left at least two superseded states behind it; read without decoding it. */
export function supersedesTwo(record: Buffer): boolean {
  return ((record[KIND_AT] as number) & FLAG_SUPERSEDES_TWO) !== 0
}

export function decodeEntry(lsn: bigint, record: Buffer): Entry {
  checkRecord(record, PREFIX_BYTES, () => `binlog entry ${lsn}`)
  const fields = unpack(record.subarray(PREFIX_BYTES)) as [number, number, ...unknown[]]
  const [collection, docid] = fields
  const kind = KINDS[(record[KIND_AT] as number) & ~FLAG_SUPERSEDES_TWO]
  switch (kind) {
    case 'put':
      return {
        kind,
        lsn,
        collection,
        docid,
        collectionName: fields[2] as string,
        key: fields[3] as string,
        lang: fields[4] as string,
        head: fields[5] as Buffer,
        // Entries of before have none.
        trimBelow: (fields[6] as number | undefined) ?? 0,
        object: (fields[7] as Buffer | null | undefined) ?? null,
        wantsVectors: (fields[8] as boolean | undefined) ?? false,
      }
    case 'expiry':
      return { kind, lsn, collection, docid, head: fields[2] as Buffer }
    case 'trim':
      return { kind, lsn, collection, docid, head: fields[2] as Buffer, trimBelow: fields[3] as number }
    case 'place':
      return { kind, lsn, collection, docid, bodyLsn: BigInt(fields[2] as number | bigint), object: fields[3] as Buffer | null }
    case 'vectors':
      return decodeVectorsEntry(lsn, fields)
    case 'delete':
      return { kind, lsn, collection, docid, key: fields[2] as string, lang: fields[3] as string }
    case 'drop':
      return { kind, lsn, collection, docid: 0, collectionName: fields[2] as string }
    case 'setting':
      return decodeSettingEntry(lsn, fields)
    case 'job':
      return decodeJobEntry(lsn, fields)
    case 'sealing':
      return {
        kind,
        lsn,
        collection,
        docid: 0,
        collectionName: fields[2] as string,
        isSealed: fields[3] as boolean,
        salt: fields[4] as Buffer,
      }
    default:
      throw new Error(`binlog entry ${lsn}: unknown kind ${record[KIND_AT]}`)
  }
}

function decodeSettingEntry(lsn: bigint, fields: readonly unknown[]): SettingEntry {
  const [collection, , collectionName, code, id, value] = fields as [number, number, string, number, string, string | null]
  const setting = SETTING_KINDS[code]
  if (setting === undefined) throw new Error(`binlog entry ${lsn}: unknown kind of setting ${code}`)
  return { kind: 'setting', lsn, collection, docid: 0, collectionName, setting, id, value }
}

function decodeVectorsEntry(lsn: bigint, fields: readonly unknown[]): VectorsEntry {
  const [collection, docid, queued, code, bodyLsn] = fields as [number, number, number | bigint, number, number | bigint]
  const change = VECTOR_CHANGES[code]
  if (change === undefined) throw new Error(`binlog entry ${lsn}: unknown change of vectors ${code}`)
  return { kind: 'vectors', lsn, collection, docid, queued: BigInt(queued), change, bodyLsn: BigInt(bodyLsn) }
}

function decodeJobEntry(lsn: bigint, fields: readonly unknown[]): JobEntry {
  const [, , code, id, record] = fields as [number, number, number, string, Buffer | null]
  const job = JOB_KINDS[code]
  if (job === undefined) throw new Error(`binlog entry ${lsn}: unknown kind of job ${code}`)
  return { kind: 'job', lsn, collection: 0, docid: 0, job, id, record }
}
