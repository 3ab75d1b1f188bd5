/** The whole matrix of authorisation: every operation for every kind of principal. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { AuthorisationMatrix } from '../../harness/authorisation_matrix.js'

const matrix = new AuthorisationMatrix()
before(() => matrix.start())
after(() => matrix.end())

it('access: each operation, for each kind of principal, on its own, another, several and no collection: no wrong cell', async () => {
  const { cells, wrong } = await matrix.run(matrix.askers)
  assert.ok(cells > 3_000, `${cells} cells`)
  assert.deepEqual(wrong, [])
})
