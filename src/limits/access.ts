/** Bounds of access control: counted requests, failed logins, connections of one address. */

// ---- Rate limit

/** Requests in a window and further ones in a burst, where nothing is configured: those of the contract. */
export const RATE_REQUESTS_DEFAULT = 100
export const RATE_BURST_DEFAULT = 50
/** Either number: 2 x 10^9 fit the 31 bits of a counter. */
export const RATE_REQUESTS_MAX = 1_000_000_000
/** Milliseconds of a window: a minute; from a second, the unit of `Retry-After`, to a day. */
export const RATE_WINDOW_MS_DEFAULT = 60_000
export const RATE_WINDOW_MS_MIN = 1_000
export const RATE_WINDOW_MS_MAX = 86_400_000
/** Clients with a counter of their own in one window: 65 536 x 12 B are 768 KiB of shared memory. */
export const RATE_KEYS_MAX = 65_536
/**
 * Slots that are looked at for one client. With 32 a table finds a slot for nearly every client until it is
 * nine tenths full; all of them are in 6 cache lines.
 */
export const RATE_PROBES_MAX = 32
/**
 * Counters that the clients without a slot share. One client in a full table meets another one's with a
 * probability of 1 in 4 096. 48 KiB.
 */
export const RATE_SHARED_COUNTERS = 4_096
/** Reads of a slot that another thread is claiming, which takes three stores: below a microsecond. */
export const RATE_CLAIM_READS_MAX = 1_000
/** Events of exceeded limits that one event loop reports in a window: a flood must not fill the audit log. */
export const RATE_EVENTS_MAX = 256

// ---- Failed logins

/** Pairs of user and address, and addresses, whose failures are known: 2 x 10 000 x 0.3 KB are 6 MB. */
export const LOGIN_ENTRIES_MAX = 10_000
/** UTF-16 units of a user name that identify it here. Longer names share the counter of their beginning. */
export const LOGIN_NAME_CHARS_MAX = 64
/** Failed logins in a minute before each further one has to wait: in production, and elsewhere. */
export const LOGIN_FAILURES_STRICT = 10
export const LOGIN_FAILURES_LENIENT = 600
/** First wait in milliseconds, which doubles, and the longest one: in production, and elsewhere. */
export const LOGIN_WAIT_MS_STRICT = 6_000
export const LOGIN_WAIT_MS_MAX_STRICT = 900_000
export const LOGIN_WAIT_MS_LENIENT = 100
export const LOGIN_WAIT_MS_MAX_LENIENT = 1_000
/** Milliseconds without an attempt after which waits begin again with the first one. */
export const LOGIN_QUIET_MS = 600_000

// ---- Bursts of failed authentication

/** Failures of one actor and address in a window that are an event, where nothing is configured. */
export const AUTH_BURST_THRESHOLD_DEFAULT = 10
/** Times of failures are kept up to the threshold: 1 000 for each of the actors. */
export const AUTH_BURST_THRESHOLD_MAX = 1_000
/** Seconds of the window, and between two events about one actor and address: as in the contract. */
export const AUTH_BURST_WINDOW_SECONDS_DEFAULT = 60
export const AUTH_BURST_COOLDOWN_SECONDS_DEFAULT = 300
/** A day. */
export const AUTH_BURST_SECONDS_MAX = 86_400
/** Times of failures that are kept, over all actors: 100 000 x 8 B, and 0.3 KB for each actor: 31 MB. */
export const AUTH_BURST_TIMES_MAX = 100_000
/** Characters of a name in an event. */
export const AUTH_ACTOR_CHARS_MAX = 64

// ---- Production

/** Bytes of a secret that signs tokens: as many as SHA-256 makes. */
export const JWT_SECRET_BYTES_MIN = 32

// ---- Connections

/** Open connections of one address, where nothing is configured, and the highest number to configure. */
export const CONNECTIONS_OF_ADDRESS_DEFAULT = 1_024
export const CONNECTIONS_OF_ADDRESS_MAX = 1_000_000
