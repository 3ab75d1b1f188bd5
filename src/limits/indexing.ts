/** Bounds of the index as a derived structure: replay, rebuild, and the memory of the text analysis. */
import { MIB } from './units.js'

/** Binlog entries that one slice of a replay reads: 256 documents are about 20 ms of analysis. */
export const REPLAY_ENTRIES_PER_PAGE = 256
/**
 * Bytes that a rebuild or replay gathers before it publishes them. They become one segment of large
 * documents, built in memory.
 */
export const REBUILD_BATCH_BYTES = 16 * MIB
/** Documents read and analysed in one slice of an index rebuild: about 5 ms of text. */
export const REBUILD_PAGE_DOCUMENTS = 64
/**
 * Interval between two checks that the index reaches the disk, while entries are on their way there: equal to
 * the retry interval of the engine.
 */
export const INDEX_WATCH_MS = 1000
/** The same once all entries are there: merges may still fail. */
export const INDEX_IDLE_WATCH_MS = 10_000
/** Pause before the bodies that the index lacks are fetched again. */
export const UNINDEXED_RETRY_MS = 30_000
/** Pause after a commit or a build before it is checked whether the index lacks bodies: one look-up. */
export const UNINDEXED_POLL_MS = 1_000
/**
 * Linear memory of a WASM analyzer that is kept for the next text. A full lexicon takes 24 MB. An instance
 * that exceeds twice that has analysed a giant text, and its memory never shrinks.
 */
export const ANALYZER_MEMORY_BYTES_KEPT_MAX = 48 * MIB
/**
 * The same for the chunker: enough for all but the largest documents. It buffers the text, and eight bytes
 * for each chunk.
 */
export const CHUNKER_MEMORY_BYTES_KEPT_MAX = 8 * MIB
