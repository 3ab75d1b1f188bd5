/** Rows of the table of operations: what the compiler refuses. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { get } from '../../../src/operations/documents/documents.js'
import { operation } from '../../../src/operations/row/schema.js'

it('operations: a row without a permission or without its collections does not compile', () => {
  const { permission, ...open } = get
  const { collections, ...everywhere } = get
  // @ts-expect-error No row is public by omission.
  assert.equal(operation({ ...open, name: 'open' }).permission, undefined)
  // @ts-expect-error No row is about all collections by omission.
  assert.equal(operation({ ...everywhere, name: 'everywhere' }).collections, undefined)
  assert.deepEqual([permission, collections.kind], ['read', 'named'])
})
