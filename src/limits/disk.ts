/**
 * Bounds of the disk: the reserve that keeps deletes and the shutdown possible on a full disk, and the work
 * that continues on a full disk.
 */
import { KIB, MIB } from './units.js'

/**
 * Free space below which writes are refused (`SVC_DISK_RESERVE`): this fraction of the file system, at most
 * DISK_RESERVE_BYTES_MAX. Flushes and merges of the index and the writing of deletes use it.
 */
export const DISK_RESERVE_SHARE = 16
export const DISK_RESERVE_BYTES_MAX = 64 * MIB
/**
 * This fraction of the reserve is stored as a file. Its space serves deletes and the shutdown if other
 * processes have used the rest: several groups of FULL_DISK_GROUP_DOCUMENTS.
 */
export const RESERVE_FILE_SHARE = 4
export const RESERVE_FILE_BYTES_MAX = 4 * MIB
/**
 * The reserve file is written in pieces of this size, so that the lane and the disk do other work in between.
 */
export const RESERVE_FILE_PIECE_BYTES = 256 * KIB
/**
 * Interval at which the write lane checks the disk while it is full, or something is written: a statfs.
 * Writes resume within the same time.
 */
export const DISK_WATCH_MS = 500
/** The same while nothing is written and there is space. Before each group it is checked in any case. */
export const DISK_IDLE_WATCH_MS = 5000

// ---- While the disk is full

/** Groups are small, so that the pages that they copy fit into the reserve: 64 documents are about 1 MB. */
export const FULL_DISK_GROUP_DOCUMENTS = 64
/**
 * Rows that such a group removes by itself (binlog entries, deleted collections), for the same reason. After
 * each group that was refused nevertheless, a quarter of them.
 */
export const FULL_DISK_ROWS = 64
/**
 * Pause after a commit was refused in spite of unused pages of the env, until these count as space again. It
 * doubles each time.
 */
export const DISK_RETRY_MS_FIRST = 1000
export const DISK_RETRY_MS_MAX = 30_000
/** Binlog that is kept, unless the index on disk needs more. The pages of the rest take new documents. */
export const FULL_DISK_BINLOG_BYTES = MIB
/**
 * While the disk refuses the index, writes that fit into the truth env are accepted until this much of the
 * index is only in memory. A start replays it.
 */
export const INDEX_NOT_STORED_BYTES_MAX = 16 * MIB
