/**
 * The file system of the data directory: its free space, the floor (the part of it that is kept free: below
 * it, writes are refused), and the file `RESERVE` of allocated blocks. The file is truncated to provide space
 * for deletes and for the shutdown when other programs have used up the disk. It contains no data and may be
 * removed at any time. Write lane only. docs/decisions/store/disks.md.
 */
import { randomFillSync } from 'node:crypto'
import { statSync, truncateSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { codeOf, floorOf, freeBytesOf, isNoSpace } from '../../base/free_space.js'
import { RESERVE_FILE_SHARE } from '../../limits/store.js'
import { KIB, MIB } from '../../limits/units.js'
import { writeWhole } from './write_whole.js'

/** Bytes of the reserve that are stored as a file, at most. */
const RESERVE_FILE_BYTES_MAX = 4 * MIB
/**
 * The reserve file is written in pieces of this size, so that the lane and the disk do other work in between.
 */
const RESERVE_FILE_PIECE_BYTES = 256 * KIB

const RESERVE_FILE = 'RESERVE'
/** An I/O error. LMDB reports a write that was cut short so, and without an error number of the system. */
const IO_ERROR: readonly unknown[] = [5, 'EIO']

export class DiskSpace {
  readonly #directory: string
  readonly #file: string
  readonly floorBytes: number
  readonly #reserveBytes: number

  /** @param reserveBytes the configured floor; 0: derived from the size of the file system */
  constructor(configured: string, reserveBytes: number) {
    this.#directory = resolve(configured)
    this.#file = join(this.#directory, RESERVE_FILE)
    this.floorBytes = floorOf(this.#directory, reserveBytes)
    this.#reserveBytes = Math.min(Math.floor(this.floorBytes / RESERVE_FILE_SHARE), RESERVE_FILE_BYTES_MAX)
  }

  /** As `freeBytesOf`. */
  freeBytes(): number {
    return freeBytesOf(this.#directory)
  }

  /**
   * Whether LMDB refused a commit for lack of space. An I/O error counts as such while less than the floor is
   * free: a disk that fills up during a write cuts it short. To be called before anything of the commit is
   * removed.
   */
  isCauseOf(refusal: unknown): boolean {
    return isNoSpace(refusal) || (IO_ERROR.includes(codeOf(refusal)) && this.freeBytes() < this.floorBytes)
  }

  /** Bytes that the file lacks. */
  missingBytes(): number {
    return Math.max(0, this.#reserveBytes - (statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0))
  }

  /**
   * Extends the file to its full size with written blocks. The bytes are random, so that no file system can
   * compress them.
   * @returns whether it has its full size; false if the disk refuses it
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
      // Whatever the reason (full, read-only, a quota), the part that exists helps, and the extension is
      // tried again.
      return false
    }
  }

  /** Truncates the file, so that its space is free for other writes. @returns whether it had any */
  letGo(): boolean {
    try {
      if ((statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0) === 0) return false
      truncateSync(this.#file)
      return true
    } catch {
      // A file that can't be truncated frees nothing.
      return false
    }
  }
}
