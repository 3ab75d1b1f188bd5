/**
 * Files with secrets: only their owner may read them. They have mode 0600 from their creation on, whatever
 * the umask is.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, constants, fchmodSync, fstatSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { KIB } from '../limits/units.js'
import { CommandError } from './terminal.js'

/** Bytes of the credentials file: a token has some 600, so this is enough for 400 servers. */
const CREDENTIALS_FILE_BYTES_MAX = 256 * KIB

const OWNER_ONLY = 0o600
const OTHERS = 0o077

/**
 * Checks the file that it has opened, not the path, which could be exchanged in between.
 * @returns undefined if there is no such file
 * @throws CommandError if others may read or write it, or it can't be read
 */
export function readPrivateFile(path: string): string | undefined {
  let file: number
  try {
    // Without O_NONBLOCK, a named pipe would block here.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new CommandError(`cannot read ${path}: ${codeOf(error)}`)
  }
  try {
    const { mode, size } = fstatSync(file)
    if ((mode & OTHERS) !== 0) throw new CommandError(`${path} is open to other users, so it is not used; run: chmod 600 ${path}`)
    if (size > CREDENTIALS_FILE_BYTES_MAX) throw new CommandError(`${path} is larger than ${CREDENTIALS_FILE_BYTES_MAX} bytes`)
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`cannot read ${path}: ${codeOf(error)}`)
  } finally {
    closeSync(file)
  }
}

/** @throws CommandError if there is one already, or it can't be written; nothing is left then */
export function createPrivateFile(path: string, text: string): void {
  let file: number
  try {
    file = openSync(path, 'wx', OWNER_ONLY)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw new CommandError(`${path} exists already and is not overwritten`)
    throw new CommandError(`cannot write ${path}: ${codeOf(error)}`)
  }
  try {
    fchmodSync(file, OWNER_ONLY)
    writeFileSync(file, text)
    fsyncSync(file)
  } catch (error) {
    rmSync(path, { force: true })
    throw new CommandError(`cannot write ${path}: ${codeOf(error)}`)
  } finally {
    closeSync(file)
  }
}

/** Readers see the file of before or the new one. @throws CommandError */
export function replacePrivateFile(path: string, text: string): void {
  const next = `${path}.${randomBytes(6).toString('hex')}`
  createPrivateFile(next, text)
  try {
    renameSync(next, path)
  } catch (error) {
    rmSync(next, { force: true })
    throw new CommandError(`cannot write ${path}: ${codeOf(error)}`)
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}
