/**
 * Binlog entries. An entry is complete and deterministic, so that local writes, replay and followers all go
 * through the same `apply`. This file implements what all entries share: the prefix and the sealing. The
 * kinds implement the rest (kinds.ts). Layout: docs/formats/binlog.md.
 *
 * The entry does not repeat the body. The body is stored once under (collection, docid, LSN), where readers
 * find it.
 */
import { pack, unpack } from '../rows/packages.js'
import { checkRecord, CorruptRecord, sealRecord } from '../rows/record.js'
import { CLEAR, entryAddress } from '../sealing/collection_seal.js'
import { keyIdOf } from '../sealing/sealed_record.js'
import type { Seals } from '../sealing/seals.js'
import type { EntryAuthor } from './entry_kind.js'
import { ENTRY_ORIGINS } from './entry_origin.js'
import type { AnyKind, Entry } from './kinds.js'
import { kindOf, kindOfCode } from './kinds.js'

export type { Entry } from './kinds.js'

/** The remainder of an entry of a sealed collection that was deleted together with its keys. */
interface ShedEntry {
  readonly kind: 'shed'
  readonly lsn: bigint
  readonly collection: number
}

export type StoredEntry = Entry | ShedEntry

const PREFIX_BYTES = 12
const SEALED_PREFIX_BYTES = 16
const KIND_AT = 5
/** In the byte of the kind. The kind defines its meaning (`isMarked`). */
const FLAG_MARKED = 0x80
/** In the byte of the kind: the third element of the array has origin, actor and flags of the entry. */
const FLAG_AUTHOR = 0x40
const CODE_MASK = 0x3f
/** Offset of the scope: which key an entry is sealed with. */
const SCOPE_AT = 7
const SCOPE = { clear: 0, collection: 1, server: 2 } as const

/** The author of most entries. It is not stored. */
export const ANONYMOUS_REQUEST: EntryAuthor = { origin: 'request', actor: null }

/**
 * @param bodyBytes size of the body that came with the entry: it counts toward the binlog's retention
 * @param author used where the entry does not name its own
 */
export function encodeEntry(entry: Entry, bodyBytes: number, author = ANONYMOUS_REQUEST): Buffer {
  const kind = kindOf(entry)
  const { collection, docid, origin = author.origin, actor = author.actor, flags = 0 } = entry
  const isAuthored = origin !== 'request' || actor !== null || flags !== 0
  const fields = kind.encode(entry)
  const packed = pack(
    isAuthored ? [collection, docid, [ENTRY_ORIGINS.indexOf(origin), actor, flags], ...fields] : [collection, docid, ...fields],
  )
  const record = Buffer.allocUnsafeSlow(PREFIX_BYTES + packed.length)
  record[KIND_AT] = kind.code | (isAuthored ? FLAG_AUTHOR : 0) | (kind.isMarked?.(entry) === true ? FLAG_MARKED : 0)
  record[6] = 0
  record[7] = 0
  record.writeUInt32LE(bodyBytes, 8)
  record.set(packed, PREFIX_BYTES)
  sealRecord(record)
  return record
}

/** @throws CorruptRecord; Error for a kind that this version does not know */
export function decodeEntry(lsn: bigint, record: Buffer): Entry {
  checkRecord(record, PREFIX_BYTES, () => `binlog entry ${lsn}`)
  const kind = kindOfRecord(record)
  if (kind === undefined) throw new Error(`binlog entry ${lsn}: unknown kind ${record[KIND_AT]}`)
  const [collection, docid, ...fields] = unpack(record.subarray(PREFIX_BYTES)) as [number, number, ...unknown[]]
  const isAuthored = ((record[KIND_AT] as number) & FLAG_AUTHOR) !== 0
  const [code, actor, flags] = isAuthored ? (fields.shift() as [number, string | null, number]) : [0, null, 0]
  const origin = ENTRY_ORIGINS[code]
  if (origin === undefined) throw new Error(`binlog entry ${lsn}: unknown origin ${code}`)
  return Object.assign(kind.decode({ lsn, collection, docid }, fields) as Entry, { origin, actor, flags })
}

/** The kind of a stored record, sealed or plaintext. Read without decoding. */
export function kindOfRecord(record: Buffer): AnyKind | undefined {
  return kindOfCode((record[KIND_AT] as number) & CODE_MASK)
}

/** Whether its kind has marked the record. Read without decoding. */
export function isMarked(record: Buffer): boolean {
  return ((record[KIND_AT] as number) & FLAG_MARKED) !== 0
}

/** Bytes that an entry counts for in the binlog, its body included. Read without decoding. */
export function retainedBytes(record: Buffer): number {
  return record.length >= PREFIX_BYTES ? record.length + record.readUInt32LE(8) : record.length
}

/**
 * The record of an entry in its stored form. It is sealed if its collection is sealed or if it contains
 * credentials. An entry that only names a collection stays plaintext, and so does an entry that changes how a
 * collection is sealed.
 */
export function storeEntry(seals: Seals, entry: Entry, bodyBytes: number, author?: EntryAuthor): Buffer {
  const record = encodeEntry(entry, bodyBytes, author)
  const secrecy = kindOf(entry).secrecyOf(entry)
  return secrecy === 'never' ? record : sealEntry(seals, entry.lsn, entry.collection, record, secrecy === 'server')
}

/** @param record plaintext @param isSecret seal with the server's key if the collection is not sealed */
function sealEntry(seals: Seals, lsn: bigint, collection: number, record: Buffer, isSecret: boolean): Buffer {
  const seal = seals.of(collection)
  const isSealed = seal !== undefined && seal.writtenForm !== CLEAR
  if (!isSealed && !isSecret) return record
  const prefixed = Buffer.concat([record.subarray(0, PREFIX_BYTES), Buffer.alloc(4), record.subarray(PREFIX_BYTES)])
  prefixed[SCOPE_AT] = isSealed ? SCOPE.collection : SCOPE.server
  prefixed.writeUInt32LE(collection, PREFIX_BYTES)
  return isSealed ? seal.seal(entryAddress(lsn), prefixed) : seals.sealForServer(entryAddress(lsn), prefixed)
}

/** Decodes a stored record. @throws CorruptRecord */
export function openEntry(seals: Seals, lsn: bigint, record: Buffer): StoredEntry {
  const clear = clearEntry(seals, lsn, record)
  return Buffer.isBuffer(clear) ? decodeEntry(lsn, clear) : clear
}

/** The plaintext record, or a ShedEntry if its keys were deleted. @throws CorruptRecord */
function clearEntry(seals: Seals, lsn: bigint, record: Buffer): Buffer | ShedEntry {
  const scope = record[SCOPE_AT]
  if (scope === SCOPE.clear) return record
  const name = (): string => `binlog entry ${lsn}`
  if (record.length < SEALED_PREFIX_BYTES) throw new CorruptRecord(name(), `${record.length} bytes`)
  const collection = collectionOfSealed(record)
  const seal = scope === SCOPE.collection ? seals.of(collection) : undefined
  if (scope === SCOPE.collection && seal === undefined) return { kind: 'shed', lsn, collection }
  const opened = seal === undefined ? seals.openForServer(entryAddress(lsn), record, name) : seal.open(entryAddress(lsn), record, name)
  const clear = Buffer.concat([opened.subarray(0, PREFIX_BYTES), opened.subarray(SEALED_PREFIX_BYTES)])
  clear[SCOPE_AT] = SCOPE.clear
  sealRecord(clear)
  return clear
}

/** How an entry is sealed: the scope of its key, and the key id. */
interface EntrySeal {
  readonly scope: number
  readonly keyId: number
}

/** Reads the prefix only; the record is not opened. */
export function sealOfEntry(record: Buffer): EntrySeal {
  return { scope: record[SCOPE_AT] as number, keyId: record[SCOPE_AT] === SCOPE.clear ? CLEAR : keyIdOf(record) }
}

/**
 * How a stored entry is to be sealed now. Undefined if the entry stays as it is.
 * @param only if set, entries of other collections stay as they are
 * @throws CorruptRecord
 */
export function wantedSealOfEntry(seals: Seals, lsn: bigint, record: Buffer, only: number | undefined): EntrySeal | undefined {
  const entry = openEntry(seals, lsn, record)
  if (entry.kind === 'shed') return undefined
  const secrecy = kindOf(entry).secrecyOf(entry)
  if (secrecy === 'never' || (only !== undefined && entry.collection !== only)) return undefined
  const form = seals.of(entry.collection)?.writtenForm ?? CLEAR
  if (form !== CLEAR) return { scope: SCOPE.collection, keyId: form }
  return secrecy === 'server' ? { scope: SCOPE.server, keyId: seals.keyring.primaryId } : { scope: SCOPE.clear, keyId: CLEAR }
}

/** The record in the form in which it would be stored now. @throws CorruptRecord */
export function resealEntry(seals: Seals, lsn: bigint, record: Buffer): Buffer {
  const clear = clearEntry(seals, lsn, record)
  if (!Buffer.isBuffer(clear)) return record
  return storeEntry(seals, decodeEntry(lsn, clear), clear.readUInt32LE(8))
}

function collectionOfSealed(record: Buffer): number {
  return record.readUInt32LE(PREFIX_BYTES)
}
