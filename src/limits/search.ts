/** Bounds of searches that several files read. */
import { KIB } from './units.js'

/** Bytes of a counted query's text. Longer ones are cut: 160 are 25 words. */
export const COUNTED_TEXT_BYTES = 160
/**
 * Lifetime of a cached word once the index has changed. A word that is no longer in its documents is shown
 * for at most this long.
 */
export const SURFACE_SECONDS_MAX = 60
/** Edits of a fuzzy word. Fixed by the contract. */
export const FUZZY_EDITS_MAX = 2
/** Default distance, in positions, between words of a proximity query. Fixed by the contract. */
export const PROXIMITY_DISTANCE_DEFAULT = 5
/** A higher distance is clamped to this: about the longest document of the corpora. */
export const PROXIMITY_DISTANCE_MAX = 100_000
/**
 * Fields of `fieldWeights` that are scored, equal to the engine's `kPlanFieldsMax`. 5 are standard, and each
 * costs a cursor for every term.
 */
export const FIELD_WEIGHTS_MAX = 64
/**
 * Term and phrase leaves of one search plan (docs/formats/search-plan.md). A 4 KiB query has at most 2 048
 * tokens, and real queries have at most a few hundred.
 */
export const PLAN_LEAVES_MAX = 1024
/** Levels in the tree of one search plan (docs/formats/search-plan.md). */
export const PLAN_DEPTH_MAX = 64
/** Fields in one `facetBy`. Each is counted for each result. */
export const FACETS_MAX = 64
/** A higher `limit` is clamped to this, not refused. */
export const LIMIT_MAX = 10_000
/** offset + limit. The heap of a sorted page has as many entries, 100 000 x 16 B = 1.6 MB. */
export const PAGE_DEPTH_MAX = 100_000
/** UTF-8 bytes of the query text of a search. */
export const QUERY_BYTES_MAX = 4 * KIB
/** Results between two checks of the deadline while documents are read: 64 x 5 KB take 50 us. */
export const FTS_POLL_RESULTS = 64
/**
 * The documents of a larger page are not cached. A page of 300 would evict thirty pages of ten and is
 * requested once. Its garbage took a third of its own time.
 */
export const CACHED_PAGE_DOCUMENTS_MAX = 100
/**
 * Words in the dictionary of one collection and language. They are stored in one row: 5 000 x 15 B. A lane
 * compares each with an unknown word in 20 ns.
 */
export const SPELL_DICTIONARY_WORDS_MAX = 5000
/**
 * Largest element of a vector: the bound of the native engine (vector_codes.cc), so that no product of two
 * vectors overflows a float. The elements of models are below 100.
 */
export const VECTOR_ELEMENT_MAX = 1e15
/** Candidates for each result. The value of the reference. */
export const OVERSAMPLE_DEFAULT = 3
/** Hits requested beyond the page, to replace documents that are deleted by the time they are read. */
export const VECTOR_SLACK_HITS = 4
/**
 * Hits that the vector engine returns in one answer at most (kVectorHitsMax). A sweep removes expired
 * documents 256 at a time without a pause, so that this many deleted documents never precede others for long.
 */
export const VECTOR_HITS_MAX = 100_000
/** Collections that one request searches. Small ones cost 200 us each: 2 s in all (decision 0272). */
export const CROSS_COLLECTIONS_MAX = 10_000
/** `SVC_VECTOR_BQ_RERANK_FACTOR`, `_PARALLEL_WORKERS`, `_PARALLEL_MIN_SIZE`. The values of the reference. */
export const BQ_RERANK_FACTOR_DEFAULT = 10
export const VECTOR_WORKERS_MAX = 16
export const VECTOR_PARALLEL_SIZE_DEFAULT = 2048
