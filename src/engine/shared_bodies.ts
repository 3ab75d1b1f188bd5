/**
 * TypeScript interface of the records in native memory, one store per process for all threads. *Kept* records
 * are the data of the memory backend: they stay until they are removed. *Cached* records were fetched from
 * elsewhere and can be evicted. Requires no open index. Every call is synchronous and thread-safe, and
 * copies: input bytes may be changed afterwards, returned bytes belong to the caller.
 */
import type { OverridableLimits } from '../limits/overridable.js'
import { loadAddon } from './addon.js'

/** Ids are 16 bytes. Other lengths throw a TypeError. */
export interface SharedBodies {
  /**
   * Stores the record until it is removed. Replaces an earlier record of the id.
   * @returns false if the bound is reached; nothing has changed then
   */
  keep(id: Uint8Array, record: Uint8Array): boolean
  /**
   * Caches the record until it is evicted. Does nothing if the record is larger than half of the bound, or if
   * the id has a kept record.
   */
  cache(id: Uint8Array, record: Uint8Array): void
  /** Returns a copy, or undefined if the id has no record. */
  get(id: Uint8Array): Buffer | undefined
  has(id: Uint8Array): boolean
  remove(id: Uint8Array): void
  /** Removes all kept records. Cached records stay. */
  clear(): void
  /** Byte counts include 192 bytes per record, as in the bounds. */
  stats(): SharedBodyStats
}

interface SharedBodyStats {
  readonly kept: number
  readonly keptBytes: number
  readonly cached: number
  readonly cachedBytes: number
}

/** Bytes, including the overhead of each record. */
type SharedBodyBounds = Pick<OverridableLimits, 'SHARED_BODIES_KEPT_BYTES_MAX' | 'SHARED_BODIES_CACHED_BYTES_MAX'>

interface SharedBodiesAddon {
  readonly keepBody: (id: Uint8Array, record: Uint8Array, bytesMax: number) => boolean
  readonly cacheBody: (id: Uint8Array, record: Uint8Array, bytesMax: number) => void
  readonly sharedBody: (id: Uint8Array) => Buffer | undefined
  readonly holdsBody: (id: Uint8Array) => boolean
  readonly removeBody: (id: Uint8Array) => void
  readonly clearBodies: () => void
  readonly bodyStats: () => SharedBodyStats
}

const ADDON_FUNCTIONS: readonly (keyof SharedBodiesAddon)[] = [
  'keepBody',
  'cacheBody',
  'sharedBody',
  'holdsBody',
  'removeBody',
  'clearBodies',
  'bodyStats',
]

/** @param bounds for records added through this interface */
export function openSharedBodies(bounds: SharedBodyBounds): SharedBodies {
  const addon = loadAddon<SharedBodiesAddon>(ADDON_FUNCTIONS)
  return {
    keep: (id, record) => addon.keepBody(id, record, bounds.SHARED_BODIES_KEPT_BYTES_MAX),
    cache: (id, record) => addon.cacheBody(id, record, bounds.SHARED_BODIES_CACHED_BYTES_MAX),
    get: addon.sharedBody,
    has: addon.holdsBody,
    remove: addon.removeBody,
    clear: addon.clearBodies,
    stats: addon.bodyStats,
  }
}
