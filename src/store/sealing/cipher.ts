/**
 * Authenticated encryption and a keyed hash, as the store needs them: AES-256-GCM and HMAC-SHA-256. Whoever
 * opens a store gives it one: a lane the engine's, which costs a tenth of what a cipher object of Node costs
 * for a small record; tests and tools the one that is here. Both make the same bytes.
 */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { sealRecord } from '../record.js'

export const KEY_BYTES = 32
export const NONCE_BYTES = 12
export const TAG_BYTES = 16
/** What a sealed text is longer than the text. */
export const SEAL_BYTES = NONCE_BYTES + TAG_BYTES
export const HMAC_BYTES = 32

/** Where the id of the key stands in every record that has one; 0: in clear. */
export const KEY_ID_AT = 6
const CLEAR_KEY_ID = 0

export interface Cipher {
  /** @param sealed space for the text with its tag behind it. A nonce is used once with a key. */
  readonly seal: (key: Uint8Array, nonce: Uint8Array, associated: Uint8Array, text: Uint8Array, sealed: Uint8Array) => void
  /**
   * Opens a sealed record (sealed_record.ts) with one call, because each value that is handed over costs as
   * much as deciphering a hundred bytes.
   * @param record space for the record without nonce and tag; its checksum holds. Not to be read where the
   * answer is false: it is not what was sealed so.
   */
  readonly openRecord: (
    key: Uint8Array,
    kind: number,
    place: Uint8Array,
    clearBytes: number,
    sealed: Uint8Array,
    record: Uint8Array,
  ) => boolean
  /** @param out space for HMAC_BYTES */
  readonly hmac: (key: Uint8Array, text: Uint8Array, out: Uint8Array) => void
}

const associatedSpace = new Uint8Array(2048)

/** Kind, place, and the clear bytes of the record behind its checksum. Valid until the next call. */
export function associatedWith(kind: number, place: Uint8Array, clearBytes: number, record: Uint8Array): Uint8Array {
  associatedSpace[0] = kind
  associatedSpace[1] = place.length
  associatedSpace.set(place, 2)
  associatedSpace.set(record.subarray(4, clearBytes), 2 + place.length)
  return associatedSpace.subarray(0, 2 + place.length + clearBytes - 4)
}

export const nodeCipher: Cipher = {
  seal: (key, nonce, associated, text, sealed) => {
    const cipher = createCipheriv('aes-256-gcm', key, nonce)
    cipher.setAAD(associated)
    sealed.set(cipher.update(text), 0)
    cipher.final()
    sealed.set(cipher.getAuthTag(), text.length)
  },
  openRecord: (key, kind, place, clearBytes, sealed, record) => {
    const textAt = clearBytes + NONCE_BYTES
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(clearBytes, textAt), { authTagLength: TAG_BYTES })
    decipher.setAAD(associatedWith(kind, place, clearBytes, sealed))
    decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES))
    record.set(decipher.update(sealed.subarray(textAt, sealed.length - TAG_BYTES)), clearBytes)
    try {
      decipher.final()
    } catch {
      // The one thing that `final` of GCM says by throwing: the tag is another.
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
