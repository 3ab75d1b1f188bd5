/** Bounds of the store, of objects and of the index that several files read. */
import { GIB, MIB } from './units.js'

/** Documents of a batch that are committed in one transaction. Single writes may enter between slices. */
export const COMMIT_SLICE_DOCUMENTS_MAX = 64
/** Rows of deleted collections that one maintenance slice removes: about 2 ms. */
export const PURGE_ROWS_MAX = 1024
/**
 * This fraction of the reserve is stored as a file. Its space serves deletes and the shutdown if other
 * processes have used the rest: several groups of FULL_DISK_GROUP_DOCUMENTS.
 */
export const RESERVE_FILE_SHARE = 4
/**
 * Bytes that a rebuild or replay gathers before it publishes them. They become one segment of large
 * documents, built in memory.
 */
export const REBUILD_BATCH_BYTES = 16 * MIB
/** Pause before the bodies that the index lacks are fetched again. */
export const UNINDEXED_RETRY_MS = 30_000
/**
 * Bytes of the bodies in the memory backend, of all collections: 200 000 of 5 KB. They have no other copy, so
 * none may be evicted for another. A write above the bound is refused. The rest of the memory is left to the
 * page cache, from which all other data is read.
 */
export const SHARED_BODIES_KEPT_BYTES_MAX = GIB
/**
 * Bytes of bodies from object stores that are cached for all threads: 50 000 of 5 KB, each of which saves a
 * request of some milliseconds. The least recently used are evicted first.
 */
export const SHARED_BODIES_CACHED_BYTES_MAX = 256 * MIB
/** Locations in object stores that a server knows, each with connections of its own. */
export const LOCATIONS_MAX = 64
/** Time of all attempts for one object. A write that waits for it still ends before its own deadline. */
export const S3_MS_MAX = 10_000
/**
 * Bytes of the objects of one round, except those of the last: half of the cache of fetched objects, so that
 * all objects of a page are in it together.
 */
export const OBJECTS_WANTED_BYTES = 128 * MIB
/**
 * Seconds that a released object is kept (`SVC_S3_RETENTION`). A backup made before the release can be
 * restored for this long.
 */
export const OBJECT_RETENTION_SECONDS_DEFAULT = 86_400
/** Releases of objects that one transaction, or one check, examines: about 1 ms. */
export const RELEASES_SCANNED_MAX = 1024
/** Interval between two searches for unreferenced objects. */
export const OBJECT_SWEEP_MS = 3_600_000
/** Pause after a sweep in which a store did not respond. */
export const SWEEP_RETRY_MS = 30_000
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
/** The latest second that histories hold, in u32: February 2106. */
export const UNIX_SECONDS_MAX = 0xffff_ffff
/** Binlog bytes kept if no consumer needs them (`SVC_BINLOG_MAX_SIZE`). */
export const BINLOG_BYTES_DEFAULT = 256 * MIB
/**
 * Documents that one native call reads (kPageDocumentsMax). A page of ten needs one, larger ones are read in
 * parts.
 */
export const DOCUMENT_PAGE_MAX = 32
/**
 * Shortest pause before a sweep, and the pause after a commit, which may have set a sooner expiry. Until the
 * sweep, readers treat expired documents as gone.
 */
export const SWEEP_INTERVAL_MS = 1000
/**
 * Expired documents that one sweep deletes, about 15 ms. If there are more, the next sweep follows after a
 * pause of the same length. 0 disables sweeping.
 */
export const SWEEP_DOCUMENTS_MAX = 256
/**
 * Time from the start of one scrub to the start of the next. Requests continue during a scrub. Damage is
 * detected within a day.
 */
export const SCRUB_INTERVAL_MS = 86_400_000
