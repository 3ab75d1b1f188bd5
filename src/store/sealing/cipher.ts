/**
 * Authenticated encryption and a keyed hash, as the store needs them: AES-256-GCM and HMAC-SHA-256. Whoever opens a store gives it one: a lane the engine's, which costs a tenth of what a cipher
 * object of Node costs for a small record; tests and tools the one that is here. Both make the same bytes.
 */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'

export const KEY_BYTES = 32
export const NONCE_BYTES = 12
export const TAG_BYTES = 16
/** What a sealed text is longer than the text. */
export const SEAL_BYTES = NONCE_BYTES + TAG_BYTES
export const HMAC_BYTES = 32

export interface Cipher {
  /** @param sealed space for the text with its tag behind it. A nonce is used once with a key. */
  readonly seal: (key: Uint8Array, nonce: Uint8Array, associated: Uint8Array, text: Uint8Array, sealed: Uint8Array) => void
  /** @param text space; not to be read where the answer is false: it is not what was sealed with these. */
  readonly open: (key: Uint8Array, nonce: Uint8Array, associated: Uint8Array, sealed: Uint8Array, text: Uint8Array) => boolean
  /** @param out space for HMAC_BYTES */
  readonly hmac: (key: Uint8Array, text: Uint8Array, out: Uint8Array) => void
}

export const nodeCipher: Cipher = {
  seal: (key, nonce, associated, text, sealed) => {
    const cipher = createCipheriv('aes-256-gcm', key, nonce)
    cipher.setAAD(associated)
    sealed.set(cipher.update(text), 0)
    cipher.final()
    sealed.set(cipher.getAuthTag(), text.length)
  },
  open: (key, nonce, associated, sealed, text) => {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(associated)
    decipher.setAuthTag(sealed.subarray(text.length))
    text.set(decipher.update(sealed.subarray(0, text.length)), 0)
    try {
      decipher.final()
      return true
    } catch {
      // The one thing that `final` of GCM says by throwing: the tag is another.
      return false
    }
  },
  hmac: (key, text, out) => {
    out.set(createHmac('sha256', key).update(text).digest())
  },
}
