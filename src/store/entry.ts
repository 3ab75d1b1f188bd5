/**
 * Binlog entries: what happened, complete and deterministic, so that local writes, replay and followers all go through the same `apply`. Layout: docs/formats/binlog.md.
 * A body is not repeated in the entry: it is stored once under (collection, docid, LSN), where the entry's reader finds it.
 */
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
  /** Superseded states with a lower number are let go of; 0: all are kept. */
  readonly trimBelow: number
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

export type Entry = PutEntry | ExpiryEntry | DeleteEntry | DropEntry | SettingEntry | TrimEntry

const PREFIX_BYTES = 12
const KINDS = ['put', 'expiry', 'delete', 'drop', 'setting', 'trim'] as const

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
      return [entry.collection, entry.docid, entry.collectionName, entry.key, entry.lang, entry.head, entry.trimBelow]
    case 'expiry':
      return [entry.collection, entry.docid, entry.head]
    case 'trim':
      return [entry.collection, entry.docid, entry.head, entry.trimBelow]
    case 'delete':
      return [entry.collection, entry.docid, entry.key, entry.lang]
    case 'drop':
      return [entry.collection, 0, entry.collectionName]
    case 'setting':
      return [entry.collection, 0, entry.collectionName, SETTING_KINDS.indexOf(entry.setting), entry.id, entry.value]
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
        // Entries of before have none.
        trimBelow: (fields[6] as number | undefined) ?? 0,
      }
    case 'expiry':
      return { kind, lsn, collection, docid, head: fields[2] as Buffer }
    case 'trim':
      return { kind, lsn, collection, docid, head: fields[2] as Buffer, trimBelow: fields[3] as number }
    case 'delete':
      return { kind, lsn, collection, docid, key: fields[2] as string, lang: fields[3] as string }
    case 'drop':
      return { kind, lsn, collection, docid: 0, collectionName: fields[2] as string }
    case 'setting':
      return decodeSettingEntry(lsn, fields)
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
