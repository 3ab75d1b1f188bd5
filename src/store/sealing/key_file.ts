/**
 * The key file: 32 random bytes in base64, mode 0600, in the data directory. It seals credentials in
 * configurations if there is no SVC_ENCRYPTION_KEY. It protects them from readers of a copy of a database
 * file, not from readers of the directory. The write lane creates the file on first use; any lane reads it.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readOrMakeFile } from '../once_file.js'
import { KEY_BYTES } from './cipher.js'
import { log } from '../../telemetry/log.js'

export const KEY_FILE_NAME = 'secrets.key'

/** @throws Error if the file exists and does not contain a key */
export function readOrMakeKeyFile(directory: string): Uint8Array {
  const text = readOrMakeFile(directory, KEY_FILE_NAME, (path) => {
    log.warn(`credentials are sealed with the key in ${path}; with SVC_ENCRYPTION_KEY the key is not stored beside the data`)
    return randomBytes(KEY_BYTES).toString('base64')
  })
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== KEY_BYTES) throw new Error(`${join(directory, KEY_FILE_NAME)} is not a key: base64 of ${KEY_BYTES} bytes expected`)
  return new Uint8Array(bytes)
}
