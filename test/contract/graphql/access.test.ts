/** Authorisation of GraphQL: credentials, directives, roles, permissions, what guests see of the schema. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { buildSchema, type GraphQLField } from 'graphql'
import { SCHEMA } from '../../../src/surface/graphql/schema.js'
import { askGraphql, CONTRACT_LINES, dataOf, type GraphqlError, type Headers, leastRequest } from '../../harness/clients/graphql.js'
import { ACCESS_ENV, Admin, asUser, bearer, keyOf } from '../../harness/server/access.js'
import { type Server, startServer } from '../../harness/server/server.js'

let server: Server
before(async () => {
  server = await startServer({ env: ACCESS_ENV })
  const admin = new Admin(server)
  for (const name of ['reader', 'writer', 'nobody']) await admin.register(name)
  await admin.grant('reader', 'docs', { read: true })
  await admin.grant('writer', 'docs', { read: true, write: true })
  await server.post('/v1/add', { collection: 'docs', key: 'k', lang: 'en', contentMd: '# One' }, admin.headers)
  await server.post('/v1/add', { collection: 'other', key: 'k', lang: 'en', contentMd: '# One' }, admin.headers)
})
after(() => server.stop())

const schema = buildSchema(SCHEMA)
const GET = '{ document(collection: "docs", key: "k", lang: "en") { contentMd } }'

/** Every field of Query and Mutation, with a document that asks for it. */
const FIELDS = (['query', 'mutation'] as const).flatMap((kind) => {
  const type = kind === 'query' ? schema.getQueryType() : schema.getMutationType()
  const prefix = kind === 'query' ? 'Query' : 'Mutation'
  return Object.values(type?.getFields() ?? {}).map((field) => {
    const line = CONTRACT_LINES.find((one) => one.startsWith(`${prefix}.${field.name}(`) || one.startsWith(`${prefix}.${field.name}:`))
    assert.ok(line !== undefined, field.name)
    return { name: field.name, document: leastRequest(field as GraphQLField<unknown, unknown>, kind), line }
  })
})

async function errorsOf(
  document: string,
  headers: Headers = {},
): Promise<readonly Pick<GraphqlError, 'message' | 'path' | 'extensions'>[]> {
  const { status, errors } = await askGraphql(server, document, undefined, headers)
  assert.equal(status, 200, document)
  return errors.map(({ message, path, extensions }) => ({ message, ...(path ? { path } : {}), ...(extensions ? { extensions } : {}) }))
}

it('graphql: @auth refuses every field but login without valid credentials', async () => {
  for (const headers of [{}, bearer('nonsense'), { 'x-api-key': `svc_live_${'0'.repeat(48)}` }]) {
    for (const { name, document, line } of FIELDS) {
      const errors = await errorsOf(document, headers)
      if (!line.includes('@auth')) assert.deepEqual([name, errors[0]?.message], ['login', 'authentication failed'])
      else
        assert.deepEqual(
          errors,
          [{ message: 'unauthenticated: missing or invalid credentials', path: [name], extensions: { code: 'UNAUTHENTICATED' } }],
          name,
        )
    }
  }
})

it('graphql: @hasRole(role: ADMIN) refuses users who are not administrators of the server', async () => {
  const refused = { message: 'forbidden: admin privileges required', extensions: { code: 'FORBIDDEN' } }
  const asked = FIELDS.filter(({ line }) => line.includes('@hasRole'))
  assert.equal(asked.length, 15)
  for (const { name, document } of asked) assert.deepEqual(await errorsOf(document, asUser('writer')), [{ ...refused, path: [name] }], name)
})

it('graphql: an administrator passes @hasRole', async () => {
  const { users } = await dataOf<{ users: readonly object[] }>(server, '{ users { username } }', undefined, asUser('admin'))
  assert.equal(users.length, 4)
})

it('graphql: permissions on collections are those of HTTP', async () => {
  const denied = { message: 'permission denied', extensions: { code: 'FORBIDDEN' } }
  assert.deepEqual(await errorsOf(GET, asUser('nobody')), [{ ...denied, path: ['document'] }])
  assert.deepEqual(await errorsOf(GET, asUser('reader')), [])
  const add = 'mutation { addDocument(input: {collection: "docs", key: "n", lang: "en", contentMd: "x"}) { id } }'
  assert.deepEqual(await errorsOf(add, asUser('reader')), [{ ...denied, path: ['addDocument'] }])
  assert.deepEqual(await errorsOf(add, asUser('writer')), [])
  // Counts and sizes are for administrators.
  assert.deepEqual(await errorsOf('{ stats { mode } }', asUser('writer')), [
    { message: 'forbidden: admin privileges required', path: ['stats'], extensions: { code: 'FORBIDDEN' } },
  ])
})

it('graphql: each field of a document is permitted for itself', async () => {
  const document = `{ mine: document(collection: "docs", key: "k", lang: "en") { id }
    theirs: document(collection: "other", key: "k", lang: "en") { id } }`
  const { data, errors } = await askGraphql(server, document, undefined, asUser('reader'))
  assert.deepEqual(data, { mine: { id: 'docs|k|en' }, theirs: null })
  assert.deepEqual(
    errors.map(({ path, message }) => [path, message]),
    [[['theirs'], 'permission denied']],
  )
})

it('graphql: a change of rights holds from the next request on', async () => {
  const admin = new Admin(server)
  await admin.register('moved')
  assert.equal((await errorsOf(GET, asUser('moved')))[0]?.message, 'permission denied')
  await admin.grant('moved', 'docs', { read: true })
  assert.deepEqual(await errorsOf(GET, asUser('moved')), [])
  await admin.grant('moved', 'docs', {})
  assert.equal((await errorsOf(GET, asUser('moved')))[0]?.message, 'permission denied')
  await admin.do('DELETE', '/v1/auth/users/moved')
  assert.equal((await errorsOf(GET, asUser('moved')))[0]?.message, 'unauthenticated: missing or invalid credentials')
})

it('graphql: takes a token, an API key in X-API-Key, and one as bearer, as HTTP does', async () => {
  const key = await keyOf(server, 'reader')
  for (const headers of [asUser('reader'), { 'x-api-key': key }, bearer(key)])
    assert.deepEqual(await dataOf(server, '{ me { username } }', undefined, headers), { me: { username: 'reader' } })
})

it('graphql: an API key does not create another one', async () => {
  const key = await keyOf(server, 'reader')
  const document = 'mutation { createAPIKey(input: {description: "x"}) { key } }'
  // On each of the two event loops.
  for (let at = 0; at < 8; at++)
    assert.deepEqual(await errorsOf(document, { 'x-api-key': key }), [
      { message: 'authentication required', path: ['createAPIKey'], extensions: { code: 'UNAUTHENTICATED' } },
    ])
  assert.deepEqual(await errorsOf(document, asUser('reader')), [])
})

it('graphql: the schema is for those with credentials', async () => {
  const document = '{ __schema { types { name } } }'
  const { status, data, errors } = await askGraphql(server, document)
  assert.equal(status, 200)
  assert.equal(data, null)
  assert.equal(errors[0]?.message, 'unauthenticated: missing or invalid credentials')
  assert.deepEqual(await errorsOf(document, asUser('nobody')), [])
  assert.deepEqual(await dataOf(server, '{ __typename }'), { __typename: 'Query' })
})

it('graphql: errors offer no names of the schema while access control is on', async () => {
  const query = 'query($i: FTSInput!) { fts(input: $i) { total } }'
  const fts = await askGraphql(server, query, { i: { collection: 'c', query: 'x', limi: 1 } })
  assert.match(fts.errors[0]!.message, /limi/)
  assert.doesNotMatch(fts.errors[0]!.message, /Did you mean/)
  for (const document of [
    '{ documnt }',
    '{ document(colection: "x") { id } }',
    '{ document(collection: "a", key: "b", lang: "c") { idd } }',
  ]) {
    const { status, errors } = await askGraphql(server, document)
    assert.equal(status, 400)
    for (const { message } of errors) assert.doesNotMatch(message, /Did you mean/)
  }
})

it('graphql: writes are refused in read mode, and reads in write mode', async () => {
  for (const [mode, document, text] of [
    ['read', 'mutation { deleteCollection(collection: "docs") }', 'read-only mode'],
    ['write', GET, 'write-only mode'],
  ] as const) {
    const limited = await startServer({ env: { SVC_HTTP_MODE: mode } })
    try {
      const { status, errors } = await askGraphql(limited, document)
      assert.equal(status, 200)
      assert.deepEqual(
        errors.map(({ message, extensions }) => [message, extensions?.code]),
        [[text, 'FORBIDDEN']],
      )
    } finally {
      await limited.stop()
    }
  }
})
