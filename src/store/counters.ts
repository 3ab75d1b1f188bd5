/**
 * Counters that are kept in the transaction of the write that changes them, so that stats, checksums and totals never scan. Layout: docs/formats/truth-env.md.
 */
import type { Environment } from './environment.js'
import { counterKey } from './keys.js'
import { pack, unpack } from './packages.js'

export interface CollectionCounters {
  documents: number
  revisions: number
  metaTriples: number
  /** XOR of the content hashes of all documents. */
  checksum: number
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

export function readCollectionCounters(environment: Environment, collection: number): CollectionCounters {
  const stored = environment.counters.get(counterKey(collection))
  if (stored === undefined) return { documents: 0, revisions: 0, metaTriples: 0, checksum: 0, nextDocid: 1 }
  const [documents, revisions, metaTriples, checksum, nextDocid] = unpack(stored) as [number, number, number, number, number]
  return { documents, revisions, metaTriples, checksum, nextDocid }
}

export function writeCollectionCounters(environment: Environment, collection: number, counters: CollectionCounters): void {
  const { documents, revisions, metaTriples, checksum, nextDocid } = counters
  void environment.counters.put(counterKey(collection), pack([documents, revisions, metaTriples, checksum, nextDocid]))
}

export function readStoreCounters(environment: Environment): StoreCounters {
  const stored = environment.counters.get(counterKey(STORE_COUNTERS))
  if (stored === undefined) return { lastLsn: 0n, trimmedLsn: 0n, binlogBytes: 0, nextCollection: 1 }
  const [lastLsn, trimmedLsn, binlogBytes, nextCollection] = unpack(stored) as [number | bigint, number | bigint, number, number]
  return { lastLsn: BigInt(lastLsn), trimmedLsn: BigInt(trimmedLsn), binlogBytes, nextCollection }
}

export function writeStoreCounters(environment: Environment, counters: StoreCounters): void {
  const { lastLsn, trimmedLsn, binlogBytes, nextCollection } = counters
  void environment.counters.put(counterKey(STORE_COUNTERS), pack([lastLsn, trimmedLsn, binlogBytes, nextCollection]))
}
