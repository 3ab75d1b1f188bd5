/**
 * Collections whose row is missing or damaged. A new collection with the name of a lost one would be a
 * different collection: plaintext where the old one was encrypted, and without its documents. Before a
 * collection is created, its name is therefore compared with the lost ones. The result is cached until the
 * next comparison of the store with itself ends (worker/background/scrub.ts).
 */
import type { Environment, LostCollections } from '../environment.js'
import { collectionKey, collectionOfKey, counterKey, prefixEnd } from '../rows/keys.js'
import { CorruptRecord } from '../rows/record.js'
import { TRAILER_BYTES, TRAILER_MARK } from '../rows/row_checksum.js'
import type { Table } from '../rows/table.js'
import { SERVER_SETTINGS } from '../settings.js'
import { decodeCollection } from './collection_row.js'

interface DamagedRow {
  readonly key: Buffer
  /** As stored, with the trailer after the value. */
  readonly stored: Buffer
}

const ID_BYTES = 4
const COLLECTION_MAX = 0xffff_ffff
/** Number of rows of a collection among which an intact one is searched for. */
const WITNESSES_MAX = 16

/**
 * @param name of a collection that is to be created
 * @throws CorruptRecord if it may be the name of a lost collection
 */
export function requireNotLost(environment: Environment, name: string): void {
  const { keys, reason } = (environment.lost.collections ??= findLost(environment))
  if (reason === undefined && keys.size === 0) return
  const record = `collection ${JSON.stringify(name)}`
  if (keys.has(collectionKey(name).toString('hex'))) throw new CorruptRecord(record, 'it may be one whose row is damaged')
  if (reason !== undefined) throw new CorruptRecord(record, `it may be one that is lost: ${reason}`)
}

/**
 * Ids with which keys of the table begin, each once. Costs one look-up per id. In a table with a damaged key
 * a look-up can end before its start: then all keys are read.
 */
export function* collectionIds(table: Table): Generator<number> {
  const seen = new Set<number>()
  for (let [key] = table.getKeys({ limit: 1 }), start = 0; key !== undefined;) {
    const id = collectionOfKey(key)
    if (id < start) {
      yield* idsOfAllKeys(table, seen)
      return
    }
    seen.add(id)
    yield id
    start = id + 1
    ;[key] = id === COLLECTION_MAX ? [] : table.getKeys({ start: counterKey(start), limit: 1 })
  }
}

function* idsOfAllKeys(table: Table, seen: Set<number>): Generator<number> {
  for (const key of table.getKeys()) {
    const id = collectionOfKey(key)
    if (seen.has(id)) continue
    seen.add(id)
    yield id
  }
}

function findLost(environment: Environment): LostCollections {
  const { collections, retired } = environment
  const known = new Set([...retired.getKeys()].map((key) => collectionOfKey(key)))
  const damaged: DamagedRow[] = []
  for (const { key, value } of collections.getRange()) {
    try {
      known.add(decodeCollection(key, value).id)
    } catch (error) {
      if (!(error instanceof CorruptRecord)) throw error
      // The look-up of the value overwrites the buffer that contains the key.
      const at = Buffer.from(key)
      damaged.push({ key: at, stored: collections.storedValue(at) as Buffer })
    }
  }
  const lost = lostIds(environment, known)
  const keys = new Set<string>()
  let reason: string | undefined
  for (const row of damaged) {
    const found = keysOf(collections, row, lost)
    if (found === undefined) reason = 'a row of the collections is damaged, and its name with it'
    for (const key of found ?? []) keys.add(key.toString('hex'))
  }
  const [nameless] = lost
  if (nameless !== undefined) reason = `collection ${nameless} has rows, and no name leads to it`
  return { keys, reason }
}

/**
 * Ids with which keys of other tables begin and which no row of the collections names. A damaged row does not
 * count, because its key may name another collection.
 */
function lostIds({ heads, collectionSettings, sealings }: Environment, known: ReadonlySet<number>): Set<number> {
  const lost = new Set<number>()
  for (const table of [heads, collectionSettings, sealings]) {
    for (const id of collectionIds(table)) {
      if (id === SERVER_SETTINGS || known.has(id) || lost.has(id)) continue
      const start = counterKey(id)
      const [witness] = table.intactKeys({ start, end: prefixEnd(start), limit: WITNESSES_MAX })
      if (witness !== undefined) lost.add(id)
    }
  }
  return lost
}

/**
 * The keys that a damaged row may have had, provided that it is damaged in one place only. The id in the row
 * is removed from `lost`.
 * @returns undefined if the keys can't be determined
 */
function keysOf(collections: Table, { key, stored }: DamagedRow, lost: Set<number>): readonly Buffer[] | undefined {
  if (stored.length < ID_BYTES + TRAILER_BYTES) return undefined
  // The checksum shows which of the two is changed, unless the checksum itself is.
  for (const id of lost) {
    const mended = Buffer.from(stored)
    mended.writeUInt32LE(id, 0)
    if (!collections.holds(key, mended)) continue
    lost.delete(id)
    return [key]
  }
  const end = stored[stored.length - TRAILER_BYTES] === TRAILER_MARK ? stored.length - TRAILER_BYTES : stored.length
  const name = stored.subarray(ID_BYTES, end)
  const named = collectionKey(name.toString('utf8'))
  const isNamed = collections.holds(named, stored)
  const isKeyed = named.equals(collectionKey(key.toString('utf8')))
  if (!isNamed && !isKeyed && !isOneByteOff(key, name)) return undefined
  lost.delete(stored.readUInt32LE(0))
  return isNamed ? [named] : [key, named]
}

/** Ignores the case of letters, which a key does not preserve. */
function isOneByteOff(key: Buffer, name: Buffer): boolean {
  const [one, other] = [key, name].map((bytes) => bytes.toString('latin1').toLowerCase()) as [string, string]
  return one.length === other.length && [...one].filter((letter, at) => letter !== other[at]).length <= 1
}
