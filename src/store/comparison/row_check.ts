/** Checks a single row: whether its checksums are correct, and whether it is found by its key. */
import { isStamp } from '../collections/stored_settings.js'
import type { Environment, TableName } from '../environment.js'
import { TABLES } from '../environment.js'
import { collectionOfKey, counterKey, docidOfKey } from '../rows/keys.js'
import { checkRecord, CorruptRecord } from '../rows/record.js'
import type { Findings } from './findings.js'

/** CRC and version, which every record has. */
const RECORD_BYTES_MIN = 5
const KEY_BYTES_SHOWN = 32
/** Tables whose keys begin with the ids of a collection and a document. */
const DOCUMENT_TABLES: ReadonlySet<TableName> = new Set<TableName>([
  'heads',
  'bodies',
  'bodyCounts',
  'revisions',
  'spellings',
  'sealedSpellings',
  'objects',
  'histories',
  'vectors',
  'vectorStamps',
])
const COLLECTION_TABLES: ReadonlySet<TableName> = new Set<TableName>([
  'identities',
  'collectionSettings',
  'retired',
  'counters',
  'sealings',
  'sealedIdentities',
  'sealedSettings',
  'leaderboard',
  'eventMinutes',
  'vectorVariants',
])

interface StoredRow {
  readonly key: Buffer
  readonly value: Buffer
  readonly isChecked: boolean
}

export function checkRow(environment: Environment, of: TableName, { key, value, isChecked }: StoredRow, findings: Findings): void {
  const subject = subjectOf(environment, of, key)
  if (!isChecked) findings.add('row_damaged', subject, 'the checksum over its key and value does not hold')
  else if (environment[of].isOfRecords || (of === 'collectionSettings' && !isStamp(key))) checkStored(value, subject, findings)
  if (!environment[of].doesExist(key)) findings.add('row_unreachable', subject, 'it is there, and not found by its key')
}

function checkStored(value: Buffer, subject: string, findings: Findings): void {
  try {
    checkRecord(value, RECORD_BYTES_MIN, () => subject)
  } catch (error) {
    if (!(error instanceof CorruptRecord)) throw error
    findings.add('row_damaged', subject, error.detail)
  }
}

/**
 * Names a row by numbers. Keys of identities contain texts, which the report shows only for plaintext
 * collections.
 */
export function subjectOf(environment: Environment, of: TableName, key: Buffer): string {
  const [table] = TABLES[of]
  if (DOCUMENT_TABLES.has(of) && key.length >= 8) {
    const rest = key.length === 8 || of === 'spellings' ? '' : ` ${key.subarray(8, 8 + KEY_BYTES_SHOWN).toString('hex')}`
    return `${table}: collection ${collectionOfKey(key)}, document ${docidOfKey(key)}${rest}`
  }
  if (COLLECTION_TABLES.has(of) && key.length >= 4) {
    const rest = key.length === 4 ? '' : ` ${restOf(environment, of, key)}`
    return `${table}: collection ${collectionOfKey(key)}${rest}`
  }
  return `${table}: ${key.subarray(0, KEY_BYTES_SHOWN).toString('hex')}`
}

function restOf(environment: Environment, of: TableName, key: Buffer): string {
  if (of !== 'identities') return key.subarray(4, 4 + KEY_BYTES_SHOWN).toString('hex')
  return isSealed(environment, collectionOfKey(key)) ? '' : JSON.stringify(key.toString('utf8', 4).replace('\0', '|'))
}

/** Whether the collection was ever sealed. */
export function isSealed({ sealings }: Environment, collection: number): boolean {
  return sealings.doesExist(counterKey(collection))
}
