/** Bounds of encryption at rest: cached seals, master keys, rotation, rewriting of the store. */
import { MIB } from './units.js'

/** Collections whose seals (keys, salt) a lane caches: 1 024 x 1 KB. */
export const SEALS_KEPT_MAX = 1024
/** Languages of one collection whose hashes a lane caches: 256 x 100 B. */
export const SEAL_LANGS_KEPT_MAX = 256
/** Master keys in addition to the primary one. */
export const PREVIOUS_KEYS_MAX = 16
/** Collections that a start names if it cannot open their credentials. The line stays readable. */
export const CREDENTIAL_NAMES_SHOWN = 5
/**
 * Buffer of a lane into which sealed contents are opened, one at a time; the buffer for packing has the same
 * size. A larger content gets a buffer of its own.
 */
export const OPENED_BODY_BYTES = 128 * 1024

// ---- Rotation of keys

/** Interval at which the write lane checks for a requested rotation. */
export const ROTATION_POLL_MS = 500
/**
 * Rows that one step of a rotation examines: 256 x 15 us, and a page of bodies of 3 KB is 0.8 MB to flush.
 */
export const ROTATION_ROWS_MAX = 256
/**
 * Pause of the write lane between two steps of a rotation, as a multiple of the step: a fifth of one core.
 */
export const ROTATION_REST_FACTOR = 4
/** The shortest such pause. */
export const ROTATION_REST_MS_MIN = 2
/** Interval between two checks whether the objects that a rotation waits for have been moved. */
export const ROTATION_WAIT_MS = 2_000
/**
 * Bytes of one transaction that rewrites a store after a rotation. LMDB keeps changed pages in memory until
 * it ends.
 */
export const SCRUB_BYTES_AT_ONCE = 16 * MIB
/**
 * Free space required in addition to the size of the store that is rewritten. The pages of the copy are
 * filled differently.
 */
export const SCRUB_MARGIN_BYTES = 64 * MIB
