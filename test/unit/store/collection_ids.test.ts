/** The ids with which keys of a table begin, also where damage has put a key out of order. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { collectionIds } from '../../../src/store/collections/lost_collections.js'
import { counterKey } from '../../../src/store/rows/keys.js'
import type { Table } from '../../../src/store/rows/table.js'

/** A leaf page: its separator in the branch page above it, and its ids. */
type Leaf = readonly [separator: number, ids: readonly number[]]

/**
 * Finds keys as LMDB does: the leaf by the separators, then a place in it. Behind the last key of a leaf
 * comes the first one of the next leaf, which is not compared.
 */
function tableOf(leaves: readonly Leaf[]): Table {
  const keys = leaves.flatMap(([, ids]) => ids)
  const placeOf = (start: number): number => {
    const found = leaves.findLastIndex(([separator]) => separator <= start)
    const leaf = Math.max(0, found)
    const before = leaves.slice(0, leaf).reduce((sum, [, ids]) => sum + ids.length, 0)
    const ids = leaves[leaf]?.[1] ?? []
    const at = ids.findIndex((id) => id >= start)
    return before + (at < 0 ? ids.length : at)
  }
  const getKeys = ({ start, limit = Infinity }: { readonly start?: Buffer; readonly limit?: number } = {}): Iterable<Buffer> => {
    const from = start === undefined ? 0 : placeOf(start.readUInt32BE())
    return keys.slice(from, from + limit).map((id) => counterKey(id))
  }
  return { getKeys } as unknown as Table
}

it('ids of collections: each once, and the walk ends where a damaged key is out of order', () => {
  assert.deepEqual([...collectionIds(tableOf([]))], [])
  assert.deepEqual([...collectionIds(tableOf([[0, [1, 1, 2]], [2, [2, 2, 7]]]))], [1, 2, 7]) // prettier-ignore
  // The last id of the first leaf was 2. A search for 11 ends at 3, and one for 4 would come to 10 again.
  const damaged = tableOf([
    [0, [1, 10]],
    [12, [3, 4]],
  ])
  assert.deepEqual([...collectionIds(damaged)], [1, 10, 3, 4])
})
