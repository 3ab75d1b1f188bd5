/** Bounds of the surfaces: memory per connection while bodies arrive and answers are sent. */
import { KIB, MIB } from './units.js'

/** Bytes of all request bodies in memory at once: eight of the largest. */
export const BODIES_IN_FLIGHT_BYTES_MAX = 256 * MIB
/**
 * Bytes of large answers that clients have not read yet, over all connections: two of the largest answers.
 * Above it, the next client that does not read is disconnected.
 */
export const ANSWERS_UNSENT_BYTES_MAX = 512 * MIB
/** Bytes of buffers of long bodies that are kept for the next ones: six of 10 MB. */
export const BODIES_SPARE_BYTES_MAX = 64 * MIB
/** First capacity of the buffer for a body of unknown length. It doubles up to the body bound. */
export const BODY_FIRST_BYTES = 16 * KIB
/**
 * Bytes of a refused body that are read and discarded before the connection is closed. Within this bound, a
 * client that sends everything before it reads still gets its 413.
 */
export const DISCARDED_BYTES_MAX = 256 * MIB
/**
 * A body must bring some bytes in each time of this length: a client may be silent for a while, but not hold
 * a connection. uWebSockets.js alone would close it after 8 to 12 s that bring less than 160 KiB.
 */
export const BODY_PROGRESS_MS_MAX = 30_000
/** How many: 1 KiB/s, */
export const BODY_PROGRESS_BYTES_MIN = 30 * KIB
/** or this part of what has come, because it is held in memory, */
export const BODY_PROGRESS_PART = 1 / 16
/** but no more than 16 KiB/s. */
export const BODY_PROGRESS_BYTES_MAX = 480 * KIB
/** How often bodies are looked at. uWebSockets.js would close their connections in twice this time. */
export const BODY_WATCH_MS = 3_000
/**
 * Larger answers are written piece by piece as the client reads them. The kernel's send buffer accepts most
 * of a smaller one in one call.
 */
export const ANSWER_STREAMED_BYTES_MIN = 128 * KIB
/**
 * Bytes of larger answers that are written in one turn of the event loop, to all sockets together: 0.3 ms,
 * for which other connections wait.
 */
export const LARGE_WRITES_OF_TURN_BYTES_MAX = MIB
/** Bytes of a large answer that go with its head if the turn has none left. */
export const LARGE_FIRST_BYTES = 16 * KIB
/**
 * At a shutdown, a loop with open connections ends when no request has come for this long: a round trip
 * around the earth, and a client on a busy machine. Then connections without a request are closed.
 */
export const REQUEST_ON_ITS_WAY_MS = 500
/** Steps in which that time is waited for. It ends earlier with the last connection. */
export const QUIET_STEP_MS = 50
/** Origins and hosts whose verdict is cached, each of at most the 8 KB of all headers: 1 MB. */
export const GUARD_NAMES_KEPT_MAX = 64
/** How long the addresses of this machine count as known. Interfaces come and go; asking costs 0.1 ms. */
export const OWN_ADDRESSES_KEPT_MS = 5000

// ---- Answers in parts

/**
 * A part of an answer is written to its socket in pieces of this size. uWebSockets.js copies the rest of a
 * piece when the socket is full.
 */
export const PART_PIECE_BYTES = 256 * KIB
/**
 * Longest time between two bytes of an answer in parts. uWebSockets.js gives up 8 to 12 s after the last one.
 */
export const PART_PULSE_MS = 3_000
/** Bytes of a part that are kept back as pulses until the next part is ready: 40 x 3 s are its deadline. */
export const PART_RESERVE_BYTES = 40
/** A client that reads nothing of an answer in parts for this long is disconnected. */
export const PART_STALL_MS_MAX = 60_000
/**
 * A consumer that keeps a chunk of a streamed request body for this long ends its request. The client's
 * socket is paused during that time, so no other mechanism would end the request.
 */
export const BODY_STALL_MS_MAX = 30_000
/**
 * Bytes of a pushed answer that a client has not read yet. Above it, the client is disconnected: 512 slow
 * clients fill ANSWERS_UNSENT_BYTES_MAX.
 */
export const PUSH_UNSENT_BYTES_MAX = MIB
/**
 * Interval of the pulses of an idle pushed answer. Two intervals are shorter than the 8 s after which
 * uWebSockets.js may close the connection.
 */
export const PUSH_PULSE_MS = 3_000
/**
 * A write of at least this size bypasses the cork buffer of uWebSockets.js (16 KiB). Only such a write
 * reports whether the client has read everything before it.
 */
export const PUSH_PROBE_BYTES = 16 * KIB
/** Bytes of smaller pieces after which the next one is padded with pulses to a probe: 6 % more at most. */
export const PUSH_UNPROBED_BYTES_MAX = 256 * KIB

// ---- Addresses of clients

/**
 * How often the connections of clients are counted while there are many. 10 000 connections take 10 ms.
 */
export const CENSUS_MS = 1_000
/** Bytes of the kernel's list that are read at a time: some 400 connections, 0.2 ms. */
export const CENSUS_CHUNK_BYTES = 64 * KIB
/** Clients whose further connections are closed: more than that have a million connections in all. */
export const CROWDED_CLIENTS_MAX = 1_000

/** Entries of `SVC_TRUSTED_PROXIES`. Each is compared with the addresses of a request. */
export const TRUSTED_PROXIES_MAX = 256
/** Addresses of `X-Forwarded-For` that are looked at, the last ones: no client is behind as many proxies. */
export const FORWARDED_ADDRESSES_MAX = 32
