/**
 * The TypeScript face of the records in native memory, one store per process for all threads. *Kept* records
 * are the data of the memory backend: they stay until they are removed. *Cached* records were fetched from
 * elsewhere and can be evicted. Needs no open index. Every call is synchronous and thread-safe, and copies:
 * bytes given may be changed afterwards, bytes got belong to the caller.
 */
import type { OverridableLimits } from '../limits/overridable.js'
import { loadAddon } from './addon.js'

/** Ids are 16 bytes; a TypeError else. */
export interface HeldBodies {
  /**
   * Keeps the record until it is removed, in place of the former record of the id.
   * @returns false where the bound is reached; then nothing has changed
   */
  keep(id: Uint8Array, record: Uint8Array): boolean
  /**
   * Caches the record until it is evicted. Does nothing for a record larger than half of the bound, or under
   * an id that is kept.
   */
  cache(id: Uint8Array, record: Uint8Array): void
  /** A copy; undefined where the id has no record. */
  get(id: Uint8Array): Buffer | undefined
  has(id: Uint8Array): boolean
  remove(id: Uint8Array): void
  /** Forgets all that is kept; what is cached stays. */
  clear(): void
  /** Bytes are those of the records and 192 for each, as the bounds count them. */
  stats(): HeldBodyStats
}

export interface HeldBodyStats {
  readonly kept: number
  readonly keptBytes: number
  readonly cached: number
  readonly cachedBytes: number
}

/** Bytes, each record counted with what holding it takes. */
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

/** @param bounds for what is put in through this face */
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
