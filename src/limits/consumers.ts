/** Bounds of the consumers of the binlog: positions, lag, and when one counts as lost. */
import { MIB } from './units.js'

/**
 * Bytes of entries that consumers of the binlog may keep beyond SVC_BINLOG_MAX_SIZE: as much again as that is
 * by default. A consumer further behind is lost and begins anew.
 */
export const CONSUMER_LAG_BYTES_MAX = 256 * MIB
/**
 * A consumer of the binlog stores its position at least every so many entries, also where it had nothing to
 * do.
 */
export const CONSUMER_POSITION_ENTRIES = 4096n
/** Until a consumer of the binlog that failed is tried again. */
export const CONSUMER_RETRY_MS = 1000
/** Entries of the binlog that one slice looks at for notices: about 0.2 ms where none has a topic. */
export const NOTICE_ENTRIES_MAX = 1024
