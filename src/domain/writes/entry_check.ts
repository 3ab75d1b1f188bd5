/**
 * The last check before `apply`, which must not fail. An entry with a name, number or record that its table
 * does not accept is rejected, regardless of the decision that made it. Handlers reject the same input
 * earlier, with a better name for the field. This check catches what a handler misses. Write lane, after
 * `decide` and before the first entry is applied.
 */
import type { ServiceError } from '../../errors.js'
import { badRequest } from '../../errors.js'
import { BODY_RECORD_BYTES_MIN, checkBody } from '../../store/body.js'
import type { Entry } from '../../store/entries/entry.js'
import type { FieldChecks } from '../../store/entries/entry_kind.js'
import { kindOf } from '../../store/entries/kinds.js'
import { decodeHead } from '../../store/head.js'
import { decodeObject } from '../../store/objects.js'
import { collectionKey, fitsAnyKey, identityKey, isKey, spellingKey } from '../../store/rows/keys.js'
import type { Step } from '../step.js'

const U32_MAX = 0xffff_ffff
const LSN_MAX = 2n ** 64n - 1n

/** @throws ServiceError 400; CorruptRecord for a record that cannot be read back */
export function requireApplicable(steps: readonly Step[]): void {
  for (const { entry, body } of steps) {
    requireWhole(entry, 'collection', entry.collection)
    requireWhole(entry, 'docid', entry.docid)
    require(typeof entry.lsn === 'bigint' && entry.lsn > 0n && entry.lsn <= LSN_MAX, entry, 'lsn')
    require(body === undefined || (body instanceof Uint8Array && body.length >= BODY_RECORD_BYTES_MIN), entry, 'body')
    kindOf(entry).check(entry, checksOf(entry), body)
  }
}

function checksOf(entry: Entry): FieldChecks {
  return {
    holds: (isStorable, field) => require(isStorable, entry, field),
    whole: (field, value) => requireWhole(entry, field, value),
    lsn: (field, value) => requireLsn(entry, field, value),
    collectionName: (name) => requireCollection(entry, name),
    identity: (key, lang) => requireIdentity(entry, key, lang),
    head: (record) => requireHead(entry, record),
    object: (record) => requireObject(entry, record),
    body: (record) => requireBody(entry, record),
  }
}

function requireCollection(entry: Entry, name: unknown): void {
  require(typeof name === 'string' && name !== '' && (fitsAnyKey(name.length) || isKey(collectionKey(name))), entry, 'collection')
}

/**
 * Checks both rows of the identity: as written, and as compared. A NUL would terminate the key within them.
 */
function requireIdentity(entry: Entry, key: unknown, lang: unknown): void {
  require(typeof key === 'string' && key !== '' && !key.includes('\0'), entry, 'key')
  require(typeof lang === 'string' && !lang.includes('\0'), entry, 'lang')
  if (fitsAnyKey(key.length + lang.length)) return
  require(isKey(identityKey(0, key, lang)) && isKey(spellingKey(0, 0, key, lang)), entry, 'key')
}

function requireHead(entry: Entry, record: Buffer): void {
  const { expiresAt } = decodeHead(record, entry.collection, () => `head of entry ${entry.lsn}`)
  require(Number.isSafeInteger(expiresAt) && expiresAt >= 0, entry, 'ttl')
}

function requireObject(entry: Entry, record: Buffer | null): void {
  if (record !== null) decodeObject(record, () => `object of entry ${entry.lsn}`)
}

/** @param record as it came over the thread border: its type is that of any bytes */
function requireBody(entry: Entry, record: Uint8Array | undefined): void {
  if (record === undefined) return
  checkBody(Buffer.from(record.buffer, record.byteOffset, record.length), () => `body of entry ${entry.lsn}`)
}

function requireWhole(entry: Entry, field: string, value: unknown): void {
  require(Number.isInteger(value) && (value as number) >= 0 && (value as number) <= U32_MAX, entry, field)
}

function requireLsn(entry: Entry, field: string, value: unknown): void {
  require(typeof value === 'bigint' && value >= 0n && value <= LSN_MAX, entry, field)
}

function require(holds: boolean, entry: Entry, field: string): asserts holds {
  if (!holds) throw unstorable(entry, field)
}

function unstorable({ kind }: Entry, field: string): ServiceError {
  return badRequest(`invalid ${field}: a ${kind} entry can't hold it`)
}
