/** Bounds of embedding and of outgoing requests that several files read. */
import { KIB } from './units.js'

/**
 * Parallel requests to one provider. Hosted ones answer them in parallel, a local one answers them in turn.
 */
export const EMBEDDING_REQUESTS_AT_ONCE = 4
/** Parallel requests for documents among them. A query never waits for a whole backlog. */
export const EMBEDDING_DOCUMENT_REQUESTS_AT_ONCE = EMBEDDING_REQUESTS_AT_ONCE - 1
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
/** Pause between two attempts to pass paid-for vectors of a provider to a lane. */
export const EMBEDDING_STORE_RETRY_MS = 100
/**
 * Interval between two log lines about documents that are not embedded, or about searches without vectors.
 * The counters are exact.
 */
export const EMBEDDING_FAILURES_LOGGED_MS = 10_000
/** How long a request waits for the vectors of its texts. */
export const EMBEDDINGS_WANTED_MS_MAX = 15_000
/** UTF-8 bytes of a URL that a client gives to the server: what browsers and proxies accept. */
export const OUTBOUND_URL_BYTES_MAX = 2048
/** Dimensions of a vector. The largest known models have 4 096; a row of 8 192 floats is 32 KB. */
export const EMBEDDING_DIMENSIONS_MAX = 8192
/** The longest pause of a provider that has failed (src/outbound/embedding/breaker.ts). */
export const EMBEDDING_PAUSE_MS_MAX = 60_000
/**
 * Calls that wait for their turn. At 4 in parallel and 50 ms each, 1 024 take 13 s, just within the time that
 * a query waits.
 */
export const EMBEDDING_CALLS_WAITING_MAX = 1024
/** Bytes of an answer in addition to its vectors, or of one that is a refusal. */
export const EMBEDDING_ANSWER_FRAME_BYTES = 256 * KIB
