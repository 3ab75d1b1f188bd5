/**
 * The seals of a store, as one thread caches them. The seal of a collection is read from its row and cached
 * while the row is unchanged. The server has its own seal, for credentials in configurations of plaintext
 * collections. For a collection that was never sealed, `of` costs one look-up; on a server without a master
 * key, none.
 */
import { counterKey } from '../rows/keys.js'
import type { Table } from '../rows/table.js'
import { CollectionSeal, decodeSealing } from './collection_seal.js'
import type { Keyring } from './keyring.js'
import type { SealedAddress } from './sealed_record.js'
import { keyIdOf, openWith, sealWith } from './sealed_record.js'

/** Collections whose seals (keys, salt) a lane caches: 1 024 x 1 KB. */
const SEALS_KEPT_MAX = 1024

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
   * Runs in the transaction of the caller. Undefined if the collection was never sealed.
   * @throws CorruptRecord
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

  /**
   * Seals with the server's own key. It is derived from the primary master key, or from the key file if there
   * is none.
   */
  sealForServer(address: SealedAddress, record: Buffer): Buffer {
    const { primaryId } = this.keyring
    return sealWith(this.keyring, this.#serverKey(primaryId) as Uint8Array, primaryId, address, record)
  }

  /** @throws CorruptRecord */
  openForServer(address: SealedAddress, sealed: Buffer, name: () => string): Buffer {
    return openWith(this.keyring, this.#serverKey(keyIdOf(sealed)), address, sealed, name)
  }

  #serverKey(id: number): Uint8Array | undefined {
    if (!this.#serverKeys.has(id)) this.#serverKeys.set(id, this.keyring.derive(id, SERVER_LABEL))
    return this.#serverKeys.get(id)
  }
}
