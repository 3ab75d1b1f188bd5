/**
 * The last check before `apply`, which must not fail: an entry with a name, number or record that its table
 * does not accept is refused, whichever decision made it. Handlers refuse the same earlier and name the field
 * better; this check holds where one of them does not. Write lane, after `decide` and before the first entry
 * is applied.
 */
import { badRequest } from '../../errors.js'
import type { ServiceError } from '../../errors.js'
import { BODY_RECORD_BYTES_MIN } from '../../store/body.js'
import type { Entry } from '../../store/entry.js'
import { decodeHead } from '../../store/head.js'
import { jobKey } from '../../store/jobs.js'
import { collectionKey, identityKey, isKey, settingKey, spellingKey } from '../../store/keys.js'
import { decodeObject } from '../../store/objects.js'
import { SETTING_KINDS } from '../../store/settings.js'
import type { Step } from '../decision.js'

const U32_MAX = 0xffff_ffff
const LSN_MAX = 2n ** 64n - 1n

/** @throws ServiceError 400; CorruptRecord for a record that can't be read back */
export function requireApplicable(steps: readonly Step[]): void {
  for (const { entry, body } of steps) {
    requireWhole(entry, 'collection', entry.collection)
    requireWhole(entry, 'docid', entry.docid)
    require(typeof entry.lsn === 'bigint' && entry.lsn > 0n && entry.lsn <= LSN_MAX, entry, 'lsn')
    require(body === undefined || (body instanceof Uint8Array && body.length >= BODY_RECORD_BYTES_MIN), entry, 'body')
    requireFields(entry)
  }
}

function requireFields(entry: Entry): void {
  switch (entry.kind) {
    case 'put':
      requireCollection(entry, entry.collectionName)
      requireIdentity(entry, entry.key, entry.lang)
      requireHead(entry, entry.head)
      requireWhole(entry, 'trimBelow', entry.trimBelow)
      requireObject(entry, entry.object)
      break
    case 'expiry':
      requireHead(entry, entry.head)
      break
    case 'trim':
      requireHead(entry, entry.head)
      requireWhole(entry, 'trimBelow', entry.trimBelow)
      break
    case 'delete':
      requireIdentity(entry, entry.key, entry.lang)
      break
    case 'drop':
    case 'sealing':
      requireCollection(entry, entry.collectionName)
      break
    case 'setting': {
      // What the server itself is told has no collection.
      if (entry.collection !== 0) requireCollection(entry, entry.collectionName)
      const isRow = typeof entry.id === 'string' && isKey(settingKey(entry.collection, SETTING_KINDS.indexOf(entry.setting), entry.id))
      require(isRow, entry, 'id')
      require(entry.value === null || typeof entry.value === 'string', entry, 'value')
      break
    }
    case 'job':
      require(typeof entry.id === 'string' && entry.id !== '' && isKey(jobKey(entry.job, entry.id)), entry, 'id')
      break
    case 'place':
      requireLsn(entry, 'bodyLsn', entry.bodyLsn)
      requireObject(entry, entry.object)
      break
    case 'vectors':
      requireLsn(entry, 'queued', entry.queued)
      requireLsn(entry, 'bodyLsn', entry.bodyLsn)
      break
  }
}

function requireCollection(entry: Entry, name: unknown): void {
  require(typeof name === 'string' && isKey(collectionKey(name)), entry, 'collection')
}

/** Both rows that it has, as it is written and as it is compared; a NUL would end the key within them. */
function requireIdentity(entry: Entry, key: unknown, lang: unknown): void {
  require(typeof key === 'string' && key !== '' && !key.includes('\0'), entry, 'key')
  require(typeof lang === 'string' && !lang.includes('\0'), entry, 'lang')
  require(isKey(identityKey(0, key, lang)) && isKey(spellingKey(0, 0, key, lang)), entry, 'key')
}

function requireHead(entry: Entry, record: Buffer): void {
  const { expiresAt } = decodeHead(record, entry.collection, () => `head of entry ${entry.lsn}`)
  require(Number.isSafeInteger(expiresAt) && expiresAt >= 0, entry, 'ttl')
}

function requireObject(entry: Entry, record: Buffer | null): void {
  if (record !== null) decodeObject(record, () => `object of entry ${entry.lsn}`)
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
