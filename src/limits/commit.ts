/** Bounds of the write lane's commits: size of a transaction, and when a commit counts as lost. */

/** Documents of a batch that are committed in one transaction. Single writes may enter between slices. */
export const COMMIT_SLICE_DOCUMENTS_MAX = 64
/** Documents that one transaction writes: four batch slices, or as many single writes; about 4 ms of work. */
export const GROUP_DOCUMENTS_MAX = 4 * COMMIT_SLICE_DOCUMENTS_MAX
/**
 * Binlog entries and unreferenced bodies that one group may trim: twice what it can add, so that trimming
 * keeps up.
 */
export const TRIM_ENTRIES_MAX = 2 * GROUP_DOCUMENTS_MAX
/** Rows of deleted collections that one maintenance slice removes: about 2 ms. */
export const PURGE_ROWS_MAX = 1024
/** A commit that has not returned within this time may never return: the server stops acknowledging. */
export const COMMIT_SILENCE_MS_MAX = 10_000
/**
 * Interval at which the front end checks for such a commit: while one runs, and while none does. The latter
 * is shorter than the silence, so that no commit is found later for it.
 */
export const COMMIT_WATCH_MS = 500
export const COMMIT_IDLE_WATCH_MS = 5000
