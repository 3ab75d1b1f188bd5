/**
 * Counters that are updated in the transaction of the write that changes them, so that stats, checksums and
 * totals never scan. Layout: docs/formats/truth-env.md.
 */
import type { Environment } from './environment.js'
import { counterKey, prefixEnd } from './rows/keys.js'
import { pack, unpack } from './rows/packages.js'
import { CorruptRecord, requireIntact } from './rows/record.js'
import type { Counted } from './tally.js'
import { nothingCounted } from './tally.js'

export interface CollectionCounters extends Counted {
  nextDocid: number
}

export interface StoreCounters {
  lastLsn: bigint
  /** LSN of the newest entry that was trimmed from the binlog. */
  trimmedLsn: bigint
  /** Bytes of the entries in the binlog, including the bodies that came with them. */
  binlogBytes: number
  nextCollection: number
}

/** The id under which the store's own counters are stored. The ids of collections begin at 1. */
export const STORE_COUNTERS = 0
/** Values of a row of a collection. */
const COLLECTION_VALUES = 9

/** @throws CorruptRecord */
export function readCollectionCounters(environment: Environment, collection: number): CollectionCounters {
  const stored = environment.counters.get(counterKey(collection))
  if (stored === undefined) return { ...nothingCounted(), nextDocid: 1 }
  requireIntact(stored, 1, () => `counters of collection ${collection}`)
  const row = unpack(stored) as readonly (number | bigint)[]
  const [documents, revisions, metaTriples, nextDocid, unhashed] = row as [number, number, number, number, number]
  if (row.length !== COLLECTION_VALUES || unhashed !== 0)
    throw new CorruptRecord(`counters of collection ${collection}`, 'it has documents without content hash, as before format 4')
  const [contentSum, contentXor, stateSum, stateXor] = row.slice(5).map(BigInt) as [bigint, bigint, bigint, bigint]
  return { documents, revisions, metaTriples, nextDocid, contentSum, contentXor, stateSum, stateXor }
}

export function writeCollectionCounters(environment: Environment, collection: number, counters: CollectionCounters): void {
  const { documents, revisions, metaTriples, nextDocid, contentSum, contentXor, stateSum, stateXor } = counters
  // The fifth value counts documents without content hash, of which there are none.
  const row = [documents, revisions, metaTriples, nextDocid, 0, contentSum, contentXor, stateSum, stateXor]
  environment.counters.put(counterKey(collection), pack(row))
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
 * Reads the counters of the store and refuses a missing row. A row whose key is damaged is not found;
 * continuing from zero would assign numbers that are already in use. Must be called before the transaction
 * writes anything.
 * @throws CorruptRecord
 */
export function requireStoreCounters(environment: Environment): StoreCounters {
  const isMissing = environment.counters.get(counterKey(STORE_COUNTERS)) === undefined
  if (isMissing && environment.collections.rowCount > 0)
    throw new CorruptRecord('counters of the store', 'missing, and there are collections')
  return readStoreCounters(environment)
}

/** For a committed state, in which every collection with documents has this row. @throws CorruptRecord */
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
