/** Bounds of documents, collections and answers that several files read. */
import { KIB, MIB } from './units.js'

/**
 * Bytes of one answer that carries documents: eight of the largest bodies, within the bounds of a Buffer and
 * of a message. A larger page is refused, not cut.
 */
export const ANSWER_BYTES_MAX = 256 * MIB
/** Smaller answers are not compressed: gzip would save less than a packet. */
export const GZIP_BYTES_MIN = 1024
/**
 * Answers that a lane sends in parts at the same time. Each keeps some MB at most; a ZIP export keeps 4 MB of
 * names.
 */
export const ANSWER_STREAMS_MAX = 16
/** Answers cached on request (`SVC_SEARCH_CACHE_SIZE`). The default is fixed by the contract. */
export const ANSWERS_CACHED_DEFAULT = 500
/** Highest `SVC_SEARCH_CACHE_SIZE`. */
export const ANSWERS_CACHED_MAX = 100_000
/**
 * A part of an export ends with the document that reaches this size: 200 of 5 KB, some 3 ms of the bulk lane.
 */
export const EXPORT_PART_BYTES = MIB
/**
 * Keys in the metadata of one document. 256 x 1 024 x 8 KiB is far above the document bound, which therefore
 * applies first.
 */
export const META_KEYS_MAX = 256
/** Values of one metadata key. */
export const META_VALUES_MAX = 1024
/** UTF-8 bytes of one metadata key. It becomes a part of dictionary keys and of object keys in answers. */
export const META_KEY_BYTES_MAX = 512
/** UTF-8 bytes of one metadata value. */
export const META_VALUE_BYTES_MAX = 8 * KIB
/** UTF-8 bytes of the content of one document: half of the body bound, because JSON escapes can double it. */
export const DOCUMENT_BYTES_MAX = 16 * MIB
/**
 * Documents in one add-batch or delete-batch. The write lane cuts them into slices of
 * `COMMIT_SLICE_DOCUMENTS_MAX`.
 */
export const BATCH_DOCUMENTS_MAX = 10_000
/** Error texts in the answer to a batch. The counters stay exact. */
export const BATCH_ERRORS_MAX = 50
/** Bytes of one request body on every surface (`SVC_MAX_BODY_BYTES`). */
export const BODY_BYTES_DEFAULT = 32 * MIB
/**
 * Highest `SVC_MAX_BODY_BYTES`. V8 strings end at 512 MiB - 24, and a body is in memory twice while it is
 * parsed.
 */
export const BODY_BYTES_CEILING = 256 * MIB
/** Nesting of a JSON body. The service needs at most 6 levels; a deeper body is an attack on recursion. */
export const JSON_DEPTH_MAX = 64
/**
 * Objects and lists of one body that the parser builds: 70 MB of heap. A batch of 500 documents with 256
 * metadata lists each has 129 000.
 */
export const JSON_CONTAINERS_MAX = 1_048_576
/**
 * Strings, numbers, literals, objects and lists of one body that the parser builds: at worst 0.7 s of the
 * parser and 110 MB. 10 000 documents with 100 metadata values each have half as many.
 */
export const JSON_VALUES_MAX = 2_097_152
/**
 * One of this many consecutive revisions of a document is stored whole. The others are read delta by delta, 1
 * to 3 us each for 10 KB.
 */
export const DELTA_CHAIN_REVISIONS = 64
/** Maximum of the `oversample` of a retrieval profile. Fixed by the contract. */
export const OVERSAMPLE_MAX = 10
/** Collections whose settings a lane caches. */
export const SETTINGS_CACHED_COLLECTIONS_MAX = 256
/**
 * Stop words of one collection in addition to the default ones; the longest of those lists has 800. They are
 * stored in one row: 2 000 x 10 B.
 */
export const STOP_WORDS_MAX = 2000
/** Pins and hides of all rules that match one query together. Each is looked up for every affected search. */
export const CURATION_APPLIED_MAX = 500
