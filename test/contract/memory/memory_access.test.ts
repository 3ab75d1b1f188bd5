/**
 * Whose conversations a caller sees: decisions.md, "What follows a write", row "memory"; security.md, "TTL
 * memory sessions". Nobody but an administrator meets a session of another user, on any path.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Fields, summary } from '../../harness/clients/documents_client.js'
import { ACCESS_ENV, Admin, asUser, type Headers, keyOf } from '../../harness/server/access.js'
import { type Server, startServer } from '../../harness/server/server.js'

const FORBIDDEN = '403 {"error":"forbidden"}'
const SECRET = 'quetzalcoatlus'

describe('conversational memory: access', () => {
  let server: Server
  let admin: Admin
  /** Of bob. */
  let foreign = ''
  let own = ''

  const ask = async (path: string, body: Fields, headers: Headers, on = server): Promise<string> =>
    summary(await on.post(`/v1/memory/${path}`, body, headers))
  const answer = async <Answer>(path: string, body: Fields, headers: Headers, on = server): Promise<Answer> => {
    const given = await on.post(`/v1/memory/${path}`, body, headers)
    assert.equal(given.status, 200, given.text)
    return given.json<Answer>()
  }
  const startAs = async (user: string, userId = user, on = server): Promise<string> =>
    (await answer<{ sessionId: string }>('session', { userId, title: `of ${userId} ${SECRET}` }, asUser(user), on)).sessionId
  const sayAs = async (user: string, sessionId: string, content: string, on = server): Promise<void> => {
    await answer('message', { sessionId, role: 'user', content }, asUser(user), on)
  }

  before(async () => {
    server = await startServer({ env: ACCESS_ENV })
    admin = new Admin(server)
    for (const user of ['alice', 'bob', 'reader', 'granted']) await admin.register(user)
    await admin.grant('reader', '*', { read: true, write: true })
    await admin.grant('granted', 'memory_messages', { read: true })
    await admin.do('POST', '/v1/add', { collection: 'blog', key: 'k', lang: 'en', contentMd: SECRET, meta: {} })
    foreign = await startAs('bob')
    await sayAs('bob', foreign, `bob says ${SECRET}`)
    own = await startAs('alice')
    await sayAs('alice', own, 'alice says something')
  })
  after(() => server.stop())

  it('memory access: users need no permission for sessions of their own name, and guests have none', async () => {
    const history = await answer<{ messages: { content: string }[] }>('history', { sessionId: own }, asUser('alice'))
    assert.deepEqual(
      history.messages.map(({ content }) => content),
      ['alice says something'],
    )
    for (const [path, body] of [
      ['session', { userId: 'alice' }],
      ['message', { sessionId: own, role: 'user', content: 'x' }],
      ['sessions', {}],
      ['history', { sessionId: own }],
    ] as const)
      assert.equal(await ask(path, body, {}), '401 {"error":"missing authentication"}', path)
    const byKey = { 'x-api-key': await keyOf(server, 'alice') }
    assert.equal((await answer<{ total: number }>('history', { sessionId: own }, byKey)).total, 1)
  })

  it('memory access: the name of another user is 403, and its sessions are like sessions that do not exist', async () => {
    for (const user of ['alice', 'reader', 'granted']) {
      const headers = asUser(user)
      assert.equal(await ask('session', { userId: 'bob' }, headers), FORBIDDEN)
      assert.equal(await ask('sessions', { userId: 'bob' }, headers), FORBIDDEN)
      const unknown = `404 {"error":"session not found: ${foreign}"}`
      assert.equal(await ask('history', { sessionId: foreign }, headers), unknown)
      assert.equal(await ask('message', { sessionId: foreign, role: 'user', content: 'x' }, headers), unknown)
      const { sessions, total } = await answer<{ sessions: { userId: string }[]; total: number }>('sessions', {}, headers)
      assert.deepEqual([sessions.filter(({ userId }) => userId !== user), total], [[], user === 'alice' ? 1 : 0])
    }
  })

  it('memory access: an administrator sees and writes the sessions of all users', async () => {
    const { sessions, total } = await answer<{ sessions: { userId: string }[]; total: number }>('sessions', {}, admin.headers)
    assert.deepEqual([sessions.map(({ userId }) => userId).sort(), total], [['alice', 'bob'], 2])
    assert.equal((await answer<{ total: number }>('history', { sessionId: foreign }, admin.headers)).total, 1)
    assert.equal((await answer<{ total: number }>('sessions', { userId: 'bob' }, admin.headers)).total, 1)
  })

  it('memory access: a permission on * includes no collection of memory on any path; one on its name does', async () => {
    const reader = asUser('reader')
    const named = { collection: 'memory_messages', query: SECRET }
    const asked: readonly (readonly [string, string, Fields])[] = [
      ['POST', '/v1/fts', named],
      ['POST', '/v1/search', { collection: 'Memory_Messages' }],
      ['POST', '/v1/hybrid-search', named],
      ['POST', '/v1/multi-search', { searches: [{ collection: 'blog', query: SECRET }, named] }],
      ['POST', '/v1/cross-search', { query: SECRET, targetCollections: ['blog', 'memory_messages'] }],
      ['POST', '/v1/get', { collection: 'memory_sessions', key: foreign, lang: 'en' }],
      ['POST', '/v1/doc-meta', { collection: 'memory_sessions', key: foreign, lang: 'en' }],
      ['POST', '/v1/export', { collection: 'memory_messages', format: 'ndjson' }],
      ['POST', '/v1/aggregate', { collection: 'memory_sessions', facets: [{ field: 'userId' }] }],
      ['GET', '/v1/meta-keys?collection=memory_sessions', {}],
      ['GET', '/v1/checksum?collection=memory_messages', {}],
      ['GET', '/v1/autocomplete?collection=memory_messages&q=que', {}],
      ['POST', '/v1/revisions', { collection: 'memory_messages', key: 'k', lang: 'en' }],
      ['POST', '/v1/add', { collection: 'memory_messages', key: 'k', lang: 'en', contentMd: 'x', meta: {} }],
      ['POST', '/v1/set-ttl', { collection: 'memory_sessions', key: foreign, lang: 'en', ttl: 1 }],
      ['POST', '/v1/delete', { collection: 'memory_sessions', key: foreign, lang: 'en' }],
    ]
    for (const [method, path, body] of asked) {
      const given = await server.request(method, path, method === 'GET' ? undefined : body, reader)
      assert.equal(summary(given), FORBIDDEN, path)
    }
    const listings = ['/v1/vector-stats', '/v1/collection-configs', '/v1/schema/list', '/v1/stats'].map((path) => server.get(path, reader))
    for (const listed of await Promise.all(listings)) assert.ok(!listed.text.includes('memory_'), listed.text)
    const found = await server.post('/v1/fts', { collection: 'blog', query: SECRET }, reader)
    assert.equal(found.json<{ results: unknown[] }>().results.length, 1, 'other collections are as before')
    const granted = await server.post('/v1/fts', named, asUser('granted'))
    assert.equal(granted.json<{ results: unknown[] }>().results.length, 1)
  })

  it('memory access: with SVC_MEMORY_SHARED users see and write the sessions of all', async (test) => {
    const shared = await startServer({ env: { ...ACCESS_ENV, SVC_MEMORY_SHARED: 'true' } })
    test.after(() => shared.stop())
    const chief = new Admin(shared)
    for (const user of ['alice', 'bob']) await chief.register(user)
    const sessionId = await startAs('alice', 'bob', shared)
    await sayAs('bob', sessionId, 'x', shared)
    assert.equal((await answer<{ total: number }>('sessions', {}, asUser('alice'), shared)).total, 1)
    assert.equal((await answer<{ total: number }>('history', { sessionId }, asUser('alice'), shared)).total, 1)
    assert.equal(await ask('history', { sessionId }, {}, shared), '401 {"error":"missing authentication"}')
  })
})
