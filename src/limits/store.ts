/** Bounds of the truth store: environment, rows, bodies, binlog, read caches. */
import { DOCUMENT_BYTES_MAX } from './input.js'
import { GIB, KIB, MIB } from './units.js'

/** Longest key that LMDB accepts with pages of 4 KiB. No table has a longer one; looking one up throws. */
export const TRUTH_KEY_BYTES_MAX = 1978
/**
 * Address space reserved for the truth env, not memory or disk; larger than the largest file that a single
 * node should have.
 */
export const TRUTH_MAP_BYTES = 256 * GIB
/**
 * Reader slots of the truth env. Each thread takes two, one by lmdb-js and one by the native reader of
 * documents: 64 read lanes, point, write, bulk, long, and 16 event loops.
 */
export const TRUTH_READERS_MAX = 2 * 126
/**
 * Documents at the beginning of the store among which the native reader is compared with the rows: it does
 * not have those that are sealed or stored elsewhere.
 */
export const SOURCE_CHECK_DOCUMENTS = 16
/** The latest second that histories hold, in u32: February 2106. */
export const UNIX_SECONDS_MAX = 0xffff_ffff
/**
 * Values up to this size get their checksum in one reused buffer. Longer ones are rare, and a buffer for each
 * costs less than copying it.
 */
export const ROW_SCRATCH_BYTES = 64 * KIB
/**
 * Bytes of a stored body after decompression: a document whose every byte is escaped as \u00XX (6 B). A
 * larger one is damage, not data.
 */
export const BODY_RAW_BYTES_MAX = 6 * DOCUMENT_BYTES_MAX
/**
 * Buffer of a lane for packing bodies: one of 120 KB in the worst case, and few are larger. Those get a
 * buffer of their own.
 */
export const PACKING_SPACE_BYTES = 128 * 1024
/** Binlog bytes kept if no consumer needs them (`SVC_BINLOG_MAX_SIZE`). */
export const BINLOG_BYTES_DEFAULT = 256 * MIB
/**
 * Epochs that the store remembers. An index that was last written this many unclean shutdowns ago is rebuilt.
 */
export const EPOCHS_MAX = 64
/** Bytes that a spool buffers in memory, and reads at once. */
export const SPOOL_BUFFER_BYTES = 64 * KIB
/**
 * Damaged records that a thread logs, once each, when it skips them. A store with that many must be restored
 * in any case.
 */
export const NOTED_DAMAGE_MAX = 1000
/** Findings of a scrub that are listed one by one. Further ones are only counted. */
export const FINDINGS_LISTED_MAX = 1000

// ---- Cache of documents

/**
 * JSON of documents that all read lanes together cache: 12 000 of 5 KB, the first pages of some hundred
 * listings.
 */
export const DOCUMENT_CACHE_BYTES_MAX = 64 * MIB
/**
 * A larger document is not cached. It would evict fifty others, and copying it costs more than reading it
 * from the store.
 */
export const DOCUMENT_CACHED_BYTES_MAX = 256 * KIB
/**
 * Slots of a lane's doorkeeper, as a power of two: 8 192, 16 KiB. A lane caches 6 000 documents of 5 KB. One
 * that was not asked for during so many misses would not stay in the cache either.
 */
export const DOORKEEPER_SLOT_BITS = 13

// ---- Documents that are read together

/**
 * Documents that one native call reads (kPageDocumentsMax). A page of ten needs one, larger ones are read in
 * parts.
 */
export const DOCUMENT_PAGE_MAX = 32
/**
 * Space of a thread for the texts of such a call: 32 of 8 KB. It stays within the second cache of a core. A
 * document that does not fit is read alone.
 */
export const DOCUMENT_PAGE_BYTES = 256 * KIB
