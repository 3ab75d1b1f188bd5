/** Bounds of access control: users, groups, API keys, tokens, passwords. */
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
/** Fixed by the contract. One hash takes some 0.2 s of a core. */
export const BCRYPT_COST = 12
/** Hashes at a time, on machines with more than two cores; otherwise one. */
export const PASSWORD_THREADS_MAX = 2
/** Logins and new passwords that wait for a hash: 6 s of work of one thread. */
export const PASSWORDS_WAITING_MAX = 32
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
 * An event loop asks for the owner of an API key again after this time at the latest. So it is the precision
 * of the key's last use.
 */
export const KEY_IDENTITY_MS_MAX = 60_000
/** How long the last uses of API keys are gathered before they are written. */
export const KEY_USES_GATHERED_MS = 60_000
/** API keys whose last use is gathered. Uses of further ones are written with a later round. */
export const KEY_USES_GATHERED_MAX = 10_000
/** Bytes of the secret of tokens that production needs: the length of the digest. */
export const JWT_SECRET_BYTES_MIN_PRODUCTION = 32
export const JWT_EXPIRY_MS_DEFAULT = 24 * 3_600_000
export const JWT_EXPIRY_MS_MAX = 365 * 24 * 3_600_000
