/** Bounds of the embedding of documents and query texts: queue, chunks, slices, reindexes, cached vectors. */
import { EMBEDDING_DOCUMENT_REQUESTS_AT_ONCE } from './providers.js'
import { MIB } from './units.js'

/**
 * Documents that may wait for their vectors before writes wait for capacity (`SVC_EMBEDDING_QUEUE_SIZE`), and
 * how long a write waits (`SVC_EMBEDDING_QUEUE_WAIT`). The values of the reference.
 */
export const EMBEDDING_QUEUE_DEFAULT = 1000
export const EMBEDDING_QUEUE_WAIT_MS_DEFAULT = 5_000
/** Highest `SVC_EMBEDDING_QUEUE_SIZE`: a row of 20 bytes for each document. */
export const EMBEDDING_QUEUE_MAX = 10_000_000
/**
 * Interval of the checks whether the queue has capacity for waiting writes: a quarter of the shortest wait
 * that is worth setting.
 */
export const EMBEDDING_CAPACITY_POLL_MS = 25
/** A write that waits for capacity is answered this long before its deadline. */
export const EMBEDDING_CAPACITY_MARGIN_MS = 2_000

// ---- Chunks

/**
 * Characters (code points) of a chunk (`SVC_EMBEDDING_CHUNK_SIZE`). The value of the reference: some 350
 * tokens, which every known model accepts without truncation.
 */
export const EMBEDDING_CHUNK_CHARACTERS_DEFAULT = 1500
/** Smaller chunks carry no meaning by themselves; every provider truncates larger ones. */
export const EMBEDDING_CHUNK_CHARACTERS_MIN = 100
export const EMBEDDING_CHUNK_CHARACTERS_MAX = 100_000
/**
 * Chunks of one document that get vectors, equal to the engine's `kVectorChunksMax`. 65 535 of the usual size
 * are six times the largest document.
 */
export const EMBEDDING_CHUNKS_MAX = 65_535

// ---- Slices

/**
 * Slices in progress at the same time: one more than the provider takes at once, so that the provider is busy
 * while another slice is cut or stored.
 */
export const EMBEDDING_SLICES_MAX = EMBEDDING_DOCUMENT_REQUESTS_AT_ONCE + 1
/**
 * Documents of one slice. 64 of 5 KB take 20 ms of the bulk lane. A crash loses no more than one call of the
 * provider in any case.
 */
export const EMBEDDING_SLICE_DOCUMENTS_MAX = 64
/**
 * Bytes of content that are cut for one slice, except for a single document: at 35 ms a megabyte some 0.6 s
 * of the bulk lane. 64 of the largest documents, with few or identical chunks, would take 36 s.
 */
export const EMBEDDING_SLICE_BYTES_MAX = 16 * MIB
/** Rows of the queue in the memory of the front end: twice the capacity of all slices. */
export const EMBEDDING_QUEUE_PAGE = 2 * EMBEDDING_SLICES_MAX * EMBEDDING_SLICE_DOCUMENTS_MAX
/**
 * Steps for a document with more chunks than one call takes. Each step writes all vectors so far: 8 steps
 * write 4.5 times the vectors of the document.
 */
export const EMBEDDING_STEPS_MAX = 8
/** Interval at which the front end looks for documents to embed while some wait for their vectors. */
export const EMBEDDING_POLL_MS = 20

// ---- Failures

/** Pause of the backlog after the provider could not be reached. It doubles each time. */
export const EMBEDDING_WAIT_MS_MIN = 1000
export const EMBEDDING_WAIT_MS_MAX = 60_000
/**
 * Attempts for a document that fails while others are embedded. The document itself may crash the provider.
 */
export const EMBEDDING_TRIES_MAX = 3
/**
 * Number of slices for which the provider could not be reached, after which a document of them is sent alone.
 * A single failure may be the fault of the provider.
 */
export const EMBEDDING_FAILURES_ALONE = 2
/**
 * Calls that find the refused texts of one slice, by bisection. 64 texts with three bad ones take 18. Above
 * it the remaining texts count as refused.
 */
export const EMBEDDING_REFUSALS_MAX = 24
/** Pause between two attempts to pass paid-for vectors of a provider to a lane. */
export const EMBEDDING_STORE_RETRY_MS = 100
/**
 * Interval between two log lines about documents that are not embedded, or about searches without vectors.
 * The counters are exact.
 */
export const EMBEDDING_FAILURES_LOGGED_MS = 10_000

// ---- Reindexes

/** Reindexes of vectors at the same time. Each keeps two pages in memory. */
export const REINDEXES_MAX = 8
/** Documents that one page of a reindex returns. With two pages in progress, all slices are busy. */
export const UNEMBEDDED_DOCUMENTS_MAX = EMBEDDING_SLICES_MAX * EMBEDDING_SLICE_DOCUMENTS_MAX
/** Documents that one page examines: about 10 ms of the bulk lane if all are current. */
export const UNEMBEDDED_SCANNED_MAX = 2_000
/** Log lines at a start about collections with vectors of another model. /v1/vector-stats lists all. */
export const STALE_COLLECTIONS_LISTED_MAX = 100

// ---- Texts of requests

/** Texts of one request that need vectors: 100 labels, the text to classify, and a margin. */
export const EMBEDDINGS_WANTED_MAX = 128
/** How long a request waits for the vectors of its texts. */
export const EMBEDDINGS_WANTED_MS_MAX = 15_000
/**
 * How long the server remembers that a provider could not embed the texts of a request, which continues
 * without vectors.
 */
export const EMBEDDINGS_LACKING_MS = 5_000
/**
 * Minimum time that the vector of a text stays cached: as long as the request that needs it may take,
 * independent of the size of the cache.
 */
export const EMBEDDINGS_HELD_MS_MIN = 2 * EMBEDDINGS_WANTED_MS_MAX
/** Texts whose vectors are cached for requests in progress, beyond the size of the cache. */
export const EMBEDDINGS_HELD_MAX = 4_096
/**
 * Vectors of query texts that are cached (`SVC_EMBEDDING_CACHE_SIZE`, `_TTL`). The defaults are the values of
 * the reference: 1 024 x 6 KB. The maximum takes 400 MB.
 */
export const EMBEDDINGS_CACHED_DEFAULT = 1024
export const EMBEDDINGS_CACHED_MAX = 65_536
export const EMBEDDINGS_CACHED_MS_DEFAULT = 3_600_000
/** Thirty days: a vector does not change as long as its model does not. */
export const EMBEDDINGS_CACHED_MS_MAX = 30 * 86_400_000
