/**
 * Rewrites stored rows in the form that their collections have now: sealed with the primary key, or
 * plaintext. One step processes some rows of one table inside the write transaction. Rows already in that
 * form are skipped, so restarting a walk costs only time. A row that can't be opened stays as it is and is
 * counted. Resealing writes no entries: the key of a row is local to this node. Write lane only.
 */
import {
  clearText,
  holdsCredential,
  isSealedForServer,
  isStamp,
  openForServer,
  openSetting,
  sealForServer,
  writeSetting,
} from '../collections/stored_settings.js'
import { decodeIdentity, openIdentity, openSpelling, splitSpelling, writeIdentity, writeSpelling } from '../documents/identities.js'
import { resealEntry, sealOfEntry, wantedSealOfEntry } from '../entries/entry.js'
import type { Environment } from '../environment.js'
import { counterKey, docidOfKey, idOfSettingKey, lsnOfKey, prefixEnd } from '../rows/keys.js'
import { checkRecord, CorruptRecord } from '../rows/record.js'
import type { Table } from '../rows/table.js'
import type { CollectionSeal } from '../sealing/collection_seal.js'
import { bodyAddress, CLEAR, stateAddress, vectorsAddress } from '../sealing/collection_seal.js'
import type { SealedAddress } from '../sealing/sealed_record.js'
import { keyIdOf } from '../sealing/sealed_record.js'
import { SETTING_KINDS } from '../settings.js'

/**
 * The tables of a collection, in the order of the walk. Jobs store their position as an index of this list,
 * so new tables are appended. The binlog is walked once, after all collections.
 */
export const RESEALED_TABLES = [
  'heads', 'revisions', 'bodies', 'identities', 'sealedIdentities', 'spellings', 'sealedSpellings', 'collectionSettings', 'sealedSettings', 'vectors',
] as const // prettier-ignore
export type ResealedTable = (typeof RESEALED_TABLES)[number]

export interface ResealedRows {
  /** Key at which to continue; undefined: the walk is complete. */
  readonly next: Buffer | undefined
  readonly scanned: number
  readonly resealed: number
  readonly skipped: number
  /** One line per error. The lines name records and contain no text of documents. */
  readonly errors: readonly string[]
  /** Bytes by which the binlog has grown. */
  readonly grownBytes: number
}

/** Outcome for a row: it already had the present form, or it was rewritten. */
type Outcome = 'skipped' | 'resealed'

/** @param from first key; undefined: the start of the collection */
export function resealTable(
  environment: Environment,
  collection: number,
  table: ResealedTable,
  from: Buffer | undefined,
  rowsMax: number,
): ResealedRows {
  const prefix = counterKey(collection)
  const end = prefixEnd(prefix)
  const seal = environment.seals.of(collection)
  if (seal === undefined && table !== 'collectionSettings')
    return { next: undefined, scanned: 0, resealed: 0, skipped: 0, errors: [], grownBytes: 0 }
  return walk(environment[table], from ?? prefix, end, rowsMax, (key, value) => resealRow(environment, seal, collection, table, key, value))
}

/** @param collection undefined: entries of all collections */
export function resealBinlog(
  environment: Environment,
  collection: number | undefined,
  from: Buffer | undefined,
  rowsMax: number,
): ResealedRows {
  let grownBytes = 0
  const { seals, binlog } = environment
  const rows = walk(binlog, from ?? Buffer.alloc(8), undefined, rowsMax, (key, record) => {
    const lsn = lsnOfKey(key)
    const wanted = wantedSealOfEntry(seals, lsn, record, collection)
    const present = sealOfEntry(record)
    if (wanted === undefined || (wanted.scope === present.scope && wanted.keyId === present.keyId)) return 'skipped'
    const changed = resealEntry(seals, lsn, record)
    grownBytes += changed.length - record.length
    binlog.put(key, changed)
    return 'resealed'
  })
  return { ...rows, grownBytes }
}

function walk(
  table: Table,
  start: Buffer,
  end: Buffer | undefined,
  rowsMax: number,
  change: (key: Buffer, value: Buffer) => Outcome,
): ResealedRows {
  const range = end === undefined ? { start } : { start, end }
  const rows = [...table.getRange({ ...range, limit: rowsMax + 1 })].map(({ key, value }) => ({ key: Buffer.from(key), value }))
  const errors: string[] = []
  let resealed = 0
  const taken = rows.slice(0, rowsMax)
  for (const { key, value } of taken) {
    try {
      if (change(key, value) === 'resealed') resealed++
    } catch (error) {
      if (!(error instanceof CorruptRecord)) throw error
      errors.push(error.message)
    }
  }
  const skipped = taken.length - resealed - errors.length
  return { next: rows[rowsMax]?.key, scanned: taken.length, resealed, skipped, errors, grownBytes: 0 }
}

function resealRow(
  environment: Environment,
  seal: CollectionSeal | undefined,
  collection: number,
  table: ResealedTable,
  key: Buffer,
  value: Buffer,
): Outcome {
  if (table === 'collectionSettings') return resealSetting(environment, seal, collection, key, value)
  if (seal === undefined) return 'skipped'
  switch (table) {
    case 'heads':
    case 'revisions':
      return resealRecord(environment[table], seal, stateAddress(collection, docidOfKey(key)), key, value)
    case 'bodies':
      return resealRecord(environment.bodies, seal, bodyAddress(key), key, value)
    case 'vectors':
      return resealRecord(environment.vectors, seal, vectorsAddress(key), key, value)
    case 'sealedSettings':
      return resealSealedSetting(environment, seal, key, value)
    default:
      return resealText(environment, seal, table, key, value)
  }
}

/** Reseals a record under the same row key. */
function resealRecord(table: Table, seal: CollectionSeal, address: SealedAddress, key: Buffer, record: Buffer): Outcome {
  if (keyIdOf(record) === seal.writtenForm) return 'skipped'
  const name = (): string => `${address.kind} ${key.toString('hex')}`
  // A damaged record must not get a seal that declares it intact.
  if (keyIdOf(record) === CLEAR) checkRecord(record, address.clearBytes, name)
  const clear = keyIdOf(record) === CLEAR ? record : seal.open(address, record, name)
  table.put(key, seal.writtenForm === CLEAR ? clear : seal.seal(address, clear))
  return 'resealed'
}

/** Reseals a row whose key contains a text or its hash. The row moves to another key. */
function resealText(
  environment: Environment,
  seal: CollectionSeal,
  table: 'identities' | 'sealedIdentities' | 'spellings' | 'sealedSpellings',
  key: Buffer,
  value: Buffer,
): Outcome {
  const { collection, writtenForm } = seal
  const isSealed = table === 'sealedIdentities' || table === 'sealedSpellings'
  if ((isSealed ? keyIdOf(value) : CLEAR) === writtenForm) return 'skipped'
  if (table === 'identities' || table === 'sealedIdentities') {
    const identity = isSealed ? openIdentity(seal, key, value) : decodeIdentity(value, () => `identity ${key.toString('hex')}`)
    environment[table].remove(key)
    writeIdentity(environment, collection, identity)
    return 'resealed'
  }
  const [name, lang] = isSealed ? openSpelling(seal, key, value) : splitSpelling(key.subarray(8))
  environment[table].remove(key)
  writeSpelling(environment, collection, docidOfKey(key), name, lang)
  return 'resealed'
}

/** Reseals a setting that is plaintext, or a configuration that is sealed for its credentials. */
function resealSetting(
  environment: Environment,
  seal: CollectionSeal | undefined,
  collection: number,
  key: Buffer,
  record: Buffer,
): Outcome {
  if (isStamp(key)) return 'skipped'
  const kind = SETTING_KINDS[key[4] as number] ?? 'config'
  const name = (): string => `${kind} of collection ${collection}`
  const isForServer = isSealedForServer(record)
  if (!isForServer) checkRecord(record, 5, name)
  const json = clearText(isForServer ? openForServer(environment, key, record, name) : record)
  if (seal !== undefined && seal.writtenForm !== CLEAR) {
    writeSetting(environment, collection, kind, idOfSettingKey(key), json)
    return 'resealed'
  }
  const isInForm = isForServer ? keyIdOf(record) === environment.seals.keyring.primaryId : !holdsCredential(kind, json)
  if (isInForm) return 'skipped'
  environment.collectionSettings.put(key, sealForServer(environment, key, json))
  return 'resealed'
}

function resealSealedSetting(environment: Environment, seal: CollectionSeal, key: Buffer, record: Buffer): Outcome {
  if (keyIdOf(record) === seal.writtenForm) return 'skipped'
  const kind = SETTING_KINDS[key[4] as number] ?? 'config'
  const [id, json] = openSetting(seal, key, record, () => `${kind} of collection ${seal.collection}`)
  environment.sealedSettings.remove(key)
  writeSetting(environment, seal.collection, kind, id, json)
  return 'resealed'
}
