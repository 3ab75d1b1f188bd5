/**
 * The right that each kind of operation needs, as service-2 ("Authentication") and security.md name it. The
 * list is written here and not taken from the table of operations, so that a row with a wrong right is found.
 * Through the real front door.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { untilAsked } from '../../harness/process/until.js'
import { ACCESS_ENV, Admin, asUser, type Headers, keyOf } from '../../harness/server/access.js'
import { type Server, startServer } from '../../harness/server/server.js'

type Request = readonly [method: string, path: string, body?: object]
/** Users in the order of their rights on the collection `own`. */
const USERS = ['nobody', 'reader', 'writer', 'chief', 'admin'] as const
type User = (typeof USERS)[number]

const FORBIDDEN = '{"error":"forbidden"}'
const ADMIN_REQUIRED = '{"error":"admin access required"}'
const DOCUMENT = { collection: 'own', key: 'k', lang: 'en' }
const ON_OWN = { collection: 'own' }
const QUERY = { ...ON_OWN, query: 'word' }

const READERS: readonly User[] = ['reader', 'chief', 'admin']
const WRITERS: readonly User[] = ['writer', 'chief', 'admin']
const ADMINS: readonly User[] = ['admin']

let server: Server
let admin: Admin

before(async () => {
  const key = Buffer.alloc(32, 7).toString('base64')
  server = await startServer({
    env: { ...ACCESS_ENV, SVC_EMBEDDING_PROVIDER: 'local', SVC_ENCRYPTION_KEY: key, SVC_PPROF_ENABLED: 'true', SVC_TEMPORAL: 'true' },
  })
  admin = new Admin(server)
  await admin.do('POST', '/v1/add', { ...DOCUMENT, contentMd: 'a word', meta: { category: ['a'] } })
  await admin.do('POST', '/v1/add', { ...DOCUMENT, collection: 'other', contentMd: 'a word' })
  for (const user of USERS) if (user !== 'admin') await admin.register(user)
  await admin.grant('reader', 'own', { read: true })
  await admin.grant('writer', 'own', { write: true })
  await admin.grant('chief', 'own', { admin: true })
})
after(() => server.kill())

/** Which users are not refused for their rights. What else is wrong with a request does not matter here. */
async function admitted(requests: readonly Request[]): Promise<Readonly<Record<string, readonly string[]>>> {
  const found: Record<string, string[]> = {}
  for (const [method, path, body] of requests) {
    const users = (found[`${method} ${path.split('?')[0]}`] = [] as string[])
    for (const user of USERS) {
      const { status, text } = await server.request(method, path, body, asUser(user))
      assert.notEqual(status, 401, text)
      if (status !== 403) users.push(user)
      else assert.ok(text === FORBIDDEN || text === ADMIN_REQUIRED, text)
    }
  }
  return found
}

async function onlyFor(users: readonly User[], requests: readonly Request[]): Promise<void> {
  const wanted = Object.fromEntries(requests.map(([method, path]) => [`${method} ${path.split('?')[0]}`, users]))
  assert.deepEqual(await admitted(requests), wanted)
}

describe('rights', () => {
  it('rights: reading, searching and exporting documents needs read on the collection', async () => {
    await onlyFor(READERS, [
      ['POST', '/v1/get', DOCUMENT],
      ['POST', '/v1/search', ON_OWN],
      ['POST', '/v1/export', { ...ON_OWN, format: 'ndjson' }],
      ['POST', '/v1/fts', QUERY],
      ['POST', '/v1/vector-search', QUERY],
      ['POST', '/v1/hybrid-search', QUERY],
      ['GET', '/v1/collection-config?collection=own'],
    ])
  })

  it('rights: what counts, groups, completes or compares the documents of a collection needs read on it', async () => {
    await onlyFor(READERS, [
      ['POST', '/v1/aggregate', { ...ON_OWN, facets: [{ field: 'category' }] }],
      ['GET', '/v1/fts?collection=own&q=word&count=true&facetBy=category'],
      ['GET', '/v1/autocomplete?collection=own&q=wo'],
      ['GET', '/v1/meta-keys?collection=own'],
      ['POST', '/v1/find-duplicates', { ...ON_OWN, mode: 'exact' }],
      ['GET', '/v1/checksum?collection=own'],
    ])
  })

  it('rights: adding, updating, deleting and importing documents, and configuring a collection, needs write on it', async () => {
    await onlyFor(WRITERS, [
      ['POST', '/v1/add', { ...DOCUMENT, contentMd: 'a word' }],
      ['PATCH', '/v1/update', { ...DOCUMENT, contentMd: 'another word' }],
      ['POST', '/v1/delete', { ...DOCUMENT, key: 'absent' }],
      ['POST', '/v1/bulk-ingest-job', { ...ON_OWN, documents: [{ key: 'i', lang: 'en', contentMd: 'x' }] }],
      ['PUT', '/v1/collection-config', { ...ON_OWN, description: 'described' }],
      ['DELETE', '/v1/collection-config?collection=own', ON_OWN],
    ])
  })

  it('rights: backups, restores, statistics and the system are for administrators of the server', async () => {
    await onlyFor(ADMINS, [
      ['GET', '/v1/backup?to=a/b'],
      ['POST', '/v1/restore', { from: 'absent' }],
      ['GET', '/v1/stats'],
      ['GET', '/v1/system/info'],
      ['GET', '/debug/pprof/'],
      ['GET', '/v1/embedding-configs'],
      ['POST', '/v1/embedding-configs/set-default', { id: 'absent' }],
    ])
  })

  it('rights: status and rotation of encryption are for administrators of the server', async () => {
    await onlyFor(ADMINS, [
      ['GET', '/v1/encryption/status'],
      ['POST', '/v1/encryption/rotate', {}],
      ['GET', '/v1/encryption/jobs'],
      ['GET', '/v1/encryption/jobs/none'],
    ])
  })

  it('rights: users, groups and permissions are managed by administrators of the server', async () => {
    await onlyFor(ADMINS, [
      ['POST', '/v1/auth/register', { username: 'reader', password: 'a password' }],
      ['GET', '/v1/auth/users'],
      ['DELETE', '/v1/auth/users/absent'],
      ['GET', '/v1/auth/permissions?username=reader'],
      ['POST', '/v1/auth/permissions', { username: 'absent', collection: 'own', read: true }],
      ['GET', '/v1/auth/groups'],
      ['POST', '/v1/auth/groups', { name: 'g', members: ['absent'] }],
      ['GET', '/v1/auth/groups/absent'],
      ['PUT', '/v1/auth/groups/absent', {}],
      ['DELETE', '/v1/auth/groups/absent'],
      ['GET', '/v1/auth/group-permissions?group=absent'],
      ['POST', '/v1/auth/group-permissions', { group: 'absent', collection: 'own', read: true }],
    ])
  })

  it('rights: every user may see its own account, by GET and POST; methods that are not named are 405', async () => {
    for (const method of ['GET', 'POST']) {
      const answer = await server.request(method, '/v1/auth/me', undefined, asUser('nobody'))
      assert.deepEqual([answer.status, answer.json()['username'], answer.json()['admin']], [200, 'nobody', false])
      assert.equal(typeof answer.json()['createdAt'], 'number')
    }
    for (const [method, path] of [
      ['PUT', '/v1/auth/me'],
      ['GET', '/v1/auth/login'],
      ['DELETE', '/v1/auth/register'],
      ['POST', '/v1/auth/users'],
      ['GET', '/v1/auth/api-key'],
      ['PUT', '/v1/auth/permissions'],
      ['DELETE', '/v1/auth/group-permissions'],
    ] as const) {
      const answer = await server.request(method, path, undefined, admin.headers)
      assert.deepEqual([answer.status, answer.text], [405, '{"error":"method not allowed"}'], `${method} ${path}`)
    }
  })

  it('rights: collections that are unknown and such that the caller may not use get the same 403', async () => {
    for (const collection of ['other', 'nowhere']) {
      const read = await server.post('/v1/get', { ...DOCUMENT, collection }, asUser('reader'))
      assert.deepEqual([read.status, read.text], [403, FORBIDDEN], collection)
    }
    const known = await server.post('/v1/get', { ...DOCUMENT, collection: 'nowhere' }, admin.headers)
    assert.equal(known.status, 404)
  })

  it('rights: a search in several collections needs read on each of them; in all, it shows those that the caller may read', async () => {
    await admin.register('both')
    for (const collection of ['own', 'other']) await admin.grant('both', collection, { read: true })
    const search = async (user: string, targetCollections?: readonly string[]): Promise<readonly [number, readonly string[]]> => {
      const body = { query: 'word', ...(targetCollections === undefined ? {} : { targetCollections }) }
      const answer = await server.post('/v1/cross-search', body, asUser(user))
      const { results = [] } = answer.json<{ results?: readonly { readonly collection: string }[] }>()
      return [answer.status, [...new Set(results.map(({ collection }) => collection))].sort()]
    }
    // Their vectors are made behind the writes.
    await untilAsked(() => search('admin', ['own', 'other']), ([, found]) => found.length === 2) // prettier-ignore
    assert.deepEqual(await search('both', ['own', 'other']), [200, ['other', 'own']])
    assert.deepEqual(await search('reader', ['own', 'other']), [403, []])
    assert.deepEqual(await search('reader'), [200, ['own']])
  })

  it('rights: an API key has the rights that its owner has now, and is invalid while its owner is disabled', async () => {
    await admin.register('owner')
    const headers: Headers = { 'x-api-key': await keyOf(server, 'owner') }
    const get = async (): Promise<number> => (await server.post('/v1/get', { ...DOCUMENT, collection: 'other' }, headers)).status
    assert.equal(await get(), 403)
    await admin.grant('owner', 'other', { read: true })
    assert.equal(await get(), 200)
    await admin.do('PUT', '/v1/auth/users/owner', { disabled: true })
    assert.equal(await get(), 401)
    await admin.do('PUT', '/v1/auth/users/owner', { disabled: false })
    assert.equal(await get(), 200)
    await admin.grant('owner', 'other', {})
    assert.equal(await get(), 403)
  })

  it('rights: a group gives write and admin, on one collection and on all, beside the permissions of its members', async () => {
    await admin.register('grouped')
    await admin.grant('grouped', 'own', { read: true })
    await admin.do('POST', '/v1/auth/groups', { name: 'team', members: ['grouped'] })
    const may = async (): Promise<readonly number[]> => {
      const headers = asUser('grouped')
      const get = await server.post('/v1/get', { ...DOCUMENT, collection: 'other' }, headers)
      const write = await server.post('/v1/add', { ...DOCUMENT, key: 'of the group', contentMd: 'x' }, headers)
      return [get.status, write.status, (await server.get('/v1/stats', headers)).status]
    }
    assert.deepEqual(await may(), [403, 403, 403])
    await admin.grantGroup('team', 'own', { write: true })
    assert.deepEqual(await may(), [403, 200, 403])
    await admin.grantGroup('team', '*', { read: true })
    assert.deepEqual(await may(), [200, 200, 403])
    await admin.grantGroup('team', '*', { admin: true })
    assert.deepEqual(await may(), [200, 200, 200])
    for (const collection of ['own', '*']) await admin.grantGroup('team', collection, {})
    assert.deepEqual(await may(), [403, 403, 403])
    const { permissions } = (await server.get('/v1/auth/group-permissions?group=team', admin.headers)).json<{ permissions: unknown[] }>()
    assert.deepEqual(permissions, [])
  })
})
