/**
 * Bounds of access control: users, groups, API keys, tokens, passwords, counted requests, failed logins,
 * connections of one address.
 */
import { KIB } from './units.js'

/** UTF-8 bytes. A name is the id of a row: with its prefix it must fit into a key of the store. */
export const USERNAME_BYTES_MAX = 128
export const GROUP_NAME_BYTES_MAX = 128
/** UTF-8 bytes of the description of a group or an API key. */
export const ACCESS_DESCRIPTION_BYTES_MAX = KIB
/** UTF-8 bytes. bcrypt ignores the bytes after these, so a longer password would be cut silently. */
export const PASSWORD_BYTES_MAX = 72
/** Characters that a new password needs in production. Otherwise it must not be empty. */
export const PASSWORD_CHARS_MIN_PRODUCTION = 12
/**
 * Fixed by the contract. One hash takes some 0.2 s of a core; each step less halves that, and the work of
 * whoever has stolen the hashes.
 */
export const BCRYPT_COST = 12
/** The least that bcrypt knows. */
export const BCRYPT_COST_MIN = 4
/** Hashes at a time, on machines with more than two cores; otherwise one. */
export const PASSWORD_THREADS_MAX = 2
/** Logins that wait for a hash: 6 s of work of one thread, 12 s beside changes. */
export const PASSWORDS_WAITING_MAX = 32
/** New and old passwords that wait for a hash, in a queue of their own. */
export const CHANGES_WAITING_MAX = 32
/** Old passwords of one user that are compared or wait: nobody changes a password twice at once. */
export const GUESSES_OF_USER_MAX = 2
/** A list of all of them is one answer of some 10 MB. */
export const USERS_MAX = 100_000
export const GROUPS_MAX = 1_000
/** Members of one group, and groups of one user. */
export const GROUP_MEMBERS_MAX = 10_000
export const GROUPS_OF_USER_MAX = 100
/** Collections on which one user or group has permissions of its own. */
export const PERMISSIONS_MAX = 1_000
export const KEYS_OF_USER_MAX = 100
/** Characters of a credential in a header. A token with the longest name has some 600. */
export const CREDENTIAL_CHARS_MAX = 2 * KIB
/** Identified credentials that one event loop keeps: some 4 MB with tokens. */
export const IDENTITIES_KEPT_MAX = 4_096
/** Rights of users that one lane, or the dispatcher, keeps. */
export const RIGHTS_KEPT_MAX = 4_096
/**
 * An event loop asks for the owner of a token or an API key again after this time at the latest. So it is the
 * precision of a key's last use.
 */
export const IDENTITY_KEPT_MS_MAX = 60_000
/** How long the last uses of API keys are gathered before they are written. */
export const KEY_USES_GATHERED_MS = 60_000
/** API keys whose last use is gathered. Uses of further ones are written with a later round. */
export const KEY_USES_GATHERED_MAX = 10_000
/** Bytes of the secret of tokens that production needs: the length of the digest. */
export const JWT_SECRET_BYTES_MIN_PRODUCTION = 32
export const JWT_EXPIRY_MS_DEFAULT = 24 * 3_600_000
export const JWT_EXPIRY_MS_MAX = 365 * 24 * 3_600_000

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
/**
 * Refused tokens and API keys that one event loop reports in a second: enough for the largest threshold of a
 * burst. A report is a message of 0.1 KB between threads.
 */
export const AUTH_FAILURES_REPORTED_MAX = 1_000
/** Characters of a name in an event. */
export const AUTH_ACTOR_CHARS_MAX = 64

// ---- Connections

/** Open connections of one address, where nothing is configured, and the highest number to configure. */
export const CONNECTIONS_OF_ADDRESS_DEFAULT = 1_024
export const CONNECTIONS_OF_ADDRESS_MAX = 1_000_000
