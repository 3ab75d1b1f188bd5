/**
 * The key file: 32 random bytes in base64, mode 0600, in the data directory. What it seals (credentials in configurations, where there is no SVC_ENCRYPTION_KEY) is safe from who sees a copy of a
 * database file, not from who sees the directory. Made on its first use, by the write lane; any lane reads it.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { KEY_BYTES } from './cipher.js'

export const KEY_FILE_NAME = 'secrets.key'

/** @throws Error where the file is there and is not a key */
export function readOrMakeKeyFile(directory: string): Uint8Array {
  const path = join(directory, KEY_FILE_NAME)
  try {
    return parse(path, readFileSync(path, 'utf8'))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause
  }
  make(directory, path)
  console.error(`credentials are sealed with the key in ${path}; with SVC_ENCRYPTION_KEY the key does not lie beside the data`)
  return parse(path, readFileSync(path, 'utf8'))
}

/** Whole or not at all: written aside, flushed, linked; who comes second keeps what the first has made. */
function make(directory: string, path: string): void {
  const aside = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  const file = openSync(aside, 'wx', 0o600)
  writeSync(file, `${randomBytes(KEY_BYTES).toString('base64')}\n`)
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

function parse(path: string, text: string): Uint8Array {
  const bytes = Buffer.from(text.trim(), 'base64')
  if (bytes.length !== KEY_BYTES) throw new Error(`${path} is not a key: base64 of ${KEY_BYTES} bytes expected`)
  return new Uint8Array(bytes)
}
