/** Bounds of memory of a process that converts files. Pure data, for the parent and the child. */

/**
 * Resident memory of one process. The largest file of a document's text, 16 MB, takes some 300 MB as a tree
 * of HTML of a word processor.
 */
export const CONVERTER_MEMORY_MB_MAX = 512
/** V8's old space of the thread that converts: what is left are its young space, buffers and the program. */
export const CONVERTER_HEAP_MB_MAX = 384
/**
 * A process whose memory stays above this after a conversion is replaced, so that the next one has its
 * share.
 */
export const CONVERTER_MEMORY_MB_KEPT = 256
