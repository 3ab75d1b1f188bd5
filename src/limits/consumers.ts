/** Bounds of the consumers of the binlog: positions, lag, and when a consumer counts as lost. */
import { MIB } from './units.js'

/**
 * Bytes of entries that consumers of the binlog may keep beyond SVC_BINLOG_MAX_SIZE: equal to its default. A
 * consumer further behind is lost and restarts from scratch.
 */
export const CONSUMER_LAG_BYTES_MAX = 256 * MIB
/**
 * A consumer of the binlog stores its position at least every this many entries, even if none concerned it.
 */
export const CONSUMER_POSITION_ENTRIES = 4096n
/** Consumers of the binlog that may be registered: each has a word per thread in the table of counters. */
export const CONSUMERS_MAX = 16
/** Entries of the binlog that one slice examines for notices: about 0.2 ms if none has a topic. */
export const NOTICE_ENTRIES_MAX = 1024
