/** Bounds of tracking: rings of reads, histories of documents, events by minute, leaderboards. */

/**
 * Reads that one thread may record before the write lane collects them. A power of two; 512 KB per thread, of
 * which untouched pages cost nothing.
 */
export const ACCESS_RING_ENTRIES = 32_768
/** Interval at which the write lane collects them. */
export const ACCESS_TAKEN_MS = 500
/** Documents whose reads one slice stores, at 10 us each. Single writes may enter between slices. */
export const ACCESS_SLICE_DOCUMENTS_MAX = 128
/**
 * Pause of the write lane after a slice, as a multiple of the slice, and its longest duration: tracking takes
 * a tenth of the lane.
 */
export const ACCESS_PAUSE_FACTOR = 9
export const ACCESS_PAUSE_MS_MAX = 1000
/** Pairs of a document and a second with reads that wait to be stored, some 150 B each. */
export const ACCESS_WAITING_MAX = 262_144
/**
 * Writes in the history of one document, 5 B each. With them and groups of reads, a history without names of
 * principals stays within the largest entry of an LMDB page (2 KB); a longer one takes an overflow page.
 */
export const HISTORY_WRITES_MAX = 100
/** Bytes of the names of the principals of its writes. The newest writes keep theirs. */
export const HISTORY_ACTORS_BYTES_MAX = 512
/** Groups of reads in the history of one document, 8 B each. */
export const HISTORY_ACCESS_GROUPS_MAX = 150

// ---- Events

/**
 * Days that counts by minute are kept: a year and the period compared with it. 400 x 1 440 x 3 types x 25 B
 * are 43 MB of a collection that is never idle.
 */
export const EVENT_MINUTES_DAYS_KEPT = 400
/**
 * Interval between two sweeps of old counts, and the number of collections in one sweep: three look-ups each.
 */
export const EVENT_MINUTES_SWEEP_MS = 3_600_000
export const EVENT_MINUTES_SWEEP_COLLECTIONS_MAX = 256
/** Default number of events, and default period before now. */
export const EVENTS_LIMIT_DEFAULT = 100
export const EVENTS_SECONDS_DEFAULT = 30 * 86_400
/** Buckets of one histogram. There are no counts for more days than are kept. */
export const EVENT_BUCKETS_MAX = 1000

// ---- Leaderboards

/** Default and maximum number of entries of a leaderboard. */
export const HOT_DOCUMENTS_DEFAULT = 10
export const HOT_DOCUMENTS_MAX = 1000
/** Documents that one leaderboard checks for a recent enough read: 0.3 s. */
export const HOT_DOCUMENTS_SEEN_MAX = 100_000
