/** Bounds of accounts, credentials and keys that several files read. */
import { KIB } from './units.js'

/** UTF-8 bytes. A name is the id of a row: with its prefix it must fit into a key of the store. */
export const USERNAME_BYTES_MAX = 128
/** UTF-8 bytes. bcrypt ignores the bytes after these, so a longer password would be cut silently. */
export const PASSWORD_BYTES_MAX = 72
/**
 * Fixed by the contract. One hash takes some 0.2 s of a core; each step less halves that, and the work of
 * whoever has stolen the hashes.
 */
export const BCRYPT_COST = 12
/** Characters of a credential in a header. A token with the longest name has some 600. */
export const CREDENTIAL_CHARS_MAX = 2 * KIB
/** Rights of users that one lane, or the dispatcher, keeps. */
export const RIGHTS_KEPT_MAX = 4_096
/** How long the last uses of API keys are gathered before they are written. */
export const KEY_USES_GATHERED_MS = 60_000
/** Bytes of the secret of tokens that production needs: the length of the digest. */
export const JWT_SECRET_BYTES_MIN_PRODUCTION = 32
/** Requests in a window, and further ones in a burst: 2 x 10^9 together fit the 31 bits of a counter. */
export const RATE_REQUESTS_MAX = 1_000_000_000
/** A window of a rate limit: from a second, the unit of `Retry-After`, to a day. */
export const RATE_WINDOW_MS_MIN = 1_000
export const RATE_WINDOW_MS_MAX = 86_400_000
/** A client that has not completed its handshake by then is disconnected. */
export const TLS_HANDSHAKE_MS_MAX = 10_000
/**
 * Handshakes at a time on one listener of node: the gate's, gRPC's, MCP's. A core completes some 1 000 in a
 * second.
 */
export const TLS_HANDSHAKES_MAX = 1_024
/** A client of the gate that takes nothing of an answer for this long is disconnected. */
export const TLS_STALL_MS_MAX = 60_000
/**
 * How long browsers use only HTTPS for the host after an answer: a year, the minimum of the lists that
 * browsers are delivered with.
 */
export const HSTS_SECONDS = 365 * 24 * 60 * 60
