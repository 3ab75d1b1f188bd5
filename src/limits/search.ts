/** Bounds that listings and searches of every kind share: pages, queries, filters, rounds. */
import { KIB, MIB } from './units.js'

/** A higher `limit` is clamped to this, not refused. */
export const LIMIT_MAX = 10_000
/** Default `limit`. */
export const LIMIT_DEFAULT = 50
/** offset + limit. The heap of a sorted page has as many entries, 100 000 x 16 B = 1.6 MB. */
export const PAGE_DEPTH_MAX = 100_000
/** UTF-8 bytes of the query text of a search. */
export const QUERY_BYTES_MAX = 4 * KIB
/** Values in a `filterMeta`, over all its keys. */
export const FILTER_VALUES_MAX = 256
/**
 * A search whose page is short, because hits have expired or changed, queries the index again. Each round
 * asks for this many times as many hits. 8 rounds lead from 14 hits to all that the engine returns.
 */
export const SEARCH_AGAIN_FACTOR = 4
/** Results between two checks of the deadline while documents are read: 64 x 5 KB take 50 us. */
export const FTS_POLL_RESULTS = 64
/**
 * Queries of the index for one listing. A query is repeated, with an increasing surplus, while expired
 * documents leave the page short or deletes have not reached the index.
 */
export const LISTING_ROUNDS_MAX = 4
/**
 * Due but not yet swept documents that a listing subtracts from its total. A sweep removes 256 at a time
 * without a pause, so that a larger number does not persist for long.
 */
export const DUE_COUNTED_MAX = 10_000
/**
 * The results of a larger page are not written by one native call: between documents it looks for no
 * deadline. 100 of 5 KB take 0.2 ms, and 8 MiB take 11 ms.
 */
export const NATIVE_PAGE_DOCUMENTS_MAX = 100
export const NATIVE_PAGE_BYTES_MAX = 8 * MIB
/**
 * The documents of a larger page are not cached. A page of 300 would evict thirty pages of ten and is
 * requested once. Its garbage took a third of its own time.
 */
export const CACHED_PAGE_DOCUMENTS_MAX = 100
