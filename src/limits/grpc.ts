/** Bounds of the gRPC surface. */
import { KIB, MIB } from './units.js'

/** Bytes of a message, in either direction. */
export const GRPC_MESSAGE_BYTES_MAX = 32 * MIB
/** Values in one request: what a parser builds of them takes some 100 bytes each. */
export const GRPC_VALUES_MAX = 2_000_000
/** Concurrent calls of one connection. */
export const GRPC_STREAMS_MAX = 100
/** Memory of one connection, looked at when a call is opened: further calls are refused. */
export const GRPC_SESSION_MIB_MAX = 40
/** Bytes of all requests that are being read, or wait for their answer: eight of the longest messages. */
export const GRPC_BODIES_BYTES_MAX = 256 * MIB
/**
 * Bytes of all answers that clients have not read: four of the longest messages. What each is made of takes
 * several times as much until the thread's garbage is collected.
 */
export const GRPC_UNREAD_BYTES_MAX = 128 * MIB
/** Open connections, those of reflection and health among them. */
export const GRPC_CONNECTIONS_MAX = 10_000
/** Calls under way, over all connections. */
export const GRPC_CALLS_MAX = 4_096
/** A connection must have sent the preface of HTTP/2 after this time. */
export const GRPC_PREFACE_MS_MAX = 10_000
export const GRPC_PREFACE_BYTES = 24
/** How often connections without a preface are looked for. */
export const GRPC_SWEEP_MS = 2_000
/** A silent peer is asked for a sign of life, and disconnected without one. */
export const GRPC_KEEPALIVE_MS = 60_000
export const GRPC_KEEPALIVE_TIMEOUT_MS = 20_000
/** Pings that come sooner than this one after another are strikes; beyond so many, a client is closed. */
export const GRPC_PING_MS_MIN = 10_000
export const GRPC_PING_STRIKES_MAX = 2
/** Two answers to pings: fewer bytes were no data. */
export const GRPC_PING_ACK_BYTES = 34
/** A connection without calls is closed after this time. */
export const GRPC_IDLE_MS_MAX = 30 * 60_000
/**
 * A connection that the server has ended is closed after this time in which the client sends nothing: one on
 * a slow line still reads, and says so by updates of its window.
 */
export const GRPC_END_MS_MAX = 2_000
/** How often the health that clients see follows the phase of the server. */
export const GRPC_HEALTH_POLL_MS = 1_000
/** Bytes of one chunk of an export: well under the 4 MiB that clients accept by default. */
export const GRPC_CHUNK_BYTES_MAX = 512 * KIB
