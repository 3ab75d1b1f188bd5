/**
 * Vectors of texts in requests, as they are stored in native memory. The front end, which requests them from
 * a provider, writes them; the lanes read them. Format: 16 bytes (f64 Unix milliseconds of the expiry, u8
 * flags, zeros), then the vector, f32.
 */
import { createHash } from 'node:crypto'
import type { EmbeddingRole } from '../outbound/embedding/provider.js'

interface CachedVector {
  /** Undefined: the provider returned none. */
  readonly vector: Float32Array | undefined
  /** Expiry, Unix milliseconds. */
  readonly goneAt: number
  /** Nobody has read it yet. */
  readonly isFresh: boolean
  /** It is removed by its first reader. */
  readonly isOnce: boolean
}

const PREFIX_BYTES = 16
const FLAGS_AT = 8
const FLAG = { fresh: 1, once: 2 } as const

/** 16 bytes. */
export function cachedVectorId(variant: string, role: EmbeddingRole, text: string): Buffer {
  return createHash('sha256').update(`${variant}\0${role}\0${text}`).digest().subarray(0, 16)
}

export function encodeCachedVector({ vector, goneAt, isFresh, isOnce }: CachedVector): Buffer {
  const bytes = Buffer.alloc(PREFIX_BYTES + (vector?.byteLength ?? 0))
  bytes.writeDoubleLE(goneAt, 0)
  bytes[FLAGS_AT] = (isFresh ? FLAG.fresh : 0) | (isOnce ? FLAG.once : 0)
  if (vector !== undefined) bytes.set(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength), PREFIX_BYTES)
  return bytes
}

export function decodeCachedVector(bytes: Buffer): CachedVector {
  const flags = bytes[FLAGS_AT] as number
  const vector = bytes.length === PREFIX_BYTES ? undefined : new Float32Array(new Uint8Array(bytes.subarray(PREFIX_BYTES)).buffer)
  return { vector, goneAt: bytes.readDoubleLE(0), isFresh: (flags & FLAG.fresh) !== 0, isOnce: (flags & FLAG.once) !== 0 }
}
