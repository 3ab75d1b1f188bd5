/** Bounds of the audit log: its events, its file and its exporters. */
import { GIB, KIB, MIB } from './units.js'

/**
 * Characters of the fields of an event. A user agent of a browser has up to 250, a list of four collection
 * names of 128 has 515. Longer texts are cut.
 */
export const AUDIT_USER_AGENT_CHARS_MAX = 256
export const AUDIT_RESOURCE_CHARS_MAX = 520
export const AUDIT_COLLECTIONS_MAX = 8
export const AUDIT_TEXT_CHARS_MAX = 256
/** Characters of the name in the event of a failed login, which anybody can choose. */
export const AUDIT_ATTEMPTED_NAME_CHARS_MAX = 64
/**
 * Events in memory: those that wait for the file, and the last ones for queries. An event has 250 bytes, so
 * the default takes 16 MB and the longest 260 MB. The default is what 20 000 events/s make in 3 s, which a
 * disk may take to flush.
 */
export const AUDIT_RING_DEFAULT = 65_536
export const AUDIT_RING_MAX = 1_048_576
/**
 * Events of a batch, which is hashed and flushed at once. 4 096 of 250 bytes are 1 MB. Their checksums take 8
 * characters each in the seal: 33 KB.
 */
export const AUDIT_BATCH_EVENTS_MAX = 4096
/** Memory for the lines of a batch at first: 256 of 250 bytes. It grows to the largest batch. */
export const AUDIT_LINES_BYTES_FIRST = 64 * 1024
/**
 * How long an event waits for others, so that a slow stream of events causes at most 20 flushes per second.
 */
export const AUDIT_BATCH_MS = 50
/** Milliseconds until a batch that could not be written is tried again: doubled up to the second. */
export const AUDIT_RETRY_MS_FIRST = 100
export const AUDIT_RETRY_MS_MAX = 5_000
/**
 * Bytes of a file before the next one begins. The longest is what `mds audit verify` reads in 20 s.
 */
export const AUDIT_FILE_BYTES_DEFAULT = 64 * MIB
export const AUDIT_FILE_BYTES_MIN = 4 * KIB
export const AUDIT_FILE_BYTES_MAX = 4 * GIB
/**
 * A file also ends after a day, so that retention, which removes whole files, is exact to a day. Files are
 * looked at every hour.
 */
export const AUDIT_FILE_MS_MAX = 86_400_000
export const AUDIT_TRIM_MS = 3_600_000
/**
 * Bytes of all files together; beyond it the oldest are removed, whatever their age. 10 GiB are 40 million
 * events. A log has four files at least, so that a quarter of it is removed at once at most.
 */
export const AUDIT_LOG_FILES_MIN = 4
export const AUDIT_LOG_BYTES_DEFAULT = 10 * GIB
export const AUDIT_LOG_BYTES_MIN = AUDIT_LOG_FILES_MIN * AUDIT_FILE_BYTES_MIN
export const AUDIT_LOG_BYTES_MAX = 1024 * GIB
/** Share of the bound from which health warns. */
export const AUDIT_LOG_NEARLY_FULL = 0.8
/**
 * Failures of one client that are events of their own in each minute; further ones are one event with their
 * number. A client without credentials gets 11 lines of some 300 bytes into the log in a minute: 5 MB a day.
 */
export const AUDIT_ALIKE_EVENTS_MAX = 10
export const AUDIT_ALIKE_MS = 60_000
/**
 * Clients and actions that are told apart in that minute: 1 024 of some 1 KB are 1 MB. All addresses of the
 * world together write 11 300 lines in a minute: 57 KB a second. Beyond it, failures are counted by action.
 */
export const AUDIT_ALIKE_CLIENTS_MAX = 1024
/** Days for which files are kept; 0: forever. The longest is a hundred years. */
export const AUDIT_RETENTION_DAYS_DEFAULT = 90
export const AUDIT_RETENTION_DAYS_MAX = 36_525
/** Bytes of a line of the file: the seal of a full batch has 33 KB, an event at most 15 KB in UTF-8. */
export const AUDIT_LINE_BYTES_MAX = 64 * KIB
/** Bytes of one read of a file. */
export const AUDIT_READ_BYTES = MIB
/** Findings that `mds audit verify` lists; it counts the others. */
export const AUDIT_FINDINGS_MAX = 100
/** Events of an answer of `GET /v1/audit`: 10 000 of 250 bytes are 2.5 MB. */
export const AUDIT_LIMIT_DEFAULT = 100
export const AUDIT_LIMIT_MAX = 10_000
/** How long a query waits for the thread of the log, which may wait for the disk. */
export const AUDIT_QUERY_MS_MAX = 8_000
/** How long a shutdown waits for the file and for the exporters. Below the default of a shutdown, 15 s. */
export const AUDIT_CLOSE_MS_MAX = 5_000
export const AUDIT_EXPORT_CLOSE_MS_MAX = 2_000
/** Until the thread of the log is started again after its death. */
export const AUDIT_RESTART_MS = 1_000
/** How often the thread of the log reports the counters of its exporters. */
export const AUDIT_COUNTS_MS = 500
/** Heap of the thread of the log, beside the events: code, one answer, one batch. */
export const AUDIT_HEAP_MB = 128
/** Events in the queue of an exporter: the default of the contract's fact tables. */
export const AUDIT_EXPORT_QUEUE_DEFAULT = 1024
export const AUDIT_EXPORT_QUEUE_MAX = 1_048_576
/** Events of one request to a webhook, or of one write to a syslog server: 512 of 250 bytes are 128 KB. */
export const AUDIT_EXPORT_BATCH_EVENTS_MAX = 512
/** Milliseconds until a delivery that failed is tried again: doubled from the first to the last. */
export const AUDIT_EXPORT_RETRY_MS_FIRST = 250
export const AUDIT_EXPORT_RETRY_MS_MAX = 60_000
/** Bytes of a webhook's answer that are read; its content is ignored. */
export const AUDIT_WEBHOOK_ANSWER_BYTES_MAX = 16 * KIB
/** Headers of `SVC_AUDIT_EXPORT_WEBHOOK_HEADER`. */
export const AUDIT_WEBHOOK_HEADERS_MAX = 16
/** Characters of the last error of an exporter, as `GET /v1/audit/exporters` shows it. */
export const AUDIT_ERROR_CHARS_MAX = 200
/** How long a syslog connection may take to open, or to accept what is written. */
export const AUDIT_SYSLOG_MS_MAX = 5_000
