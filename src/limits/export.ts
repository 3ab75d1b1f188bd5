/** Bounds of exports: parts, file names, compression. */
import { MIB } from './units.js'

/**
 * A part of an export ends with the document that reaches this size: 200 of 5 KB, some 3 ms of the bulk lane.
 */
export const EXPORT_PART_BYTES = MIB
/** Documents that a part examines if a filter matches few: 5 us each. */
export const EXPORT_PAGE_DOCUMENTS_MAX = 2048
/** Documents between two checks that the client still waits. */
export const EXPORT_POLL_DOCUMENTS = 64
/** UTF-8 bytes of a file name: what the common file systems accept. */
export const EXPORT_NAME_BYTES_MAX = 255
/**
 * Bits of the Bloom filter, and hashes of a name, with which a ZIP export remembers used names: 4 MiB. Of
 * 1 000 000 names 2 in 10 000 are falsely reported as used, of 100 000 none.
 */
export const EXPORT_NAME_BITS = 2 ** 25
export const EXPORT_NAME_HASHES = 4
/** Names tried for one document. The second one contains its docid already. */
export const EXPORT_NAME_TRIES_MAX = 8
/** zlib level of files in a ZIP export. The lane is the scarce resource. */
export const ZIP_DEFLATE_LEVEL = 1
