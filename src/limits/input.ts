/**
 * Bounds of the input of one request, independent of its operation. Surfaces and lanes refuse larger input.
 */
import { KIB, MIB } from './units.js'

/**
 * UTF-8 bytes. An LMDB key has at most 1 978 B here: 4 (collection) + 1 024 (key) + 1 (separator) + 35 (lang)
 * leaves space for growth by lower-casing.
 */
export const KEY_BYTES_MAX = 1024
/** UTF-8 bytes. Lists and metric labels show the names; a hash fits twice. */
export const COLLECTION_BYTES_MAX = 128
/** UTF-8 bytes. The longest registered BCP 47 tags need 35 characters (RFC 5646, section 4.4.1). */
export const LANG_BYTES_MAX = 35
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
/** Seconds. 100 years: a later expiry is a mistake in the unit. */
export const TTL_SECONDS_MAX = 100 * 365 * 86_400
/**
 * Unix seconds that a write may state as `addedAt` and `updatedAt`. Records of histories end at this value,
 * in the year 2106.
 */
export const STATED_TIME_MAX = 0xffff_ffff
/** Unix seconds that a write may state as `expiresAt`: the latest expiry that a `ttl` can lead to. */
export const STATED_EXPIRY_MAX = STATED_TIME_MAX + TTL_SECONDS_MAX
/** Entries of `env` in /v1/get. */
export const TEMPLATE_VARIABLES_MAX = 256
/**
 * UTF-8 bytes of all names in `env` together, escaped: 256 of 4 KiB. The search for them takes 40 times as
 * much memory.
 */
export const TEMPLATE_NAMES_BYTES_MAX = MIB

// ---- Bodies

/** Bytes of one request body on every surface (`SVC_MAX_BODY_BYTES`). */
export const BODY_BYTES_DEFAULT = 32 * MIB
/**
 * Highest `SVC_MAX_BODY_BYTES`. V8 strings end at 512 MiB - 24, and a body is in memory twice while it is
 * parsed.
 */
export const BODY_BYTES_CEILING = 256 * MIB
/** Parameters in one query string. Headers end at 8 KB, so a query has at most 4 000 of two bytes. */
export const QUERY_PARAMETERS_MAX = 512
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
 * Distinct prefixes of objects in one body. A prefix is the names of the members so far, in their order. The
 * parser makes a hidden class for each: 0.4 s and 60 MB. 10 000 documents whose metadata have no common order
 * of keys have some 100 000.
 */
export const JSON_SHAPES_MAX = 262_144
/**
 * Bodies of this size or more are scanned for the three bounds above before they are parsed. Smaller ones
 * cannot take 6 MB of heap.
 */
export const JSON_SCANNED_BYTES_MIN = 64 * KIB

// ---- Hints of refusals

/** Characters in the `hint` of a refusal: two lines of a terminal for each of three fields. */
export const HINT_CHARACTERS_MAX = 500
/** Characters of the received value that a hint quotes: enough to recognise it, too few to be a document. */
export const HINT_EXCERPT_CHARACTERS_MAX = 40
/** Longer examples of the expected value are left out of a hint; longer field names are truncated. */
export const HINT_EXAMPLE_CHARACTERS_MAX = 80
