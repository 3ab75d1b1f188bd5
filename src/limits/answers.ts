/** Bounds of answers: size, compression, caching. */
import { KIB, MIB } from './units.js'

/**
 * Bytes of one answer that carries documents: eight of the largest bodies, within the bounds of a Buffer and
 * of a message. A larger page is refused, not cut.
 */
export const ANSWER_BYTES_MAX = 256 * MIB
/**
 * Capacity that the answer writer of a lane keeps from one answer to the next: a page of 1 600 documents of
 * 5 KB. Allocating buffers of megabytes for each answer keeps V8 marking.
 */
export const ANSWER_SCRATCH_BYTES_KEPT = 8 * MIB
/** Smaller answers are not compressed: gzip would save less than a packet. */
export const GZIP_BYTES_MIN = 1024
/**
 * Larger answers are not compressed: gzip would occupy a lane for over 0.3 s, and memory for a second copy.
 */
export const GZIP_BYTES_MAX = 32 * MIB
/**
 * Answers that a lane sends in parts at the same time. Each keeps some MB at most; a ZIP export keeps 4 MB of
 * names.
 */
export const ANSWER_STREAMS_MAX = 16

// ---- Cached answers

/** Seconds. The maximum `cacheTtl`. Fixed by the contract. */
export const CACHE_TTL_SECONDS_MAX = 3600
/** Answers cached on request (`SVC_SEARCH_CACHE_SIZE`). The default is fixed by the contract. */
export const ANSWERS_CACHED_DEFAULT = 500
/** Highest `SVC_SEARCH_CACHE_SIZE`. */
export const ANSWERS_CACHED_MAX = 100_000
/** Bytes of all answers cached on request: 500 of 128 KB. */
export const ANSWERS_CACHED_BYTES_MAX = 64 * MIB
/** A larger answer is not cached: it would evict ten others. */
export const CACHED_ANSWER_BYTES_MAX = 4 * MIB
/**
 * Answers cached until the next write, for operations whose answers are small (completions, 1 KB): the texts
 * that people type start with a few thousand prefixes. The bytes include the cache keys: URLs of up to 8 KB,
 * or bodies.
 */
export const ANSWERS_KEPT_MAX = 8192
export const ANSWERS_KEPT_BYTES_MAX = 16 * MIB
/** A larger request is not looked up, because its body is a part of the cache key. */
export const CACHED_REQUEST_BYTES_MAX = 16 * KIB
