/** Bounds of revisions: deltas, packing, trimming, truncation and diffs. */
import { KIB, MIB } from './units.js'

/** Contents that are compared to make a delta: 1.5 ms of the write lane. Larger ones are stored whole. */
export const DELTA_RAW_BYTES_MAX = 1 * MIB
/**
 * One of this many consecutive revisions of a document is stored whole. The others are read delta by delta, 1
 * to 3 us each for 10 KB.
 */
export const DELTA_CHAIN_REVISIONS = 64
/**
 * Binlog entries in which one slice of packing searches for superseded states: about 1 ms if there are none.
 */
export const PACKING_ENTRIES_MAX = 1024
/**
 * Bytes of contents that one slice of packing compares: about 2 ms of the write lane. One pair may be larger.
 */
export const PACKING_SLICE_BYTES = 512 * KIB
/** Pause between two slices of packing while there is work: packing takes a tenth of the write lane. */
export const PACKING_PAUSE_MS = 20
/**
 * Superseded states that one entry releases: about 3 ms. A document with more beyond `maxRevisions` reaches
 * that number with its next writes.
 */
export const REVISIONS_TRIMMED_PER_ENTRY_MAX = 512
/**
 * Documents that one slice of a truncation examines. Each takes a read of the head and of the history;
 * together some 4 ms.
 */
export const TRUNCATE_SLICE_DOCUMENTS_MAX = 512
/** Revisions after which a slice of a truncation ends. */
export const TRUNCATE_SLICE_REVISIONS_MAX = 512

// ---- Diffs

/**
 * Differing lines up to which the shortest diff is searched. Time and memory grow with the square,
 * 2 000 x 2 000 / 2 x 50 B at worst.
 */
export const DIFF_EDITS_MAX = 2000
/** Time for that search: a tenth of the deadline. */
export const DIFF_MS_MAX = 1000
/**
 * Bytes of both texts, escaped, that are compared line by line, without their common prefix and suffix.
 * Further text counts as replaced.
 */
export const DIFF_TEXT_COMPARED_MAX = 8 * MIB
/**
 * Lines of both texts that are compared. Each takes a string and a number in the JavaScript heap, some 100 B.
 */
export const DIFF_LINES_MAX = 262_144
