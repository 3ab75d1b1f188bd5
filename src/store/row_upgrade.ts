/**
 * Adds the checksum over key and value to rows of format 1. The walk goes table by table and processes some
 * rows in each write transaction, which also stores the position of the walk. Rows written meanwhile have a
 * checksum already. A damaged row must not get a checksum that declares it intact: it stays as it is, and
 * counts as damage once the walk has ended. Layout: docs/formats/truth-env.md.
 */
import { decodeCollection } from './collections/collection_row.js'
import { finishUpgrade, isUpgradeWanted, TABLE_NAMES } from './environment.js'
import type { Environment, TableName } from './environment.js'
import { decodeIdentity } from './documents/identities.js'
import { collectionOfKey, identityRowKey, lowerCaseForms } from './rows/keys.js'
import { noteDamage } from './rows/noted_damage.js'
import { pack, unpack } from './rows/packages.js'
import { checkRecord, CorruptRecord } from './rows/record.js'
import { isStamp } from './collections/stored_settings.js'
import type { View } from './view.js'

const POSITION_KEY = Buffer.from('upgrade')
/** CRC and version, which every record has. */
const RECORD_BYTES_MIN = 5
/** Lengths of values of format 1, for tables where they are fixed. */
const VALUE_BYTES: Partial<Record<TableName, readonly number[]>> = {
  bodyCounts: [4],
  spellings: [0],
  expiries: [0],
  retired: [8],
  garbage: [0],
  objectOwners: [16],
  objectReleases: [8, 20],
  leaderboard: [0],
  eventMinutes: [4],
  embedQueue: [8],
}

/** One step, inside a write transaction. @returns whether rows are left */
export function upgradeRows(environment: Environment, view: View, rowsMax: number, bytesMax: number): boolean {
  if (!isUpgradeWanted(environment)) return false
  const { settings } = environment
  const stored = settings.get(POSITION_KEY)
  const [name, from] = stored === undefined ? [TABLE_NAMES[0], undefined] : (unpack(stored) as [TableName, Buffer | undefined])
  // A table name that this version does not know is damage. The walk then restarts and skips rows that have
  // their checksum.
  let table = Math.max(0, TABLE_NAMES.indexOf(name as TableName))
  let start = from ?? undefined
  let [rows, bytes] = [0, 0]
  for (; table < TABLE_NAMES.length; table++, start = undefined) {
    const of = TABLE_NAMES[table] as TableName
    const unchecked: { readonly key: Buffer; readonly value: Buffer }[] = []
    let next: Buffer | undefined
    for (const { key, value, isChecked } of environment[of].storedRows(start)) {
      if (rows >= rowsMax || bytes >= bytesMax) {
        next = Buffer.from(key)
        break
      }
      rows++
      bytes += value.length
      if (!isChecked) unchecked.push({ key: Buffer.from(key), value })
    }
    for (const { key, value } of unchecked) if (isBelievable(environment, view, of, key, value)) environment[of].put(key, value)
    if (next !== undefined) {
      settings.put(POSITION_KEY, pack([of, next]))
      return true
    }
  }
  settings.remove(POSITION_KEY)
  finishUpgrade(environment)
  return false
}

function isBelievable(environment: Environment, view: View, of: TableName, key: Buffer, value: Buffer): boolean {
  const name = (): string => `${of} ${key.toString('hex')}`
  try {
    requireWhole(environment, view, of, key, value, name)
    return true
  } catch (error) {
    noteDamage(error instanceof CorruptRecord ? error : new CorruptRecord(name(), String(error)))
    return false
  }
}

/**
 * Checks a row as far as possible without a checksum.
 * @throws CorruptRecord, or an error from unpacking damaged bytes
 */
function requireWhole(environment: Environment, view: View, of: TableName, key: Buffer, value: Buffer, name: () => string): void {
  const lengths = VALUE_BYTES[of]
  if (lengths?.includes(value.length) === false) throw new CorruptRecord(name(), `${value.length} bytes`)
  if (environment[of].isOfRecords || (of === 'collectionSettings' && !isStamp(key))) checkRecord(value, RECORD_BYTES_MIN, name)
  else if (of === 'collections') decodeCollection(key, value)
  else if (of === 'counters' || of === 'vectorVariants') unpack(value)
  else if (of === 'identities') requireLeads(view, key, value, name)
}

/** Requires that the identity row leads to a document whose head has the same identity. */
function requireLeads(view: View, rowKey: Buffer, value: Buffer, name: () => string): void {
  const collection = collectionOfKey(rowKey)
  if (view.retired().includes(collection)) return
  const identity = decodeIdentity(value, name)
  const isOwn = lowerCaseForms(identity.key).some((key) =>
    lowerCaseForms(identity.lang).some((lang) => identityRowKey(collection, key, lang).equals(rowKey)),
  )
  if (!isOwn) throw new CorruptRecord(name(), 'belongs to another key')
  if (view.headOf(collection, identity) === undefined) throw new CorruptRecord(name(), 'it leads to no document')
}
