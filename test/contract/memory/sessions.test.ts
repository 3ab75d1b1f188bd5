/**
 * Sessions and messages of conversational memory over HTTP: service-2, "Memory"; http.md, section 6;
 * events.md, section 9; reference-weaknesses.md, row 13.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { DOCUMENT_BYTES_MAX } from '../../../src/limits/documents.js'
import { type Fields, summary } from '../../harness/clients/documents_client.js'
import { embeddingEnv } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer } from '../../harness/embedding/embedding_server.js'
import { untilAsked } from '../../harness/process/until.js'
import { type Server, startServer } from '../../harness/server/server.js'

interface Session {
  readonly sessionId: string
  readonly userId: string
  readonly title: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly expiresAt?: number
  readonly messageCount: number
}

interface Message {
  readonly messageId: string
  readonly id: string
  readonly key: string
  readonly content: string
  readonly contentMd: string
  readonly meta: Readonly<Record<string, readonly string[]>>
}

const TTL_DEFAULT = 2_592_000
const ROLES = ['user', 'assistant', 'system', 'tool']
const seconds = (): number => Math.floor(Date.now() / 1000)

describe('conversational memory: sessions and messages', () => {
  let server: Server
  let users = 0
  before(async () => {
    server = await startServer()
  })
  after(() => server.stop())

  const ask = async <Answer>(path: string, body: Fields, on = server): Promise<Answer> => {
    const answer = await on.post(`/v1/memory/${path}`, body)
    assert.equal(answer.status, 200, `${path}: ${answer.text}`)
    return answer.json<Answer>()
  }
  const refused = async (path: string, body: Fields): Promise<string> => summary(await server.post(`/v1/memory/${path}`, body))
  const start = async (more: Fields = {}): Promise<Session> => await ask('session', { userId: `user${++users}`, ...more })
  const say = async (sessionId: string, content: string, more: Fields = {}): Promise<Fields> =>
    await ask('message', { sessionId, role: 'user', content, ...more })
  const history = async (
    sessionId: string,
    more: Fields = {},
  ): Promise<{ readonly messages: readonly Message[]; readonly total: number }> => await ask('history', { sessionId, ...more })
  const sessions = async (body: Fields): Promise<{ readonly sessions: readonly Session[]; readonly total: number }> =>
    await ask('sessions', body)
  const document = async (collection: string, key: string): Promise<Fields> =>
    (await server.post('/v1/get', { collection, key, lang: 'en' })).json<Fields>()

  it('memory: a session has an id, its user, scenario, title, meta, times, an expiry and no messages', async () => {
    const begin = seconds()
    const session = await start({
      userId: 'ann',
      scenario: 'support',
      title: 'A bill',
      meta: { topic: 'bills', tags: ['a', 'b'] },
      ttl: 600,
    })
    const { sessionId, createdAt, updatedAt, expiresAt, ...rest } = session
    assert.match(sessionId, /^[0-9a-f]{32}$/)
    assert.ok(createdAt >= begin && createdAt <= seconds())
    assert.deepEqual([updatedAt, expiresAt], [createdAt, createdAt + 600])
    const meta = { tags: ['a', 'b'], topic: ['bills'] }
    assert.deepEqual(rest, { userId: 'ann', scenario: 'support', title: 'A bill', meta, messageCount: 0 })
    assert.deepEqual(await sessions({ userId: 'ann' }), { sessions: [session], total: 1 })
  })

  it('memory: a session without title, scenario and ttl has a title of its id and ends after 30 days; ttl 0 never ends', async () => {
    const { sessionId, title, createdAt, expiresAt, ...rest } = await start()
    assert.equal(title, `Session ${sessionId.slice(0, 8)}`)
    assert.equal(expiresAt, createdAt + TTL_DEFAULT)
    assert.ok(!('scenario' in rest))
    assert.ok(!('expiresAt' in (await start({ ttl: 0 }))))
  })

  it('memory: sessions are documents of memory_sessions, with the metadata and the text of the layout', async () => {
    const { sessionId, createdAt } = await start({
      userId: 'bob',
      scenario: 'sales',
      title: 'An offer',
      meta: { region: 'north', type: 'x' },
    })
    const { contentMd, ...stored } = await document('memory_sessions', sessionId)
    assert.deepEqual([stored['key'], stored['lang']], [sessionId, 'en'])
    const own = {
      userId: ['bob'],
      type: ['session'],
      status: ['active'],
      scenario: ['sales'],
      title: ['An offer'],
      ttl: [String(TTL_DEFAULT)],
    }
    assert.deepEqual(stored['meta'], { ...own, region: ['north'] })
    const [title, ...about] = String(contentMd).trim().split('\n').filter(Boolean)
    assert.equal(title, '# An offer')
    assert.deepEqual(about.slice(0, 2), ['- User: bob', '- Scenario: sales'])
    assert.equal(Math.floor(Date.parse(about[2]?.replace('- Created: ', '') ?? '') / 1000), createdAt)
    const found = (await server.post('/v1/fts', { collection: 'memory_sessions', query: 'offer' })).json<{ results: unknown[] }>()
    assert.equal(found.results.length, 1)
  })

  it('memory: messages are documents of memory_messages, with the key and the metadata of the layout', async () => {
    const { sessionId, userId } = await start()
    const begin = seconds()
    const { messageId, createdAt, ...rest } = await say(sessionId, 'The bill is *wrong*.', {
      role: 'tool',
      meta: { tone: 'calm', role: 'x' },
    })
    assert.deepEqual(rest, { sessionId, role: 'tool', embedded: false })
    const { messages } = await history(sessionId)
    const [message] = messages
    assert.ok(message)
    assert.match(message.key, new RegExp(`^${sessionId}/[0-9]{20}-[0-9a-f]{24}$`))
    const second = Number(message.key.split('/')[1]?.split('-')[0])
    assert.ok(second >= begin && second <= seconds())
    assert.equal(messageId, `memory_messages|${message.key}|en`)
    const stored = await document('memory_messages', message.key)
    const meta = {
      sessionId: [sessionId],
      userId: [userId],
      role: ['tool'],
      type: ['message'],
      timestamp: [String(second)],
      tone: ['calm'],
    }
    assert.deepEqual([stored['meta'], stored['contentMd']], [meta, 'The bill is *wrong*.'])
    const shown = { messageId, sessionId, role: 'tool', content: 'The bill is *wrong*.', createdAt, embedded: false }
    assert.deepEqual(message, { ...shown, ...stored })
  })

  it('memory: messages have the roles user, assistant, system and tool, and no other', async () => {
    const { sessionId } = await start()
    for (const role of ROLES) assert.equal((await say(sessionId, role, { role }))['role'], role)
    assert.deepEqual(
      (await history(sessionId)).messages.map(({ meta }) => meta['role']?.[0]),
      ROLES,
    )
    const wrong = '400 {"error":"invalid role: must be user, assistant, system, or tool"}'
    for (const role of ['User', 'bot']) assert.equal(await refused('message', { sessionId, role, content: 'x' }), wrong)
  })

  it('memory: what is missing, unknown or not valid is refused', async () => {
    const { sessionId } = await start()
    for (const body of [{}, { userId: '' }, { userId: null }]) assert.match(await refused('session', body), /^400 .*missing fields/)
    for (const name of ['sessionId', 'role', 'content'])
      assert.match(await refused('message', { sessionId, role: 'user', content: 'x', [name]: '' }), /^400 .*missing fields/, name)
    const unknown = '404 {"error":"session not found: none"}'
    assert.equal(await refused('message', { sessionId: 'none', role: 'user', content: 'x' }), unknown)
    assert.equal(await refused('history', { sessionId: 'none' }), unknown)
    assert.match(await refused('history', { sessionId: 'x'.repeat(2000) }), /^400 .*invalid key/)
    assert.match(await refused('session', { userId: 'u', ttl: -1 }), /^400 .*invalid ttl/)
    assert.match(await refused('session', { userId: 'u', meta: { a: 1 } }), /^400 .*invalid meta/)
    assert.match(await refused('session', { userId: '\ud800' }), /^400 /)
    assert.match(await refused('message', { sessionId, role: 'user', content: 'x'.repeat(DOCUMENT_BYTES_MAX + 1) }), /^4(00|13) /)
    assert.match(await refused('sessions', { sort: 'title' }), /^400 .*invalid sort/)
    assert.equal((await history(sessionId)).total, 0)
  })

  it('memory: the history is in the order of acceptance, however many messages one second has, and total is that of all', async () => {
    const { sessionId } = await start()
    const texts = Array.from({ length: 130 }, (_, at) => `message ${at}`)
    for (const text of texts) await say(sessionId, text)
    const whole = await history(sessionId, { limit: 1000 })
    assert.deepEqual(
      whole.messages.map(({ content }) => content),
      texts,
    )
    const keys = whole.messages.map(({ key }) => key)
    assert.deepEqual(keys, [...keys].sort(), 'keys are in the same order')
    const first = await history(sessionId)
    assert.deepEqual([first.messages.length, first.total], [100, 130], 'limit defaults to 100, offset to 0')
    assert.equal(first.messages[0]?.content, 'message 0')
    const page = await history(sessionId, { limit: 5, offset: 120 })
    assert.deepEqual([page.messages.map(({ content }) => content), page.total], [texts.slice(120, 125), 130])
    assert.deepEqual(await history(sessionId, { offset: 500 }), { messages: [], total: 130 })
  })

  it('memory: many messages of one session at once are all there, each once', async () => {
    const { sessionId, userId } = await start()
    const texts = Array.from({ length: 64 }, (_, at) => `at once ${at}`)
    const answers = await Promise.all(texts.map((text) => say(sessionId, text)))
    assert.equal(new Set(answers.map(({ messageId }) => messageId)).size, 64)
    const { messages, total } = await history(sessionId, { limit: 100 })
    assert.equal(total, 64)
    assert.deepEqual(messages.map(({ content }) => content).sort(), [...texts].sort())
    assert.equal((await sessions({ userId })).sessions[0]?.messageCount, 64)
  })

  it('memory: a message changes updatedAt of its session and prolongs it, and leaves no revision and no other change', async () => {
    const { sessionId, createdAt } = await start({ ttl: 900 })
    const before = await document('memory_sessions', sessionId)
    await untilAsked(
      () => seconds(),
      (now) => now > createdAt,
    )
    await say(sessionId, 'later')
    const { updatedAt, expiresAt, ...rest } = (await document('memory_sessions', sessionId)) as { updatedAt: number; expiresAt: number }
    assert.ok(updatedAt > createdAt)
    assert.equal(expiresAt, updatedAt + 900)
    const { updatedAt: _, expiresAt: __, ...same } = before
    assert.deepEqual(rest, same)
    const revisions = await server.post('/v1/revisions', { collection: 'memory_sessions', key: sessionId, lang: 'en' })
    assert.deepEqual(revisions.json<{ revisions: unknown[] }>().revisions, [])
    const eternal = await start({ ttl: 0 })
    await say(eternal.sessionId, 'x')
    assert.ok(!('expiresAt' in (await document('memory_sessions', eternal.sessionId))))
  })

  it('memory: sessions are listed by user and scenario, by the last message or the start, in pages, with the true total', async () => {
    const userId = 'lister'
    const made: Session[] = []
    for (let at = 0; at < 60; at++) made.push(await start({ userId, title: `t${at}`, scenario: at % 2 === 0 ? 'even' : 'odd' }))
    const titles = (list: { readonly sessions: readonly Session[] }): string[] => list.sessions.map(({ title }) => title)
    const all = made.map(({ title }) => title)
    const page = await sessions({ userId, sort: 'createdAt', asc: true })
    assert.deepEqual([titles(page), page.total], [all.slice(0, 50), 60], 'limit defaults to 50, offset to 0')
    assert.deepEqual(titles(await sessions({ userId, sort: 'createdAt', limit: 3, offset: 1 })), ['t58', 't57', 't56'])
    const odd = await sessions({ userId, scenario: 'odd', sort: 'createdAt', asc: true, limit: 2 })
    assert.deepEqual([titles(odd), odd.total], [['t1', 't3'], 30])
    await untilAsked(
      () => seconds(),
      (now) => now > (made.at(-1)?.createdAt ?? 0),
    )
    await say(made[7]?.sessionId ?? '', 'the last')
    const [last] = (await sessions({ userId, limit: 1 })).sessions
    assert.deepEqual([last?.title, last?.messageCount], ['t7', 1], 'sorted by updatedAt, the last first')
    assert.equal(titles(await sessions({ userId, sort: 'updatedAt', asc: true, limit: 1 })).includes('t7'), false)
    assert.deepEqual(await sessions({ userId: 'none' }), { sessions: [], total: 0 })
    await start()
    assert.ok((await sessions({ limit: 1 })).total > 60)
  })

  it('memory: a session that has ended is unknown, with its messages', async (test) => {
    // Nothing is removed yet, so only the expiry hides it.
    const keeping = await startServer({ env: { SVC_LIMIT_SWEEP_DOCUMENTS_MAX: '0' } })
    test.after(() => keeping.stop())
    const { sessionId, userId } = await ask<Session>('session', { userId: 'u', ttl: 2 }, keeping)
    await ask('message', { sessionId, role: 'user', content: 'soon forgotten' }, keeping)
    await untilAsked(
      () => keeping.post('/v1/memory/history', { sessionId }),
      ({ status }) => status === 404,
    )
    const said = await keeping.post('/v1/memory/message', { sessionId, role: 'user', content: 'x' })
    assert.equal(summary(said), `404 {"error":"session not found: ${sessionId}"}`)
    assert.equal((await ask<{ total: number }>('sessions', { userId }, keeping)).total, 0)
  })

  it('memory: messages are removed with their session, whether it expires or is deleted, and others stay', async () => {
    const userId = 'leaver'
    const [deleted, stays] = [await start({ userId }), await start({ userId })]
    // More than one slice of the removal.
    const documents = Array.from({ length: 300 }, (_, at) => ({
      key: `${deleted.sessionId}/${at}`,
      lang: 'en',
      contentMd: 'x',
      meta: { sessionId: [deleted.sessionId], type: ['message'] },
    }))
    await server.post('/v1/add-batch', { collection: 'memory_messages', documents })
    const brief = await start({ userId, ttl: 2 })
    for (const { sessionId } of [brief, deleted, stays]) await say(sessionId, 'words')
    const left = async (): Promise<readonly string[]> => {
      const answer = await server.post('/v1/search', { collection: 'memory_messages', limit: 1000 })
      const keys = answer.json<readonly { key: string }[]>().map(({ key }) => key.split('/')[0] ?? '')
      return [brief, deleted, stays].map(({ sessionId }) => sessionId).filter((id) => keys.includes(id))
    }
    await server.post('/v1/delete', { collection: 'memory_sessions', key: deleted.sessionId, lang: 'en' })
    await untilAsked(left, (ids) => ids.length === 1 && ids[0] === stays.sessionId)
  })

  it('memory: messages without a session are removed after a start, and other documents of the collections stay', async (test) => {
    const directory = mkdtempSync(join(tmpdir(), 'mds-memory-'))
    test.after(() => rmSync(directory, { recursive: true, force: true }))
    const first = await startServer({ directory })
    const { sessionId } = await ask<Session>('session', { userId: 'u' }, first)
    await ask('message', { sessionId, role: 'user', content: 'stays' }, first)
    const meta = { sessionId: ['gone'], type: ['message'] }
    const add = async (key: string, more: Fields): Promise<void> => {
      const body = { collection: 'memory_messages', key, lang: 'en', contentMd: 'x', meta, ...more }
      assert.equal((await first.post('/v1/add', body)).status, 200)
    }
    await add('gone/1', {})
    await add('notes/1', { meta: { about: ['other things'] } })
    await add('other/1', {})
    await first.stop()
    const second = await startServer({ directory })
    test.after(() => second.stop())
    const keys = async (): Promise<readonly string[]> => {
      const answer = await second.post('/v1/search', { collection: 'memory_messages', sort: 'key', asc: true })
      return answer.json<readonly { key: string }[]>().map(({ key }) => key.split('/')[0] ?? '')
    }
    await untilAsked(keys, (found) => !found.includes('gone'))
    assert.deepEqual([...(await keys())].sort(), [sessionId, 'notes', 'other'].sort())
  })

  it('memory: names that are members of every object are users, scenarios and metadata like others', async () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const session = await start({ userId: name, scenario: name, title: name, meta: JSON.parse(`{"${name}":"x"}`) as Fields })
      const [found] = (await sessions({ userId: name, scenario: name })).sessions
      assert.deepEqual(found, session)
      assert.deepEqual(
        [found?.userId, found?.title, JSON.stringify((found as unknown as Fields)['meta'])],
        [name, name, `{"${name}":["x"]}`],
      )
    }
  })

  it('memory: a message says whether it will be found by its meaning, and its history whether it is', async (test) => {
    const provider = await EmbeddingServer.start()
    test.after(() => provider.stop())
    const embedding = await startServer({ env: embeddingEnv(provider) })
    test.after(() => embedding.stop())
    const { sessionId } = await ask<Session>('session', { userId: 'u' }, embedding)
    const answer = await ask<Fields>('message', { sessionId, role: 'user', content: 'embedded' }, embedding)
    assert.equal(answer['embedded'], true)
    const listed = await ask<{ messages: readonly Fields[] }>('history', { sessionId }, embedding)
    assert.equal(listed.messages[0]?.['embedded'], true)
    await untilAsked(
      async () => (await embedding.get('/v1/vector-stats')).json<{ collections: Record<string, { embedded_documents: number }> }>(),
      ({ collections }) => collections['memory_messages']?.embedded_documents === 1,
    )
    const later = await ask<{ messages: readonly Fields[] }>('history', { sessionId }, embedding)
    assert.equal(later.messages[0]?.['embedded'], true)
  })

  it('memory: in read mode sessions and messages are refused, and lists answer', async (test) => {
    const { sessionId } = await start()
    assert.ok(sessionId)
    const reader = await startServer({ env: { SVC_MODE: 'read' } })
    test.after(() => reader.stop())
    const readOnly = '403 {"error":"read-only mode"}'
    assert.equal(summary(await reader.post('/v1/memory/session', { userId: 'u' })), readOnly)
    assert.equal(summary(await reader.post('/v1/memory/message', { sessionId: 's', role: 'user', content: 'x' })), readOnly)
    assert.deepEqual(await ask('sessions', {}, reader), { sessions: [], total: 0 })
    assert.equal((await ask<{ total: number }>('recall', { query: 'x' }, reader)).total, 0)
    assert.equal((await reader.post('/v1/memory/history', { sessionId: 's' })).status, 404)
  })
})
