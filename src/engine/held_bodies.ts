/**
 * TypeScript interface of the records in native memory, one store per process for all threads. *Kept* records
 * are the data of the memory backend: they stay until they are removed. *Cached* records were fetched from
 * elsewhere and can be evicted. Requires no open index. Every call is synchronous and thread-safe, and
 * copies: input bytes may be changed afterwards, returned bytes belong to the caller.
 */
import type { OverridableLimits } from '../limits/overridable.js'
import { loadAddon } from './addon.js'

/** Ids are 16 bytes. Other lengths throw a TypeError. */
export interface HeldBodies {
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
  stats(): HeldBodyStats
}

export interface HeldBodyStats {
  readonly kept: number
  readonly keptBytes: number
  readonly cached: number
  readonly cachedBytes: number
}

/** Bytes, including the overhead of each record. */
export type HeldBodyBounds = Pick<OverridableLimits, 'HELD_BODIES_KEPT_BYTES_MAX' | 'HELD_BODIES_CACHED_BYTES_MAX'>

interface HeldBodiesAddon {
  readonly keepBody: (id: Uint8Array, record: Uint8Array, bytesMax: number) => boolean
  readonly cacheBody: (id: Uint8Array, record: Uint8Array, bytesMax: number) => void
  readonly heldBody: (id: Uint8Array) => Buffer | undefined
  readonly holdsBody: (id: Uint8Array) => boolean
  readonly removeBody: (id: Uint8Array) => void
  readonly clearBodies: () => void
  readonly bodyStats: () => HeldBodyStats
}

const ADDON_FUNCTIONS: readonly (keyof HeldBodiesAddon)[] = [
  'keepBody',
  'cacheBody',
  'heldBody',
  'holdsBody',
  'removeBody',
  'clearBodies',
  'bodyStats',
]

/** @param bounds for records added through this interface */
export function heldBodies(bounds: HeldBodyBounds): HeldBodies {
  const addon = loadAddon<HeldBodiesAddon>(ADDON_FUNCTIONS)
  return {
    keep: (id, record) => addon.keepBody(id, record, bounds.HELD_BODIES_KEPT_BYTES_MAX),
    cache: (id, record) => addon.cacheBody(id, record, bounds.HELD_BODIES_CACHED_BYTES_MAX),
    get: addon.heldBody,
    has: addon.holdsBody,
    remove: addon.removeBody,
    clear: addon.clearBodies,
    stats: addon.bodyStats,
  }
}
