/**
 * Bounds of what moves whole collections and whole stores: answers in parts, exports, backups, restores, truncations. A part of limits.ts, which gives them out; pure data, read by all threads.
 */
const KIB = 1024
const MIB = 1024 * KIB

// ---- Answers in parts -----------------------------------------------------------------------------------------------------------------------------------------

/** Answers that a lane gives in parts at the same time: each keeps some MB at most (a ZIP export 4 MB of names). */
export const ANSWER_STREAMS_MAX = 16
/** A part of an answer is handed to its socket in pieces: what uWebSockets.js copies when the socket is full. */
export const PART_PIECE_BYTES = 256 * KIB
/** How often a byte of an answer in parts is written at least: uWebSockets.js gives up 8 to 12 s after the last one. */
export const PART_PULSE_MS = 3_000
/** Bytes kept back for that until the next part is there: 40 x 3 s are its deadline. */
export const PART_RESERVE_BYTES = 40
/** A client that takes nothing of an answer in parts for so long loses its connection. */
export const PART_STALL_MS_MAX = 60_000

// ---- Export ---------------------------------------------------------------------------------------------------------------------------------------------------

/** A part of an export ends with the document that reaches this: 200 of 5 KB, some 3 ms of the bulk lane. */
export const EXPORT_PART_BYTES = MIB
/** Documents that a part looks at where a filter lets few through: 5 us each. */
export const EXPORT_PAGE_DOCUMENTS_MAX = 2048
/** Documents between two looks at whether somebody still waits. */
export const EXPORT_POLL_DOCUMENTS = 64
/** UTF-8 bytes of a file name: what the common file systems take. */
export const EXPORT_NAME_BYTES_MAX = 255
/** Bits in which a ZIP export remembers the names that it has given, 4 MiB: of 1 000 000 names 2 in 10 000 seem to be there already, of 100 000 none. */
export const EXPORT_NAME_BITS = 2 ** 25
export const EXPORT_NAME_HASHES = 4
/** Names tried for one document; the second has its docid already. */
export const EXPORT_NAME_TRIES_MAX = 8
/** zlib level of files in a ZIP export: the lane is what is scarce. */
export const ZIP_DEFLATE_LEVEL = 1
/** What a spool holds in memory, and reads at once. */
export const SPOOL_BUFFER_BYTES = 64 * KIB

// ---- Backup and restore ---------------------------------------------------------------------------------------------------------------------------------------

/** What is read of a backup at once: its checksum takes 0.2 ms. */
export const BACKUP_PIECE_BYTES = MIB
/** Rows that one transaction removes while a restored binlog is reset. */
export const RESTORE_ROWS_PER_TRANSACTION = 10_000
/** Requests that wait for the long lane: a backup each, at most a few. */
export const QUEUE_LONG_REQUESTS_MAX = 16
/** A backup or restore may take this long: 100 GB at 50 MB/s. */
export const DEADLINE_LONG_MS = 3_600_000
/** For how long writes are held at most while a restore waits for those under way: the longest deadline. After that it gives up. */
export const SWITCH_DRAIN_MS_MAX = 120_000
/** A lane that has not opened or adopted the next generation by then never will. Opening takes milliseconds. */
export const SWITCH_LANE_MS_MAX = 30_000
/** V8 heap of the process that checks a restored store and builds its index: as a lane's. */
export const RESTORE_HEAP_MB_MAX = 1024
/** How often a restore looks whether somebody still waits for it. */
export const RESTORE_POLL_MS = 200
/** One at a time. */
export const TASKS_PER_LONG_WORKER = 1

// ---- Revisions ------------------------------------------------------------------------------------------------------------------------------------------------

/** Superseded states that one entry lets go of: about 3 ms. A document with more beyond `maxRevisions` is brought down by its next writes. */
export const REVISIONS_TRIMMED_PER_ENTRY_MAX = 512
/** Documents that one slice of a truncation looks at: a head and a look at its history each, some 4 ms. */
export const TRUNCATE_SLICE_DOCUMENTS_MAX = 512
/** Revisions after which a slice of a truncation ends. */
export const TRUNCATE_SLICE_REVISIONS_MAX = 512

// ---- Import ---------------------------------------------------------------------------------------------------------------------------------------------------

/** Bytes of one add-batch body that `mds import` sends; a larger document goes alone. A quarter of the body bound, and 500 documents of 5 KB are 2.5 MB. */
export const IMPORT_BATCH_BYTES_MAX = 8 * MIB
/** Documents in one add-batch body of `mds import`, when not told otherwise. */
export const IMPORT_BATCH_DOCUMENTS_DEFAULT = 500
/** Requests of one import in flight. Above this the server only queues: it commits on one lane. */
export const IMPORT_CONCURRENCY_MAX = 16
