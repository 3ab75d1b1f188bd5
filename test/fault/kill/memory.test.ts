/**
 * The process is killed while messages are added to sessions. Each message that was acknowledged is there
 * once, and no message is there without the touch of its session, which is a part of the same transaction.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { type Server, startServer } from '../../harness/server/server.js'

const SESSIONS = 4
const WRITERS = 8
/** Messages that are acknowledged before each kill. */
const MOMENTS = [1, 7, 40, 150, 300]
const TTL = 1000

interface Message {
  readonly content: string
  readonly addedAt: number
}

const directory = mkdtempSync(join(tmpdir(), 'mds-memory-'))
after(() => rmSync(directory, { recursive: true, force: true }))

async function sessionsOf(server: Server, userId: string): Promise<readonly string[]> {
  const started = Array.from({ length: SESSIONS }, () => server.post('/v1/memory/session', { userId, ttl: TTL }))
  return (await Promise.all(started)).map((answer) => answer.json<{ sessionId: string }>().sessionId)
}

/** Adds messages until so many are acknowledged, and kills the server while others are on their way. */
async function talkUntilKilled(server: Server, sessions: readonly string[], moment: number): Promise<ReadonlySet<string>> {
  const acknowledged = new Set<string>()
  let sent = 0
  let killed: Promise<unknown> | undefined
  const write = async (): Promise<void> => {
    while (killed === undefined) {
      const content = `message ${sent++}`
      const body = { sessionId: sessions[sent % SESSIONS], role: 'user', content }
      const answer = await server.post('/v1/memory/message', body).catch(() => undefined)
      if (answer?.status === 200) acknowledged.add(content)
      if (acknowledged.size >= moment) killed ??= server.kill()
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, write))
  await killed
  return acknowledged
}

it('memory: a kill loses no acknowledged message, doubles none, and leaves none without the touch of its session', async (test) => {
  for (const moment of MOMENTS) {
    const first = await startServer({ directory })
    test.after(() => first.kill())
    const sessions = await sessionsOf(first, `user${moment}`)
    const acknowledged = await talkUntilKilled(first, sessions, moment)
    const second = await startServer({ directory })
    test.after(() => second.kill())
    const stored: string[] = []
    for (const sessionId of sessions) {
      const { messages } = (await second.post('/v1/memory/history', { sessionId, limit: 1000 })).json<{ messages: readonly Message[] }>()
      stored.push(...messages.map(({ content }) => content))
      const session = await second.post('/v1/get', { collection: 'memory_sessions', key: sessionId, lang: 'en' })
      const { updatedAt, expiresAt } = session.json<{ updatedAt: number; expiresAt: number }>()
      const last = Math.max(0, ...messages.map(({ addedAt }) => addedAt))
      assert.ok(updatedAt >= last, `a message of second ${last}, the touch of ${updatedAt}`)
      assert.equal(expiresAt, updatedAt + TTL)
    }
    assert.equal(new Set(stored).size, stored.length, 'no message is there twice')
    assert.deepEqual(
      [...acknowledged].filter((content) => !stored.includes(content)),
      [],
    )
    await second.stop()
  }
})
