/**
 * Encodes the batches that the write lane passes to the native engine. Any lane prepares an upsert. The write
 * lane stamps docid, LSN and times into its bytes, and joins upserts, deletes and drops into one batch, which
 * becomes one published snapshot. One allocation per op. Byte layout: docs/formats/index-batch.md.
 */
import assert from 'node:assert'
import { padded4, paddedTextBytes, viewOf, writeText } from '../byte_layout.js'
import type { IndexDocument, IndexStamp } from '../types.js'

const BATCH_MAGIC = 0x3142494d // "MIB1"
const BATCH_HEADER_BYTES = 16 // magic, opCount, lastLsn

const KIND_UPSERT = 1
const KIND_DELETE = 2
const KIND_DROP = 3
const FLAG_REPLACE_EQUAL = 1

const AT_KIND = 4
const AT_FLAGS = 5
const AT_COLLECTION = 8
const AT_DOCID = 12
const AT_LSN = 16
const OP_HEADER_BYTES = 24 // opBytes, kind + flags + 2 zero bytes, collection, docid, lsn

const AT_ADDED = 24
const AT_UPDATED = 32
const AT_COUNTS = 40 // keyBytes, langBytes, metaCount, fieldCount
const UPSERT_HEADER_BYTES = 56
const PAIR_HEADER_BYTES = 8 // the two lengths before a metadata pair or a field

interface UpsertOptions {
  /**
   * Replaces the engine's entry even if its LSN is the same. A re-index uses it to change the analysis of an
   * unchanged document.
   */
  readonly replaceEqual?: boolean
}

/**
 * Encodes an upsert whose docid, LSN and times are zero until `stampUpsert`. The caller owns the bytes and
 * their whole ArrayBuffer, which contain copies.
 */
export function encodeUpsert(document: IndexDocument, options?: UpsertOptions): Uint8Array {
  const size = upsertBytes(document)
  // Zero-filled: padding and the fields for the stamp need no writes of their own.
  const op = Buffer.alloc(size)
  writeOpHeader(op, KIND_UPSERT, document.collection)
  if (options?.replaceEqual === true) op[AT_FLAGS] = FLAG_REPLACE_EQUAL
  op.writeUInt32LE(document.meta.length, AT_COUNTS + 8)
  op.writeUInt32LE(document.fields.length, AT_COUNTS + 12)
  let at = writeText(op, AT_COUNTS, UPSERT_HEADER_BYTES, document.key)
  at = writeText(op, AT_COUNTS + 4, at, document.lang)
  for (const [key, value] of document.meta) {
    const valueAt = writeText(op, at, at + PAIR_HEADER_BYTES, key)
    at = writeText(op, at + 4, valueAt, value)
  }
  for (const [name, tokens] of document.fields) {
    op.writeUInt32LE(tokens.length, at + 4)
    at = writeText(op, at, at + PAIR_HEADER_BYTES, name)
    op.set(tokens, at)
    at += padded4(tokens.length)
  }
  assert(at === size, `upsert: wrote ${at} of ${size} bytes`)
  return op
}

/** Patches a prepared upsert in place. `addedAt` and `updatedAt` are in Unix seconds. */
export function stampUpsert(op: Uint8Array, stamp: IndexStamp): void {
  const bytes = viewOf(op)
  assert(bytes.length >= UPSERT_HEADER_BYTES && bytes[AT_KIND] === KIND_UPSERT, 'stampUpsert: not an upsert')
  bytes.writeUInt32LE(stamp.collection, AT_COLLECTION)
  bytes.writeUInt32LE(stamp.docid, AT_DOCID)
  bytes.writeBigUInt64LE(stamp.lsn, AT_LSN)
  bytes.writeBigInt64LE(BigInt(stamp.addedAt), AT_ADDED)
  bytes.writeBigInt64LE(BigInt(stamp.updatedAt), AT_UPDATED)
}

export function encodeDelete(collection: number, docid: number, lsn: bigint): Uint8Array {
  const op = Buffer.alloc(OP_HEADER_BYTES)
  writeOpHeader(op, KIND_DELETE, collection)
  op.writeUInt32LE(docid, AT_DOCID)
  op.writeBigUInt64LE(lsn, AT_LSN)
  return op
}

/** Drops every document of a collection id. The id is never reused. */
export function encodeDrop(collection: number, lsn: bigint): Uint8Array {
  const op = Buffer.alloc(OP_HEADER_BYTES)
  writeOpHeader(op, KIND_DROP, collection)
  op.writeBigUInt64LE(lsn, AT_LSN)
  return op
}

/**
 * @param lastLsn LSN of the last entry that the published snapshot reflects, even if that entry has no op in
 * this batch
 */
export function joinBatch(ops: readonly Uint8Array[], lastLsn: bigint): Uint8Array {
  let size = BATCH_HEADER_BYTES
  for (const op of ops) size += op.length
  const batch = Buffer.allocUnsafeSlow(size)
  batch.writeUInt32LE(BATCH_MAGIC, 0)
  batch.writeUInt32LE(ops.length, 4)
  batch.writeBigUInt64LE(lastLsn, 8)
  let at = BATCH_HEADER_BYTES
  for (const op of ops) {
    batch.set(op, at)
    at += op.length
  }
  return batch
}

function writeOpHeader(op: Buffer, kind: number, collection: number): void {
  op.writeUInt32LE(op.length, 0)
  op[AT_KIND] = kind
  op.writeUInt32LE(collection, AT_COLLECTION)
}

function upsertBytes(document: IndexDocument): number {
  let size = UPSERT_HEADER_BYTES + paddedTextBytes(document.key) + paddedTextBytes(document.lang)
  for (const [key, value] of document.meta) size += PAIR_HEADER_BYTES + paddedTextBytes(key) + paddedTextBytes(value)
  for (const [name, tokens] of document.fields) size += PAIR_HEADER_BYTES + paddedTextBytes(name) + padded4(tokens.length)
  return size
}
