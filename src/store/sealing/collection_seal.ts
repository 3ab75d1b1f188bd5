/**
 * The sealing of one collection: its keys, which are derived from the master keys and the collection's salt,
 * and the addresses of its sealed records. The salt is deleted with the collection; without it, nothing that
 * was sealed can be opened.
 *
 * `forms` are the key ids under which rows may be stored (0: plaintext). A look-up by text tries each of
 * them. The layout of the row: docs/formats/truth-env.md. Any thread reads it; only `apply` and the rotation
 * write it.
 */
import { documentKey, lsnKey } from '../rows/keys.js'
import { checkRecord, sealRecord } from '../rows/record.js'
import { HMAC_BYTES, KEY_BYTES } from './cipher.js'
import type { Keyring } from './keyring.js'
import type { SealedAddress } from './sealed_record.js'
import { keyIdOf, openWith, sealWith } from './sealed_record.js'

/** Languages of one collection whose hashes a lane caches: 256 x 100 B. */
const SEAL_LANGS_KEPT_MAX = 256

/** Form of a plaintext row. */
export const CLEAR = 0

export interface SealingState {
  /** Whether new rows are sealed. */
  readonly isSealed: boolean
  readonly salt: Buffer
  /** LSN of the entry that set `isSealed`. */
  readonly changedLsn: bigint
  /** Key ids under which rows may be stored, CLEAR included. The one used for writing comes first. */
  readonly forms: readonly number[]
}

/** crc32c, version, flags, two zeros, LSN, salt. */
const SALT_AT = 16
const PREFIX_BYTES = SALT_AT + KEY_BYTES
const FLAG_SEALED = 1

export function encodeSealing({ isSealed, salt, changedLsn, forms }: SealingState): Buffer {
  const record = Buffer.concat([Buffer.alloc(SALT_AT), salt, Buffer.from(forms)])
  record[5] = isSealed ? FLAG_SEALED : 0
  record.writeBigUInt64LE(changedLsn, 8)
  sealRecord(record)
  return record
}

export function decodeSealing(record: Buffer, collection: number): SealingState {
  checkRecord(record, PREFIX_BYTES, () => `sealing ${collection}`)
  return {
    isSealed: record[5] === FLAG_SEALED,
    changedLsn: record.readBigUInt64LE(8),
    salt: Buffer.from(record.subarray(SALT_AT, PREFIX_BYTES)),
    forms: [...record.subarray(PREFIX_BYTES)],
  }
}

/**
 * Bytes of the keyed hash that replaces a text in a row's key: half of HMAC-SHA-256. Two texts of a
 * collection collide after about 2^64 texts.
 */
const TEXT_HASH_BYTES = 16
const LANG_HASH_BYTES = 8
/** Begins a text that stands for a document's key. */
const KEY_HASH_BEGIN = 'hmac:'
const NOTHING = Buffer.alloc(0)

interface Keys {
  readonly data: Uint8Array
  readonly hash: Uint8Array
}

export class CollectionSeal {
  readonly collection: number
  readonly state: SealingState
  readonly #keyring: Keyring
  readonly #keys = new Map<number, Keys | undefined>()
  readonly #langs = new Map<string, Buffer>()

  constructor(keyring: Keyring, collection: number, state: SealingState) {
    this.#keyring = keyring
    this.collection = collection
    this.state = state
  }

  /** The key id under which new rows are written; CLEAR if they are not sealed. */
  get writtenForm(): number {
    return this.state.isSealed ? this.#keyring.primaryId : CLEAR
  }

  get canSeal(): boolean {
    return this.#keyring.canSeal
  }

  /** Seals the record with the primary key. */
  seal(address: SealedAddress, record: Uint8Array): Buffer {
    const { primaryId } = this.#keyring
    return sealWith(this.#keyring, this.#keysOf(primaryId)?.data as Uint8Array, primaryId, address, record)
  }

  /** @throws CorruptRecord */
  open(address: SealedAddress, sealed: Buffer, name: () => string, space?: Buffer): Buffer {
    return openWith(this.#keyring, this.#keysOf(keyIdOf(sealed))?.data, address, sealed, name, space)
  }

  /** The hash that replaces a text in the key of a row. Undefined if the form's key is not known. */
  textHash(form: number, text: string): Buffer | undefined {
    const keys = this.#keysOf(form)
    if (keys === undefined) return undefined
    const hash = Buffer.allocUnsafe(HMAC_BYTES)
    this.#keyring.cipher.hmac(keys.hash, Buffer.from(text), hash)
    return hash.subarray(0, TEXT_HASH_BYTES)
  }

  /**
   * The row key (collection, hash of the lower-case key, hash of the lower-case language). Without `lang`,
   * the prefix of all languages.
   * @param key, lang in one of their lower-case forms
   */
  identityKey(form: number, key: string, lang: string | undefined): Buffer | undefined {
    const hash = this.textHash(form, key)
    if (hash === undefined) return undefined
    return Buffer.concat([documentKey(this.collection, 0).subarray(0, 4), hash, lang === undefined ? NOTHING : this.#langHash(form, lang)])
  }

  /** The row key (collection, docid, hash of the spelling). */
  spellingKey(form: number, docid: number, key: string, lang: string): Buffer | undefined {
    const hash = this.textHash(form, `${key}\0${lang}`)
    return hash === undefined ? undefined : Buffer.concat([documentKey(this.collection, docid), hash])
  }

  /** The row key (collection, kind of setting, hash of its id). */
  settingKey(form: number, kind: number, id: string): Buffer | undefined {
    const hash = this.textHash(form, `setting\0${kind}\0${id}`)
    return hash === undefined ? undefined : Buffer.concat([documentKey(this.collection, 0).subarray(0, 4), Buffer.from([kind]), hash])
  }

  /** For logs. Undefined if new rows are not sealed. @param key in lower case */
  keyHash(key: string): string | undefined {
    return this.writtenForm === CLEAR ? undefined : this.#keyHash(this.writtenForm, key)
  }

  /** @returns those under every known master key @param key in lower case */
  keyHashes(key: string): string[] {
    return this.#keyring.ids.flatMap((form) => this.#keyHash(form, key) ?? [])
  }

  #keyHash(form: number, key: string): string | undefined {
    const hash = this.textHash(form, `log\0${key}`)
    return hash === undefined ? undefined : `${KEY_HASH_BEGIN}${hash.toString('hex')}`
  }

  /** Cached, because there are few languages. */
  #langHash(form: number, lang: string): Buffer {
    const name = `${form}/${lang}`
    const known = this.#langs.get(name)
    if (known !== undefined) return known
    const hash = (this.textHash(form, `lang\0${lang}`) as Buffer).subarray(0, LANG_HASH_BYTES)
    if (this.#langs.size < SEAL_LANGS_KEPT_MAX) this.#langs.set(name, hash)
    return hash
  }

  #keysOf(form: number): Keys | undefined {
    if (!this.#keys.has(form)) this.#keys.set(form, this.#derive(form))
    return this.#keys.get(form)
  }

  #derive(form: number): Keys | undefined {
    if (form === CLEAR) return undefined
    const label = `mds/v1/${this.collection}`
    const data = this.#keyring.derive(form, label, this.state.salt)
    const hash = this.#keyring.derive(form, `${label}/hash`, this.state.salt)
    return data === undefined || hash === undefined ? undefined : { data, hash }
  }
}

/**
 * The address under which a document's state is sealed. It is the same in heads and revisions, because a head
 * becomes a revision unchanged. The sealed text says which state it is.
 */
export function stateAddress(collection: number, docid: number): SealedAddress {
  return { kind: 'state', key: documentKey(collection, docid), clearBytes: 8 }
}

/** @param key of the row */
export function bodyAddress(key: Uint8Array): SealedAddress {
  return { kind: 'body', key, clearBytes: 8 }
}

/** @param key of the row */
export function vectorsAddress(key: Uint8Array): SealedAddress {
  return { kind: 'vectors', key, clearBytes: 8 }
}

/** The docid after the prefix stays plaintext. @param key of the row */
export function identityAddress(key: Uint8Array): SealedAddress {
  return { kind: 'identity', key, clearBytes: 12 }
}

/** @param key of the row */
export function spellingAddress(key: Uint8Array): SealedAddress {
  return { kind: 'spelling', key, clearBytes: 8 }
}

/** @param key of the row */
export function settingAddress(key: Uint8Array): SealedAddress {
  return { kind: 'setting', key, clearBytes: 8 }
}

/** Prefix and collection stay plaintext. */
export function entryAddress(lsn: bigint): SealedAddress {
  return { kind: 'entry', key: lsnKey(lsn), clearBytes: 16 }
}
