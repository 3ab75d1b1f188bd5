/**
 * The seals of a store as one thread knows them: each collection's, read from its row and kept while the row
 * is the same; and the server's own, for credentials in configurations of collections that lie in clear
 * themselves. Asking for a collection that was never sealed costs one look-up, and none on a server without a
 * master key.
 */
import { SEALS_KEPT_MAX } from '../../limits/encryption.js'
import type { Table } from '../table.js'
import { counterKey } from '../keys.js'
import { CollectionSeal, decodeSealing } from './collection_seal.js'
import type { Keyring } from './keyring.js'
import { keyIdOf, openWith, sealWith } from './sealed_record.js'
import type { SealedPlace } from './sealed_record.js'

const SERVER_LABEL = 'mds/v1/server'

export class Seals {
  readonly keyring: Keyring
  readonly #table: Table
  readonly #known = new Map<number, { readonly row: Buffer; readonly seal: CollectionSeal }>()
  readonly #serverKeys = new Map<number, Uint8Array | undefined>()

  constructor(keyring: Keyring, table: Table) {
    this.keyring = keyring
    this.#table = table
  }

  /**
   * In the transaction of the caller. Undefined where the collection never was sealed. @throws CorruptRecord
   */
  of(collection: number): CollectionSeal | undefined {
    if (!this.keyring.canSeal) return undefined
    const row = this.#table.peek(counterKey(collection))
    if (row === undefined) return undefined
    const known = this.#known.get(collection)
    if (known?.row.equals(row) === true) return known.seal
    const seal = new CollectionSeal(this.keyring, collection, decodeSealing(row, collection))
    if (known === undefined && this.#known.size >= SEALS_KEPT_MAX) this.#known.clear()
    this.#known.set(collection, { row: Buffer.from(row), seal })
    return seal
  }

  /** Seals with the server's own key: of the primary master key, or of the key file where there is none. */
  sealForServer(place: SealedPlace, record: Buffer): Buffer {
    const { primaryId } = this.keyring
    return sealWith(this.keyring, this.#serverKey(primaryId) as Uint8Array, primaryId, place, record)
  }

  /** @throws CorruptRecord */
  openForServer(place: SealedPlace, sealed: Buffer, name: () => string): Buffer {
    return openWith(this.keyring, this.#serverKey(keyIdOf(sealed)), place, sealed, name)
  }

  #serverKey(id: number): Uint8Array | undefined {
    if (!this.#serverKeys.has(id)) this.#serverKeys.set(id, this.keyring.derive(id, SERVER_LABEL))
    return this.#serverKeys.get(id)
  }
}
