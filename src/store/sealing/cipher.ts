/**
 * Authenticated encryption and a keyed hash for the store: AES-256-GCM and HMAC-SHA-256. The code that opens
 * a store supplies the cipher. A lane uses the engine's, which for a small record costs a tenth of a cipher
 * object of Node. Tests and tools use the one in this file. Both produce the same bytes.
 */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { sealRecord } from '../rows/record.js'

export const KEY_BYTES = 32
export const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Bytes by which a sealed text is longer than the plaintext. */
export const SEAL_BYTES = NONCE_BYTES + TAG_BYTES
export const HMAC_BYTES = 32

/** Offset of the key id in every record that has one; 0: plaintext. */
export const KEY_ID_AT = 6
const CLEAR_KEY_ID = 0

export interface Cipher {
  /**
   * @param sealed space for the ciphertext followed by its tag. A nonce must be used only once with a key.
   */
  readonly seal: (key: Uint8Array, nonce: Uint8Array, associated: Uint8Array, text: Uint8Array, sealed: Uint8Array) => void
  /**
   * Opens a sealed record (sealed_record.ts) with one call, because each value that is passed across costs as
   * much as decrypting a hundred bytes.
   * @param record space for the record without nonce and tag; its checksum is set. Must not be read if the
   * result is false.
   * @returns false if authentication fails
   */
  readonly openRecord: (
    key: Uint8Array,
    kind: number,
    address: Uint8Array,
    clearBytes: number,
    sealed: Uint8Array,
    record: Uint8Array,
  ) => boolean
  /** @param out space for HMAC_BYTES */
  readonly hmac: (key: Uint8Array, text: Uint8Array, out: Uint8Array) => void
}

const associatedSpace = new Uint8Array(2048)

/**
 * The associated data: kind and key of the address, and the plaintext bytes of the record after its checksum.
 * Valid until the next call.
 */
export function associatedWith(kind: number, address: Uint8Array, clearBytes: number, record: Uint8Array): Uint8Array {
  associatedSpace[0] = kind
  associatedSpace[1] = address.length
  associatedSpace.set(address, 2)
  associatedSpace.set(record.subarray(4, clearBytes), 2 + address.length)
  return associatedSpace.subarray(0, 2 + address.length + clearBytes - 4)
}

export const nodeCipher: Cipher = {
  seal: (key, nonce, associated, text, sealed) => {
    const cipher = createCipheriv('aes-256-gcm', key, nonce)
    cipher.setAAD(associated)
    sealed.set(cipher.update(text), 0)
    cipher.final()
    sealed.set(cipher.getAuthTag(), text.length)
  },
  openRecord: (key, kind, address, clearBytes, sealed, record) => {
    const textAt = clearBytes + NONCE_BYTES
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(clearBytes, textAt), { authTagLength: TAG_BYTES })
    decipher.setAAD(associatedWith(kind, address, clearBytes, sealed))
    decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES))
    record.set(decipher.update(sealed.subarray(textAt, sealed.length - TAG_BYTES)), clearBytes)
    try {
      decipher.final()
    } catch {
      // `final` of GCM throws for one reason only: the tag does not match.
      return false
    }
    record.set(sealed.subarray(0, clearBytes))
    record[KEY_ID_AT] = CLEAR_KEY_ID
    sealRecord(Buffer.from(record.buffer, record.byteOffset, record.length))
    return true
  },
  hmac: (key, text, out) => {
    out.set(createHmac('sha256', key).update(text).digest())
  },
}
