/**
 * Counters that are kept in the transaction of the write that changes them, so that stats, checksums and
 * totals never scan. Layout: docs/formats/truth-env.md.
 */
import type { Environment } from './environment.js'
import { counterKey, prefixEnd } from './keys.js'
import { pack, unpack } from './packages.js'
import { CorruptRecord, requireIntact } from './record.js'
import type { Counted } from './tally.js'

export interface CollectionCounters extends Counted {
  nextDocid: number
}

export interface StoreCounters {
  lastLsn: bigint
  /** Entries below are gone from the binlog. */
  trimmedLsn: bigint
  /** Bytes of the entries in the binlog, with the bodies that they brought. */
  binlogBytes: number
  nextCollection: number
}

/** The store's own counters lie beside those of the collections, whose ids begin at 1. */
export const STORE_COUNTERS = 0

/** @throws CorruptRecord */
export function readCollectionCounters(environment: Environment, collection: number): CollectionCounters {
  const stored = environment.counters.get(counterKey(collection))
  if (stored === undefined) return { documents: 0, revisions: 0, metaTriples: 0, checksum: 0, nextDocid: 1 }
  requireIntact(stored, 1, () => `counters of collection ${collection}`)
  const [documents, revisions, metaTriples, checksum, nextDocid] = unpack(stored) as [number, number, number, number, number]
  return { documents, revisions, metaTriples, checksum, nextDocid }
}

export function writeCollectionCounters(environment: Environment, collection: number, counters: CollectionCounters): void {
  const { documents, revisions, metaTriples, checksum, nextDocid } = counters
  environment.counters.put(counterKey(collection), pack([documents, revisions, metaTriples, checksum, nextDocid]))
}

/** @throws CorruptRecord */
export function readStoreCounters(environment: Environment): StoreCounters {
  const stored = environment.counters.get(counterKey(STORE_COUNTERS))
  if (stored === undefined) return { lastLsn: 0n, trimmedLsn: 0n, binlogBytes: 0, nextCollection: 1 }
  requireIntact(stored, 1, () => 'counters of the store')
  const [lastLsn, trimmedLsn, binlogBytes, nextCollection] = unpack(stored) as [number | bigint, number | bigint, number, number]
  return { lastLsn: BigInt(lastLsn), trimmedLsn: BigInt(trimmedLsn), binlogBytes, nextCollection }
}

/**
 * A row whose key has changed is missing where it is looked for; who went on from zero would give numbers
 * again that are in use. Before anything is written by the transaction.
 * @throws CorruptRecord
 */
export function requireStoreCounters(environment: Environment): StoreCounters {
  const isMissing = environment.counters.get(counterKey(STORE_COUNTERS)) === undefined
  if (isMissing && environment.collections.rowCount > 0)
    throw new CorruptRecord('counters of the store', 'missing, and there are collections')
  return readStoreCounters(environment)
}

/** Of a state that was committed: there a collection with documents has its row. @throws CorruptRecord */
export function requireCollectionCounters(environment: Environment, collection: number): CollectionCounters {
  const key = counterKey(collection)
  if (environment.counters.get(key) === undefined) {
    const [head] = environment.heads.getKeys({ start: key, end: prefixEnd(key), limit: 1 })
    if (head !== undefined) throw new CorruptRecord(`counters of collection ${collection}`, 'missing, and there are documents')
  }
  return readCollectionCounters(environment, collection)
}

export function writeStoreCounters(environment: Environment, counters: StoreCounters): void {
  const { lastLsn, trimmedLsn, binlogBytes, nextCollection } = counters
  environment.counters.put(counterKey(STORE_COUNTERS), pack([lastLsn, trimmedLsn, binlogBytes, nextCollection]))
}
