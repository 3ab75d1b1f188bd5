/** Bounds of the transports of MCP: sessions, streams, bodies, connections, pages of lists. */
import { KIB, MIB } from './units.js'

// ---- Sessions

/** Bytes of a session's id: 128 random bits. */
export const MCP_SESSION_ID_BYTES = 16
/** Sessions in all: 10 000 x 1 KB are 10 MB. */
export const MCP_SESSIONS_MAX = 10_000
/** Sessions of one user, key, or address of anonymous clients. */
export const MCP_SESSIONS_OF_IDENTITY_MAX = 1_000
/** A session that was not used for so long ends. */
export const MCP_SESSION_IDLE_MS = 30 * 60_000
export const MCP_SESSION_SWEEP_MS = 60_000
/** Requests in progress in one session whose transport does not hold a connection for each. */
export const MCP_SESSION_REQUESTS_MAX = 64
/** Messages in one batch of JSON-RPC. They run side by side. */
export const MCP_BATCH_MESSAGES_MAX = 100

// ---- Streams of events

/**
 * Bytes that a client has not read of a stream when a further event is to be sent. Above it, the client is
 * disconnected. One event may be longer.
 */
export const MCP_STREAM_UNSENT_BYTES_MAX = 256 * KIB
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
/** An answer that takes longer becomes a stream, so that its connection is not idle. */
export const MCP_STREAM_AFTER_MS = 10_000

// ---- Requests

/** Bytes of all bodies that are being read, or wait for their answer: four of the largest. */
export const MCP_BODIES_BYTES_MAX = 128 * MIB
/** Bytes of a refused body that are read and thrown away: a new connection costs more. */
export const MCP_REST_BYTES_MAX = 64 * KIB
/** Levels of arrays and objects in a message: 64 of a document's metadata, and those around them. */
export const MCP_DEPTH_MAX = 80
/** Bytes of the head of a request. */
export const MCP_HEAD_BYTES_MAX = 16 * KIB
/** How long the head of a request may take, and the whole request. */
export const MCP_HEAD_MS_MAX = 10_000
export const MCP_REQUEST_MS_MAX = 120_000
/** How often connections are checked for these. */
export const MCP_CHECK_MS = 2_000
/** A connection without a request is closed after this time. */
export const MCP_IDLE_MS = 120_000
/** Open connections in all. Those of one address: SVC_MAX_CONN_IP. */
export const MCP_CONNECTIONS_MAX = 4_096
/** Bytes of one line of standard input: a body of HTTP has the same bound. */
export const MCP_LINE_BYTES_MAX = 32 * MIB
/** Bytes of answers that the reader of standard output has not taken. Above it, no input is read. */
export const MCP_STDOUT_UNSENT_BYTES_MAX = 4 * MIB

// ---- Lists and keys

/** Items of one page of a list: all tools of the server fit, so that clients that read one page see them. */
export const MCP_PAGE_ITEMS = 250
/** Keys of MCP whose owners are kept. */
export const MCP_KEYS_KEPT_MAX = 4_096
