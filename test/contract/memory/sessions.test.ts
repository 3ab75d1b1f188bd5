/**
 * Sessions and messages of conversational memory over HTTP: service-2, "Memory"; http.md, section 6;
 * events.md, section 9; reference-weaknesses.md, row 13.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DOCUMENT_BYTES_MAX } from '../../../src/limits/documents.js'
import { type Fields } from '../../harness/clients/documents_client.js'
import { MemoryClient, type Session } from '../../harness/clients/memory_client.js'
import { untilAsked } from '../../harness/process/until.js'
import { type Server, startServer } from '../../harness/server/server.js'

const TTL_DEFAULT = 2_592_000
const ROLES = ['user', 'assistant', 'system', 'tool']

const seconds = (): number => Math.floor(Date.now() / 1000)

describe('conversational memory: sessions and messages', () => {
  let server: Server
  let memory: MemoryClient
  before(async () => {
    server = await startServer()
    memory = new MemoryClient(server)
  })
  after(() => server.stop())

  it('memory: a session has an id, its user, scenario, title, meta, times, an expiry and no messages', async () => {
    const begin = seconds()
    const session = await memory.start({
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
    assert.deepEqual(await memory.sessions({ userId: 'ann' }), { sessions: [session], total: 1 })
  })

  it('memory: a session without title, scenario and ttl has a title of its id and ends after 30 days; ttl 0 never ends', async () => {
    const { sessionId, title, createdAt, expiresAt, ...rest } = await memory.start()
    assert.equal(title, `Session ${sessionId.slice(0, 8)}`)
    assert.equal(expiresAt, createdAt + TTL_DEFAULT)
    assert.ok(!('scenario' in rest))
    assert.ok(!('expiresAt' in (await memory.start({ ttl: 0 }))))
  })

  it('memory: sessions are documents of memory_sessions, with the metadata and the text of the layout', async () => {
    const { sessionId, createdAt } = await memory.start({
      userId: 'bob',
      scenario: 'sales',
      title: 'An offer',
      meta: { region: 'north', type: 'x' },
    })
    const { contentMd, ...stored } = await memory.document('memory_sessions', sessionId)
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
    const { sessionId, userId } = await memory.start()
    const begin = seconds()
    const { messageId, createdAt, ...rest } = await memory.say(sessionId, 'The bill is *wrong*.', {
      role: 'tool',
      meta: { tone: 'calm', role: 'x' },
    })
    assert.deepEqual(rest, { sessionId, role: 'tool', embedded: false })
    const { messages } = await memory.history(sessionId)
    const [message] = messages
    assert.ok(message)
    assert.match(message.key, new RegExp(`^${sessionId}/[0-9]{20}-[0-9a-f]{24}$`))
    const second = Number(message.key.split('/')[1]?.split('-')[0])
    assert.ok(second >= begin && second <= seconds())
    assert.equal(messageId, `memory_messages|${message.key}|en`)
    const stored = await memory.document('memory_messages', message.key)
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
    const { sessionId } = await memory.start()
    for (const role of ROLES) assert.equal((await memory.say(sessionId, role, { role }))['role'], role)
    assert.deepEqual(
      (await memory.history(sessionId)).messages.map(({ meta }) => meta['role']?.[0]),
      ROLES,
    )
    const wrong = '400 {"error":"invalid role: must be user, assistant, system, or tool"}'
    for (const role of ['User', 'bot']) assert.equal(await memory.refused('message', { sessionId, role, content: 'x' }), wrong)
  })

  it('memory: what is missing, unknown or not valid is refused', async () => {
    const { sessionId } = await memory.start()
    for (const body of [{}, { userId: '' }, { userId: null }]) assert.match(await memory.refused('session', body), /^400 .*missing fields/)
    for (const name of ['sessionId', 'role', 'content'])
      assert.match(await memory.refused('message', { sessionId, role: 'user', content: 'x', [name]: '' }), /^400 .*missing fields/, name)
    const unknown = '404 {"error":"session not found: none"}'
    assert.equal(await memory.refused('message', { sessionId: 'none', role: 'user', content: 'x' }), unknown)
    assert.equal(await memory.refused('history', { sessionId: 'none' }), unknown)
    assert.match(await memory.refused('history', { sessionId: 'x'.repeat(2000) }), /^400 .*invalid key/)
    assert.match(await memory.refused('session', { userId: 'u', ttl: -1 }), /^400 .*invalid ttl/)
    assert.match(await memory.refused('session', { userId: 'u', meta: { a: 1 } }), /^400 .*invalid meta/)
    assert.match(await memory.refused('session', { userId: '\ud800' }), /^400 /)
    assert.match(await memory.refused('message', { sessionId, role: 'user', content: 'x'.repeat(DOCUMENT_BYTES_MAX + 1) }), /^4(00|13) /)
    assert.match(await memory.refused('sessions', { sort: 'title' }), /^400 .*invalid sort/)
    assert.equal((await memory.history(sessionId)).total, 0)
  })

  it('memory: the history is in the order of acceptance, however many messages one second has, and total is that of all', async () => {
    const { sessionId } = await memory.start()
    const texts = Array.from({ length: 130 }, (_, at) => `message ${at}`)
    for (const text of texts) await memory.say(sessionId, text)
    const whole = await memory.history(sessionId, { limit: 1000 })
    assert.deepEqual(
      whole.messages.map(({ content }) => content),
      texts,
    )
    const keys = whole.messages.map(({ key }) => key)
    assert.deepEqual(keys, [...keys].sort(), 'keys are in the same order')
    const first = await memory.history(sessionId)
    assert.deepEqual([first.messages.length, first.total], [100, 130], 'limit defaults to 100, offset to 0')
    assert.equal(first.messages[0]?.content, 'message 0')
    const page = await memory.history(sessionId, { limit: 5, offset: 120 })
    assert.deepEqual([page.messages.map(({ content }) => content), page.total], [texts.slice(120, 125), 130])
    assert.deepEqual(await memory.history(sessionId, { offset: 500 }), { messages: [], total: 130 })
  })

  it('memory: many messages of one session at once are all there, each once', async () => {
    const { sessionId, userId } = await memory.start()
    const texts = Array.from({ length: 64 }, (_, at) => `at once ${at}`)
    const answers = await Promise.all(texts.map((text) => memory.say(sessionId, text)))
    assert.equal(new Set(answers.map(({ messageId }) => messageId)).size, 64)
    const { messages, total } = await memory.history(sessionId, { limit: 100 })
    assert.equal(total, 64)
    assert.deepEqual(messages.map(({ content }) => content).sort(), [...texts].sort())
    assert.equal((await memory.sessions({ userId })).sessions[0]?.messageCount, 64)
  })

  it('memory: sessions are listed by user and scenario, by the last message or the start, in pages, with the true total', async () => {
    const userId = 'lister'
    const made: Session[] = []
    for (let at = 0; at < 60; at++) made.push(await memory.start({ userId, title: `t${at}`, scenario: at % 2 === 0 ? 'even' : 'odd' }))
    const titles = (list: { readonly sessions: readonly Session[] }): string[] => list.sessions.map(({ title }) => title)
    const all = made.map(({ title }) => title)
    const page = await memory.sessions({ userId, sort: 'createdAt', asc: true })
    assert.deepEqual([titles(page), page.total], [all.slice(0, 50), 60], 'limit defaults to 50, offset to 0')
    assert.deepEqual(titles(await memory.sessions({ userId, sort: 'createdAt', limit: 3, offset: 1 })), ['t58', 't57', 't56'])
    const odd = await memory.sessions({ userId, scenario: 'odd', sort: 'createdAt', asc: true, limit: 2 })
    assert.deepEqual([titles(odd), odd.total], [['t1', 't3'], 30])
    await untilAsked(
      () => seconds(),
      (now) => now > (made.at(-1)?.createdAt ?? 0),
    )
    await memory.say(made[7]?.sessionId ?? '', 'the last')
    const [last] = (await memory.sessions({ userId, limit: 1 })).sessions
    assert.deepEqual([last?.title, last?.messageCount], ['t7', 1], 'sorted by updatedAt, the last first')
    assert.equal(titles(await memory.sessions({ userId, sort: 'updatedAt', asc: true, limit: 1 })).includes('t7'), false)
    assert.deepEqual(await memory.sessions({ userId: 'none' }), { sessions: [], total: 0 })
    await memory.start()
    assert.ok((await memory.sessions({ limit: 1 })).total > 60)
  })

  it('memory: names that are members of every object are users, scenarios and metadata like others', async () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const session = await memory.start({ userId: name, scenario: name, title: name, meta: JSON.parse(`{"${name}":"x"}`) as Fields })
      const [found] = (await memory.sessions({ userId: name, scenario: name })).sessions
      assert.deepEqual(found, session)
      assert.deepEqual(
        [found?.userId, found?.title, JSON.stringify((found as unknown as Fields)['meta'])],
        [name, name, `{"${name}":["x"]}`],
      )
    }
  })
})
