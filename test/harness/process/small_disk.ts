/**
 * A separate file system that a test can fill: a tmpfs, which requires the privilege to mount. It is filled
 * by one file beside the store, so that the space can be freed at once.
 */
import { execFileSync } from 'node:child_process'
import { closeSync, lstatSync, mkdtempSync, openSync, readdirSync, rmdirSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const PIECE = Buffer.alloc(64 << 10, 1)

export class SmallDisk {
  readonly path: string
  readonly #ballast: string

  private constructor(path: string) {
    this.path = path
    this.#ballast = join(path, 'ballast')
  }

  /** @returns undefined if this user may not mount */
  static mount(megabytes: number): SmallDisk | undefined {
    const path = mkdtempSync(join(tmpdir(), 'mds-disk-'))
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path], { stdio: 'ignore' })
    } catch {
      rmdirSync(path)
      return undefined
    }
    return new SmallDisk(path)
  }

  /** Leaves `freeBytes` free, rounded down to whole pages. */
  fill(freeBytes: number): void {
    const file = openSync(this.#ballast, 'a')
    try {
      for (let remaining = this.#free() - freeBytes; remaining >= 4096; remaining = this.#free() - freeBytes)
        writeSync(file, PIECE, 0, Math.min(remaining, PIECE.length))
    } finally {
      closeSync(file)
    }
  }

  /** Remounts the file system read-only for all processes, or writable again. */
  makeReadOnly(isReadOnly: boolean): void {
    execFileSync('mount', ['-o', `remount,${isReadOnly ? 'ro' : 'rw'}`, this.path])
  }

  empty(): void {
    rmSync(this.#ballast, { force: true })
  }

  unmount(): void {
    execFileSync('umount', [this.path])
    rmdirSync(this.path)
  }

  #free(): number {
    const { bavail, bsize } = statfsSync(this.path)
    return bavail * bsize
  }
}

/** Allocated bytes of all files below the path. */
export function directoryBytes(path: string): number {
  return readdirSync(path, { recursive: true, encoding: 'utf8' }).reduce((sum, name) => sum + lstatSync(join(path, name)).blocks * 512, 0)
}
