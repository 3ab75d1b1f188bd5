/** The keyring of a server: the configured master keys and the key file of its data directory. Any thread. */
import { resolve } from 'node:path'
import type { Cipher } from './cipher.js'
import { readOrMakeKeyFile } from './key_file.js'
import { Keyring, type MasterKeys } from './keyring.js'

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
