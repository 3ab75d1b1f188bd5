/** Bounds of surfaces that several files read. */
import { KIB, MIB } from './units.js'

/** Tokens of a document. The longest introspection query of the known clients has some 400. */
export const GRAPHQL_TOKENS_MAX = 2_000
/**
 * Bytes of the answers of the core that all requests have put together so far, until their own answers leave
 * the thread. Two of the longest: as values and as text they take several times as much.
 */
export const GRAPHQL_ANSWERS_HELD_BYTES_MAX = 128 * MIB
/**
 * Megabytes of the heap of the thread. It is ended above that, and started again: THREAD_BODIES_BYTES_MAX as
 * text and as values, with the answers of several requests.
 */
export const GRAPHQL_HEAP_MB_MAX = 768
/** Bytes of all requests that are being read, or wait for their answer: eight of the longest messages. */
export const GRPC_BODIES_BYTES_MAX = 256 * MIB
/**
 * Bytes of all answers that clients have not read: four of the longest messages. What each is made of takes
 * several times as much until the thread's garbage is collected.
 */
export const GRPC_UNREAD_BYTES_MAX = 128 * MIB
/** Event loops, each a thread. One answers some 40 000 gets a second. */
export const HTTP_LOOPS_MAX = 16
/**
 * Tokens of an answer where the call does not name another number. A model with a context of 128 000 tokens
 * can read a dozen such answers beside its conversation.
 */
export const MCP_ANSWER_TOKENS_DEFAULT = 8_000
/**
 * The same for one document that a call names: a page of 60 KB is read whole. Some hosts of models refuse
 * results of more than 25 000 tokens.
 */
export const MCP_DOCUMENT_TOKENS_DEFAULT = 24_000
/** Lowest `max_tokens`: one result with a passage fits. */
export const MCP_ANSWER_TOKENS_MIN = 1_000
/**
 * Highest `max_tokens`: the largest context of a model. 2.5 MB of text, which is held three times while it is
 * written (answer of the core, JSON text, JSON-RPC message).
 */
export const MCP_ANSWER_TOKENS_MAX = 1_000_000
/** Sessions in all: 10 000 x 1 KB are 10 MB. */
export const MCP_SESSIONS_MAX = 10_000
/** Sessions of one user, key, or address of anonymous clients. */
export const MCP_SESSIONS_OF_IDENTITY_MAX = 1_000
/** A session that was not used for so long ends. */
export const MCP_SESSION_IDLE_MS = 30 * 60_000
/** Requests in progress in one session whose transport does not hold a connection for each. */
export const MCP_SESSION_REQUESTS_MAX = 64
/**
 * Bytes that clients have not read of large answers and events. Further ones are refused, and the connection
 * that holds the most is ended.
 */
export const MCP_UNSENT_BYTES_MAX = 256 * MIB
/** Bytes of an answer that the kernel's buffer mostly takes at once: not worth a count. */
export const MCP_COUNTED_BYTES_MIN = 64 * KIB
/**
 * Interval of comments on an idle stream: below the 60 s after which proxies close it. So long at most, a
 * stream outlives the right of its client.
 */
export const MCP_STREAM_PULSE_MS = 15_000
/** A client that reads nothing for so long is disconnected: four pulses. */
export const MCP_STALL_MS_MAX = 60_000
/** How long the head of a request may take. */
export const MCP_HEAD_MS_MAX = 10_000
/** Items of one page of a list: all tools of the server fit, so that clients that read one page see them. */
export const MCP_PAGE_ITEMS = 250
/** Bytes of all request bodies in memory at once: eight of the largest. */
export const BODIES_IN_FLIGHT_BYTES_MAX = 256 * MIB
/**
 * Bytes of large answers that clients have not read yet, over all connections: two of the largest answers.
 * Above it, the next client that does not read is disconnected.
 */
export const ANSWERS_UNSENT_BYTES_MAX = 512 * MIB
/** Bytes of buffers of long bodies that are kept for the next ones: six of 10 MB. */
export const BODIES_SPARE_BYTES_MAX = 64 * MIB
/**
 * A body must bring some bytes in each time of this length: a client may be silent for a while, but not hold
 * a connection. uWebSockets.js alone would close it after 8 to 12 s that bring less than 160 KiB.
 */
export const BODY_PROGRESS_MS_MAX = 30_000
/**
 * At a shutdown, a loop with open connections ends when no request has come for this long: a round trip
 * around the earth, and a client on a busy machine. Then connections without a request are closed.
 */
export const REQUEST_ON_ITS_WAY_MS = 500
/** Steps in which that time is waited for. It ends earlier with the last connection. */
export const QUIET_STEP_MS = 50
/** A client that reads nothing of an answer in parts for this long is disconnected. */
export const PART_STALL_MS_MAX = 60_000
