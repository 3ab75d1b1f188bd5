/**
 * Bounds of bodies outside the truth env: memory backend, object stores, and the background work that moves
 * and sweeps objects.
 */
import { GIB, MIB } from './units.js'

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
/**
 * Objects of a collection that are searched for the location of its bodies, when the credentials of a
 * location are lost.
 */
export const LOCATION_OBJECTS_SCANNED_MAX = 1024

// ---- Requests to S3

/** Time of one attempt of a request to an object store. */
export const S3_ATTEMPT_MS_MAX = 4_000
/** Time of all attempts for one object. A write that waits for it still ends before its own deadline. */
export const S3_MS_MAX = 10_000
/** Attempts for one object, with a random wait of up to 0.1, 0.2 and 0.4 s between them. */
export const S3_ATTEMPTS_MAX = 4
export const S3_WAIT_MS_FIRST = 100
/** Connections that are kept to one store. Further requests wait for one of them. */
export const S3_CONNECTIONS_MAX = 32
/** UTF-8 bytes of the key of an object with its prefix: S3's bound. */
export const S3_KEY_BYTES_MAX = 1024
/**
 * Bytes of an object: a stored body of the largest document, each byte of which is an escape of six bytes.
 */
export const S3_OBJECT_BYTES_MAX = 97 * MIB
/** Keys of one page of a listing: S3's bound. */
export const S3_LISTED_MAX = 1000
/** Bytes of an answer that is not an object: a page of the longest keys, every byte escaped. */
export const S3_ANSWER_BYTES_MAX = 8 * MIB

// ---- Objects of one request

/** Objects that one round of a request fetches: twice a page of the default size. */
export const OBJECTS_WANTED_MAX = 100
/**
 * Bytes of the objects of one round, except those of the last: half of the cache of fetched objects, so that
 * all objects of a page are in it together.
 */
export const OBJECTS_WANTED_BYTES = 128 * MIB
/** Objects that are sent or fetched in parallel for one request. */
export const OBJECTS_AT_ONCE_MAX = 16

// ---- Moves between backends

/**
 * Documents that one step checks for bodies in another location than the one in the settings: 20 000 x 1 us.
 */
export const MISPLACED_SCANNED_MAX = 20_000
/** Documents that one step moves from one backend to another. */
export const MOVED_DOCUMENTS_MAX = 64
/** Bytes of contents that one step moves, except those of the last document. */
export const MOVED_BYTES_WANTED = 8 * MIB
/** Interval at which the front end checks whether all bodies are in the location of the settings. */
export const MOVES_POLL_MS = 5_000
/** Pause after a step that a store refused. */
export const MOVES_RETRY_MS = 30_000

// ---- Sweeps of objects

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
 * Delay of the search for plaintext objects of an encrypted collection, and its interval while there are any.
 */
export const PLAINTEXT_SWEEP_MS = 5_000
