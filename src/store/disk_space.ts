/**
 * The file system under the data directory: how much is free, how much of that is kept (the floor: writes are
 * refused under it), and a file of real blocks, `RESERVE`, that gives space to deletes and to the shutdown
 * when others have taken what was left. Write lane only. The file holds nothing: it may be removed at any
 * time. docs/decisions/0150.
 */
import { randomFillSync } from 'node:crypto'
import { statfsSync, statSync, truncateSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import {
  DISK_RESERVE_BYTES_MAX,
  DISK_RESERVE_SHARE,
  RESERVE_FILE_BYTES_MAX,
  RESERVE_FILE_PIECE_BYTES,
  RESERVE_FILE_SHARE,
} from '../limits/disk.js'
import { writeWhole } from './write_whole.js'

const RESERVE_FILE = 'RESERVE'
/** Numbers of Linux: no space on the device, quota exceeded. LMDB gives them as they are. */
const NO_SPACE: readonly unknown[] = [28, 122, 'ENOSPC', 'EDQUOT']

/** Whether a call was refused because there is no room for what it would write. */
export function isNoSpace(cause: unknown): boolean {
  return cause instanceof Error && NO_SPACE.includes((cause as { readonly code?: unknown }).code)
}

export class DiskSpace {
  readonly #directory: string
  readonly #file: string
  readonly floorBytes: number
  readonly #reserveBytes: number

  /** @param reserveBytes the floor that was configured; 0: by the size of the file system */
  constructor(configured: string, reserveBytes: number) {
    this.#directory = resolve(configured)
    this.#file = join(this.#directory, RESERVE_FILE)
    this.floorBytes = floorOf(this.#directory, reserveBytes)
    this.#reserveBytes = Math.min(Math.floor(this.floorBytes / RESERVE_FILE_SHARE), RESERVE_FILE_BYTES_MAX)
  }

  /**
   * What an unprivileged process may still write. A file system that can't be asked has no bound that we know
   * of: its writes say so themselves.
   */
  freeBytes(): number {
    try {
      const { bavail, bsize } = statfsSync(this.#directory)
      return bavail * bsize
    } catch {
      return Infinity
    }
  }

  /** What the file lacks. */
  missingBytes(): number {
    return Math.max(0, this.#reserveBytes - (statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0))
  }

  /**
   * Makes the file whole: blocks that are written, with bytes that no file system compresses away.
   * @returns whether it is; false where the disk refuses it
   */
  async hold(): Promise<boolean> {
    try {
      const file = await open(this.#file, 'a', 0o600)
      try {
        const piece = randomFillSync(Buffer.allocUnsafe(RESERVE_FILE_PIECE_BYTES))
        for (let missing = this.missingBytes(); missing > 0; missing = this.missingBytes()) {
          await writeWhole(file, piece.subarray(0, missing))
        }
      } finally {
        await file.close()
      }
      return true
    } catch {
      // Whatever the reason (full, read-only, a quota): what is there helps, and it is tried again.
      return false
    }
  }

  /** Gives its space to whoever writes next. @returns whether there was any */
  letGo(): boolean {
    try {
      if ((statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0) === 0) return false
      truncateSync(this.#file)
      return true
    } catch {
      // A file that can't be cut gives nothing.
      return false
    }
  }
}

/** @param configured 0: by the size of the file system */
export function floorOf(directory: string, configured: number): number {
  if (configured > 0) return configured
  try {
    const { blocks, bsize } = statfsSync(directory)
    return Math.min(Math.floor((blocks * bsize) / DISK_RESERVE_SHARE), DISK_RESERVE_BYTES_MAX)
  } catch {
    return DISK_RESERVE_BYTES_MAX
  }
}
