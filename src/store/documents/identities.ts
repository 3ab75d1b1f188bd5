/**
 * Identity rows, which lead from (key, lang) to a document, and rows of further spellings, both plaintext or
 * sealed. In a sealed collection, the row keys contain keyed hashes of the texts, and the values contain the
 * sealed texts. While a collection changes from one form to the other, or from one key to the next, a row may
 * be stored in any of the collection's forms. Readers try each form; writers leave exactly one. Layout:
 * docs/formats/truth-env.md.
 */
import { lowerCase } from '../../operations/row/lower_case.js'
import type { Environment } from '../environment.js'
import { documentKey, identityKey, isKey, prefixEnd, spellingKey } from '../rows/keys.js'
import { CorruptRecord, requireIntact } from '../rows/record.js'
import type { Table } from '../rows/table.js'
import type { CollectionSeal } from '../sealing/collection_seal.js'
import { CLEAR, identityAddress, spellingAddress } from '../sealing/collection_seal.js'

/** The contents of an identity row: the docid, and the spelling of the last write. */
export interface Identity {
  readonly docid: number
  readonly key: string
  readonly lang: string
}

const NOTHING = Buffer.alloc(0)
/** crc32c, version, zero, key id, zero, docid. */
const SEALED_PREFIX_BYTES = 12
const SPELLING_PREFIX_BYTES = 8

/** The owner of the identity (key, lang), in any spelling. @throws CorruptRecord */
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
  const rowKey = identityKey(collection, key, lang)
  const row = isKey(rowKey) ? environment.identities.peek(rowKey) : undefined
  return row === undefined
    ? undefined
    : identityOf(
        decodeIdentity(row, () => nameOf(rowKey)),
        key,
        lang,
      )
}

/**
 * Returns `found` if it has this identity. A row found under the key of another identity is damaged, even if
 * its checksum is correct.
 * @throws CorruptRecord
 */
function identityOf(found: Identity, key: string, lang: string): Identity {
  if (lowerCase(found.key) === lowerCase(key) && lowerCase(found.lang) === lowerCase(lang)) return found
  throw new CorruptRecord(`identity of document ${found.docid}`, 'belongs to another key')
}

function readSealed(environment: Environment, seal: CollectionSeal, form: number, key: string, lang: string): Identity | undefined {
  const rowKey = seal.identityKey(form, lowerCase(key), lowerCase(lang))
  const row = rowKey === undefined ? undefined : environment.sealedIdentities.peek(rowKey)
  return row === undefined || rowKey === undefined ? undefined : identityOf(openIdentity(seal, rowKey, row), key, lang)
}

/** @throws CorruptRecord */
export function openIdentity(seal: CollectionSeal, rowKey: Buffer, row: Buffer): Identity {
  requireIntact(row, SEALED_PREFIX_BYTES, () => nameOf(rowKey))
  const name = (): string => `identity ${seal.collection}/${row.readUInt32LE(8)}`
  return decodeIdentity(seal.open(identityAddress(rowKey), row, name).subarray(SEALED_PREFIX_BYTES - 4), name)
}

/**
 * Docids of the documents with this key in any language and any spelling, at most `count`. They are ordered
 * by language where the rows are plaintext.
 */
export function readDocidsOfKey(
  environment: Environment,
  seal: CollectionSeal | undefined,
  collection: number,
  key: string,
  count: number,
): number[] {
  const docids = new Set<number>()
  for (const form of seal?.state.forms ?? [CLEAR]) {
    const start = form === CLEAR ? identityKey(collection, key, '') : seal?.identityKey(form, lowerCase(key), undefined)
    if (start === undefined || docids.size >= count || !isKey(start)) continue
    const table = form === CLEAR ? environment.identities : environment.sealedIdentities
    for (const { key: rowKey, value } of table.getRange({ start, end: prefixEnd(start), limit: count - docids.size }))
      docids.add(
        (form === CLEAR ? decodeIdentity(value, () => nameOf(rowKey)) : openIdentity(seal as CollectionSeal, Buffer.from(rowKey), value))
          .docid,
      )
  }
  return [...docids]
}

/** Writes the row in the collection's present form and removes it in all other forms. */
export function writeIdentity(environment: Environment, collection: number, identity: Identity): void {
  const seal = environment.seals.of(collection)
  const written = seal?.writtenForm ?? CLEAR
  removeForms(environment, collection, identity, written)
  if (seal === undefined || written === CLEAR) {
    environment.identities.put(identityKey(collection, identity.key, identity.lang), encodeIdentity(identity))
    return
  }
  const rowKey = seal.identityKey(written, lowerCase(identity.key), lowerCase(identity.lang)) as Buffer
  environment.sealedIdentities.put(rowKey, sealIdentity(seal, rowKey, identity))
}

function sealIdentity(seal: CollectionSeal, rowKey: Buffer, identity: Identity): Buffer {
  return seal.seal(identityAddress(rowKey), Buffer.concat([Buffer.alloc(SEALED_PREFIX_BYTES - 4), encodeIdentity(identity)]))
}

export function removeIdentity(environment: Environment, collection: number, identity: Identity): void {
  removeForms(environment, collection, identity)
}

/** Removes the row in every form of sealing except `kept`. */
function removeForms(environment: Environment, collection: number, { key, lang }: Identity, kept?: number): void {
  const seal = environment.seals.of(collection)
  for (const form of seal?.state.forms ?? [CLEAR]) {
    if (form === kept) continue
    const rowKey = form === CLEAR ? identityKey(collection, key, lang) : seal?.identityKey(form, lowerCase(key), lowerCase(lang))
    if (rowKey !== undefined) (form === CLEAR ? environment.identities : environment.sealedIdentities).remove(rowKey)
  }
}

/**
 * Whether the document was at some time written under exactly this spelling. The spelling of the identity row
 * is not covered.
 * @throws CorruptRecord because the document would otherwise seem to be missing
 */
export function hasSpelling(
  environment: Environment,
  seal: CollectionSeal | undefined,
  collection: number,
  docid: number,
  key: string,
  lang: string,
): boolean {
  const isSpelledInPlaintext = (): boolean => {
    const rowKey = spellingKey(collection, docid, key, lang)
    return isKey(rowKey) && isThere(environment.spellings, rowKey)
  }
  if (seal === undefined) return isSpelledInPlaintext()
  return seal.state.forms.some((form) => {
    if (form === CLEAR) return isSpelledInPlaintext()
    const rowKey = seal.spellingKey(form, docid, key, lang)
    return rowKey !== undefined && isThere(environment.sealedSpellings, rowKey)
  })
}

function isThere(spellings: Table, rowKey: Buffer): boolean {
  const row = spellings.peek(rowKey)
  if (row === undefined) return false
  requireIntact(row, 0, () => `spelling ${rowKey.toString('hex')}`)
  return true
}

export function writeSpelling(environment: Environment, collection: number, docid: number, key: string, lang: string): void {
  const seal = environment.seals.of(collection)
  if (seal === undefined || seal.writtenForm === CLEAR) {
    environment.spellings.put(spellingKey(collection, docid, key, lang), NOTHING)
    return
  }
  const rowKey = seal.spellingKey(seal.writtenForm, docid, key, lang) as Buffer
  environment.sealedSpellings.put(rowKey, sealSpelling(seal, rowKey, key, lang))
}

function sealSpelling(seal: CollectionSeal, rowKey: Buffer, key: string, lang: string): Buffer {
  return seal.seal(spellingAddress(rowKey), Buffer.concat([Buffer.alloc(SPELLING_PREFIX_BYTES), Buffer.from(`${key}\0${lang}`)]))
}

/** @throws CorruptRecord */
export function openSpelling(seal: CollectionSeal, rowKey: Buffer, row: Buffer): readonly [key: string, lang: string] {
  const record = seal.open(spellingAddress(rowKey), row, () => `spelling ${rowKey.readUInt32BE(0)}/${rowKey.readUInt32BE(4)}`)
  return splitSpelling(record.subarray(SPELLING_PREFIX_BYTES))
}

/** Splits the text of a sealed row, or the end of a plaintext row's key, into key and language. */
export function splitSpelling(text: Buffer): readonly [key: string, lang: string] {
  const split = text.indexOf(0)
  return [text.toString('utf8', 0, split), text.toString('utf8', split + 1)]
}

/** Removes all spellings of a document. */
export function removeSpellings(environment: Environment, collection: number, docid: number): void {
  const prefix = documentKey(collection, docid)
  for (const table of [environment.spellings, environment.sealedSpellings])
    for (const key of [...table.getKeys({ start: prefix, end: prefixEnd(prefix) })]) table.remove(key)
}

function encodeIdentity(identity: Identity): Buffer {
  const row = Buffer.from(`\0\0\0\0${identity.key}\0${identity.lang}`)
  row.writeUInt32LE(identity.docid, 0)
  return row
}

/** @throws CorruptRecord */
export function decodeIdentity(row: Buffer, name: () => string): Identity {
  requireIntact(row, 5, name)
  const split = row.indexOf(0, 4)
  return { docid: row.readUInt32LE(0), key: row.toString('utf8', 4, split), lang: row.toString('utf8', split + 1) }
}

/** Names a row in errors, without any text of a sealed collection. */
function nameOf(rowKey: Uint8Array): string {
  return `identity ${Buffer.from(rowKey).toString('hex')}`
}
