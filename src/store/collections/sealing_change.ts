/**
 * Changes of the sealing of collections. This includes the row that a `sealing` entry writes, and the updates
 * at a start: a new primary key is one more form in which rows may be stored from then on. It also includes
 * the checks of master keys: a small sealed record for each key that was ever used. By this record a
 * different key under the same id is detected before anything is read or written with it. Write lane only.
 */
import type { Environment } from '../environment.js'
import { collectionOfKey, counterKey } from '../rows/keys.js'
import { CorruptRecord } from '../rows/record.js'
import type { SealingState } from '../sealing/collection_seal.js'
import { CLEAR, decodeSealing, encodeSealing } from '../sealing/collection_seal.js'
import { KEY_FILE_ID } from '../sealing/keyring.js'
import type { SealedAddress } from '../sealing/sealed_record.js'
import { openWith, sealWith } from '../sealing/sealed_record.js'
import { readCollections } from './collection_row.js'

const CHECK_LABEL = 'mds/v1/check'
const CHECK_TEXT = Buffer.from('\0\0\0\0\0\0\0\0this key is the one that it was')

/** A refused start, with a one-line reason. */
export class SealingRefused extends Error {}

/** The fields of a `sealing` entry. */
interface SealingChange {
  readonly lsn: bigint
  readonly collection: number
  readonly isSealed: boolean
  readonly salt: Buffer
}

/** Inside the write transaction. */
export function changeSealing(environment: Environment, { collection, isSealed, salt, lsn }: SealingChange): void {
  const { primaryId } = environment.seals.keyring
  const row = environment.sealings.get(counterKey(collection))
  const written = isSealed ? primaryId : CLEAR
  const before: SealingState =
    row === undefined ? { isSealed: false, salt, changedLsn: lsn, forms: [CLEAR] } : decodeSealing(row, collection)
  // Existing rows stay as they are until a rotation.
  const forms = [written, ...before.forms.filter((form) => form !== written)]
  environment.sealings.put(counterKey(collection), encodeSealing({ isSealed, salt: before.salt, changedLsn: lsn, forms }))
  if (isSealed) noteKeyUsed(environment, primaryId)
}

/**
 * Reduces the forms to the present one. To be called once every row of the collection is stored in it. Inside
 * the write transaction.
 */
export function finishForms(environment: Environment, collection: number): void {
  const row = environment.sealings.get(counterKey(collection))
  if (row === undefined) return
  const state = decodeSealing(row, collection)
  const forms = [state.isSealed ? environment.seals.keyring.primaryId : CLEAR]
  environment.sealings.put(counterKey(collection), encodeSealing({ ...state, forms }))
}

/**
 * Runs at a start, before anything else is read. Checks that the keys exist and are those that were used.
 * Then adds a new primary key to the forms of the sealed collections.
 * @returns ids of the collections that are sealed
 * @throws SealingRefused
 */
export function beginSealing(environment: Environment): number[] {
  const { root, seals, settings } = environment
  return root.transactionSync(() => {
    const { rows, forgotten } = checkSealing(environment)
    for (const id of forgotten) void settings.remove(checkName(id))
    for (const { collection, state } of rows) {
      const { primaryId } = seals.keyring
      if (!state.isSealed || state.forms.includes(primaryId)) continue
      noteKeyUsed(environment, primaryId)
      environment.sealings.put(counterKey(collection), encodeSealing({ ...state, forms: [primaryId, ...state.forms] }))
    }
    return sealedIn(rows)
  })
}

/** Like `beginSealing`, for a read-only store. */
export function readSealing(environment: Environment): number[] {
  return sealedIn(checkSealing(environment).rows)
}

/**
 * @returns the sealing rows, and the ids of obsolete checks: nothing is sealed under those ids any more. The
 * checks are removed, and the ids may be given to other keys
 */
function checkSealing(environment: Environment): { readonly rows: readonly SealingRow[]; readonly forgotten: readonly number[] } {
  const rows = sealingRows(environment)
  for (const { name, state } of rows) checkKeys(environment, name, state)
  return { rows, forgotten: environment.seals.keyring.ids.filter((id) => !checkKey(environment, id, rows)) }
}

function sealedIn(rows: readonly SealingRow[]): number[] {
  return rows.filter(({ state }) => state.isSealed).map(({ collection }) => collection)
}

interface SealingRow {
  readonly collection: number
  readonly name: string
  readonly state: SealingState
}

function sealingRows({ sealings, collections }: Environment): SealingRow[] {
  const names = new Map(readCollections(collections).map(({ id, name }) => [id, name]))
  return [...sealings.getRange()].map(({ key, value }) => {
    const collection = collectionOfKey(key)
    return { collection, name: names.get(collection) ?? String(collection), state: decodeSealing(value, collection) }
  })
}

function checkKeys({ seals }: Environment, name: string, { isSealed, forms }: SealingState): void {
  const { keyring } = seals
  if (!keyring.canSeal && (isSealed || forms.some((form) => form !== CLEAR)))
    throw new SealingRefused(`collection ${name} is encrypted and SVC_ENCRYPTION_KEY is not set`)
  const unknown = forms.find((form) => form !== CLEAR && !keyring.ids.includes(form))
  if (unknown !== undefined)
    throw new SealingRefused(
      `collection ${name} has data under encryption key id ${unknown}, which neither SVC_ENCRYPTION_KEY_ID nor SVC_ENCRYPTION_KEYS_PREVIOUS names`,
    )
}

function checkName(id: number): Buffer {
  return Buffer.from(`key-check/${id}`)
}

function checkAddress(id: number): SealedAddress {
  return { kind: 'check', key: checkName(id), clearBytes: 8 }
}

/** Stores the check of a key on its first use. Inside a write transaction. */
function noteKeyUsed(environment: Environment, id: number): void {
  if (id === KEY_FILE_ID || environment.settings.doesExist(checkName(id))) return
  const { keyring } = environment.seals
  const key = keyring.derive(id, CHECK_LABEL) as Uint8Array
  environment.settings.put(checkName(id), sealWith(keyring, key, id, checkAddress(id), CHECK_TEXT))
}

/** @returns false if the check was made with another key under this id, and nothing is stored under the id */
function checkKey(environment: Environment, id: number, rows: readonly SealingRow[]): boolean {
  const stored = environment.settings.get(checkName(id))
  if (stored === undefined) return true
  const { keyring } = environment.seals
  try {
    openWith(keyring, keyring.derive(id, CHECK_LABEL), checkAddress(id), stored, () => `check of key ${id}`)
    return true
  } catch (error) {
    if (!(error instanceof CorruptRecord)) throw error
    if (rows.some(({ state }) => state.forms.includes(id)))
      throw new SealingRefused(`the encryption key with id ${id} is not the one that this data was encrypted with`)
    return false
  }
}
