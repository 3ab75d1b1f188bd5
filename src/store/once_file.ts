/**
 * Small files of the data directory that are made once and never change: whole or not at all, on disk before
 * anybody reads them. Any lane; who comes second reads what the first has made.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { writeWholeSync } from './write_whole.js'

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

/** Whole and on disk when it returns. */
export function writeFlushed(path: string, flags: 'w' | 'wx', text: string): void {
  const file = openSync(path, flags, 0o600)
  try {
    writeWholeSync(file, Buffer.from(text))
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
