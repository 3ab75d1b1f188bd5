/** Bounds of backup and restore. */
import { MIB } from './units.js'

/** Bytes of a backup that are read at once. Their checksum takes 0.2 ms. */
export const BACKUP_PIECE_BYTES = MIB
/** Names, made from the time, that are tried for one backup: consecutive names of one second. */
export const BACKUP_NAMES_TRIED_MAX = 1000
/** Backups that a listing shows, newest first. Each is opened to read its seal. */
export const BACKUPS_LISTED_MAX = 1000
/** Rows that one transaction removes while a restored binlog is reset. */
export const RESTORE_ROWS_PER_TRANSACTION = 10_000
/** V8 heap of the process that checks a restored store and builds its index, as in a lane. */
export const RESTORE_HEAP_MB_MAX = 1024
/**
 * Bytes of vectors that this process passes to its engine before it waits for their files. With their codes
 * and the index the process stays below a GB.
 */
export const RESTORE_VECTOR_BYTES_UNSTORED = 256 * MIB
/** Interval at which a restore checks that a client still waits for it. */
export const RESTORE_POLL_MS = 200
