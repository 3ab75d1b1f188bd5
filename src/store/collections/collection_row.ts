/**
 * Rows of the table `collections`: id and name of a collection under its lower-cased name. Layout:
 * docs/formats/truth-env.md.
 */
import type { Environment } from '../environment.js'
import { collectionKey, isKey } from '../rows/keys.js'
import { noteDamage } from '../rows/noted_damage.js'
import { CorruptRecord, DAMAGED_ROW, requireIntact } from '../rows/record.js'
import type { Table } from '../rows/table.js'

export interface Collection {
  readonly id: number
  /** The name as first written. */
  readonly name: string
}

const ID_BYTES = 4

function encodeCollection(collection: Collection): Buffer {
  const row = Buffer.from(`\0\0\0\0${collection.name}`)
  row.writeUInt32LE(collection.id, 0)
  return row
}

/** @throws CorruptRecord also if the row is that of another collection */
export function decodeCollection(key: Buffer, row: Buffer): Collection {
  const name = (): string => `collection ${JSON.stringify(key.toString('utf8'))}`
  requireIntact(row, ID_BYTES + 1, name)
  const collection = { id: row.readUInt32LE(0), name: row.toString('utf8', ID_BYTES) }
  if (!collectionKey(collection.name).equals(collectionKey(key.toString('utf8')))) throw new CorruptRecord(name(), 'it names another')
  return collection
}

/**
 * Every collection whose row is intact, ordered by its lower-cased name. A damaged row must not make the
 * other collections unreadable.
 */
export function readCollections(collections: Table): Collection[] {
  const found: Collection[] = []
  for (const { key, value } of collections.getRange()) {
    try {
      found.push(decodeCollection(key, value))
    } catch (error) {
      noteDamage(error)
    }
  }
  return found
}

/** @throws CorruptRecord */
export function readCollection(environment: Environment, name: string): Collection | undefined {
  const key = collectionKey(name)
  const row = isKey(key) ? environment.collections.get(key) : undefined
  return row === undefined ? undefined : decodeCollection(key, row)
}

/** The collection named by an entry. */
interface NamedCollection {
  readonly collection: number
  readonly collectionName: string
}

/** Does nothing if the collection exists. */
export function createCollection(environment: Environment, entry: NamedCollection): void {
  if (environment.named.get(entry.collectionName)?.id === entry.collection || hasRow(environment, entry)) return
  environment.named.clear()
  const row = encodeCollection({ id: entry.collection, name: entry.collectionName })
  environment.collections.put(collectionKey(entry.collectionName), row)
}

export function removeCollection(environment: Environment, entry: NamedCollection): void {
  environment.named.clear()
  if (hasRow(environment, entry)) environment.collections.remove(collectionKey(entry.collectionName))
}

/** Whether the row of the name is that of the collection. */
function hasRow(environment: Environment, { collection, collectionName }: NamedCollection): boolean {
  const row = environment.collections.get(collectionKey(collectionName))
  return row !== undefined && row !== DAMAGED_ROW && row.readUInt32LE(0) === collection
}
