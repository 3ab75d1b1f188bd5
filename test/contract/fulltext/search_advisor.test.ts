/** The search advisor: suggestions from the queries that a collection was asked. http.md, section 3. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { scratchCopy } from '../../harness/scratch_copy.js'
import { type Server, startServer } from '../../harness/server/server.js'

interface Suggestion {
  readonly kind: string
  readonly text: string
  readonly evidence: Readonly<Record<string, unknown>>
}

interface Advice {
  readonly collection: string
  readonly suggestions: readonly Suggestion[]
  readonly applied: readonly string[]
}

const DOCUMENTS = [
  ['install', 'How to install kubernetes on a new machine'],
  ['backup', 'Restore a backup of the database'],
  ['search', 'Searching documents by their words'],
] as const

describe('search advisor', () => {
  let server: Server
  before(async () => {
    server = await startServer({ env: { SVC_SPELL: 'true', SVC_READ_LANES: '4', SVC_SEARCH_CACHE_SIZE: '0' } })
    for (const collection of ['guide', 'other'])
      for (const [key, contentMd] of DOCUMENTS) await server.post('/v1/add', { collection, key, lang: 'en', contentMd })
  })
  after(() => server.stop())

  async function search(query: string, times: number, about: object = {}): Promise<void> {
    const all = Array.from({ length: times }, () => server.post('/v1/fts', { collection: 'guide', query, ...about }))
    for (const { status, text } of await Promise.all(all)) assert.equal(status, 200, text)
  }

  async function advice(about: object = {}): Promise<Advice> {
    const answer = await server.post('/v1/search-advisor', { collection: 'guide', ...about })
    assert.equal(answer.status, 200, answer.text)
    return answer.json<Advice>()
  }

  const ofKind = ({ suggestions }: Advice, kind: string): readonly Suggestion[] => suggestions.filter((each) => each.kind === kind)

  it('advisor: without searches, and for a collection that is not there, nothing is suggested', async () => {
    assert.deepEqual(await advice(), { collection: 'guide', suggestions: [], applied: [] })
    assert.deepEqual(await advice({ collection: 'none' }), { collection: 'none', suggestions: [], applied: [] })
  })

  it('advisor: a query that found nothing is counted over all lanes, whatever its case and spaces', async () => {
    await search('quantum  Entanglement', 30)
    await search(' Quantum entanglement', 10)
    const [empty, ...more] = ofKind(await advice(), 'emptyQuery')
    assert.deepEqual(empty, {
      kind: 'emptyQuery',
      text: 'The query "quantum entanglement" found nothing 40 times.',
      evidence: { query: 'quantum entanglement', times: 40, searches: 40 },
    })
    assert.deepEqual(more, [])
    assert.deepEqual((await advice({ collection: 'other' })).suggestions, [], 'other collections have their own counts')
  })

  it('advisor: once, or by a filter, or on a later page, nothing found is no evidence', async () => {
    await search('singular', 1)
    await search('kubernetes', 5, { filterMeta: { category: ['none'] } })
    await search('kubernetes', 5, { offset: 50 })
    const queries = ofKind(await advice(), 'emptyQuery').map(({ evidence }) => evidence.query)
    for (const query of ['singular', 'kubernetes']) assert.ok(!queries.includes(query), query)
  })

  it('advisor: a word that no document has, in place of one that finds documents, is suggested as its synonym', async () => {
    await search('install kubernetes', 3)
    await search('install k8s', 4)
    const [synonym, ...more] = ofKind(await advice(), 'synonym')
    assert.deepEqual(synonym?.evidence, {
      ...{ term: 'k8s', synonym: 'kubernetes', query: 'install k8s', times: 4, similarQuery: 'install kubernetes' },
    })
    assert.equal(synonym.text, 'Add "kubernetes" as a synonym of "k8s": no document has the latter.')
    assert.deepEqual(more, [])
  })

  it('advisor: misspelled queries suggest spellCorrect; apply turns it on, names it, and then finds them', async () => {
    await search('singulra', 1)
    await search('databsae', 6)
    const before = await advice()
    const [setting] = ofKind(before, 'setting')
    assert.equal(before.suggestions[0], setting, 'what can be applied comes first')
    assert.deepEqual(setting?.evidence, {
      ...{ setting: 'spellCorrect', value: true, queries: [{ query: 'databsae', corrected: 'database', times: 6 }] },
    })
    assert.deepEqual(before.applied, [])
    const isSet = async (): Promise<unknown> =>
      (await server.get('/v1/collection-config?collection=guide')).json<{ config: object }>().config
    const unchanged = (await isSet()) as object
    assert.ok(!('spellCorrect' in unchanged), 'nothing is changed without apply')
    const byGet = (await server.get('/v1/search-advisor?collection=guide&apply=true')).json<Advice>()
    assert.deepEqual(byGet.applied, ['spellCorrect'])
    assert.deepEqual(await isSet(), { ...unchanged, spellCorrect: true })
    assert.equal((await server.post('/v1/fts', { collection: 'guide', query: 'databsae' })).json().total, 1)
    assert.deepEqual((await advice({ apply: true })).applied, [], 'what is on is not applied again')
  })

  it('advisor: a query that is asked again and again at a cost is suggested to be cached', async () => {
    const words = Array.from({ length: 300 }, (_, i) => `word${i}`)
    for (let i = 0; i < 5; i++) {
      const documents = Array.from({ length: 200 }, (_, at) => ({ key: `${i}-${at}`, lang: 'en', contentMd: words.join(' ') }))
      await server.post('/v1/add-batch', { collection: 'slow', documents })
    }
    const query = words.slice(0, 60).join(' ')
    const ask = { collection: 'slow', query, limit: 300, highlight: true }
    for (let i = 0; i < 25; i++) assert.equal((await server.post('/v1/fts', ask)).status, 200)
    const found = (await server.post('/v1/search-advisor', { collection: 'slow' })).json<Advice>()
    const [setting] = ofKind(found, 'setting')
    assert.equal(setting?.evidence.setting, 'cacheTtl')
    assert.equal(setting.evidence.times, 25)
    assert.ok((setting.evidence.meanMs as number) >= 2)
    assert.ok(query.startsWith(setting.evidence.query as string), 'a long query is cut')
    assert.ok(Buffer.byteLength(setting.evidence.query as string) <= 160)
  })

  it('advisor: apply asks for the right to change the configuration, as a request for that change would', async () => {
    const question = '  if (!isAllowed(operation, principal, collections)) throw'
    const refusing = question.replace(
      '!isAllowed(operation, principal, collections)',
      "operation.name === 'setCollectionConfig' && principal.kind !== 'system'",
    )
    const copy = await scratchCopy([{ file: 'src/access/authorize.ts', find: question, replace: refusing }])
    const other = await startServer({ main: copy.main, env: { SVC_SPELL: 'true' } })
    try {
      await other.post('/v1/add', { collection: 'guide', key: 'a', lang: 'en', contentMd: 'the database' })
      for (let i = 0; i < 3; i++) await other.post('/v1/fts', { collection: 'guide', query: 'databsae' })
      assert.equal((await other.post('/v1/search-advisor', { collection: 'guide' })).status, 200, 'a reader may ask')
      const refused = await other.post('/v1/search-advisor', { collection: 'guide', apply: true })
      assert.equal(`${refused.status} ${refused.text}`, '403 {"error":"forbidden"}')
    } finally {
      await other.stop()
      copy.remove()
    }
  })

  it('advisor: a server in mode read advises, and refuses to apply', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'mds-advisor-'))
    const writer = await startServer({ directory })
    await writer.post('/v1/add', { collection: 'other', key: 'a', lang: 'en', contentMd: 'the database' })
    await writer.stop()
    const reader = await startServer({ directory, env: { SVC_SPELL: 'true' }, args: ['--http-mode', 'read'] })
    try {
      for (let i = 0; i < 3; i++) await reader.post('/v1/fts', { collection: 'other', query: 'databsae' })
      const advised = (await reader.post('/v1/search-advisor', { collection: 'other' })).json<Advice>()
      assert.equal(advised.suggestions[0]?.evidence.setting, 'spellCorrect')
      const refused = await reader.post('/v1/search-advisor', { collection: 'other', apply: true })
      assert.equal(`${refused.status} ${refused.text}`, '403 {"error":"read-only mode"}')
    } finally {
      await reader.stop()
      await rm(directory, { recursive: true })
    }
  })
})
