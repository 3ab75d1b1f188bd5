/** Bounds of the statistics of searches and of the advice that comes from them. */

/**
 * Collections that one thread has statistics of. Beyond it, those of the collection that was searched least
 * recently are dropped.
 */
export const COUNTED_COLLECTIONS_MAX = 32
/**
 * Queries that one thread counts per collection. With the texts below, a thread takes at most
 * 32 * 64 * 200 B = 410 KB, of memory that is not resident before it is used.
 */
export const COUNTED_QUERIES_MAX = 64
/** Bytes of a counted query's text. Longer ones are cut: 160 are 25 words. */
export const COUNTED_TEXT_BYTES = 160
/** Characters of a query that are compared with those counted before. */
export const COUNTED_TEXT_CHARS_MAX = 512
/** Attempts to read a count that its thread is changing. One change takes less than a microsecond. */
export const COUNT_READ_ATTEMPTS = 8

/** A search that takes longer is slow: a person notices 100 ms. */
export const ADVICE_SLOW_MS = 100
/** Suggestions of one kind in one answer: what a person reads. */
export const ADVICE_PER_KIND_MAX = 10
/** Times that a query must have been asked, or have found nothing. Once is one person's typing error. */
export const ADVICE_TIMES_MIN = 2
/** Times that a query must have run before caching its answers is suggested. */
export const ADVICE_REPEATED_TIMES_MIN = 20
/** Mean duration above which a repeated query is worth a cached answer. */
export const ADVICE_REPEATED_MS_MIN = 2
/** Queries whose words are examined: 30 spelling searches of 5 ms each fit the deadline. */
export const ADVICE_EXAMINED_MAX = 30
/** Queries with results that each of those is compared with: tokenizing one takes 5 us. */
export const ADVICE_COMPARED_MAX = 500
