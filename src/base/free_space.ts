/** Free space of a file system, and how much of it is kept free. Any thread. */
import { statfsSync } from 'node:fs'
import { MIB } from '../limits/units.js'

/**
 * Free space below which writes are refused (`SVC_DISK_RESERVE`): this fraction of the file system, at most
 * DISK_RESERVE_BYTES_MAX. Flushes and merges of the index and the writing of deletes use it.
 */
const DISK_RESERVE_SHARE = 16
const DISK_RESERVE_BYTES_MAX = 64 * MIB
/** Linux error numbers: no space on the device, quota exceeded. LMDB passes them on unchanged. */
const NO_SPACE: readonly unknown[] = [28, 122, 'ENOSPC', 'EDQUOT']

/** Whether a call failed for lack of disk space. */
export function isNoSpace(cause: unknown): boolean {
  return NO_SPACE.includes(codeOf(cause))
}

export function codeOf(cause: unknown): unknown {
  return cause instanceof Error ? (cause as { readonly code?: unknown }).code : undefined
}

/**
 * Bytes that an unprivileged process may still write. Infinity if the file system can't be queried: then only
 * its writes report a full disk.
 */
export function freeBytesOf(directory: string): number {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize
  } catch {
    return Infinity
  }
}

/** @param configured 0: derived from the size of the file system */
export function floorOf(directory: string, configured: number): number {
  if (configured > 0) return configured
  try {
    const { blocks, bsize } = statfsSync(directory)
    return Math.min(Math.floor((blocks * bsize) / DISK_RESERVE_SHARE), DISK_RESERVE_BYTES_MAX)
  } catch {
    return DISK_RESERVE_BYTES_MAX
  }
}
