/**
 * All bytes or an error. A write may take fewer bytes than it is given and report success: on a disk that is
 * nearly full, by a quota, a bound on the size of a file, or a signal. The next write then says why
 * (`ENOSPC`, `EDQUOT`, `EFBIG`). Every file of the store that is not LMDB's is written by these.
 */
import { writeSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'

/** @param at where the first byte goes; null: behind what was written last */
export async function writeWhole(file: FileHandle, bytes: Uint8Array, at: number | null = null): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, placeAfter(at, done))
    done += taken(bytesWritten, bytes.length - done)
  }
}

/** The same, of a descriptor. */
export function writeWholeSync(file: number, bytes: Uint8Array, at: number | null = null): void {
  for (let done = 0; done < bytes.length;) {
    done += taken(writeSync(file, bytes, done, bytes.length - done, placeAfter(at, done)), bytes.length - done)
  }
}

function placeAfter(at: number | null, done: number): number | null {
  return at === null ? null : at + done
}

/** Each call has to get on, so that there are at most as many as there are bytes. */
function taken(written: number, wanted: number): number {
  if (written > 0) return written
  throw Object.assign(new Error(`ENOSPC: a write took none of ${wanted} bytes`), { code: 'ENOSPC' })
}
