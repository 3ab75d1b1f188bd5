/** Users, groups, permissions, API keys, tokens: service-2, "Authentication". Through the real front door. */
import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { untilAsked } from '../../harness/process/until.js'
import { ACCESS_ENV, Admin, ADMIN_PASSWORD, asUser, bearer, type Headers, JWT_SECRET, keyOf, tokenOf } from '../../harness/server/access.js'
import { clientsOfLoops, LOOP_LOG } from '../../harness/server/loop_clients.js'
import { type Server, startServer, type TestResponse } from '../../harness/server/server.js'

const DOCUMENT = { collection: 'blog', key: 'k', lang: 'en' }

describe('access control', () => {
  let server: Server
  let admin: Admin

  before(async () => {
    server = await startServer({ env: { ...ACCESS_ENV, ...LOOP_LOG } })
    admin = new Admin(server)
    await admin.do('POST', '/v1/add', { ...DOCUMENT, contentMd: 'text' })
  })
  after(async () => {
    await server.kill()
  })

  it('login: the bootstrap administrator gets a token with name, admin flag and expiry, which is valid for a day', async () => {
    const answer = await server.post('/v1/auth/login', { username: 'admin', password: ADMIN_PASSWORD })
    assert.equal(answer.status, 200)
    const { token, expiresAt } = answer.json<{ readonly token: string; readonly expiresAt: number }>()
    const [head, claims] = token
      .split('.', 2)
      .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Readonly<Record<string, unknown>>)
    assert.deepEqual(head, { alg: 'HS256', typ: 'JWT' })
    assert.deepEqual([claims?.['username'], claims?.['admin'], claims?.['exp']], ['admin', true, expiresAt])
    assert.ok(Math.abs(expiresAt - Date.now() / 1000 - 86_400) < 60)
    const me = await server.get('/v1/auth/me', bearer(token))
    assert.deepEqual([me.status, me.json<{ username: string }>().username, me.json<{ admin: boolean }>().admin], [200, 'admin', true])
  })

  it('login: a wrong password and an unknown user get the same 401, malformed input 400', async () => {
    const wrong = await server.post('/v1/auth/login', { username: 'admin', password: 'wrong' })
    const unknown = await server.post('/v1/auth/login', { username: 'nobody', password: 'wrong' })
    assert.deepEqual([wrong.status, wrong.text], [401, '{"error":"invalid credentials"}'])
    assert.deepEqual([unknown.status, unknown.text], [401, wrong.text])
    assert.equal((await server.post('/v1/auth/login', 'not JSON')).status, 400)
    assert.equal((await server.post('/v1/auth/login', { username: 'admin' })).status, 400)
  })

  it('register: an administrator creates a user, who can log in and may do nothing; the name is taken then', async () => {
    const answer = await admin.do('POST', '/v1/auth/register', { username: 'new', password: 'its password' })
    assert.deepEqual(Object.keys(answer.json()), ['username', 'createdAt'])
    const again = await server.post('/v1/auth/register', { username: 'new', password: 'another' }, admin.headers)
    assert.deepEqual([again.status, again.text], [409, '{"error":"user already exists"}'])
    const login = await server.post('/v1/auth/login', { username: 'new', password: 'its password' })
    assert.equal(login.status, 200)
    const get = await server.post('/v1/get', DOCUMENT, bearer(login.json<{ token: string }>().token))
    assert.deepEqual([get.status, get.text], [403, '{"error":"forbidden"}'])
    const other = await server.post('/v1/auth/register', { username: 'x', password: 'y' }, asUser('new'))
    assert.deepEqual([other.status, other.text], [403, '{"error":"admin access required"}'])
  })

  it('register: a password of more than 72 bytes is refused, and is not repeated in the answer', async () => {
    const answer = await server.post('/v1/auth/register', { username: 'long', password: 'ä'.repeat(37) }, admin.headers)
    assert.equal(answer.status, 400)
    assert.ok(!answer.text.includes('ää'))
    const login = await server.post('/v1/auth/login', { username: 'admin', password: `${ADMIN_PASSWORD}${'x'.repeat(73)}` })
    assert.equal(login.status, 401)
    const number = await server.post('/v1/auth/register', { username: 'long', password: 987654321 }, admin.headers)
    assert.equal(number.status, 400)
    assert.ok(!number.text.includes('987654321'), number.text)
  })

  it('permissions: read, write and admin on a collection in any spelling, on all collections, and taken away by all false', async () => {
    await admin.register('p')
    const headers = asUser('p')
    const get = async (): Promise<number> => (await server.post('/v1/get', DOCUMENT, headers)).status
    const add = async (): Promise<number> => (await server.post('/v1/add', { ...DOCUMENT, contentMd: 'text' }, headers)).status
    assert.deepEqual([await get(), await add()], [403, 403])
    await admin.grant('p', 'BLOG', { read: true })
    assert.deepEqual([await get(), await add()], [200, 403])
    await admin.grant('p', 'blog', { write: true })
    assert.deepEqual([await get(), await add()], [403, 200])
    await admin.grant('p', 'blog', { admin: true })
    assert.deepEqual([await get(), await add()], [200, 200])
    // An administrator of one collection is none of the server.
    const stats = await server.get('/v1/stats', headers)
    assert.deepEqual([stats.status, stats.text], [403, '{"error":"admin access required"}'])
    await admin.grant('p', 'blog', {})
    assert.deepEqual([await get(), await add()], [403, 403])
    assert.equal((await server.get('/v1/auth/permissions?username=p', admin.headers)).text, '[]')
    await admin.grant('p', '*', { read: true })
    assert.deepEqual([await get(), await add()], [200, 403])
    await admin.grant('p', '*', { admin: true })
    assert.deepEqual([await get(), await add(), (await server.get('/v1/stats', headers)).status], [200, 200, 200])
    const unknown = await server.post('/v1/auth/permissions', { username: 'nobody', collection: 'blog', read: true }, admin.headers)
    assert.deepEqual([unknown.status, unknown.text], [404, '{"error":"user not found"}'])
  })

  it('permissions: the list names the collection as it was spelled; deleting the collection takes the grants on its name', async () => {
    await admin.register('q')
    await admin.grant('q', 'Gone', { read: true, write: true })
    const list = await server.get('/v1/auth/permissions?username=q', admin.headers)
    assert.deepEqual(JSON.parse(list.text), [{ username: 'q', collection: 'Gone', read: true, write: true, admin: false }])
    await admin.do('POST', '/v1/add', { collection: 'gone', key: 'k', lang: 'en', contentMd: 'x' })
    assert.equal((await server.post('/v1/get', { ...DOCUMENT, collection: 'gone' }, asUser('q'))).status, 200)
    await admin.do('POST', '/v1/delete-collection', { collection: 'gone' })
    await admin.do('POST', '/v1/add', { collection: 'gone', key: 'k', lang: 'en', contentMd: 'x' })
    assert.equal((await server.post('/v1/get', { ...DOCUMENT, collection: 'gone' }, asUser('q'))).status, 403)
    assert.equal((await server.get('/v1/auth/permissions?username=q', admin.headers)).text, '[]')
  })

  it('groups: members have the permissions of their groups, from the next request on', async () => {
    await admin.register('m')
    const created = await admin.do('POST', '/v1/auth/groups', { name: 'readers', description: 'They read', members: ['m'] })
    assert.equal(created.status, 201)
    assert.deepEqual(Object.keys(created.json()), ['name', 'description', 'members', 'createdAt'])
    assert.equal(created.json().description, 'They read')
    const get = async (): Promise<number> => (await server.post('/v1/get', DOCUMENT, asUser('m'))).status
    assert.equal(await get(), 403)
    const set = await admin.do('POST', '/v1/auth/group-permissions', { groupName: 'readers', collection: 'blog', read: true })
    assert.equal(set.text, '{"status":"permission set"}')
    await admin.do('POST', '/v1/auth/group-permissions', { group: 'readers', collection: 'blog', read: true })
    assert.equal(await get(), 200)
    const permissions = await server.get('/v1/auth/group-permissions?group=readers', admin.headers)
    assert.deepEqual(permissions.json(), {
      permissions: [{ group: 'readers', groupName: 'readers', collection: 'blog', read: true, write: false, admin: false }],
    })
    await admin.do('PUT', '/v1/auth/groups/readers', { description: 'Nobody', members: [] })
    assert.equal(await get(), 403)
    await admin.do('PUT', '/v1/auth/groups/readers', { members: ['m'] })
    assert.equal(await get(), 200)
    const group = (await server.get('/v1/auth/groups/readers', admin.headers)).json<{ description: string; members: string[] }>()
    assert.deepEqual([group.description, group.members], ['Nobody', ['m']])
    const users = (await server.get('/v1/auth/users', admin.headers)).json<{ users: { username: string; groups: string[] }[] }>().users
    assert.deepEqual(users.find(({ username }) => username === 'm')?.groups, ['readers'])
    await admin.do('DELETE', '/v1/auth/groups/readers')
    assert.equal(await get(), 403)
    assert.equal((await server.get('/v1/auth/groups/readers', admin.headers)).status, 404)
    assert.deepEqual((await server.get('/v1/auth/groups', admin.headers)).json(), { groups: [] })
  })

  it('groups: a second one of a name and unknown members are refused', async () => {
    await admin.do('POST', '/v1/auth/groups', { name: 'twice' })
    const twice = await server.post('/v1/auth/groups', { name: 'twice' }, admin.headers)
    assert.deepEqual([twice.status, twice.text], [400, '{"error":"group already exists"}'])
    const unknown = await server.post('/v1/auth/groups', { name: 'other', members: ['nobody'] }, admin.headers)
    assert.deepEqual([unknown.status, unknown.text], [404, '{"error":"user not found"}'])
  })

  it('API keys: created with a token, shown once, listed by hash, accepted in both headers, deleted by their owner only', async () => {
    await admin.register('k')
    await admin.grant('k', 'blog', { read: true })
    const created = await server.post('/v1/auth/api-key', { description: 'a key' }, asUser('k'))
    const { key, ...about } = created.json<{ key: string; description: string; createdAt: number; expiresAt: number }>()
    assert.match(key, /^svc_live_[0-9a-f]{48}$/)
    assert.deepEqual([about.description, about.expiresAt], ['a key', 0])
    for (const headers of [{ 'x-api-key': key }, bearer(key)]) assert.equal((await server.post('/v1/get', DOCUMENT, headers)).status, 200)
    const hash = createHash('sha256').update(key).digest('hex')
    const list = await server.get('/v1/auth/api-keys', asUser('k'))
    const [listed] = list.json<{ keys: { keyHash: string; description: string }[] }>().keys
    assert.deepEqual([listed?.keyHash, listed?.description], [hash, 'a key'])
    assert.ok(!list.text.includes(key))
    const byKey = await server.post('/v1/auth/api-key', {}, bearer(key))
    assert.deepEqual([byKey.status, byKey.text], [401, '{"error":"authentication required"}'])
    const others = await server.request('DELETE', `/v1/auth/api-keys/${hash}`, undefined, admin.headers)
    assert.deepEqual([others.status, others.text], [403, '{"error":"forbidden: you can only delete your own api keys"}'])
    for (const path of ['/v1/auth/api-keys/', '/v1/auth/api-keys']) {
      const missing = await server.request('DELETE', path, undefined, asUser('k'))
      assert.deepEqual([missing.status, missing.text], [400, '{"error":"key hash required"}'])
    }
    const unknown = await server.request('DELETE', `/v1/auth/api-keys/${'0'.repeat(64)}`, undefined, asUser('k'))
    assert.deepEqual([unknown.status, unknown.text], [404, '{"error":"api key not found"}'])
    const deleted = await server.request('DELETE', `/v1/auth/api-keys/${hash}`, undefined, asUser('k'))
    assert.deepEqual([deleted.status, deleted.text], [200, '{"status":"deleted"}'])
    const after = await server.post('/v1/get', DOCUMENT, { 'x-api-key': key })
    assert.deepEqual([after.status, after.text], [401, '{"error":"invalid api key"}'])
  })

  it('API keys: one that expires is refused from that second on', async () => {
    await admin.register('e')
    await admin.grant('e', 'blog', { read: true })
    const expiresAt = Math.ceil(Date.now() / 1000) + 1
    const headers = { 'x-api-key': await keyOf(server, 'e', expiresAt) }
    assert.equal((await server.post('/v1/get', DOCUMENT, headers)).status, 200)
    const ask = (): Promise<TestResponse> => server.post('/v1/get', DOCUMENT, headers)
    await untilAsked(ask, () => Date.now() >= expiresAt * 1000)
    const answer = await ask()
    assert.deepEqual([answer.status, answer.text], [401, '{"error":"invalid api key"}'])
    const past = await server.post('/v1/auth/api-key', { expiresAt: 1 }, asUser('e'))
    assert.equal(past.status, 400)
  })

  it('users: a disabled one is refused as an invalid token is, and so are its keys; enabled again, it logs in again', async () => {
    await admin.register('d', 'its password')
    await admin.grant('d', 'blog', { read: true })
    const key = await keyOf(server, 'd')
    assert.equal((await server.post('/v1/get', DOCUMENT, asUser('d'))).status, 200)
    await admin.do('PUT', '/v1/auth/users/d', { disabled: true })
    const byToken = await server.post('/v1/get', DOCUMENT, asUser('d'))
    assert.deepEqual([byToken.status, byToken.text], [401, '{"error":"invalid token"}'])
    assert.equal((await server.post('/v1/get', DOCUMENT, { 'x-api-key': key })).status, 401)
    assert.equal((await server.post('/v1/auth/login', { username: 'd', password: 'its password' })).status, 401)
    await admin.do('PUT', '/v1/auth/users/d', { disabled: false })
    // Its tokens of before stay invalid.
    assert.equal((await server.post('/v1/get', DOCUMENT, asUser('d'))).status, 401)
    assert.equal((await server.post('/v1/auth/login', { username: 'd', password: 'its password' })).status, 200)
    assert.equal((await server.post('/v1/get', DOCUMENT, { 'x-api-key': key })).status, 200)
  })

  it('users: change their own password with the old one, which ends their tokens; others only administrators change', async () => {
    await admin.register('w', 'old password')
    const headers = asUser('w')
    const wrong = await server.request('PUT', '/v1/auth/users/w', { password: 'new password', oldPassword: 'no' }, headers)
    assert.deepEqual([wrong.status, wrong.text], [401, '{"error":"invalid credentials"}'])
    assert.equal((await server.request('PUT', '/v1/auth/users/w', { password: 'new password' }, headers)).status, 400)
    for (const body of [{ disabled: true }, { disabled: false, password: 'x', oldPassword: 'old password' }])
      assert.equal((await server.request('PUT', '/v1/auth/users/w', body, headers)).status, 403)
    assert.equal((await server.request('PUT', '/v1/auth/users/admin', { password: 'x', oldPassword: 'y' }, headers)).status, 403)
    const changed = await server.request('PUT', '/v1/auth/users/w', { password: 'new password', oldPassword: 'old password' }, headers)
    assert.equal(changed.status, 200, changed.text)
    assert.equal((await server.get('/v1/auth/me', headers)).status, 401)
    assert.equal((await server.post('/v1/auth/login', { username: 'w', password: 'old password' })).status, 401)
    assert.equal((await server.post('/v1/auth/login', { username: 'w', password: 'new password' })).status, 200)
    await admin.do('PUT', '/v1/auth/users/w', { password: 'set by the administrator' })
    assert.equal((await server.post('/v1/auth/login', { username: 'w', password: 'set by the administrator' })).status, 200)
  })

  it('tokens: whatever is wrong with one, the answer is the same 401', async () => {
    const now = Math.floor(Date.now() / 1000)
    const claims = { iss: 'mds', aud: 'mds', username: 'admin', admin: true, epoch: 1, exp: now + 3600 }
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    const signed = (head: object, payload: object, secret = JWT_SECRET, hash = 'sha256'): string => {
      const text = `${part(head)}.${part(payload)}`
      return `${text}.${createHmac(hash, secret).update(text).digest('base64url')}`
    }
    const HS256 = { alg: 'HS256', typ: 'JWT' }
    assert.equal((await server.get('/v1/auth/me', bearer(signed(HS256, claims)))).status, 200)
    const [head = '', payload = '', signature = ''] = signed(HS256, claims).split('.')
    const attacks = {
      'no algorithm': `${part({ alg: 'none', typ: 'JWT' })}.${payload}.`,
      'algorithm none, signed': signed({ alg: 'none' }, claims),
      'another hash': signed({ alg: 'HS512' }, claims, JWT_SECRET, 'sha512'),
      'claims to be of a public key': signed({ alg: 'RS256' }, claims),
      'names a key': signed({ ...HS256, jwk: { kty: 'oct', k: 'AAAA' }, kid: '/dev/null' }, claims, ''),
      'wrong secret': signed(HS256, claims, `${JWT_SECRET}x`),
      'empty secret': signed(HS256, claims, ''),
      expired: signed(HS256, { ...claims, exp: now - 1 }),
      'not yet valid': signed(HS256, { ...claims, nbf: now + 3600 }),
      'without expiry': signed(HS256, { ...claims, exp: undefined }),
      'of another issuer': signed(HS256, { ...claims, iss: 'other' }),
      'without issuer': signed(HS256, { ...claims, iss: undefined }),
      'for another audience': signed(HS256, { ...claims, aud: 'other' }),
      'without audience': signed(HS256, { ...claims, aud: undefined }),
      'of another epoch': signed(HS256, { ...claims, epoch: 2 }),
      'without epoch': signed(HS256, { ...claims, epoch: undefined }),
      'of an unknown user': signed(HS256, { ...claims, username: 'nobody' }),
      'of a name that looks alike': signed(HS256, { ...claims, username: 'аdmin' }),
      'of a name that is no text': signed(HS256, { ...claims, username: ['admin'] }),
      'of no name': signed(HS256, { ...claims, username: '' }),
      'other claims under the signature': `${head}.${part({ ...claims, username: 'root' })}.${signature}`,
      'without signature': `${head}.${payload}`,
      'empty signature': `${head}.${payload}.`,
      'cut signature': `${head}.${payload}.${signature.slice(0, -2)}`,
      'more behind it': `${head}.${payload}.${signature}.${signature}`,
      oversized: signed(HS256, { ...claims, more: 'x'.repeat(4000) }),
      'no token': 'x',
    }
    for (const [name, token] of Object.entries(attacks)) {
      const answer = await server.get('/v1/auth/me', bearer(token))
      assert.deepEqual([answer.status, answer.text], [401, '{"error":"invalid token"}'], name)
      assert.equal(answer.headers['www-authenticate'], 'Bearer', name)
    }
    const missing = await server.get('/v1/auth/me')
    assert.deepEqual([missing.status, missing.text], [401, '{"error":"missing authentication"}'])
    for (const authorization of ['Basic YWRtaW46eA==', 'Bearer', tokenOf('admin')])
      assert.equal((await server.get('/v1/auth/me', { authorization })).status, 401, authorization)
    // A proxy in front may have an Authorization of its own.
    const key = await keyOf(server, 'admin')
    assert.equal((await server.get('/v1/auth/me', { authorization: 'Basic YWRtaW46eA==', 'x-api-key': key })).status, 200)
  })

  it('health: status and mode for everybody, on every loop; paths, free space and warnings for administrators', async () => {
    await admin.register('health-reader')
    const reader = asUser('health-reader')
    const clients = await clientsOfLoops(server, 2)
    try {
      for (const client of clients)
        for (const path of ['/health', '/v1/health']) {
          for (const headers of [{}, bearer('x'), reader]) {
            const { status, text } = await client.ask('GET', path, undefined, headers)
            assert.deepEqual([status, JSON.parse(text)], [200, { status: 'healthy', mode: 'wr' }])
          }
          const { text } = await client.ask('GET', path, undefined, admin.headers)
          assert.equal(typeof (JSON.parse(text) as { persistence: { path: string } }).persistence.path, 'string')
        }
    } finally {
      for (const client of clients) client.close()
    }
  })

  it('public endpoints need no credentials, and wrong ones do not matter there; all others do', async () => {
    for (const path of ['/health', '/v1/health', '/livez', '/readyz', '/metrics', '/docs', '/openapi.json'])
      for (const headers of [{}, bearer('x')]) assert.equal((await server.get(path, headers)).status, 200, path)
    assert.equal((await server.get('/')).status, 302)
    for (const path of ['/v1/stats', '/v1/config', '/v1/endpoints', '/v1/system/info', '/v1/collection-configs', '/v1/auth/users'])
      assert.equal((await server.get(path)).status, 401, path)
    assert.equal((await server.get('/v1/config', admin.headers)).json()['authEnabled'], true)
    const endpoints = (await server.get('/v1/endpoints', admin.headers)).json<{ http: { path: string; requiresAuth: boolean }[] }>().http
    assert.equal(endpoints.find(({ path }) => path === '/v1/auth/login')?.requiresAuth, false)
    assert.equal(endpoints.find(({ path }) => path === '/v1/auth/me')?.requiresAuth, true)
  })

  it('listings show what the caller may read; a reader of two collections may search both, and no third', async () => {
    await admin.register('r')
    for (const collection of ['one', 'two', 'three']) await admin.do('POST', '/v1/add', { ...DOCUMENT, collection, contentMd: 'word' })
    for (const collection of ['one', 'two']) {
      await admin.grant('r', collection, { read: true, write: true })
      await admin.do('PUT', '/v1/collection-config', { collection, description: collection })
    }
    await admin.do('PUT', '/v1/collection-config', { collection: 'three', description: 'three' })
    const headers = asUser('r')
    const { configs } = (await server.get('/v1/collection-configs', headers)).json<{ configs: { collection: string }[] }>()
    assert.deepEqual(
      configs.map(({ collection }) => collection),
      ['one', 'two'],
    )
    const set = (body: object) => server.request('PUT', '/v1/collection-config', { collection: 'one', ...body }, headers)
    assert.equal((await set({ description: 'changed' })).status, 200)
    for (const body of [
      { encrypted: true },
      { encrypted: null },
      { storageBackend: 's3', storageConfig: { endpoint: 'x', bucket: 'y' } },
      { storageConfig: { endpoint: 'x', bucket: 'y' } },
      { storageBackend: 'memory' },
      { storageBackend: null },
    ]) {
      const answer = await set(body)
      assert.deepEqual([answer.status, answer.text], [403, '{"error":"admin access required"}'])
    }
  })

  it('a configuration that says where bodies are stored is deleted by a server administrator alone', async () => {
    await admin.register('keeper')
    await admin.grant('keeper', 'kept', { read: true, write: true })
    const path = '/v1/collection-config?collection=kept'
    const remove = async () => (await server.request('DELETE', path, undefined, asUser('keeper'))).status
    await admin.do('PUT', '/v1/collection-config', { collection: 'kept', description: 'kept' })
    assert.equal(await remove(), 200)
    await admin.do('PUT', '/v1/collection-config', { collection: 'kept', description: 'kept', storageBackend: 'boltdb' })
    assert.equal(await remove(), 403)
    assert.equal((await server.get(path, asUser('keeper'))).json()['configured'], true)
    await admin.do('DELETE', path)
    assert.equal((await server.get(path, asUser('keeper'))).json()['configured'], false)
  })

  it('a change of rights holds from the next request on, on every event loop, also where it answers gets itself', async () => {
    await admin.register('changing')
    const key = await keyOf(server, 'changing')
    const clients = await clientsOfLoops(server, 2)
    const statuses = async (): Promise<readonly number[]> => {
      const found: number[] = []
      for (const client of clients) {
        for (const headers of [asUser('changing'), { 'x-api-key': key }]) {
          found.push((await client.ask('POST', '/v1/get', DOCUMENT, headers)).status)
          found.push((await client.ask('POST', '/v1/search', { collection: 'blog' }, headers)).status)
        }
      }
      return [...new Set(found)]
    }
    for (let round = 0; round < 20; round++) {
      await admin.grant('changing', 'blog', { read: true })
      assert.deepEqual(await statuses(), [200])
      await admin.grant('changing', 'blog', {})
      assert.deepEqual(await statuses(), [403])
    }
    await admin.do('PUT', '/v1/auth/users/changing', { disabled: true })
    assert.deepEqual(await statuses(), [401])
    for (const client of clients) client.close()
  })

  it('a job of ingestion runs with the rights that its submitter has when it starts', async () => {
    await admin.register('j')
    await admin.grant('j', 'jobs', { read: true, write: true })
    const documents = [{ key: 'k', lang: 'en', contentMd: 'text' }]
    const submit = async (): Promise<string> => {
      const answer = await server.post('/v1/bulk-ingest-job', { collection: 'jobs', documents }, asUser('j'))
      assert.equal(answer.status, 202, answer.text)
      return answer.json<{ id: string }>().id
    }
    interface Job {
      readonly status: string
      readonly added: number
      readonly failed: number
      readonly errors: readonly string[]
    }
    const ended = async (id: string): Promise<Job> => {
      for (;;) {
        const job = (await server.get(`/v1/bulk-ingest-job/${id}`, admin.headers)).json<Job>()
        if (job.status === 'completed' || job.status === 'failed') return job
      }
    }
    const many = Array.from({ length: 4_000 }, (_, at) => ({ key: `k${at}`, lang: 'en', contentMd: `text ${at}` }))
    const before = await admin.do('POST', '/v1/bulk-ingest-job', { collection: 'many', documents: many })
    const behind = await submit()
    await admin.grant('j', 'jobs', { read: true })
    const { status, added, failed, errors } = await ended(behind)
    assert.deepEqual([status, added, failed], ['failed', 0, 1])
    assert.match(String(errors[0]), /forbidden/)
    assert.equal((await ended(before.json<{ id: string }>().id)).status, 'completed')
    await admin.grant('j', 'jobs', { read: true, write: true })
    assert.equal((await ended(await submit())).status, 'completed')
  })

  it('users: deletion takes the account, its keys and its memberships; a new user of the name has nothing of it', async () => {
    await admin.register('gone')
    await admin.grant('gone', 'blog', { read: true })
    await admin.do('POST', '/v1/auth/groups', { name: 'club', members: ['gone'] })
    const key = await keyOf(server, 'gone')
    const login = async (): Promise<Headers> => {
      const answer = await server.post('/v1/auth/login', { username: 'gone', password: 'the password of gone' })
      return bearer(answer.json<{ token: string }>().token)
    }
    const before = await login()
    assert.equal((await server.post('/v1/get', DOCUMENT, before)).status, 200)
    assert.equal((await admin.do('DELETE', '/v1/auth/users/gone')).text, '{"status":"deleted"}')
    assert.equal((await server.post('/v1/get', DOCUMENT, asUser('gone'))).status, 401)
    assert.equal((await server.post('/v1/get', DOCUMENT, { 'x-api-key': key })).status, 401)
    const missing = await server.request('DELETE', '/v1/auth/users/gone', undefined, admin.headers)
    assert.deepEqual([missing.status, missing.text], [404, '{"error":"user not found"}'])
    assert.deepEqual((await server.get('/v1/auth/groups/club', admin.headers)).json<{ members: string[] }>().members, [])
    await admin.register('gone')
    assert.equal((await server.post('/v1/get', DOCUMENT, before)).status, 401)
    assert.equal((await server.post('/v1/get', DOCUMENT, await login())).status, 403)
    assert.equal((await server.post('/v1/get', DOCUMENT, { 'x-api-key': key })).status, 401)
  })
})
