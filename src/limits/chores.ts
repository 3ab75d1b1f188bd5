/** Bounds of chores, the background loops of every thread: retries, standby, rest. */

/** Pause before a chore whose round failed runs again. It doubles with each further failure. */
export const CHORE_RETRY_MS_FIRST = 1000
export const CHORE_RETRY_MS_MAX = 60_000
/** Interval at which a chore that may not write checks for the role again: one read of a shared word. */
export const CHORE_STANDBY_MS = 1000
/** Longest rest of a chore: the maximum of a timer of Node.js. */
export const CHORE_REST_MS_MAX = 2 ** 31 - 1
