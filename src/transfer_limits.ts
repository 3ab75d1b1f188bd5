/**
 * Bounds of what moves whole collections and whole stores: answers in parts, exports, backups, restores. A part of limits.ts, which gives them out; pure data, read by all threads.
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
