/**
 * The master keys of this process by id, and the keys derived from them. Derivation is HKDF-SHA-256 over
 * master key, salt and a label, so that no two uses share a key. Each thread has its own keyring. Without a
 * master key there is still the key of the file `secrets.key` in the data directory, under id 0: credentials
 * in configurations are never stored as plaintext beside the data that they protect. Why nonces don't repeat:
 * docs/decisions/store/encryption.md.
 */
import { hkdfSync, randomFillSync } from 'node:crypto'
import type { Cipher } from './cipher.js'
import { KEY_BYTES, nodeCipher, NONCE_BYTES } from './cipher.js'

interface MasterKey {
  /** 1 to 255. */
  readonly id: number
  /** KEY_BYTES. */
  readonly bytes: Uint8Array
}

export interface MasterKeys {
  /** The key for new records. */
  readonly primary: MasterKey
  readonly previous: readonly MasterKey[]
}

/** Id of the key of the key file. */
export const KEY_FILE_ID = 0

const NO_SALT = new Uint8Array(0)

export class Keyring {
  readonly cipher: Cipher
  /** 0 if there is no master key: then only credentials can be sealed. */
  readonly primaryId: number
  readonly previousIds: readonly number[]
  readonly #masters: ReadonlyMap<number, Uint8Array>
  readonly #keyFile: () => Uint8Array
  readonly #nonces = new Nonces()

  /** @param keyFile reads the key of the key file; creates the file on first use */
  constructor(keys: MasterKeys | null, keyFile: () => Uint8Array, cipher: Cipher = nodeCipher) {
    this.cipher = cipher
    this.primaryId = keys?.primary.id ?? KEY_FILE_ID
    this.previousIds = (keys?.previous ?? []).map(({ id }) => id)
    this.#masters = new Map(keys === null ? [] : [keys.primary, ...keys.previous].map(({ id, bytes }) => [id, bytes]))
    this.#keyFile = keyFile
  }

  /** Whether collections can be sealed. */
  get canSeal(): boolean {
    return this.primaryId !== KEY_FILE_ID
  }

  /** Ids of the master keys. */
  get ids(): readonly number[] {
    return [...this.#masters.keys()]
  }

  /** Undefined if there is no such master key. */
  derive(id: number, label: string, salt: Uint8Array = NO_SALT): Uint8Array | undefined {
    const master = id === KEY_FILE_ID ? this.#keyFile() : this.#masters.get(id)
    return master === undefined ? undefined : new Uint8Array(hkdfSync('sha256', master, salt, label, KEY_BYTES))
  }

  nextNonce(nonce: Uint8Array): void {
    this.#nonces.next(nonce)
  }
}

/**
 * Nonces of 64 random bits of this thread and a 32-bit counter. The random bits are drawn again before the
 * counter wraps around.
 */
class Nonces {
  readonly #present = Buffer.alloc(NONCE_BYTES)
  #left = 0

  next(nonce: Uint8Array): void {
    if (this.#left === 0) {
      randomFillSync(this.#present, 0, 8)
      this.#left = 2 ** 32
    }
    this.#left--
    this.#present.writeUInt32LE(this.#left, 8)
    nonce.set(this.#present)
  }
}

/** The keyring of a store that seals nothing. For tests and tools. */
export function emptyKeyring(): Keyring {
  return new Keyring(null, () => {
    throw new Error('this store was opened without a key file')
  })
}
