/**
 * What tests of encryption at rest share: keyrings of which the primary key changes, and a whole rotation in
 * one transaction.
 */
import assert from 'node:assert/strict'
import type { WriteTransaction } from '../../src/store/apply.js'
import type { Cipher } from '../../src/store/sealing/cipher.js'
import { Keyring } from '../../src/store/sealing/keyring.js'
import { RESEALED_TABLES } from '../../src/store/resealing/resealing.js'
import type { ResealedRows, ResealedTable } from '../../src/store/resealing/resealing.js'

const MASTERS = [1, 2].map((id) => ({ id, bytes: Buffer.alloc(32, id) }))

/** Two master keys, of which one or the other is the primary one. */
export function keyringWith(primaryId: 1 | 2, cipher?: Cipher): Keyring {
  const [primary, previous] = primaryId === 1 ? MASTERS : [...MASTERS].reverse()
  assert.ok(primary !== undefined && previous !== undefined)
  return new Keyring({ primary, previous: [previous] }, () => assert.fail('there is a master key'), cipher)
}

/**
 * Brings every row of the collection into its form, in steps as small as they can be. @returns what could not
 * be done
 */
export function resealAll(transaction: WriteTransaction, collection: number): readonly string[] {
  const errors: string[] = []
  const walk = (table: ResealedTable | undefined): void => {
    let from: Buffer | undefined
    do {
      const rows: ResealedRows = transaction.reseal(collection, table, from, 3)
      errors.push(...rows.errors)
      from = rows.next
    } while (from !== undefined)
  }
  for (const table of RESEALED_TABLES) walk(table)
  walk(undefined)
  if (errors.length === 0) transaction.finishForms(collection)
  return errors
}
