/**
 * What becomes of sessions and messages: prolonged, refused, embedded, ended, removed. service-2, "Memory";
 * events.md, section 9; docs/decisions/documents/memory.md.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Fields, summary } from '../../harness/clients/documents_client.js'
import { MemoryClient, type Session } from '../../harness/clients/memory_client.js'
import { embeddingEnv } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer } from '../../harness/embedding/embedding_server.js'
import { untilAsked } from '../../harness/process/until.js'
import { type Server, startServer } from '../../harness/server/server.js'

const seconds = (): number => Math.floor(Date.now() / 1000)

describe('conversational memory: the life of sessions', () => {
  let server: Server
  let memory: MemoryClient
  before(async () => {
    server = await startServer()
    memory = new MemoryClient(server)
  })
  after(() => server.stop())

  it('memory: a message changes updatedAt of its session and prolongs it, and leaves no revision and no other change', async () => {
    const { sessionId, createdAt } = await memory.start({ ttl: 900 })
    const before = await memory.document('memory_sessions', sessionId)
    await untilAsked(
      () => seconds(),
      (now) => now > createdAt,
    )
    await memory.say(sessionId, 'later')
    const { updatedAt, expiresAt, ...rest } = (await memory.document('memory_sessions', sessionId)) as {
      updatedAt: number
      expiresAt: number
    }
    assert.ok(updatedAt > createdAt)
    assert.equal(expiresAt, updatedAt + 900)
    const { updatedAt: _, expiresAt: __, ...same } = before
    assert.deepEqual(rest, same)
    const revisions = await server.post('/v1/revisions', { collection: 'memory_sessions', key: sessionId, lang: 'en' })
    assert.deepEqual(revisions.json<{ revisions: unknown[] }>().revisions, [])
    const eternal = await memory.start({ ttl: 0 })
    await memory.say(eternal.sessionId, 'x')
    assert.ok(!('expiresAt' in (await memory.document('memory_sessions', eternal.sessionId))))
  })

  it('memory: a refused message leaves its session as it is, and a session that refuses its touch gets no message', async (test) => {
    const strict = await startServer()
    test.after(() => strict.stop())
    const client = new MemoryClient(strict)
    const { sessionId } = await client.ask<Session>('session', { userId: 'u' })
    const stored = async (): Promise<unknown> => {
      const answer = await strict.post('/v1/get', { collection: 'memory_sessions', key: sessionId, lang: 'en' })
      return [answer.json(), await client.ask('history', { sessionId })]
    }
    const before = await stored()
    for (const collection of ['memory_messages', 'memory_sessions']) {
      const schema = { collection, schema: { required: ['approved'] } }
      assert.equal((await strict.post('/v1/schema/set', schema)).status, 200)
      const refusal = summary(await strict.post('/v1/memory/message', { sessionId, role: 'user', content: 'x' }))
      assert.match(refusal, /^400 .*schema validation failed/)
      assert.deepEqual(await stored(), before)
      assert.equal((await strict.post('/v1/schema/delete', { collection })).status, 200)
    }
  })

  it('memory: in an encrypted collection sessions and messages are listed, recalled and removed like others', async (test) => {
    const sealed = await startServer({ env: { SVC_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') } })
    test.after(() => sealed.stop())
    const client = new MemoryClient(sealed)
    for (const collection of ['memory_sessions', 'memory_messages', 'memory_summaries']) {
      const answer = await sealed.request('PUT', '/v1/collection-config', { collection, encrypted: true })
      assert.equal(answer.status, 200, answer.text)
    }
    const { sessionId } = await client.ask<Session>('session', { userId: 'u', title: 'sealed' })
    for (const content of ['first walrus', 'second walrus']) await client.ask('message', { sessionId, role: 'user', content })
    const listed = await client.ask<{ sessions: readonly Session[] }>('sessions', { userId: 'u' })
    assert.deepEqual(
      listed.sessions.map(({ title, messageCount }) => [title, messageCount]),
      [['sealed', 2]],
    )
    const recalled = await client.ask<{ total: number }>('recall', { query: 'walrus', userId: 'u' })
    assert.equal(recalled.total, 2)
    assert.equal((await client.ask<{ messages: number }>('summarize', { sessionId })).messages, 2)
    await sealed.post('/v1/delete', { collection: 'memory_sessions', key: sessionId, lang: 'en' })
    await untilAsked(
      async () => (await sealed.post('/v1/search', { collection: 'memory_messages' })).json<readonly unknown[]>().length,
      (count) => count === 0,
    )
  })

  it('memory: a session that has ended is unknown, with its messages', async (test) => {
    // Nothing is removed yet, so only the expiry hides it.
    const keeping = await startServer({ env: { SVC_LIMIT_SWEEP_DOCUMENTS_MAX: '0' } })
    test.after(() => keeping.stop())
    const client = new MemoryClient(keeping)
    const { sessionId, userId } = await client.ask<Session>('session', { userId: 'u', ttl: 2 })
    await client.ask('message', { sessionId, role: 'user', content: 'soon forgotten' })
    await untilAsked(
      () => keeping.post('/v1/memory/history', { sessionId }),
      ({ status }) => status === 404,
    )
    const said = await keeping.post('/v1/memory/message', { sessionId, role: 'user', content: 'x' })
    assert.equal(summary(said), `404 {"error":"session not found: ${sessionId}"}`)
    assert.equal((await client.ask<{ total: number }>('sessions', { userId })).total, 0)
  })

  it('memory: messages are removed with their session, whether it expires or is deleted, and others stay', async () => {
    const userId = 'leaver'
    const [deleted, stays] = [await memory.start({ userId }), await memory.start({ userId })]
    // More than one slice of the removal.
    const documents = Array.from({ length: 300 }, (_, at) => ({
      key: `${deleted.sessionId}/${at}`,
      lang: 'en',
      contentMd: 'x',
      meta: { sessionId: [deleted.sessionId], type: ['message'] },
    }))
    await server.post('/v1/add-batch', { collection: 'memory_messages', documents })
    const brief = await memory.start({ userId, ttl: 2 })
    for (const { sessionId } of [brief, deleted, stays]) await memory.say(sessionId, 'words')
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
    const client = new MemoryClient(first)
    const { sessionId } = await client.ask<Session>('session', { userId: 'u' })
    await client.ask('message', { sessionId, role: 'user', content: 'stays' })
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

  it('memory: a message says whether it will be found by its meaning, and its history whether it is', async (test) => {
    const provider = await EmbeddingServer.start()
    test.after(() => provider.stop())
    const embedding = await startServer({ env: embeddingEnv(provider) })
    test.after(() => embedding.stop())
    const client = new MemoryClient(embedding)
    const { sessionId } = await client.ask<Session>('session', { userId: 'u' })
    const answer = await client.ask<Fields>('message', { sessionId, role: 'user', content: 'embedded' })
    assert.equal(answer['embedded'], true)
    const listed = await client.ask<{ messages: readonly Fields[] }>('history', { sessionId })
    assert.equal(listed.messages[0]?.['embedded'], true)
    await untilAsked(
      async () => (await embedding.get('/v1/vector-stats')).json<{ collections: Record<string, { embedded_documents: number }> }>(),
      ({ collections }) => collections['memory_messages']?.embedded_documents === 1,
    )
    const later = await client.ask<{ messages: readonly Fields[] }>('history', { sessionId })
    assert.equal(later.messages[0]?.['embedded'], true)
  })

  it('memory: in read mode sessions and messages are refused, and lists answer', async (test) => {
    const reader = await startServer({ env: { SVC_MODE: 'read' } })
    test.after(() => reader.stop())
    const client = new MemoryClient(reader)
    const readOnly = '403 {"error":"read-only mode"}'
    assert.equal(summary(await reader.post('/v1/memory/session', { userId: 'u' })), readOnly)
    assert.equal(summary(await reader.post('/v1/memory/message', { sessionId: 's', role: 'user', content: 'x' })), readOnly)
    assert.deepEqual(await client.ask('sessions', {}), { sessions: [], total: 0 })
    assert.equal((await client.ask<{ total: number }>('recall', { query: 'x' })).total, 0)
    assert.equal((await reader.post('/v1/memory/history', { sessionId: 's' })).status, 404)
  })
})
