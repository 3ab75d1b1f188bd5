/**
 * Binlog entries: what happened, complete and deterministic, so that local writes, replay and followers all
 * go through the same `apply`. This file knows what all entries share: the prefix, and how they are sealed;
 * the kinds know the rest (kinds.ts). Layout: docs/formats/binlog.md.
 *
 * A body is not repeated in the entry: it is stored once under (collection, docid, LSN), where readers find
 * it.
 */
import { pack, unpack } from '../packages.js'
import { CorruptRecord, checkRecord, sealRecord } from '../record.js'
import { CLEAR, entryPlace } from '../sealing/collection_seal.js'
import { keyIdOf } from '../sealing/sealed_record.js'
import type { Seals } from '../sealing/seals.js'
import { ENTRY_ORIGINS } from './entry_kind.js'
import type { EntryAuthor } from './entry_kind.js'
import { kindOf, kindOfCode } from './kinds.js'
import type { AnyKind, Entry } from './kinds.js'

export type { Entry } from './kinds.js'

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
/** In the byte of the kind: what it means is the kind's matter (`isMarked`). */
const FLAG_MARKED = 0x80
/** In the byte of the kind: the third element of the array says who made the entry, and its flags. */
const FLAG_AUTHOR = 0x40
const CODE_MASK = 0x3f
/** Whose key an entry is sealed with. */
const SCOPE_AT = 7
const SCOPE = { clear: 0, collection: 1, server: 2 } as const

/** Of most entries, and of all that versions before wrote: nothing of it is stored. */
export const ANONYMOUS_REQUEST: EntryAuthor = { origin: 'request', actor: null }

/**
 * @param bodyBytes bytes of the body that came with the entry: they count toward the binlog's retention
 * @param author of an entry that does not say it itself
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

/** The kind of a record as it lies on disk, sealed or in clear; read without decoding it. */
export function kindOfRecord(record: Buffer): AnyKind | undefined {
  return kindOfCode((record[KIND_AT] as number) & CODE_MASK)
}

/** Whether its kind has marked the record; read without decoding it. */
export function isMarked(record: Buffer): boolean {
  return ((record[KIND_AT] as number) & FLAG_MARKED) !== 0
}

/** Bytes that an entry counts for in the binlog, its body included; read without decoding it. */
export function retainedBytes(record: Buffer): number {
  return record.length >= PREFIX_BYTES ? record.length + record.readUInt32LE(8) : record.length
}

/**
 * The record of an entry as it may lie on disk: sealed where its collection is sealed, or where it brings
 * credentials. What names a collection only stays in clear, and so does how it is sealed.
 */
export function storeEntry(seals: Seals, entry: Entry, bodyBytes: number, author?: EntryAuthor): Buffer {
  const record = encodeEntry(entry, bodyBytes, author)
  const secrecy = kindOf(entry).secrecyOf(entry)
  return secrecy === 'never' ? record : sealEntry(seals, entry.lsn, entry.collection, record, secrecy === 'server')
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
  if (entry.kind === 'shed') return undefined
  const secrecy = kindOf(entry).secrecyOf(entry)
  if (secrecy === 'never' || (only !== undefined && entry.collection !== only)) return undefined
  const form = seals.of(entry.collection)?.writtenForm ?? CLEAR
  if (form !== CLEAR) return { scope: SCOPE.collection, keyId: form }
  return secrecy === 'server' ? { scope: SCOPE.server, keyId: seals.keyring.primaryId } : { scope: SCOPE.clear, keyId: CLEAR }
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
