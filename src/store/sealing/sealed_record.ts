/**
 * A record whose text is sealed: the first bytes stay as they are, with the id of the key among them; then
 * nonce, sealed text, tag. What it is sealed for, its kind and its place, is authenticated with it, so that a
 * record that is moved or renamed does not open. Layout: docs/formats/truth-env.md.
 */
import { CorruptRecord, RECORD_VERSION, sealRecord } from '../record.js'
import { associatedWith, KEY_ID_AT, NONCE_BYTES, SEAL_BYTES } from './cipher.js'
import type { Keyring } from './keyring.js'

/** What a record is; part of what is authenticated. Never changed: stored records name them. */
export const SEALED_KIND = { state: 1, body: 2, identity: 3, spelling: 4, setting: 5, entry: 6, check: 7, object: 8, vectors: 9 } as const
export type SealedKind = keyof typeof SEALED_KIND

export interface SealedPlace {
  readonly kind: SealedKind
  /** What tells this record from all others of its kind: the key of its row, as a rule. */
  readonly key: Uint8Array
  /** Bytes of the record that stay in clear, at least 8. */
  readonly clearBytes: number
}

/** Id of the key that a record is sealed under, 0 where it lies in clear. */
export function keyIdOf(record: Uint8Array): number {
  return record[KEY_ID_AT] ?? 0
}

/** The record with everything behind its clear bytes sealed. */
export function sealWith(keyring: Keyring, key: Uint8Array, keyId: number, place: SealedPlace, record: Uint8Array): Buffer {
  const { clearBytes } = place
  const sealed = Buffer.allocUnsafe(record.length + SEAL_BYTES)
  sealed.set(record.subarray(0, clearBytes))
  sealed[4] = RECORD_VERSION
  sealed[KEY_ID_AT] = keyId
  const nonce = sealed.subarray(clearBytes, clearBytes + NONCE_BYTES)
  keyring.nextNonce(nonce)
  const associated = associatedWith(SEALED_KIND[place.kind], place.key, clearBytes, sealed)
  keyring.cipher.seal(key, nonce, associated, record.subarray(clearBytes), sealed.subarray(clearBytes + NONCE_BYTES))
  sealRecord(sealed)
  return sealed
}

/**
 * The record as it was before it was sealed, with a checksum that holds.
 * @param key undefined: there is none under the record's key id
 * @param space to open into, where it is large enough: the record is valid as long as nobody else uses it
 * @throws CorruptRecord where it is damaged, or was sealed for another place or with another key
 */
export function openWith(
  keyring: Keyring,
  key: Uint8Array | undefined,
  place: SealedPlace,
  sealed: Buffer,
  name: () => string,
  space?: Buffer,
): Buffer {
  const { clearBytes } = place
  if (key === undefined) throw new CorruptRecord(name(), `sealed under key id ${keyIdOf(sealed)}, which is not known`)
  if (sealed.length < clearBytes + SEAL_BYTES)
    throw new CorruptRecord(name(), `${sealed.length} bytes, at least ${clearBytes + SEAL_BYTES} expected`)
  if (sealed[4] !== RECORD_VERSION) throw new CorruptRecord(name(), `version ${sealed[4]}, ${RECORD_VERSION} expected`)
  const bytes = sealed.length - SEAL_BYTES
  const record = space !== undefined && bytes <= space.length ? space.subarray(0, bytes) : Buffer.allocUnsafe(bytes)
  if (!keyring.cipher.openRecord(key, SEALED_KIND[place.kind], place.key, clearBytes, sealed, record))
    throw new CorruptRecord(name(), `its seal (key id ${keyIdOf(sealed)}) is broken: the record was changed, or belongs elsewhere`)
  return record
}
