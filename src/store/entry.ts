/**
 * Binlog entries: what happened, complete and deterministic, so that local writes, replay and followers all go through the same `apply`. Layout: docs/formats/binlog.md.
 * A body is not repeated in the entry: it is stored once under (collection, docid, LSN), where the entry's reader finds it.
 */
import { JOB_KINDS } from './jobs.js'
import type { JobKind } from './jobs.js'
import { pack, unpack } from './packages.js'
import { checkRecord, sealRecord } from './record.js'
import { SETTING_KINDS } from './settings.js'
import type { SettingKind } from './settings.js'

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
}

/** The expiry of a document changed, and nothing else. */
export interface ExpiryEntry extends EntryBase {
  readonly kind: 'expiry'
  readonly head: Buffer
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

export type Entry = PutEntry | ExpiryEntry | DeleteEntry | DropEntry | SettingEntry | JobEntry

const PREFIX_BYTES = 12
const KINDS = ['put', 'expiry', 'delete', 'drop', 'setting', 'job'] as const

/** @param bodyBytes bytes of the body that came with the entry: they count toward the binlog's retention. */
export function encodeEntry(entry: Entry, bodyBytes: number): Buffer {
  const packed = pack(fieldsOf(entry))
  const record = Buffer.allocUnsafeSlow(PREFIX_BYTES + packed.length)
  record[5] = KINDS.indexOf(entry.kind)
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
      return [entry.collection, entry.docid, entry.collectionName, entry.key, entry.lang, entry.head]
    case 'expiry':
      return [entry.collection, entry.docid, entry.head]
    case 'delete':
      return [entry.collection, entry.docid, entry.key, entry.lang]
    case 'drop':
      return [entry.collection, 0, entry.collectionName]
    case 'setting':
      return [entry.collection, 0, entry.collectionName, SETTING_KINDS.indexOf(entry.setting), entry.id, entry.value]
    case 'job':
      return [0, 0, JOB_KINDS.indexOf(entry.job), entry.id, entry.record]
  }
}

/** Bytes that an entry counts for in the binlog, its body included; read without decoding it. */
export function retainedBytes(record: Buffer): number {
  return record.length >= PREFIX_BYTES ? record.length + record.readUInt32LE(8) : record.length
}

export function decodeEntry(lsn: bigint, record: Buffer): Entry {
  checkRecord(record, PREFIX_BYTES, () => `binlog entry ${lsn}`)
  const fields = unpack(record.subarray(PREFIX_BYTES)) as [number, number, ...unknown[]]
  const [collection, docid] = fields
  const kind = KINDS[record[5] as number]
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
      }
    case 'expiry':
      return { kind, lsn, collection, docid, head: fields[2] as Buffer }
    case 'delete':
      return { kind, lsn, collection, docid, key: fields[2] as string, lang: fields[3] as string }
    case 'drop':
      return { kind, lsn, collection, docid: 0, collectionName: fields[2] as string }
    case 'setting':
      return decodeSettingEntry(lsn, fields)
    case 'job':
      return decodeJobEntry(lsn, fields)
    default:
      throw new Error(`binlog entry ${lsn}: unknown kind ${record[5]}`)
  }
}

function decodeSettingEntry(lsn: bigint, fields: readonly unknown[]): SettingEntry {
  const [collection, , collectionName, code, id, value] = fields as [number, number, string, number, string, string | null]
  const setting = SETTING_KINDS[code]
  if (setting === undefined) throw new Error(`binlog entry ${lsn}: unknown kind of setting ${code}`)
  return { kind: 'setting', lsn, collection, docid: 0, collectionName, setting, id, value }
}

function decodeJobEntry(lsn: bigint, fields: readonly unknown[]): JobEntry {
  const [, , code, id, record] = fields as [number, number, number, string, Buffer | null]
  const job = JOB_KINDS[code]
  if (job === undefined) throw new Error(`binlog entry ${lsn}: unknown kind of job ${code}`)
  return { kind: 'job', lsn, collection: 0, docid: 0, job, id, record }
}
