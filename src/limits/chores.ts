/** Bounds of chores, the background loops of every thread: retries, standby, rest. */

/** Pause before a chore whose round failed runs again. It doubles with each further failure. */
export const CHORE_RETRY_MS_FIRST = 1000
export const CHORE_RETRY_MS_MAX = 60_000
/** Interval at which a chore that may not write checks for the role again: one read of a shared word. */
export const CHORE_STANDBY_MS = 1000
/** Longest rest of a chore: the maximum of a timer of Node.js. */
export const CHORE_REST_MS_MAX = 2 ** 31 - 1

// ---- The check for updates

/** A release waits a day at most; a server that is asked by thousands is asked once a day by each. */
export const UPDATE_CHECK_MS = 86_400_000
/** A failed check is retried after a minute, and every hour at most. */
export const UPDATE_RETRY_MS_FIRST = 60_000
export const UPDATE_RETRY_MS_MAX = 3_600_000
/** The description of a release by a host of repositories is under 100 KB. */
export const UPDATE_ANSWER_BYTES_MAX = 512 * 1024
/** Characters of a version or an address in it. */
export const UPDATE_TEXT_CHARS_MAX = 512
