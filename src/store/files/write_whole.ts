/**
 * Writes all bytes or throws. A write may accept fewer bytes than it is given and still report success: on a
 * nearly full disk, by a quota, a limit on the file size, or a signal. The next write then reports the reason
 * (`ENOSPC`, `EDQUOT`, `EFBIG`). All files of the store except LMDB's are written by these functions.
 */
import { writeSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'

/** @param at offset of the first byte; null: after the last written byte */
export async function writeWhole(file: FileHandle, bytes: Uint8Array, at: number | null = null): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, placeAfter(at, done))
    done += taken(bytesWritten, bytes.length - done)
  }
}

/** The same for a file descriptor. */
export function writeWholeSync(file: number, bytes: Uint8Array, at: number | null = null): void {
  for (let done = 0; done < bytes.length;) {
    done += taken(writeSync(file, bytes, done, bytes.length - done, placeAfter(at, done)), bytes.length - done)
  }
}

function placeAfter(at: number | null, done: number): number | null {
  return at === null ? null : at + done
}

/** Every call must write at least one byte, so the number of calls is at most the number of bytes. */
function taken(written: number, wanted: number): number {
  if (written > 0) return written
  throw Object.assign(new Error(`ENOSPC: a write accepted none of ${wanted} bytes`), { code: 'ENOSPC' })
}
