/**
 * `*` means all collections in permissions, so it is no name of a collection, and whoever may write can end
 * nobody's rights by deleting a collection. docs/decisions/operation/access-control.md.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { buildSchema } from 'graphql'
import { operations } from '../../../src/operations/index.js'
import { SCHEMA } from '../../../src/surface/graphql/schema.js'
import { exampleInput } from '../../../src/surface/http/pages/openapi.js'
import { CASES } from '../../harness/protocols/cases.js'
import { GraphqlCaller } from '../../harness/protocols/graphql_caller.js'
import { GrpcCaller } from '../../harness/protocols/grpc_caller.js'
import { HttpCaller } from '../../harness/protocols/http_caller.js'
import { McpCaller } from '../../harness/protocols/mcp_caller.js'
import { ACCESS_ENV, Admin, asUser } from '../../harness/server/access.js'
import { type Server, startServer } from '../../harness/server/server.js'

const ENV = { ...ACCESS_ENV, SVC_SPELL: 'true', SVC_TEMPORAL: 'true', SVC_EMBEDDING_PROVIDER: 'local' }
const REFUSED = 'invalid collection: * means all collections'
/** Operations that create a collection which does not exist. */
const CREATING = ['add', 'addBatch', 'submitBulkIngest', 'setCollectionConfig', 'setSchema', 'setSynonyms', 'addStopWords', 'addCuration', 'addSpellWords'] // prettier-ignore

let server: Server
let admin: Admin
before(async () => {
  server = await startServer({ env: ENV })
  admin = new Admin(server)
  for (const name of ['writer', 'chief', 'keeper', 'reader']) await admin.register(name)
  await admin.grant('writer', '*', { read: true, write: true })
  await admin.grant('chief', '*', { admin: true })
})
after(() => server.kill())

const namesOfCollections = async (): Promise<readonly string[]> =>
  (await admin.do('GET', '/v1/stats')).json<{ collections: { name: string }[] }>().collections.map(({ name }) => name)
const grantsOf = async (username: string): Promise<unknown> =>
  JSON.parse((await admin.do('GET', `/v1/auth/permissions?username=${username}`)).text)
const add = (collection: string, headers = admin.headers) =>
  server.post('/v1/add', { collection, key: 'k', lang: 'en', contentMd: 'walrus' }, headers)
const get = async (collection: string, user: string): Promise<number> =>
  (await server.post('/v1/get', { collection, key: 'k', lang: 'en' }, asUser(user))).status
const remove = (collection: string, headers: Admin['headers']) => server.post('/v1/delete-collection', { collection }, headers)

describe('the name of all collections', () => {
  it('names: no operation of any protocol creates a collection `*`, or deletes one', async () => {
    const grpc = new GrpcCaller(server)
    const callers = [
      ['http', new HttpCaller(server)],
      ['grpc', grpc],
      ['graphql', new GraphqlCaller(server, buildSchema(SCHEMA))],
      ['mcp', new McpCaller(server)],
    ] as const
    const asked: string[] = []
    for (const headers of [admin.headers, asUser('writer')]) {
      for (const { name, effect, collections, protocols, http, input: schema } of operations) {
        if (effect !== 'write' || collections.kind !== 'named') continue
        const input = { ...(CASES[name]?.input ?? exampleInput(schema)), collection: '*' }
        for (const [protocol, caller] of callers) {
          if (protocol === 'http' ? http === undefined : protocols[protocol] === null) continue
          const { refusal, text } = await caller.call(name, input, headers)
          asked.push(name)
          if (CREATING.includes(name) || name === 'deleteCollection') {
            // Some fields of GraphQL ask more of a writer, and a deletion does on every surface.
            const isRefused = text.includes(REFUSED) || (headers !== admin.headers && refusal === 'forbidden')
            assert.ok(isRefused, `${name} by ${protocol}: ${text}`)
          }
          assert.ok(!(await namesOfCollections()).includes('*'), `${name} by ${protocol}`)
        }
      }
    }
    assert.ok(CREATING.every((name) => asked.includes(name)))
    grpc.close()
    assert.deepEqual(await grantsOf('chief'), [{ username: 'chief', collection: '*', read: false, write: false, admin: true }])
    assert.deepEqual(await grantsOf('writer'), [{ username: 'writer', collection: '*', read: true, write: true, admin: false }])
    assert.equal((await server.post('/v1/search', { collection: '*' }, asUser('writer'))).text, '[]')
  })

  it('permissions: a writer who deletes a collection ends the rights of nobody on it; an administrator ends them', async () => {
    await admin.grant('keeper', 'kept', { admin: true })
    await admin.grant('reader', 'Kept', { read: true })
    await admin.grant('writer', 'kept', { write: true })
    await admin.do('POST', '/v1/auth/groups', { name: 'crew', members: ['reader'] })
    await admin.do('POST', '/v1/auth/group-permissions', { group: 'crew', collection: 'kept', write: true })
    // An administrator of the collection could not take a permission away either.
    for (const user of ['writer', 'keeper']) {
      assert.equal((await add('kept')).status, 200)
      const deleted = await remove('KEPT', asUser(user))
      assert.deepEqual([deleted.status, deleted.json().deleted], [200, 1])
      assert.equal((await add('kept', asUser('keeper'))).status, 200)
      assert.deepEqual([await get('kept', 'keeper'), await get('kept', 'reader')], [200, 200])
      assert.equal((await add('kept', asUser('reader'))).status, 200)
    }
    assert.equal((await remove('kept', asUser('chief'))).status, 200)
    assert.equal((await add('kept')).status, 200)
    assert.deepEqual([await get('kept', 'keeper'), await get('kept', 'reader')], [403, 403])
    assert.deepEqual([await grantsOf('keeper'), await grantsOf('reader')], [[], []])
  })
})
