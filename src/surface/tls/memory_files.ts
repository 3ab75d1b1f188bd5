/**
 * Files without a name, in memory where the system has a file system for it. uWebSockets.js reads
 * certificates by path only, and every thread reads them by itself. A copy makes sure that all read the same
 * pair, and the pair that was checked. Linux: threads open a copy by `/proc/self/fd`. Front-end thread.
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const PREFIX = 'mds-tls-'

export class MemoryFiles {
  readonly #descriptors: number[] = []

  /** @returns a path that is valid in all threads of this process until `close` */
  add(bytes: Uint8Array): string {
    const folder = newFolder()
    try {
      const path = join(folder, 'copy')
      const descriptor = openSync(path, 'wx+', 0o600)
      this.#descriptors.push(descriptor)
      for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written)
      return `/proc/self/fd/${descriptor}`
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }

  close(): void {
    for (const descriptor of this.#descriptors.splice(0)) closeSync(descriptor)
  }
}

function newFolder(): string {
  try {
    return mkdtempSync(join(MEMORY, PREFIX))
  } catch {
    return mkdtempSync(join(tmpdir(), PREFIX))
  }
}
