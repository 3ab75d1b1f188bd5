/** Deadlines by cost class of the operation, and those of single operations that take longer. */
import { EMBEDDINGS_WANTED_MS_MAX } from './embedding.js'

/**
 * A point read takes microseconds, a search milliseconds. A request that takes longer has waited in a queue.
 */
export const DEADLINE_POINT_MS = 5_000
export const DEADLINE_SEARCH_MS = 10_000
/**
 * A search whose query may have to be embedded first: `EMBEDDINGS_WANTED_MS_MAX`, plus time for the search.
 */
export const DEADLINE_EMBEDDED_MS = EMBEDDINGS_WANTED_MS_MAX + 5_000
/** Above COMMIT_SILENCE_MS_MAX, so that a storage failure is reported before the deadline expires. */
export const DEADLINE_WRITE_MS = 12_000
/** 10 000 documents of 5 KB at 3 000/s take 3.4 s; a reindex of 100 000 takes about 40 s. */
export const DEADLINE_HEAVY_MS = 120_000
/** A backup or restore may take this long: 100 GB at 50 MB/s. */
export const DEADLINE_LONG_MS = 3_600_000
/**
 * A chunk of a bulk ingest. It waits behind the other work of the bulk lane. 64 requests of up to 2 minutes
 * take longer than any client waits; a few requests do not.
 */
export const DEADLINE_INGEST_CHUNK_MS = 600_000
/**
 * A reindex of vectors is answered when all documents are embedded: a million at 20 a second take 14 hours.
 */
export const DEADLINE_REINDEX_MS = 86_400_000
