/**
 * The lanes' access to cached vectors of texts in native memory (src/wire/text_vectors.ts), where the front
 * end stores them. A vector for one request only is removed once it was used. A vector that stays is marked
 * as read, so that the counter of cache hits excludes the request that had the vector computed.
 */
import type { VectorCache } from '../../domain/embedding/text_vectors.js'
import type { SharedBodies } from '../../engine/shared_bodies.js'
import { threadTelemetry } from '../../telemetry/registry.js'
import { cachedVectorId, decodeCachedVector, encodeCachedVector } from '../../wire/text_vectors.js'

export function vectorCacheOf(bodies: SharedBodies): VectorCache {
  return {
    find: (variant, role, text) => {
      const id = cachedVectorId(variant, role, text)
      const record = bodies.get(id)
      if (record === undefined) return undefined
      const known = decodeCachedVector(record)
      const { vector, isFresh, isOnce, goneAt } = known
      if (goneAt <= Date.now()) return undefined
      const use = (): void => {
        if (!isFresh) threadTelemetry().add('embedding_cache_hits', 1)
        if (isOnce) bodies.remove(id)
        else if (isFresh) bodies.cache(id, encodeCachedVector({ ...known, isFresh: false }))
      }
      return { vector, use }
    },
  }
}
