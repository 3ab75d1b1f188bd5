/** The keyring of a server: the configured master keys and the key file of its data directory. Any thread. */
import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { log } from '../../telemetry/log.js'
import { readOrMakeFile } from '../files/once_file.js'
import type { Cipher } from './cipher.js'
import { KEY_BYTES } from './cipher.js'
import type { MasterKeys } from './keyring.js'
import { Keyring } from './keyring.js'

/**
 * The key file: 32 random bytes in base64, mode 0600, in the data directory. It seals credentials in
 * configurations if there is no SVC_ENCRYPTION_KEY. It protects them from readers of a copy of a database
 * file, not from readers of the directory. The write lane creates the file on first use; any lane reads it.
 */
export const KEY_FILE_NAME = 'secrets.key'

interface Keys {
  /** Null: no encryption at rest. */
  readonly encryption: MasterKeys | null
  /** The data directory. */
  readonly path: string
}

export function keyringOf({ encryption, path }: Keys, { cipher }: { readonly cipher: Cipher }): Keyring {
  let keyFile: Uint8Array | undefined
  return new Keyring(encryption, () => (keyFile ??= readOrMakeKeyFile(resolve(path))), cipher)
}

/** @throws Error if the file exists and does not contain a key */
function readOrMakeKeyFile(directory: string): Uint8Array {
  const text = readOrMakeFile(directory, KEY_FILE_NAME, (path) => {
    log.warn(`credentials are sealed with the key in ${path}; with SVC_ENCRYPTION_KEY the key is not stored beside the data`)
    return randomBytes(KEY_BYTES).toString('base64')
  })
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== KEY_BYTES) throw new Error(`${join(directory, KEY_FILE_NAME)} is not a key: base64 of ${KEY_BYTES} bytes expected`)
  return new Uint8Array(bytes)
}
