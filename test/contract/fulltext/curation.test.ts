/**
 * Curation rules over HTTP and their effect on results: service-2, "Curation rule" and "Curation (search
 * ranking overrides)"; http.md, section 2.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, type Fields, MISSING_FIELDS, NOT_FOUND, summary } from '../../harness/clients/documents_client.js'

interface Rule {
  readonly id: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly [field: string]: unknown
}

interface Result {
  readonly document: { readonly key: string; readonly lang: string }
  readonly score: number
  readonly matchedTerms: readonly string[]
  readonly pinned?: boolean
}

const PATH = '/v1/curation'

describe('curation', () => {
  let client: DocumentsClient
  before(async () => {
    client = await DocumentsClient.shared()
  })
  after(() => client.stop())

  const request = async (method: string, body: Fields): Promise<Rule> => {
    const answer = await client.server.request(method, PATH, body)
    assert.equal(answer.status, 200, answer.text)
    return answer.json<Rule>()
  }
  const list = async (query: string): Promise<{ rules: Rule[]; total: number; collection: string }> =>
    (await client.server.get(`${PATH}${query}`)).json()
  /** Documents d1 to d9, which `walrus` finds in that order, and two that do not match. */
  const fill = async (): Promise<string> => {
    const name = client.collection()
    const documents = Array.from({ length: 9 }, (_, n) => ({
      key: `d${n + 1}`,
      lang: 'en',
      contentMd: 'walrus '.repeat(10 - n) + 'filler '.repeat(10 * n),
      meta: { parity: [n % 2 === 0 ? 'odd' : 'even'] },
    }))
    const others = [
      { key: 'guide', lang: 'de', contentMd: 'Robbe', meta: { parity: ['odd'] } },
      { key: 'guide', lang: 'en', contentMd: 'seal', meta: { parity: ['even'] } },
    ]
    await client.addBatch(name, [...documents, ...others])
    return name
  }
  const search = async (collection: string, query = 'walrus', more: Fields = {}): Promise<Result[]> =>
    (await client.post('/v1/fts', { collection, query, algorithm: 'bm25', ...more })).json<{ results: Result[] }>().results
  const keys = async (...asked: Parameters<typeof search>): Promise<string> =>
    (await search(...asked)).map(({ document, pinned }) => `${document.key}${pinned === true ? '*' : ''}`).join(' ')

  it('curation: a rule is made with an id of the server and its defaults, listed, read, replaced and deleted', async () => {
    const name = client.collection()
    const made = await request('POST', { collection: name, query: 'Getting started', pins: [{ key: 'intro' }] })
    assert.match(made.id, /^cur_[0-9a-f]{32}$/)
    assert.ok(Math.abs(made.createdAt - Date.now() / 1000) < 60)
    assert.deepEqual(made, {
      id: made.id,
      collection: name,
      query: 'Getting started',
      matchMode: 'exact',
      enabled: false,
      pins: [{ key: 'intro', position: 0 }],
      hides: [],
      createdAt: made.createdAt,
      updatedAt: made.createdAt,
    })
    const second = await request('POST', { collection: name, query: 'x', matchMode: 'contains', enabled: true, hides: ['old'] })
    assert.deepEqual(await list(`?collection=${name.toUpperCase()}`), {
      rules: [made, second].sort((a, b) => (a.id < b.id ? -1 : 1)),
      total: 2,
      collection: name.toUpperCase(),
    })
    assert.deepEqual(await list(`?id=${made.id}`), made)
    assert.ok((await list('')).rules.some(({ id }) => id === second.id))
    assert.deepEqual(await list('?collection=unheard-of'), { rules: [], total: 0, collection: 'unheard-of' })
    const replaced = await request('PUT', { id: made.id, query: 'other', enabled: true })
    assert.deepEqual(replaced, { ...made, query: 'other', enabled: true, pins: [], updatedAt: replaced.updatedAt })
    assert.deepEqual(await list(`?id=${made.id}`), replaced)
    assert.equal(summary(await client.server.request('DELETE', `${PATH}?id=${made.id}`)), `200 {"status":"deleted","id":"${made.id}"}`)
    assert.equal(summary(await client.server.get(`${PATH}?id=${made.id}`)), NOT_FOUND)
    assert.deepEqual((await list(`?collection=${name}`)).rules, [second])
  })

  it('curation: an id that is not there is 404, a rule stays in its collection and goes with it', async () => {
    const name = client.collection()
    const { id } = await request('POST', { collection: name, query: 'q' })
    for (const unknown of ['cur_1', `${id.slice(0, -1)}f`, `cur_${'0'.repeat(32)}`]) {
      assert.equal(summary(await client.server.get(`${PATH}?id=${unknown}`)), NOT_FOUND)
      assert.equal(summary(await client.server.request('PUT', PATH, { id: unknown, query: 'q' })), NOT_FOUND)
      assert.equal(summary(await client.server.request('DELETE', `${PATH}?id=${unknown}`)), NOT_FOUND)
    }
    const elsewhere = await client.server.request('PUT', PATH, { id, collection: 'elsewhere', query: 'q' })
    assert.equal(summary(elsewhere), `400 {"error":"invalid collection: the rule belongs to ${name}"}`)
    await client.post('/v1/delete-collection', { collection: name })
    await client.add(name, 'doc')
    assert.equal(summary(await client.server.get(`${PATH}?id=${id}`)), NOT_FOUND)
    assert.equal(summary(await client.server.request('PUT', PATH, { id, query: 'q' })), NOT_FOUND)
  })

  it('curation: a rule with a missing or invalid field is refused', async () => {
    const post = async (fields: Fields): Promise<string> =>
      summary(await client.server.request('POST', PATH, { collection: 'c', query: 'q', ...fields }))
    assert.equal(await post({ query: null }), MISSING_FIELDS)
    assert.equal(await post({ query: '  ' }), MISSING_FIELDS)
    assert.equal(await post({ collection: null }), MISSING_FIELDS)
    assert.equal(await post({ matchMode: 'regex' }), '400 {"error":"invalid matchMode: must be exact or contains"}')
    assert.equal(await post({ pins: [{ key: '', position: 1 }] }), '400 {"error":"invalid pins: a key is empty"}')
    assert.equal(await post({ pins: [{ position: 1 }] }), '400 {"error":"invalid pins: a key is empty"}')
    assert.equal(await post({ pins: [{ key: 'a', position: 'top' }] }), '400 {"error":"invalid pins.0.position"}')
    assert.equal(await post({ hides: [''] }), '400 {"error":"invalid hides: a key is empty"}')
    assert.equal(
      await post({ hides: Array.from({ length: 101 }, (_, n) => `k${n}`) }),
      '400 {"error":"invalid pins: 101 pins and hides, at most 100 are allowed"}',
    )
    assert.equal(summary(await client.server.request('PUT', PATH, { query: 'q' })), MISSING_FIELDS)
    assert.equal(summary(await client.server.request('DELETE', PATH, {})), MISSING_FIELDS)
  })

  it('curation: pins stand at their positions, those of 0 or below behind the organic results, each once and marked', async () => {
    const name = await fill()
    assert.equal(await keys(name), 'd1 d2 d3 d4 d5 d6 d7 d8 d9')
    const pins = [
      { key: 'd1', position: 0 },
      { key: 'd9', position: 2 },
      { key: 'guide', lang: 'en', position: 4 },
      { key: 'D5', position: 1 },
      { key: 'd9', position: 7 },
      { key: 'missing', position: 1 },
    ]
    await request('POST', { collection: name, query: 'walrus', enabled: true, pins })
    assert.equal(await keys(name), 'd5* d9* d2 guide* d3 d4 d6 d7 d8 d1*')
    const results = await search(name)
    assert.deepEqual([results[0]?.matchedTerms, results[3]?.matchedTerms, results[3]?.score], [['walrus'], [], 0])
    assert.ok((results[0]?.score ?? 0) > 0)
    assert.deepEqual(new Set(results.map(({ pinned }) => pinned)), new Set([true, undefined]))
    // Pins are inserted before paging, so the limit counts them.
    assert.equal(await keys(name, 'walrus', { limit: 5 }), 'd5* d9* d2 guide* d3')
    assert.equal(await keys(name, 'walrus', { limit: 1 }), 'd5*')
  })

  it('curation: positions behind the last result close up, and a query that finds nothing shows its pins', async () => {
    const name = await fill()
    const pins = [
      { key: 'd3', position: 40 },
      { key: 'guide', position: 30 },
      { key: 'd4', position: -1 },
    ]
    await request('POST', { collection: name, query: 'zebra', enabled: true, pins })
    assert.equal(await keys(name, 'zebra'), 'guide* d3* d4*')
    const [first] = await search(name, 'zebra')
    assert.equal(first?.document.lang, 'de', 'without a language the first that the key has')
  })

  it('curation: hides leave out a key in every language, also where it is pinned, and the page is filled up', async () => {
    const name = await fill()
    await request('POST', {
      collection: name,
      query: 'walrus',
      enabled: true,
      hides: ['D1', 'd3', 'guide'],
      pins: [{ key: 'guide', position: 1 }],
    })
    assert.equal(await keys(name), 'd2 d4 d5 d6 d7 d8 d9')
    assert.equal(await keys(name, 'walrus', { limit: 4 }), 'd2 d4 d5 d6')
  })

  it('curation: a rule applies to its query, trimmed and ignoring case, or to queries that contain it; a disabled rule never applies', async () => {
    const name = await fill()
    const exact = await request('POST', { collection: name, query: ' Walrus ', enabled: true, hides: ['d1'] })
    assert.equal(await keys(name, 'WALRUS'), 'd2 d3 d4 d5 d6 d7 d8 d9')
    assert.match(await keys(name, 'walrus tooth'), /^d1 /)
    await request('PUT', { ...exact, matchMode: 'contains' })
    assert.match(await keys(name, 'the walruses tooth'), /^d2 /)
    await request('PUT', { ...exact, enabled: false })
    assert.match(await keys(name), /^d1 /)
    // Two rules apply together.
    await request('PUT', { ...exact })
    await request('POST', { collection: name, query: 'wal', matchMode: 'contains', enabled: true, pins: [{ key: 'd9', position: 1 }] })
    assert.equal(await keys(name), 'd9* d2 d3 d4 d5 d6 d7 d8')
  })

  it('curation: a pin never shows what the filter forbids', async () => {
    const name = await fill()
    const pins = [
      { key: 'd2', position: 1 },
      { key: 'guide', position: 2 },
    ]
    await request('POST', { collection: name, query: 'walrus', enabled: true, pins })
    assert.equal(await keys(name, 'walrus', { filterMeta: { parity: ['odd'] } }), 'd1 guide* d3 d5 d7 d9')
    const [, second] = await search(name, 'walrus', { filterMeta: { parity: ['even'] } })
    assert.deepEqual([second?.document.key, second?.document.lang], ['guide', 'en'])
  })

  it('curation: a pinned document that was deleted or has expired is not shown', async () => {
    const name = await fill()
    await request('POST', { collection: name, query: 'walrus', enabled: true, pins: [{ key: 'd4', position: 1 }] })
    assert.match(await keys(name), /^d4\* d1 /)
    await client.delete(name, 'd4')
    assert.equal(await keys(name), 'd1 d2 d3 d5 d6 d7 d8 d9')
  })

  it('facets: facetBy counts values over the final results, by count, then value; facetMaxValues cuts', async () => {
    const name = await fill()
    const facets = async (more: Fields): Promise<unknown> =>
      (await client.post('/v1/fts', { collection: name, query: 'walrus', algorithm: 'bm25', ...more })).json().facets
    const parity = [
      { value: 'odd', count: 5 },
      { value: 'even', count: 4 },
    ]
    assert.equal(await facets({}), undefined)
    assert.deepEqual(await facets({ facetBy: ['parity', 'none'] }), { parity, none: [] })
    assert.deepEqual(await facets({ facetBy: ['parity'], limit: 2 }), { parity: [{ value: 'even', count: 1 }, { value: 'odd', count: 1 }] }) // prettier-ignore
    assert.deepEqual(await facets({ facetBy: ['parity'], facetMaxValues: 1 }), { parity: parity.slice(0, 1) })
    assert.deepEqual(await facets({ facetBy: ['meta.parity'], facetMaxValues: 0 }), { 'meta.parity': parity })
    await request('POST', { collection: name, query: 'walrus', enabled: true, hides: ['d1', 'd3'] })
    assert.deepEqual(await facets({ facetBy: ['parity'] }), { parity: [{ value: 'even', count: 4 }, { value: 'odd', count: 3 }] }) // prettier-ignore
    assert.equal((await client.post('/v1/fts', { collection: name, query: 'walrus', facetBy: [''] })).status, 400)
    assert.equal((await client.post('/v1/fts', { collection: name, query: 'walrus', facetMaxValues: -1 })).status, 400)
  })
})
