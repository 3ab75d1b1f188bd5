/** Small files of the data directory that are made once and never change: whole or not at all, on disk before anybody reads them. Any lane; who comes second reads what the first has made. */
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** What a crash may leave beside such a file. */
export const ASIDE_OF_ONCE_FILE = /^(?:secrets\.key|instance)\.\d+\.[0-9a-f]{8}$/

/** @param make the text of the file, where there is none; a line end is added @returns its text without */
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

/** Written aside, flushed, linked. */
function writeOnce(directory: string, path: string, text: string): void {
  const aside = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  const file = openSync(aside, 'wx', 0o600)
  writeSync(file, `${text}\n`)
  fsyncSync(file)
  closeSync(file)
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
