/** Summaries of sessions over HTTP: service-2, "Memory"; http.md, section 6; events.md, section 9. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Fields, MISSING_FIELDS, summary } from '../../harness/clients/documents_client.js'
import { untilAsked } from '../../harness/process/until.js'
import { ACCESS_ENV, Admin, asUser } from '../../harness/server/access.js'
import { type Server, startServer } from '../../harness/server/server.js'

interface Summary {
  readonly summaryId: string
  readonly sessionId: string
  readonly summary: string
  readonly createdAt: number
  readonly messages: number
}

const NO_MESSAGES = '400 {"error":"no messages found for session"}'

describe('conversational memory: summaries', () => {
  let server: Server
  before(async () => {
    server = await startServer()
  })
  after(() => server.stop())

  const ask = async <Answer>(path: string, body: Fields): Promise<Answer> => {
    const answer = await server.post(`/v1/memory/${path}`, body)
    assert.equal(answer.status, 200, `${path}: ${answer.text}`)
    return answer.json<Answer>()
  }
  const start = async (userId: string): Promise<string> => (await ask<{ sessionId: string }>('session', { userId })).sessionId
  const say = async (sessionId: string, role: string, content: string): Promise<unknown> =>
    await ask('message', { sessionId, role, content })
  const refused = async (body: Fields): Promise<string> => summary(await server.post('/v1/memory/summarize', body))

  it('memory summarize: without messages it is 400, without sessionId too, and an unknown session is 404', async () => {
    const sessionId = await start('ann')
    assert.equal(await refused({ sessionId }), NO_MESSAGES)
    await say(await start('ann'), 'user', 'of another session')
    assert.equal(await refused({ sessionId }), NO_MESSAGES)
    assert.equal(await refused({}), MISSING_FIELDS)
    assert.equal(await refused({ sessionId: 'none' }), '404 {"error":"session not found: none"}')
  })

  it('memory summarize: lists the messages in their order, each with its role and at most 200 characters', async () => {
    const sessionId = await start('bob')
    const long = `${'ä😀'.repeat(100)}end`
    await say(sessionId, 'user', 'My bill\n\nis   wrong.')
    await say(sessionId, 'assistant', long)
    await say(sessionId, 'tool', 'x'.repeat(200))
    await say(sessionId, 'system', `${'y '.repeat(600)}`)
    const made = await ask<Summary>('summarize', { sessionId, userId: 'bob' })
    const lines = [
      '- **user**: My bill is wrong.',
      `- **assistant**: ${'ä😀'.repeat(100)}…`,
      `- **tool**: ${'x'.repeat(200)}`,
      `- **system**: ${'y '.repeat(100)}…`,
    ]
    assert.deepEqual(made.summary.split('\n'), lines)
    assert.deepEqual([made.sessionId, made.messages], [sessionId, 4])
  })

  it('memory summarize: summaries are documents of memory_summaries, with the key and the metadata of the layout', async () => {
    const sessionId = await start('carol')
    await say(sessionId, 'user', 'hello')
    const begin = Math.floor(Date.now() / 1000)
    const made = await ask<Summary>('summarize', { sessionId })
    const listed = await server.post('/v1/search', { collection: 'memory_summaries', filterMeta: { sessionId: [sessionId] } })
    const [stored] = listed.json<readonly Fields[]>()
    assert.ok(stored)
    const key = String(stored['key'])
    assert.match(key, new RegExp(`^${sessionId}/[0-9]{20}$`))
    const second = Number(key.split('/')[1])
    assert.ok(second >= begin && second <= Math.floor(Date.now() / 1000))
    const meta = { sessionId: [sessionId], type: ['summary'], timestamp: [String(second)], messages: ['1'], userId: ['carol'] }
    assert.deepEqual([stored['lang'], stored['meta'], stored['contentMd']], ['en', meta, '- **user**: hello'])
    assert.deepEqual([made.summaryId, made.createdAt], [`memory_summaries|${key}|en`, stored['updatedAt']])
    const again = await ask<Summary>('summarize', { sessionId })
    assert.equal(again.messages, 1, 'a summary is no message')
  })

  it('memory summarize: of more than 1 000 messages the latest are listed', async () => {
    const sessionId = await start('talker')
    const documents = Array.from({ length: 1003 }, (_, at) => ({
      key: `${sessionId}/${at}`,
      lang: 'en',
      contentMd: `message ${at}`,
      meta: { sessionId: [sessionId], type: ['message'], role: ['user'] },
    }))
    await server.post('/v1/add-batch', { collection: 'memory_messages', documents })
    const { summary: text, messages } = await ask<Summary>('summarize', { sessionId })
    const lines = text.split('\n')
    assert.deepEqual([messages, lines[0], lines.at(-1)], [1000, '- **user**: message 3', '- **user**: message 1002'])
  })

  it('memory summarize: a summary is removed with its session', async () => {
    const sessionId = await start('leaver')
    await say(sessionId, 'user', 'hello')
    await ask('summarize', { sessionId })
    await server.post('/v1/delete', { collection: 'memory_sessions', key: sessionId, lang: 'en' })
    const left = async (): Promise<number> => {
      const answer = await server.post('/v1/search', { collection: 'memory_summaries', filterMeta: { sessionId: [sessionId] } })
      return answer.json<readonly unknown[]>().length
    }
    await untilAsked(left, (count) => count === 0)
  })

  it('memory summarize: the user must be that of the session, and with access control the caller', async (test) => {
    const sessionId = await start('dave')
    await say(sessionId, 'user', 'hello')
    assert.equal(await refused({ sessionId, userId: 'eve' }), `404 {"error":"session not found: ${sessionId}"}`)
    const closed = await startServer({ env: ACCESS_ENV })
    test.after(() => closed.stop())
    const admin = new Admin(closed)
    for (const user of ['alice', 'bob']) await admin.register(user)
    const own = await closed.post('/v1/memory/session', { userId: 'alice' }, asUser('alice'))
    const { sessionId: ofAlice } = own.json<{ sessionId: string }>()
    await closed.post('/v1/memory/message', { sessionId: ofAlice, role: 'user', content: 'x' }, asUser('alice'))
    const asked = async (user: string, body: Fields): Promise<string> =>
      summary(await closed.post('/v1/memory/summarize', { sessionId: ofAlice, ...body }, asUser(user)))
    assert.equal(await asked('bob', {}), `404 {"error":"session not found: ${ofAlice}"}`)
    assert.equal(await asked('bob', { userId: 'alice' }), '403 {"error":"forbidden"}')
    for (const user of ['alice', 'admin']) assert.match(await asked(user, {}), /^200 /)
  })

  it('memory summarize: is refused in read mode', async (test) => {
    const reader = await startServer({ env: { SVC_MODE: 'read' } })
    test.after(() => reader.stop())
    assert.equal(summary(await reader.post('/v1/memory/summarize', { sessionId: 's' })), '403 {"error":"read-only mode"}')
  })
})
