/**
 * Bounds of vector searches, hybrid searches and other comparisons of vectors. The reference is the server
 * with whose contract this one is compatible.
 */

/**
 * Largest element of a vector: the bound of the native engine (vector_codes.cc), so that no product of two
 * vectors overflows a float. The elements of models are below 100.
 */
export const VECTOR_ELEMENT_MAX = 1e15
/** Default number of results of a vector search, of a hybrid search and of a search across collections. */
export const VECTOR_TOP_K_DEFAULT = 5
export const HYBRID_TOP_K_DEFAULT = 10
export const CROSS_TOP_K_DEFAULT = 10
/** Candidates for each result. The value of the reference. */
export const OVERSAMPLE_DEFAULT = 3
/** Hits requested beyond the page, to replace documents that are deleted by the time they are read. */
export const VECTOR_SLACK_HITS = 4
/**
 * Hits that the vector engine returns in one answer at most (kVectorHitsMax). A sweep removes expired
 * documents 256 at a time without a pause, so that this many deleted documents never precede others for long.
 */
export const VECTOR_HITS_MAX = 100_000
/** Minimum number of candidates of a hybrid search, by words and by meaning. The values of the reference. */
export const HYBRID_WORD_CANDIDATES_MIN = 50
export const HYBRID_MEANING_CANDIDATES_MIN = 20
/** Maximum number of candidates of a hybrid search, of each kind. */
export const HYBRID_CANDIDATES_MAX = VECTOR_HITS_MAX
/** Passages on either side of the matching one. With 1 500 characters each, a third of a megabyte. */
export const WINDOW_SIZE_MAX = 100
/** Collections that one request searches. Small ones cost 200 us each: 2 s in all (decision 0272). */
export const CROSS_COLLECTIONS_MAX = 10_000

// ---- Engine options

/** `SVC_VECTOR_BQ_RERANK_FACTOR`, `_PARALLEL_WORKERS`, `_PARALLEL_MIN_SIZE`. The values of the reference. */
export const BQ_RERANK_FACTOR_DEFAULT = 10
export const BQ_RERANK_FACTOR_MAX = 1000
export const VECTOR_WORKERS_MAX = 16
export const VECTOR_PARALLEL_SIZE_DEFAULT = 2048
/**
 * Documents whose vectors are passed to the engine at once during a start: 64 of three chunks of 1 536
 * numbers are 1.2 MB, about 1 ms.
 */
export const VECTOR_LOAD_DOCUMENTS = 64

// ---- Classification, duplicates, projection

/** Labels of one classification. Fixed by the contract. */
export const CLASSIFY_LABELS_MAX = 100
/** Characters of a text that are classified. No model reads more. */
export const CLASSIFIED_CHARACTERS_MAX = 32_768
/** The contract's default of `maxDocs`, and the maximum that the vector engine compares. */
export const DUPLICATES_DOCUMENTS_DEFAULT = 5000
export const DUPLICATES_DOCUMENTS_MAX = 100_000
/** Nearest documents compared with each document. The members of larger groups are connected transitively. */
export const DUPLICATES_NEIGHBOURS = 64
/** Points of a projection. The values of the reference. */
export const PROJECTION_POINTS_DEFAULT = 1000
export const PROJECTION_POINTS_MAX = 2000
/** Steps of the power iteration for each axis. 2 000 vectors of 1 536 dimensions take 0.3 s. */
export const PROJECTION_ITERATIONS = 40
