/**
 * Bounds of full-text search: query, plan, facets, related terms, highlights. Those that mention the contract
 * are fixed by it.
 */
import { KIB, MIB } from './units.js'

/** Nested parentheses in a query. Bounds the recursion of the parser, 4 frames a level. */
export const FTS_QUERY_NESTING_MAX = 64
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
 * Highest field weight. Weights are ratios, and a float32 must hold weight x tf without losing the small ones
 * (2^24 / 16).
 */
export const FTS_FIELD_WEIGHT_MAX = 1e6
/** Ranges of one `rangeMeta`. */
export const RANGES_MAX = 64
/**
 * Values of one `boost`, and the highest factor of each, which is also the highest divisor: 64 of them stay
 * finite.
 */
export const BOOSTS_MAX = 64
export const BOOST_FACTOR_MAX = 10_000
/**
 * Tokens that synonyms may add to one query. Together with the query's own tokens they stay below
 * PLAN_LEAVES_MAX for all but the longest queries. Further synonyms are left out.
 */
export const FTS_SYNONYM_TOKENS_MAX = 256
/** Searches of one multi-search. Each has limits of its own, and all share one deadline. */
export const MULTI_SEARCHES_MAX = 16

// ---- Plan and execution

/**
 * Term and phrase leaves of one search plan (docs/formats/search-plan.md). A 4 KiB query has at most 2 048
 * tokens, and real queries have at most a few hundred.
 */
export const PLAN_LEAVES_MAX = 1024
/** Levels in the tree of one search plan (docs/formats/search-plan.md). */
export const PLAN_DEPTH_MAX = 64
/** Queries whose plan a lane keeps. A plan of three words takes 1 KB, one of sixty 10 KB. */
export const PLANS_CACHED_MAX = 1024
/** The plans of longer queries are not kept: they are larger, and hardly ever asked twice. */
export const PLAN_CACHED_TEXT_CHARS_MAX = 256
/** The plans of more terms are not kept either: synonyms make plans of hundreds of KB from short queries. */
export const PLAN_CACHED_TERMS_MAX = 64
/**
 * Words of the query times scored fields, equal to the engine's `kPlanCursorsMax`. Each is an open cursor of
 * 1.2 KB, 20 MB together.
 */
export const PLAN_CURSORS_MAX = 16_384
/**
 * Hits requested beyond the limit, to replace documents that expired or changed between the snapshot of the
 * engine and that of the store. At 5 000 writes/s a 2 ms search meets 10.
 */
export const FTS_SLACK_HITS = 16
/**
 * Maximum number of hits of one search that is repeated because too few hits still matched. Above the first
 * request of every search (PAGE_DEPTH_MAX and its surplus); 2 MB.
 */
export const FTS_HITS_MAX = 131_072
/**
 * Bytes of content that one search analyses again, for hits that changed since the query of the index: 0.5 s
 * at 60 MB/s. Further such hits are left out.
 */
export const FTS_RECHECK_BYTES_MAX = 32 * MIB

// ---- Facets

/** Fields in one `facetBy`. Each is counted for each result. */
export const FACETS_MAX = 64
/** Default `maxFacetSize`. */
export const FACET_SIZE_DEFAULT = 50
/** Distinct values that one aggregation counts, over all its facets: 0.1 s. */
export const FACET_VALUES_COUNTED_MAX = 1_000_000
/**
 * Expired but not yet swept documents that one aggregation examines: 0.3 s of reading. Further ones count
 * until they are swept.
 */
export const AGGREGATE_DUE_MAX = 65_536

// ---- Related terms

/** Documents of a term that are read to find its related terms: 64 x 5 KB, some 6 ms. */
export const RELATED_DOCUMENTS_MAX = 64
/** Candidate terms whose frequency is then looked up, 10 us each. */
export const RELATED_CANDIDATES_MAX = 64
/** Terms whose related terms a lane caches: 5 x 50 B each. */
export const RELATED_CACHED_TERMS_MAX = 10_000
/** Words of one query whose related terms are looked up. Unknown ones take 0.3 s together. */
export const RELATED_QUERY_TERMS_MAX = 32

// ---- Highlights

/**
 * Fragments of one document (`maxHighlights`), bytes of one (`fragmentSize`) and of `highlightTag`. Higher
 * numbers are clamped; a longer tag is refused.
 */
export const HIGHLIGHTS_MAX = 100
export const HIGHLIGHT_FRAGMENT_BYTES_MAX = 10_000
export const HIGHLIGHT_TAG_BYTES_MAX = 256
/**
 * Bytes of content, as stored, that the highlights of one answer examine: 0.1 s at 300 MB/s. Further results
 * have no fragments.
 */
export const HIGHLIGHT_ANSWER_BYTES_MAX = 32 * MIB
/** Bytes of content passed to the highlighter at once. The highlighter keeps a buffer of this size. */
export const HIGHLIGHT_PIECE_BYTES = 256 * KIB
/**
 * Bytes of term vectors that all read lanes together cache, for documents that were highlighted twice: 4 to
 * 5 KB for a document of 8 KB.
 */
export const TERM_VECTORS_BYTES_MAX = 64 * MIB
/** A larger document is scanned each time. Its term vector would take more memory than an analyzer keeps. */
export const TERM_VECTOR_CONTENT_BYTES_MAX = 6 * MIB
