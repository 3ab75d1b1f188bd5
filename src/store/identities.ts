/**
 * Whose a (key, lang) is: the identity rows and the further spellings, in clear or sealed. In a sealed collection keyed hashes stand for the texts in the keys of the rows, and the texts lie sealed
 * in their values. While a collection changes from one form to the other (or from one key to the next) a row may lie in any of its forms: readers try each, writers leave just one.
 * Layout: docs/formats/truth-env.md.
 */
import type { Environment, Table } from './environment.js'
import { documentKey, identityKey, prefixEnd, spellingKey } from './keys.js'
import { CLEAR, identityPlace, spellingPlace } from './sealing/collection_seal.js'
import type { CollectionSeal } from './sealing/collection_seal.js'

/** The row behind an identity: whose it is, and how it was spelled by the last write. */
export interface Identity {
  readonly docid: number
  readonly key: string
  readonly lang: string
}

const NOTHING = Buffer.alloc(0)
/** crc32c, version, zero, key id, zero, docid. */
const SEALED_PREFIX_BYTES = 12
const SPELLING_PREFIX_BYTES = 8

/** Whose identity (key, lang) is, whatever the spelling. @throws CorruptRecord */
export function readIdentity(
  environment: Environment,
  seal: CollectionSeal | undefined,
  collection: number,
  key: string,
  lang: string,
): Identity | undefined {
  if (seal === undefined) return readClear(environment, collection, key, lang)
  for (const form of seal.state.forms) {
    const found = form === CLEAR ? readClear(environment, collection, key, lang) : readSealed(environment, seal, form, key, lang)
    if (found !== undefined) return found
  }
  return undefined
}

function readClear(environment: Environment, collection: number, key: string, lang: string): Identity | undefined {
  const row = peek(environment.identities, identityKey(collection, key, lang))
  return row === undefined ? undefined : decodeIdentity(row)
}

function readSealed(environment: Environment, seal: CollectionSeal, form: number, key: string, lang: string): Identity | undefined {
  const rowKey = seal.identityKey(form, key, lang)
  const row = rowKey === undefined ? undefined : peek(environment.sealedIdentities, rowKey)
  return row === undefined || rowKey === undefined ? undefined : openIdentity(seal, rowKey, row)
}

/** @throws CorruptRecord */
export function openIdentity(seal: CollectionSeal, rowKey: Buffer, row: Buffer): Identity {
  const record = seal.open(identityPlace(rowKey), row, () => `identity ${seal.collection}/${row.readUInt32LE(8)}`)
  return decodeIdentity(record.subarray(SEALED_PREFIX_BYTES - 4))
}

/** Docids of the documents with this key in any language, whatever the spelling, by language where the rows lie in clear; at most `count`. */
export function readDocidsOfKey(
  environment: Environment,
  seal: CollectionSeal | undefined,
  collection: number,
  key: string,
  count: number,
): number[] {
  const docids = new Set<number>()
  for (const form of seal?.state.forms ?? [CLEAR]) {
    const start = form === CLEAR ? identityKey(collection, key, '') : seal?.identityKey(form, key, undefined)
    if (start === undefined) continue
    const table = form === CLEAR ? environment.identities : environment.sealedIdentities
    for (const { key: rowKey, value } of table.getRange({ start, end: prefixEnd(start), limit: count - docids.size }))
      docids.add(form === CLEAR ? decodeIdentity(value).docid : openIdentity(seal as CollectionSeal, Buffer.from(rowKey), value).docid)
  }
  return [...docids]
}

/** Writes the row in the collection's present form and removes it in all others. */
export function writeIdentity(environment: Environment, collection: number, identity: Identity): void {
  const { key, lang } = identity
  const seal = environment.seals.of(collection)
  const written = seal?.writtenForm ?? CLEAR
  removeIdentity(environment, collection, key, lang, written)
  if (seal === undefined || written === CLEAR) {
    void environment.identities.put(identityKey(collection, key, lang), encodeIdentity(identity))
    return
  }
  const rowKey = seal.identityKey(written, key, lang) as Buffer
  void environment.sealedIdentities.put(rowKey, sealIdentity(seal, rowKey, identity))
}

export function sealIdentity(seal: CollectionSeal, rowKey: Buffer, identity: Identity): Buffer {
  return seal.seal(identityPlace(rowKey), Buffer.concat([Buffer.alloc(SEALED_PREFIX_BYTES - 4), encodeIdentity(identity)]))
}

/** In every form but `kept`. */
export function removeIdentity(environment: Environment, collection: number, key: string, lang: string, kept?: number): void {
  const seal = environment.seals.of(collection)
  for (const form of seal?.state.forms ?? [CLEAR]) {
    if (form === kept) continue
    const rowKey = form === CLEAR ? identityKey(collection, key, lang) : seal?.identityKey(form, key, lang)
    if (rowKey !== undefined) void (form === CLEAR ? environment.identities : environment.sealedIdentities).remove(rowKey)
  }
}

/** Whether the document was at some point written under just this spelling, beside that of its identity row. */
export function hasSpelling(
  environment: Environment,
  seal: CollectionSeal | undefined,
  collection: number,
  docid: number,
  key: string,
  lang: string,
): boolean {
  if (seal === undefined) return environment.spellings.doesExist(spellingKey(collection, docid, key, lang))
  return seal.state.forms.some((form) => {
    if (form === CLEAR) return environment.spellings.doesExist(spellingKey(collection, docid, key, lang))
    const rowKey = seal.spellingKey(form, docid, key, lang)
    return rowKey !== undefined && environment.sealedSpellings.doesExist(rowKey)
  })
}

export function writeSpelling(environment: Environment, collection: number, docid: number, key: string, lang: string): void {
  const seal = environment.seals.of(collection)
  if (seal === undefined || seal.writtenForm === CLEAR) {
    void environment.spellings.put(spellingKey(collection, docid, key, lang), NOTHING)
    return
  }
  const rowKey = seal.spellingKey(seal.writtenForm, docid, key, lang) as Buffer
  void environment.sealedSpellings.put(rowKey, sealSpelling(seal, rowKey, key, lang))
}

export function sealSpelling(seal: CollectionSeal, rowKey: Buffer, key: string, lang: string): Buffer {
  return seal.seal(spellingPlace(rowKey), Buffer.concat([Buffer.alloc(SPELLING_PREFIX_BYTES), Buffer.from(`${key}\0${lang}`)]))
}

/** @throws CorruptRecord */
export function openSpelling(seal: CollectionSeal, rowKey: Buffer, row: Buffer): readonly [key: string, lang: string] {
  const record = seal.open(spellingPlace(rowKey), row, () => `spelling ${rowKey.readUInt32BE(0)}/${rowKey.readUInt32BE(4)}`)
  return splitSpelling(record.subarray(SPELLING_PREFIX_BYTES))
}

/** Key and language of the text in a row, or in the key of one in clear. */
export function splitSpelling(text: Buffer): readonly [key: string, lang: string] {
  const split = text.indexOf(0)
  return [text.toString('utf8', 0, split), text.toString('utf8', split + 1)]
}

/** All of a document. */
export function removeSpellings(environment: Environment, collection: number, docid: number): void {
  const prefix = documentKey(collection, docid)
  for (const table of [environment.spellings, environment.sealedSpellings])
    for (const key of [...table.getKeys({ start: prefix, end: prefixEnd(prefix) })]) void table.remove(key)
}

function encodeIdentity(identity: Identity): Buffer {
  const row = Buffer.from(`\0\0\0\0${identity.key}\0${identity.lang}`)
  row.writeUInt32LE(identity.docid, 0)
  return row
}

export function decodeIdentity(row: Buffer): Identity {
  const split = row.indexOf(0, 4)
  return { docid: row.readUInt32LE(0), key: row.toString('utf8', 4, split), lang: row.toString('utf8', split + 1) }
}

/** A value without a copy: valid until the next read of this thread. */
function peek(table: Table, key: Buffer): Buffer | undefined {
  const value = table.getBinaryFast(key)
  return value?.subarray(0, value.length)
}
