/** Bounds of the write lane's background work on the store: expiry sweep, scrub, upgrade of rows. */
import { MIB } from './units.js'

/**
 * Shortest pause before a sweep, and the pause after a commit, which may have set a sooner expiry. Until the
 * sweep, readers treat expired documents as gone.
 */
export const SWEEP_INTERVAL_MS = 1000
/** Longest pause while a document expires later: within this time a clock that is set forward is noticed. */
export const SWEEP_REST_MS_MAX = 60_000
/**
 * Expired documents that one sweep deletes, about 15 ms. If there are more, the next sweep follows after a
 * pause of the same length. 0 disables sweeping.
 */
export const SWEEP_DOCUMENTS_MAX = 256
/**
 * Rows, and bytes of their values, that get their checksums in one transaction after an upgrade: some 20 ms
 * of the write lane, which then processes other work for as long.
 */
export const UPGRADE_ROWS_MAX = 2000
export const UPGRADE_BYTES_MAX = 2 * MIB

/**
 * Documents, and bytes of their contents, that get their content hashes in one round after an upgrade: some
 * 50 ms of the write lane on a busy machine, which then processes other work for as long.
 */
export const HASH_UPGRADE_DOCUMENTS_MAX = 500
export const HASH_UPGRADE_BYTES_MAX = 4 * MIB
/**
 * Pause before documents whose contents could not be read are tried again: an object store may be back, or a
 * damaged document written anew.
 */
export const HASH_UPGRADE_RETRY_MS = 60_000

// ---- Scrub: comparison of the store with itself

/**
 * Time from the start of one scrub to the start of the next. Requests continue during a scrub. Damage is
 * detected within a day.
 */
export const SCRUB_INTERVAL_MS = 86_400_000
/** Longest time from the start of the write lane to its first scrub. A start has other data to read. */
export const SCRUB_BEGIN_MS_MAX = 60_000
/** Rows, and bytes of their values, that one slice reads: some 3 ms of the write lane, or one large body. */
export const SCRUB_ROWS = 500
export const SCRUB_BYTES = MIB
/**
 * Pause between slices, as a multiple of the slice, so that a scrub takes a tenth of a thread; and the
 * shortest pause. At 500 rows or 1 MiB in 30 ms a day is enough for 1 400 million rows or 2.8 TB.
 */
export const SCRUB_PAUSE_TIMES = 10
export const SCRUB_PAUSE_MS_MIN = 20
/** Revisions or bodies of one document, and bytes of its bodies, that one slice compares: some 40 ms. */
export const SCRUB_DOCUMENT_ROWS_MAX = 5000
export const SCRUB_DOCUMENT_BYTES_MAX = 32 * MIB
