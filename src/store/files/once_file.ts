/**
 * Small files of the data directory that are created once and never change. Such a file either does not exist
 * or is complete, and is on disk before it is read. Any lane; later callers read the existing file.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { writeWholeSync } from './write_whole.js'

/** Temporary files that a crash may leave beside such a file. */
export const ASIDE_OF_ONCE_FILE = /^(?:secrets\.key|instance)\.\d+\.[0-9a-f]{8}$/

/**
 * @param make returns the text of the file if it does not exist; a line end is added
 * @returns the file's text without the line end
 */
export function readOrMakeFile(directory: string, name: string, make: (path: string) => string): string {
  const path = join(directory, name)
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause
  }
  writeOnce(directory, path, make(path))
  return readFileSync(path, 'utf8').trim()
}

/** Writes a temporary file, flushes it, and links it under the final name. */
function writeOnce(directory: string, path: string, text: string): void {
  const aside = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  try {
    writeFlushed(aside, 'wx', `${text}\n`)
  } catch (cause) {
    rmSync(aside, { force: true })
    throw cause
  }
  try {
    linkSync(aside, path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause
  } finally {
    unlinkSync(aside)
  }
  const folder = openSync(directory, 'r')
  fsyncSync(folder)
  closeSync(folder)
}

/** The file is complete and on disk when this returns. */
export function writeFlushed(path: string, flags: 'w' | 'wx', text: string): void {
  const file = openSync(path, flags, 0o600)
  try {
    writeWholeSync(file, Buffer.from(text))
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
