/** Bounds of GraphQL: of a document before it runs, and of the requests in its thread. */
import { KIB, MIB } from './units.js'

// ---- A document, before it is executed

/** Tokens of a document. The longest introspection query of the known clients has some 400. */
export const GRAPHQL_TOKENS_MAX = 2_000
/** Levels of fields. A search needs four: search, edges, node, field. */
export const GRAPHQL_DEPTH_MAX = 10
/** Levels below `__schema` and `__type`: GraphiQL asks for 14, five and a chain of nine `ofType`. */
export const GRAPHQL_INTROSPECTION_DEPTH_MAX = 16
/** Fields of an operation, those of a fragment once for each of its uses. */
export const GRAPHQL_COMPLEXITY_MAX = 1_000
/** Aliases of an operation, counted as its fields are: each is a request of its own at the top level. */
export const GRAPHQL_ALIASES_MAX = 50
/** Characters of a document, whose strings may be long; larger values belong into its variables. */
export const GRAPHQL_DOCUMENT_CHARS_MAX = MIB
/** Errors of one document that are reported. */
export const GRAPHQL_ERRORS_MAX = 10

// ---- Documents that are kept

/** Parsed and validated documents. A client sends a few dozen different ones. */
export const GRAPHQL_DOCUMENTS_KEPT_MAX = 1_000
/** Characters of these documents. Each takes some 60 bytes as a tree: 64 MiB at most. */
export const GRAPHQL_DOCUMENTS_KEPT_CHARS_MAX = MIB
/** A longer document has values in it, and does not come again. */
export const GRAPHQL_DOCUMENT_KEPT_CHARS_MAX = 16 * KIB

/**
 * Bytes of a document whose content is passed on as it is. To parse and write a shorter one takes less than
 * to look for its content.
 */
export const GRAPHQL_RAW_BYTES_MIN = 1 * KIB

// ---- Requests

/** Requests that a thread of a surface has, or that wait for it. At 100 us each, 1 024 wait 100 ms. */
export const THREAD_REQUESTS_MAX = 1_024
/** Bytes of the bodies of these requests: two of the largest, or the usual ones of all. */
export const THREAD_BODIES_BYTES_MAX = 64 * MIB
/** Bytes of the answers of the core that one request puts together: those of ten long searches. */
export const GRAPHQL_ANSWERS_BYTES_MAX = 64 * MIB
/**
 * Bytes of the answers of the core that all requests have put together so far, until their own answers leave
 * the thread. Two of the longest: as values and as text they take several times as much.
 */
export const GRAPHQL_ANSWERS_HELD_BYTES_MAX = 128 * MIB
/**
 * Megabytes of the heap of the thread. It is ended above that, and started again: THREAD_BODIES_BYTES_MAX
 * as text and as values, with the answers of several requests.
 */
export const GRAPHQL_HEAP_MB_MAX = 768
