/**
 * Tools shared by the tests of encryption at rest: keyrings with a changing primary key, and a whole rotation
 * in one transaction.
 */
import assert from 'node:assert/strict'
import type { WriteTransaction } from '../../../src/store/apply.js'
import type { ResealedRows, ResealedTable } from '../../../src/store/resealing/resealing.js'
import { RESEALED_TABLES } from '../../../src/store/resealing/resealing.js'
import type { Cipher } from '../../../src/store/sealing/cipher.js'
import { Keyring } from '../../../src/store/sealing/keyring.js'

const MASTERS = [1, 2].map((id) => ({ id, bytes: Buffer.alloc(32, id) }))

/** Two master keys; the given one is primary. */
export function keyringWith(primaryId: 1 | 2, cipher?: Cipher): Keyring {
  const [primary, previous] = primaryId === 1 ? MASTERS : [...MASTERS].reverse()
  assert.ok(primary !== undefined && previous !== undefined)
  return new Keyring({ primary, previous: [previous] }, () => assert.fail('there is a master key'), cipher)
}

/**
 * Converts every row of the collection to its present form, in the smallest possible steps.
 * @returns errors
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
