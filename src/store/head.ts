/**
 * The head of a document: the JSON text of all its fields except contentMd, after a fixed binary prefix. A
 * superseded head that is kept unchanged is a revision. Layout: docs/formats/truth-env.md.
 */
import { lowerCase } from '../operations/row/lower_case.js'
import { checkRecord, CorruptRecord, sealRecord } from './rows/record.js'

/** The text follows. */
const PREFIX_BYTES = 92
/** Offset of the upper half of the content hash. */
const HASH_UPPER_AT = 88

export const HEAD_FLAGS = {
  /** The content contains `%%`: a get with `env` has templates to fill. */
  template: 1,
  /** The text of this state is not in the index; its metadata is. */
  textSkipped: 2,
  /** This state counts as a revision: when it is superseded, its head moves to the revisions. */
  revision: 4,
} as const
/** Stored flag, which every head has: it has a content hash of 64 bits. */
const HASHED = 8
const UINT32_MAX = 0xffff_ffffn

export interface HeadFields {
  readonly docid: number
  /** Number of this state: 1 for the first write. Every write that makes a new state increments it. */
  readonly revision: number
  readonly flags: number
  readonly lsn: bigint
  /** LSN of the last write that changed indexed data. The index entry has the same LSN. */
  readonly indexedLsn: bigint
  readonly bodyLsn: bigint
  /** Bytes of the JSON-escaped content. */
  readonly bodyRawBytes: number
  readonly bodyStoredBytes: number
  /** Unix seconds; 0: the document does not expire. */
  readonly expiresAt: number
  readonly addedAt: number
  readonly updatedAt: number
  /** Hash of key, language, metadata and content (document_hash.ts). */
  readonly contentHash: bigint
  /** (document, key, value) triples in the metadata index. */
  readonly metaTriples: number
}

export interface Head extends HeadFields {
  /** Collection id: part of the row key, not of the record. */
  readonly collection: number
  /** `{"id":…,"updatedAt":…` without the closing brace. */
  readonly json: Buffer
  /** The value of "meta" as JSON text. */
  readonly meta: Buffer
  /** The record as stored. */
  readonly record: Buffer
}

/** The variable parts of a head's JSON text. `meta` is JSON text with sorted keys. */
interface HeadText {
  readonly id: string
  readonly key: string
  readonly lang: string
  readonly meta: string
}

export function encodeHead(fields: HeadFields, text: HeadText): Buffer {
  const before = `{"id":${JSON.stringify(text.id)},"key":${JSON.stringify(text.key)},"lang":${JSON.stringify(text.lang)},"meta":`
  const expiry = fields.expiresAt > 0 ? `,"expiresAt":${fields.expiresAt}` : ''
  const after = `,"addedAt":${fields.addedAt},"updatedAt":${fields.updatedAt}${expiry}`
  const beforeBytes = Buffer.byteLength(before)
  const metaBytes = Buffer.byteLength(text.meta)
  const record = Buffer.allocUnsafeSlow(PREFIX_BYTES + beforeBytes + metaBytes + after.length)
  writePrefix(record, fields, beforeBytes, metaBytes)
  record.write(before, PREFIX_BYTES, 'utf8')
  record.write(text.meta, PREFIX_BYTES + beforeBytes, 'utf8')
  record.write(after, PREFIX_BYTES + beforeBytes + metaBytes, 'latin1')
  sealRecord(record)
  return record
}

function writePrefix(record: Buffer, fields: HeadFields, metaStart: number, metaBytes: number): void {
  record[5] = fields.flags | HASHED
  record[6] = 0 // key id: 0 = not encrypted
  record[7] = 0 // storage backend: 0 = embedded
  record.writeUInt32LE(fields.docid, 8)
  record.writeUInt32LE(fields.revision, 12)
  record.writeBigUInt64LE(fields.lsn, 16)
  record.writeBigUInt64LE(fields.indexedLsn, 24)
  record.writeBigUInt64LE(fields.bodyLsn, 32)
  record.writeUInt32LE(fields.bodyRawBytes, 40)
  record.writeUInt32LE(fields.bodyStoredBytes, 44)
  record.writeDoubleLE(fields.expiresAt, 48)
  record.writeDoubleLE(fields.addedAt, 56)
  record.writeDoubleLE(fields.updatedAt, 64)
  record.writeUInt32LE(Number(fields.contentHash & UINT32_MAX), 72)
  record.writeUInt32LE(fields.metaTriples, 76)
  record.writeUInt32LE(metaStart, 80)
  record.writeUInt32LE(metaBytes, 84)
  record.writeUInt32LE(Number(fields.contentHash >> 32n), HASH_UPPER_AT)
}

/** The JSON text in a head record that was just encoded: the record is not checked. */
export function jsonOfRecord(record: Buffer): Buffer {
  return record.subarray(PREFIX_BYTES)
}

/** Number of the state in a head record that was just encoded: the record is not checked. */
export function revisionOfRecord(record: Buffer): number {
  return record.readUInt32LE(12)
}

/** Unix seconds, in a head record that was just encoded or comes from a checked entry. */
export function updatedAtOfRecord(record: Buffer): number {
  return record.readDoubleLE(64)
}

/** @param record owned by the caller and not changed afterwards: the head contains views of it */
export function decodeHead(record: Buffer, collection: number, name: () => string): Head {
  checkRecord(record, PREFIX_BYTES, name)
  const flags = record[5] as number
  if ((flags & HASHED) === 0) throw new CorruptRecord(name(), 'it has no content hash, as before format 4')
  const metaStart = PREFIX_BYTES + record.readUInt32LE(80)
  return {
    collection,
    docid: record.readUInt32LE(8),
    revision: record.readUInt32LE(12),
    flags: flags & ~HASHED,
    lsn: record.readBigUInt64LE(16),
    indexedLsn: record.readBigUInt64LE(24),
    bodyLsn: record.readBigUInt64LE(32),
    bodyRawBytes: record.readUInt32LE(40),
    bodyStoredBytes: record.readUInt32LE(44),
    expiresAt: record.readDoubleLE(48),
    addedAt: record.readDoubleLE(56),
    updatedAt: record.readDoubleLE(64),
    contentHash: (BigInt(record.readUInt32LE(HASH_UPPER_AT)) << 32n) | BigInt(record.readUInt32LE(72)),
    metaTriples: record.readUInt32LE(76),
    json: record.subarray(PREFIX_BYTES),
    meta: record.subarray(metaStart, metaStart + record.readUInt32LE(84)),
    record,
  }
}

/**
 * Whether the state was written under exactly this spelling. The JSON is not parsed, because every read of a
 * document calls this.
 */
export function isSpelled(head: Head, key: string, lang: string): boolean {
  return textBeforeMeta(head).endsWith(`,"key":${JSON.stringify(key)},"lang":${JSON.stringify(lang)},"meta":`)
}

/** Whether the state belongs to a document in the collection of this name, in any spelling. */
export function isOfCollection(head: Head, name: string): boolean {
  return isIdOfCollection(textBeforeMeta(head), name)
}

/** The same for the beginning of a document's JSON text, which contains its id. */
export function isIdOfCollection(text: string, name: string): boolean {
  return lowerCase(text).startsWith(`{"id":${JSON.stringify(lowerCase(`${name}|`)).slice(0, -1)}`)
}

/** The name of the document's collection in its id, in lower case. */
export function collectionOfText({ id, key, lang }: Pick<HeadText, 'id' | 'key' | 'lang'>): string {
  return id.slice(0, id.length - lowerCase(`|${key}|${lang}`).length)
}

function textBeforeMeta({ json, meta }: Head): string {
  return json.toString('utf8', 0, meta.byteOffset - json.byteOffset)
}

/** The fields of a head's JSON text, for a write that builds on it. */
export function textOfHead(head: Head): HeadText & { readonly metaValues: Readonly<Record<string, readonly string[]>> } {
  const parsed = JSON.parse(`${head.json.toString('utf8')}}`) as { id: string; key: string; lang: string; meta: Record<string, string[]> }
  return { id: parsed.id, key: parsed.key, lang: parsed.lang, meta: head.meta.toString('utf8'), metaValues: parsed.meta }
}
