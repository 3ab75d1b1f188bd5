/**
 * A record whose text is sealed. Its first bytes, which include the key id, stay as they are. Then follow
 * nonce, ciphertext and tag. The kind of the record and the key of its row are authenticated with it, so that
 * a moved or renamed record does not open. Layout: docs/formats/truth-env.md.
 */
import { CorruptRecord, RECORD_VERSION, sealRecord } from '../rows/record.js'
import { associatedWith, KEY_ID_AT, NONCE_BYTES, SEAL_BYTES } from './cipher.js'
import type { Keyring } from './keyring.js'

/**
 * Kinds of sealed records. The code is part of the associated data and never changes, because stored records
 * depend on it.
 */
const SEALED_KIND = { state: 1, body: 2, identity: 3, spelling: 4, setting: 5, entry: 6, check: 7, object: 8, vectors: 9 } as const
type SealedKind = keyof typeof SEALED_KIND

export interface SealedAddress {
  readonly kind: SealedKind
  /** Distinguishes this record from all others of its kind. Usually the key of its row. */
  readonly key: Uint8Array
  /** Bytes of the record that stay plaintext, at least 8. */
  readonly clearBytes: number
}

/** Id of the key that a record is sealed under; 0: plaintext. */
export function keyIdOf(record: Uint8Array): number {
  return record[KEY_ID_AT] ?? 0
}

/** Seals all bytes of the record after the first `clearBytes`. */
export function sealWith(keyring: Keyring, key: Uint8Array, keyId: number, address: SealedAddress, record: Uint8Array): Buffer {
  const { clearBytes } = address
  const sealed = Buffer.allocUnsafe(record.length + SEAL_BYTES)
  sealed.set(record.subarray(0, clearBytes))
  sealed[4] = RECORD_VERSION
  sealed[KEY_ID_AT] = keyId
  const nonce = sealed.subarray(clearBytes, clearBytes + NONCE_BYTES)
  keyring.nextNonce(nonce)
  const associated = associatedWith(SEALED_KIND[address.kind], address.key, clearBytes, sealed)
  keyring.cipher.seal(key, nonce, associated, record.subarray(clearBytes), sealed.subarray(clearBytes + NONCE_BYTES))
  sealRecord(sealed)
  return sealed
}

/**
 * The record as it was before it was sealed, with a correct checksum.
 * @param key undefined: no key with the record's key id is known
 * @param space receives the record if it is large enough; the record is then valid until the space is reused
 * @throws CorruptRecord if the record is damaged, or was sealed for another address or with another key
 */
export function openWith(
  keyring: Keyring,
  key: Uint8Array | undefined,
  address: SealedAddress,
  sealed: Buffer,
  name: () => string,
  space?: Buffer,
): Buffer {
  const { clearBytes } = address
  if (key === undefined) throw new CorruptRecord(name(), `sealed under key id ${keyIdOf(sealed)}, which is not known`)
  if (sealed.length < clearBytes + SEAL_BYTES)
    throw new CorruptRecord(name(), `${sealed.length} bytes, at least ${clearBytes + SEAL_BYTES} expected`)
  if (sealed[4] !== RECORD_VERSION) throw new CorruptRecord(name(), `version ${sealed[4]}, ${RECORD_VERSION} expected`)
  const bytes = sealed.length - SEAL_BYTES
  const record = space !== undefined && bytes <= space.length ? space.subarray(0, bytes) : Buffer.allocUnsafe(bytes)
  if (!keyring.cipher.openRecord(key, SEALED_KIND[address.kind], address.key, clearBytes, sealed, record))
    throw new CorruptRecord(name(), `its seal (key id ${keyIdOf(sealed)}) is broken: the record was changed, or belongs elsewhere`)
  return record
}
