/** The matrix of authorisation for the kinds of principals that differ most; the deep tier has them all. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { AuthorisationMatrix } from '../../harness/authorisation_matrix.js'
import { OWN } from '../../harness/server/authorisation_model.js'

/** By every way of being known, and with every right but those that change most cells, and so take long. */
const ASKERS = new Set([
  'without credentials', 'a reader by API key', 'a reader by its group', 'a writer', "another user's key",
]) // prettier-ignore

describe('the matrix of authorisation', () => {
  const matrix = new AuthorisationMatrix()
  before(() => matrix.start())
  after(() => matrix.end())

  it('access: each operation, for five kinds of principals, on its own, another, several and no collection: no wrong cell', async () => {
    const askers = matrix.askers.filter(({ name }) => ASKERS.has(name))
    assert.equal(askers.length, ASKERS.size)
    const { cells, wrong } = await matrix.run(askers)
    assert.ok(cells > 1_000, `${cells} cells`)
    assert.deepEqual(wrong, [])
  })

  it('access: a change holds from the next request on, on a port', async () => {
    await matrix.fill()
    await matrix.admin.register('changing')
    const get = { collection: OWN, key: 'hello-world', lang: 'en' }
    const code = async (): Promise<string | null> => (await matrix.port.ask('get', get, undefined, 'changing')).code
    for (let round = 0; round < 20; round++) {
      await matrix.admin.grant('changing', OWN, { read: true })
      assert.equal(await code(), null)
      await matrix.admin.grant('changing', OWN, {})
      assert.equal(await code(), 'forbidden')
    }
    await matrix.admin.do('DELETE', '/v1/auth/users/changing')
    assert.equal(await code(), 'invalidToken')
  })
})
