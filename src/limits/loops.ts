/** Bounds of the event loops that serve HTTP, and of the reads that they answer themselves. */
import { KIB } from './units.js'

/** Event loops, each a thread. One answers some 40 000 gets a second. */
export const HTTP_LOOPS_MAX = 16
/**
 * Cores for each loop where their number is not configured. The other cores are for the lanes, which do the
 * searches and the writes.
 */
export const CORES_PER_HTTP_LOOP = 2
/** Bytes of a request that a loop may answer itself: three names of at most 511 bytes, also as escapes. */
export const RESIDENT_INPUT_BYTES_MAX = 4 * KIB
/**
 * Bytes of a document that a loop reads itself. Unpacking takes a microsecond for each 2 to 10 KiB, during
 * which no other connection of the loop is served.
 */
export const RESIDENT_ANSWER_BYTES_MAX = 64 * KIB
/**
 * After a read has waited for the disk, a loop asks for this long whether pages are in memory before it
 * touches them: 1 to 5 us for each read instead of the wait for every connection.
 */
export const RESIDENCY_DOUBTED_MS = 10_000
/** A loop that does not close its reader of a replaced store in this time is ended, and started again. */
export const LOOP_STORE_MS_MAX = 5_000
/** Priority of a loop, where the process may have it: nine times the weight of a lane. */
export const LOOP_NICE = -10
/** Time slice of a loop in the scheduler: the shortest that Linux has. Others have 0.7 to 3 ms. */
export const LOOP_TIME_SLICE_US = 100
