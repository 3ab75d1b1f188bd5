/**
 * Keys of the truth env: fixed-width big-endian integers, so that byte order is numeric order, and document
 * identities as text. Every function returns a new buffer. lmdb-js copies keys, so callers may drop it
 * immediately. Layout: docs/formats/truth-env.md.
 */
import { lowerCase } from '../../operations/row/lower_case.js'

/** Longest key that LMDB accepts with pages of 4 KiB. No table has a longer one; looking one up throws. */
const TRUTH_KEY_BYTES_MAX = 1978

/** Of a key with text, beside the text: collection, docid, NUL. */
const KEY_FIXED_BYTES_MAX = 9
/** The lower case of a unit of two bytes may take three: U+0130 becomes `i` and a combining dot. */
const UTF8_BYTES_PER_UNIT_MAX = 3

/**
 * Whether LMDB accepts the key. Texts of requests become keys. An empty or overlong key is in no table, and a
 * look-up with it throws.
 */
export function isKey(key: Uint8Array): boolean {
  return key.length > 0 && key.length <= TRUTH_KEY_BYTES_MAX
}

/**
 * Whether every key made of this many UTF-16 units of text, in any letter case, is short enough: a unit takes
 * at most 3 bytes, also in lower case. For callers that need not know which key is too long.
 */
export function fitsAnyKey(units: number): boolean {
  return KEY_FIXED_BYTES_MAX + units * UTF8_BYTES_PER_UNIT_MAX <= TRUTH_KEY_BYTES_MAX
}

export function collectionKey(name: string): Buffer {
  return Buffer.from(lowerCase(name), 'utf8')
}

export function counterKey(collection: number): Buffer {
  const key = Buffer.allocUnsafe(4)
  key.writeUInt32BE(collection, 0)
  return key
}

/** (collection, docid): the key of heads, and the prefix of all rows of one document. */
export function documentKey(collection: number, docid: number): Buffer {
  const key = Buffer.allocUnsafe(8)
  key.writeUInt32BE(collection, 0)
  key.writeUInt32BE(docid, 4)
  return key
}

export function docidOfKey(key: Uint8Array): number {
  return new DataView(key.buffer, key.byteOffset).getUint32(4)
}

export function collectionOfKey(key: Uint8Array): number {
  return new DataView(key.buffer, key.byteOffset).getUint32(0)
}

/** (collection, docid, LSN of the write that stored the body). */
export function bodyKey(collection: number, docid: number, lsn: bigint): Buffer {
  // A DataView over one scratch buffer: Buffer's own 64-bit writes cost ten times as much, and every get
  // makes this key.
  scratch.setUint32(0, collection)
  scratch.setUint32(4, docid)
  scratch.setBigUint64(8, lsn)
  return Buffer.from(scratchBytes)
}

export function parseBodyKey(key: Uint8Array): { readonly collection: number; readonly docid: number; readonly bodyLsn: bigint } {
  const view = new DataView(key.buffer, key.byteOffset)
  return { collection: view.getUint32(0), docid: view.getUint32(4), bodyLsn: view.getBigUint64(8) }
}

const scratchBytes = new Uint8Array(16)
const scratch = new DataView(scratchBytes.buffer)

/** (collection, docid, revision number). */
export function revisionKey(collection: number, docid: number, revision: number): Buffer {
  const key = Buffer.allocUnsafe(12)
  key.writeUInt32BE(collection, 0)
  key.writeUInt32BE(docid, 4)
  key.writeUInt32BE(revision, 8)
  return key
}

export function revisionOfKey(key: Uint8Array): number {
  return new DataView(key.buffer, key.byteOffset).getUint32(8)
}

/** (collection, lower-cased key, NUL, lower-cased lang): the identity of a document. */
export function identityKey(collection: number, key: string, lang: string): Buffer {
  return textKey([collection], lowerCase(key), lowerCase(lang))
}

/**
 * (collection, docid, key as written, NUL, lang as written): a further spelling under which the document was
 * written.
 */
export function spellingKey(collection: number, docid: number, key: string, lang: string): Buffer {
  return textKey([collection, docid], key, lang)
}

function textKey(prefix: readonly number[], key: string, lang: string): Buffer {
  const start = prefix.length * 4
  const keyBytes = Buffer.byteLength(key)
  const bytes = Buffer.allocUnsafe(start + keyBytes + 1 + Buffer.byteLength(lang))
  prefix.forEach((part, index) => bytes.writeUInt32BE(part, index * 4))
  bytes.write(key, start)
  bytes[start + keyBytes] = 0
  bytes.write(lang, start + keyBytes + 1)
  return bytes
}

/** (unix seconds of expiry, collection, docid). */
export function expiryKey(expiresAt: number, collection: number, docid: number): Buffer {
  const key = Buffer.allocUnsafe(16)
  key.writeBigUInt64BE(BigInt(expiresAt), 0)
  key.writeUInt32BE(collection, 8)
  key.writeUInt32BE(docid, 12)
  return key
}

export interface ExpiryRow {
  readonly expiresAt: number
  readonly collection: number
  readonly docid: number
}

export function parseExpiryKey(key: Uint8Array): ExpiryRow {
  const view = new DataView(key.buffer, key.byteOffset)
  return { expiresAt: Number(view.getBigUint64(0)), collection: view.getUint32(8), docid: view.getUint32(12) }
}

export function lsnKey(lsn: bigint): Buffer {
  const key = Buffer.allocUnsafe(8)
  key.writeBigUInt64BE(lsn, 0)
  return key
}

export function lsnOfKey(key: Uint8Array): bigint {
  return new DataView(key.buffer, key.byteOffset).getBigUint64(0)
}

/**
 * (LSN that released the body, key of the body): bodies without references, kept until the binlog has been
 * trimmed past the LSN.
 */
export function garbageKey(releasedAt: bigint, body: Uint8Array): Buffer {
  return Buffer.concat([lsnKey(releasedAt), body])
}

/**
 * (collection, kind, id): one setting of a collection. With an empty `id`, also the prefix of all settings of
 * a kind.
 */
export function settingKey(collection: number, kind: number, id: string): Buffer {
  const key = Buffer.allocUnsafe(5 + Buffer.byteLength(id))
  key.writeUInt32BE(collection, 0)
  key[4] = kind
  key.write(id, 5)
  return key
}

/** The id in the key of a setting. */
export function idOfSettingKey(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString('utf8', 5)
}

/** (collection, 2^53 - 1 - count, docid): most reads first; among equal counts, the older document. */
export function hotKey(collection: number, count: number, docid: number): Buffer {
  const key = Buffer.allocUnsafe(16)
  key.writeUInt32BE(collection, 0)
  key.writeBigUInt64BE(BigInt(Number.MAX_SAFE_INTEGER - count), 4)
  key.writeUInt32BE(docid, 12)
  return key
}

/** (collection, code of the event's type, unix minute). */
export function minuteKey(collection: number, type: number, minute: number): Buffer {
  const key = Buffer.allocUnsafe(9)
  key.writeUInt32BE(collection, 0)
  key[4] = type
  // The begin of a span may be before 1970.
  key.writeUInt32BE(Math.max(0, minute), 5)
  return key
}

export function minuteOfKey(key: Uint8Array): number {
  return new DataView(key.buffer, key.byteOffset).getUint32(5)
}

/** (collection, CRC of the variant). */
export function variantKey(collection: number, variant: number): Buffer {
  return documentKey(collection, variant)
}

/** The smallest key above every key that starts with `prefix`: the exclusive end of a prefix range. */
export function prefixEnd(prefix: Uint8Array): Buffer {
  const end = Buffer.from(prefix)
  for (let index = end.length - 1; index >= 0; index--) {
    const byte = end[index] as number
    if (byte < 0xff) {
      end[index] = byte + 1
      return end.subarray(0, index + 1)
    }
  }
  return Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff])
}
