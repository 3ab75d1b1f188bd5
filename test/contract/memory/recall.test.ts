/**
 * Recall of messages over HTTP: service-2, "Memory"; http.md, section 6; events.md, section 9. The provider
 * is a server of the test, whose vectors are hashed words.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type DocumentJson, type Fields, MISSING_FIELDS, summary } from '../../harness/clients/documents_client.js'
import { embeddingEnv, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer, embedText } from '../../harness/embedding/embedding_server.js'
import { untilAsked } from '../../harness/process/until.js'
import { ACCESS_ENV, Admin, asUser } from '../../harness/server/access.js'
import { type Server, startServer } from '../../harness/server/server.js'

const DIMENSIONS = 64
const K = 60
const QUERY = 'otter river'
/** Of alice, in the order in which they are said; by role. */
const SAID: readonly (readonly [role: string, content: string])[] = [
  ['user', 'otter river otter river'],
  ['assistant', 'otter otter otter among many other words that stand around it so that the meaning is elsewhere'],
  ['user', 'river'],
  ['assistant', 'otter stone'],
  ['tool', 'lynx forest snow'],
]

interface Hit {
  readonly document: DocumentJson
  readonly score: number
  readonly rank: number
  readonly sessionId: string
  readonly role: string
  readonly matchStrategy: string
}

interface Recalled {
  readonly results: readonly Hit[]
  readonly total: number
  readonly strategy: string
  readonly query: string
  readonly contextTruncated?: boolean
}

describe('conversational memory: recall', () => {
  let provider: EmbeddingServer
  let server: Server
  let session = ''
  let other = ''

  const ask = async <Answer>(path: string, body: Fields, on = server, headers = {}): Promise<Answer> => {
    const answer = await on.post(`/v1/memory/${path}`, body, headers)
    assert.equal(answer.status, 200, `${path}: ${answer.text}`)
    return answer.json<Answer>()
  }
  const start = async (userId: string, on = server, more: Fields = {}): Promise<string> =>
    (await ask<{ sessionId: string }>('session', { userId, ...more }, on)).sessionId
  const say = async (sessionId: string, role: string, content: string, on = server, meta: Fields = {}): Promise<unknown> =>
    await ask('message', { sessionId, role, content, meta }, on)
  const recall = async (more: Fields = {}, on = server): Promise<Recalled> =>
    await ask('recall', { query: QUERY, userId: 'alice', ...more }, on)
  const texts = ({ results }: Recalled): readonly string[] => results.map(({ document }) => document.contentMd)
  const refused = async (body: Fields, on = server): Promise<string> => summary(await on.post('/v1/memory/recall', body))

  before(async () => {
    provider = await EmbeddingServer.start()
    provider.dimensions = DIMENSIONS
    server = await startServer({ env: embeddingEnv(provider, { SVC_EMBEDDING_DIMENSIONS: String(DIMENSIONS) }) })
    session = await start('alice')
    for (const [role, content] of SAID) await say(session, role, content, server, { topic: role === 'user' ? 'asked' : 'said' })
    other = await start('alice')
    await say(other, 'user', 'an otter in another session')
    await say(await start('bob'), 'user', 'otter river, says bob')
    await whenEmbedded(server, { memory_messages: SAID.length + 2 })
  })
  after(async () => {
    await server.stop()
    await provider.stop()
  })

  it('memory recall: words alone find the messages that have them, with the scores of a full-text search', async () => {
    const found = await recall({ strategy: 'keyword' })
    assert.deepEqual([found.strategy, found.query, found.total], ['keyword', QUERY, found.results.length])
    assert.deepEqual([...texts(found)].sort(), [...SAID.slice(0, 4).map(([, text]) => text), 'an otter in another session'].sort())
    const filterMeta = { userId: ['alice'], type: ['message'] }
    const fts = await server.post('/v1/fts', { collection: 'memory_messages', query: QUERY, filterMeta })
    const scores = fts.json<{ results: readonly { document: DocumentJson; score: number }[] }>().results
    assert.deepEqual(
      found.results.map(({ document, score }) => [document.key, score]),
      scores.map(({ document, score }) => [document.key, score]),
    )
    for (const [at, { rank, matchStrategy, role, sessionId, document }] of found.results.entries()) {
      assert.deepEqual([rank, matchStrategy, role], [at + 1, 'keyword', document.meta['role']?.[0]])
      assert.equal(sessionId, document.meta['sessionId']?.[0])
    }
    const least = found.results.at(-2)?.score ?? 0
    assert.equal((await recall({ strategy: 'keyword', threshold: least })).total, found.total - 1, 'below the threshold')
  })

  it('memory recall: meaning alone finds the nearest messages, with their cosines, from the threshold on', async () => {
    const found = await recall({ strategy: 'semantic', threshold: -1 })
    const query = embedText(QUERY, DIMENSIONS)
    const cosine = (text: string): number => embedText(text, DIMENSIONS).reduce((sum, value, at) => sum + value * (query[at] ?? 0), 0)
    assert.deepEqual([found.strategy, found.total], ['semantic', SAID.length + 1])
    for (const { document, score, matchStrategy } of found.results) {
      assert.ok(Math.abs(score - cosine(document.contentMd)) < 1e-5, document.contentMd)
      assert.equal(matchStrategy, 'semantic')
    }
    assert.deepEqual(texts(found).slice(0, 1), ['otter river otter river'])
    const scores = found.results.map(({ score }) => score)
    assert.deepEqual(
      scores,
      [...scores].sort((one, two) => two - one),
    )
    const near = await recall({ strategy: 'semantic', threshold: 0.5 })
    assert.equal(near.total, scores.filter((score) => score >= 0.5).length)
  })

  it('memory recall: hybrid, the default, is the fusion of both by rank with k 60, and alpha weights the sides', async () => {
    const threshold = 0.1
    const [words, meanings] = [await recall({ strategy: 'keyword' }), await recall({ strategy: 'semantic', threshold })]
    const fused = (weights: readonly [number, number]): readonly (readonly [string, string])[] => {
      const scores = new Map<string, number>()
      for (const [side, { results }] of [words, meanings].entries())
        for (const { document, rank } of results)
          scores.set(document.key, (scores.get(document.key) ?? 0) + (weights[side] ?? 0) / (K + rank))
      return [...scores].filter(([, score]) => score > 0).map(([key, score]) => [key, score.toFixed(12)] as const)
    }
    const sorted = (list: readonly (readonly [string, string])[]): unknown => [...list].sort(([one], [two]) => (one < two ? -1 : 1))
    const shown = ({ results }: Recalled): readonly (readonly [string, string])[] =>
      results.map(({ document, score }) => [document.key, score.toFixed(12)] as const)
    const plain = await recall({ threshold })
    assert.equal(plain.strategy, 'hybrid')
    assert.deepEqual(sorted(shown(plain)), sorted(fused([1, 1])))
    assert.deepEqual(sorted(shown(await recall({ threshold, strategy: 'hybrid', alpha: 0.25 }))), sorted(fused([0.75, 0.25])))
    assert.deepEqual(sorted(shown(await recall({ threshold, alpha: 1 }))), sorted(fused([0, 1])))
    assert.deepEqual(sorted(shown(await recall({ threshold, alpha: 0 }))), sorted(fused([1, 0])))
    const ordered = plain.results.map(({ score }) => score)
    assert.deepEqual(
      ordered,
      [...ordered].sort((one, two) => two - one),
    )
    const by = (list: Recalled): ReadonlySet<string> => new Set(list.results.map(({ document }) => document.key))
    for (const { document, matchStrategy } of plain.results) {
      const [hasWords, hasMeaning] = [by(words).has(document.key), by(meanings).has(document.key)]
      assert.equal(matchStrategy, hasWords && hasMeaning ? 'hybrid' : hasWords ? 'keyword' : 'semantic', document.contentMd)
    }
  })

  it('memory recall: filters by user, session, role and metadata', async () => {
    const strategy = 'keyword'
    assert.equal((await recall({ strategy, userId: 'bob' })).total, 1)
    assert.equal((await recall({ strategy, userId: undefined })).total, 6)
    assert.deepEqual(texts(await recall({ strategy, sessionId: other })), ['an otter in another session'])
    assert.deepEqual([...texts(await recall({ strategy, sessionId: session, role: 'user' }))].sort(), ['otter river otter river', 'river'])
    assert.equal((await recall({ strategy, filterMeta: { topic: ['said'] } })).total, 2)
    assert.equal((await recall({ strategy, filterMeta: { topic: [] } })).total, 0)
    assert.deepEqual((await recall({ userId: 'carol' })).results, [], 'a user without sessions')
    assert.deepEqual(texts(await recall({ userId: 'bob', threshold: 0.1 })), ['otter river, says bob'])
  })

  it('memory recall: at most topK messages, 10 by default, with their texts unless includeContent is false', async () => {
    const sessionId = await start('talker')
    for (let at = 0; at < 12; at++) await say(sessionId, 'user', `pangolin ${at}`)
    const asked = { query: 'pangolin', userId: 'talker', strategy: 'keyword' }
    assert.equal((await recall(asked)).results.length, 10)
    assert.equal((await recall({ ...asked, topK: 3 })).results.length, 3)
    assert.equal((await recall({ ...asked, topK: 50 })).results.length, 12)
    assert.ok(texts(await recall(asked)).every((text) => text.startsWith('pangolin ')))
    assert.ok(texts(await recall({ ...asked, includeContent: true })).every((text) => text !== ''))
    assert.deepEqual(texts(await recall({ ...asked, topK: 2, includeContent: false })), ['', ''])
  })

  it('memory recall: the retrieval profile of the messages sets topK, alpha and the budget of text', async (test) => {
    const profiled = await startServer()
    test.after(() => profiled.stop())
    const sessionId = await start('alice', profiled)
    for (let at = 0; at < 6; at++) await say(sessionId, 'user', `otter ${'x'.repeat(400)} ${at}`, profiled)
    const configure = async (retrieval: Fields): Promise<void> => {
      const answer = await profiled.request('PUT', '/v1/collection-config', { collection: 'memory_messages', retrieval })
      assert.equal(answer.status, 200, answer.text)
    }
    await configure({ topK: 4 })
    assert.equal((await recall({}, profiled)).total, 4)
    await configure({ topK: 4, contextTokenBudget: 250 })
    const short = await recall({}, profiled)
    assert.deepEqual([short.total, short.contextTruncated], [2, true])
    await configure({ topK: 4, hybridAlpha: 1, hybridAlphaSet: true })
    assert.equal((await recall({}, profiled)).total, 0, 'words have no weight')
  })

  it('memory recall: without a provider meaning alone is 400, and hybrid falls back to words', async (test) => {
    const plain = await startServer()
    test.after(() => plain.stop())
    assert.deepEqual(await recall({}, plain), { results: [], total: 0, strategy: 'hybrid', query: QUERY })
    await say(await start('alice', plain), 'user', 'otter', plain)
    assert.equal(await refused({ query: QUERY, strategy: 'semantic' }, plain), '400 {"error":"no embedding provider configured"}')
    const { results, strategy } = await recall({}, plain)
    assert.deepEqual([results.map(({ matchStrategy }) => matchStrategy), strategy], [['keyword'], 'hybrid'])
  })

  it('memory recall: what is missing, unknown or not valid is refused', async () => {
    assert.equal(await refused({ userId: 'alice' }), MISSING_FIELDS)
    assert.equal(await refused({ query: 'x', strategy: 'best' }), '400 {"error":"unknown strategy: best"}')
    assert.match(await refused({ query: 'x', role: 'bot' }), /^400 .*invalid role/)
    assert.match(await refused({ query: 'x', alpha: 1.5 }), /^400 .*invalid alpha/)
    assert.match(await refused({ query: 'x', topK: -1 }), /^400 .*invalid topK/)
    assert.match(await refused({ query: 'x'.repeat(5000) }), /^400 .*query too long/)
    assert.equal(await refused({ query: 'x', sessionId: 'none' }), '404 {"error":"session not found: none"}')
  })

  it('memory recall: messages of a session that is gone are not shown, even before they are removed', async (test) => {
    const keeping = await startServer({ env: { SVC_LIMIT_SWEEP_DOCUMENTS_MAX: '0' } })
    test.after(() => keeping.stop())
    const brief = await start('alice', keeping, { ttl: 2 })
    await say(brief, 'user', 'otter', keeping)
    await say(await start('alice', keeping), 'user', 'otter that stays', keeping)
    assert.deepEqual(texts(await recall({ topK: 1 }, keeping)), ['otter'])
    const found = await untilAsked(
      () => recall({ topK: 1 }, keeping),
      (answer) => !texts(answer).includes('otter'),
    )
    assert.deepEqual(texts(found), ['otter that stays'])
  })

  it('memory recall: callers who are no administrators recall their own messages only, whatever the index has', async (test) => {
    const closed = await startServer({ env: ACCESS_ENV })
    test.after(() => closed.stop())
    const admin = new Admin(closed)
    for (const user of ['alice', 'bob']) await admin.register(user)
    const sessions: Record<string, string> = {}
    for (const user of ['alice', 'bob']) {
      const { sessionId } = await ask<{ sessionId: string }>('session', { userId: user }, closed, asUser(user))
      await ask('message', { sessionId, role: 'user', content: `otter of ${user}` }, closed, asUser(user))
      sessions[user] = sessionId
    }
    // A document that claims to be a message of alice, in a session of bob.
    const meta = { sessionId: [sessions['bob']], userId: ['alice'], role: ['user'], type: ['message'] }
    await admin.do('POST', '/v1/add', { collection: 'memory_messages', key: `${sessions['bob']}/x`, lang: 'en', contentMd: 'otter', meta })
    const alice = asUser('alice')
    for (const body of [{}, { userId: 'alice' }, { sessionId: sessions['alice'] }, { filterMeta: { type: ['message'] } }])
      assert.deepEqual(texts(await ask('recall', { query: 'otter', ...body }, closed, alice)), ['otter of alice'])
    const asked = async (body: Fields): Promise<string> =>
      summary(await closed.post('/v1/memory/recall', { query: 'otter', ...body }, alice))
    assert.equal(await asked({ userId: 'bob' }), '403 {"error":"forbidden"}')
    assert.equal(await asked({ sessionId: sessions['bob'] }), `404 {"error":"session not found: ${sessions['bob']}"}`)
    assert.equal((await ask<Recalled>('recall', { query: 'otter' }, closed, admin.headers)).total, 3)
  })
})
