/**
 * Ranges, boosts and aggregation over HTTP: service-1, "Full-text search" and `/v1/aggregate`; algorithms.md,
 * sections 5 and 10.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, type Fields, MISSING_FIELDS, summary } from '../../harness/clients/documents_client.js'

interface Result {
  readonly document: { readonly key: string }
  readonly score: number
}

describe('ranges and boosts', () => {
  let client: DocumentsClient
  let name: string
  before(async () => {
    client = await DocumentsClient.shared()
    name = client.collection()
    const documents = Array.from({ length: 300 }, (_, n) => ({
      key: `k${n}`,
      lang: 'en',
      // The lower the number, the better the match.
      contentMd: `walrus ${'filler '.repeat(n)}`,
      meta: { price: [String(n)], day: [new Date(Date.UTC(2024, 0, 1 + n)).toISOString().slice(0, 10)], parity: [n % 2 === 0 ? 'even' : 'odd'], tag: n === 250 ? ['rare:x'] : [] }, // prettier-ignore
    }))
    await client.addBatch(name, documents)
  })
  after(() => client.stop())

  const search = async (more: Fields): Promise<readonly Result[]> => {
    const answer = await client.post('/v1/fts', { collection: name, query: 'walrus', algorithm: 'bm25', limit: 5, ...more })
    assert.equal(answer.status, 200, answer.text)
    return answer.json<{ results: Result[] }>().results
  }
  const keys = async (more: Fields): Promise<string> => (await search(more)).map(({ document }) => document.key).join(' ')
  const refusal = async (more: Fields): Promise<string> =>
    summary(await client.post('/v1/fts', { collection: name, query: 'walrus', ...more }))

  it('rangeMeta: numbers, dates and texts bound the matches before the limit, as a list or a map', async () => {
    assert.equal(await keys({}), 'k0 k1 k2 k3 k4')
    assert.equal(await keys({ rangeMeta: [{ field: 'price', gte: 290 }] }), 'k290 k291 k292 k293 k294')
    assert.equal(await keys({ rangeMeta: [{ field: 'price', gt: '7', lte: 9 }] }), 'k8 k9')
    assert.equal(await keys({ rangeMeta: { 'meta.price': { gt: 7 }, parity: { gte: 'odd' } } }), 'k9 k11 k13 k15 k17')
    assert.equal(await keys({ rangeMeta: [{ field: 'day', gte: '2024-02-01', lt: '2024-02-03T00:00:00Z' }] }), 'k31 k32')
    assert.equal(await keys({ rangeMeta: [{ field: 'day', lt: Date.UTC(2024, 0, 3) / 1000 }] }), 'k0 k1')
    assert.equal(await keys({ rangeMeta: [{ field: 'none', gte: 0 }] }), '')
    assert.equal(await keys({ rangeMeta: [], filterMeta: { parity: ['odd'] } }), 'k1 k3 k5 k7 k9')
    const answer = await client.post('/v1/fts', {
      collection: name,
      query: 'walrus',
      rangeMeta: [{ field: 'price', gte: 100 }],
      count: true,
    })
    assert.equal(answer.json().totalMatches, 200)
  })

  it('rangeMeta: addedAt and updatedAt are times, as unix seconds, ISO dates or numeric strings', async () => {
    const now = Math.floor(Date.now() / 1000)
    for (const field of ['addedAt', 'updatedAt']) {
      for (const gte of [now - 3600, String(now - 3600), new Date((now - 3600) * 1000).toISOString()]) {
        assert.equal(await keys({ rangeMeta: [{ field, gte }], limit: 1 }), 'k0')
        assert.equal(await keys({ rangeMeta: [{ field, lt: gte }] }), '')
      }
    }
    assert.equal(
      await refusal({ rangeMeta: [{ field: 'addedAt', gte: 'soon' }] }),
      '400 {"error":"invalid rangeMeta: addedAt.gte is not a time"}',
    )
  })

  it('rangeMeta, boost: the GET form takes both as JSON', async () => {
    const query = new URLSearchParams({
      collection: name,
      q: 'walrus',
      limit: '2',
      rangeMeta: '{"price":{"gte":7}}',
      boost: '{"price:250":1000}',
    })
    const { results } = (await client.server.get(`/v1/fts?${query.toString()}`)).json<{ results: Result[] }>()
    assert.deepEqual(results.map(({ document }) => document.key).sort(), ['k250', 'k7'])
    query.set('rangeMeta', 'price>7')
    assert.equal(summary(await client.server.get(`/v1/fts?${query.toString()}`)), '400 {"error":"invalid rangeMeta"}')
  })

  it('rangeMeta: an invalid range is refused', async () => {
    assert.equal(await refusal({ rangeMeta: [{ gte: 1 }] }), '400 {"error":"missing fields"}')
    assert.equal(await refusal({ rangeMeta: [{ field: '', gte: 1 }] }), '400 {"error":"invalid rangeMeta: a field is empty"}')
    assert.equal(await refusal({ rangeMeta: [{ field: 'price' }] }), '400 {"error":"invalid rangeMeta: price has no bound"}')
    assert.match(await refusal({ rangeMeta: [{ field: 'price', gte: {} }] }), /^400 \{"error":"invalid rangeMeta/)
    assert.match(await refusal({ rangeMeta: 'price>1' }), /^400 \{"error":"invalid rangeMeta/)
  })

  it('boost: n multiplies, -n divides, matches multiply, before the limit', async () => {
    const plain = new Map((await search({ limit: 300 })).map(({ document, score }) => [document.key, score]))
    const boosted = await search({ limit: 300, boost: { 'parity:odd': 3, 'price:9': -2, 'tag:rare:x': 1000 } })
    assert.equal(boosted.length, 300)
    for (const { document, score } of boosted) {
      const n = Number(document.key.slice(1))
      const expected = (plain.get(document.key) ?? 0) * (n % 2 === 1 ? 3 : 1) * (n === 9 ? 0.5 : 1) * (n === 250 ? 1000 : 1)
      assert.ok(Math.abs(score - expected) < 1e-9 * expected, document.key)
    }
    assert.deepEqual(
      boosted.map(({ score }) => score),
      boosted.map(({ score }) => score).toSorted((one, other) => other - one),
    )
    assert.match(await keys({ boost: { 'tag:rare:x': 1000 } }), /^k250 k0 k1 /, 'found from far behind the limit')
  })

  it('boost: the factor is at least 0.001', async () => {
    const [plain] = await search({ limit: 1 })
    const found = await search({ limit: 300, boost: { 'price:0': -5000, 'parity:even': -5000 } })
    const lowest = found.find(({ document }) => document.key === 'k0')
    assert.ok(Math.abs((lowest?.score ?? 0) - (plain?.score ?? 0) / 1000) < 1e-9)
  })

  it('boost: an invalid boost is refused', async () => {
    assert.equal(await refusal({ boost: { parity: 2 } }), '400 {"error":"invalid boost: parity is not of the form key:value"}')
    assert.equal(
      await refusal({ boost: { 'parity:odd': 0 } }),
      '400 {"error":"invalid boost: parity:odd must be a number other than 0, up to 10000"}',
    )
    assert.equal(await refusal({ boost: { 'parity:odd': 'much' } }), '400 {"error":"invalid boost.parity:odd"}')
  })
})

describe('POST /v1/aggregate', () => {
  let client: DocumentsClient
  before(async () => {
    client = await DocumentsClient.shared()
  })
  after(() => client.stop())

  const aggregate = async (body: Fields): Promise<Record<string, unknown>> => {
    const answer = await client.post('/v1/aggregate', body)
    assert.equal(answer.status, 200, answer.text)
    const { durationMs, ...rest } = answer.json()
    assert.ok(typeof durationMs === 'number' && durationMs >= 0)
    return rest
  }

  it('aggregate: facets count the values of the whole collection, by count or by value, at most maxFacetSize', async () => {
    const name = client.collection()
    const documents = Array.from({ length: 60 }, (_, n) => ({
      key: `k${n}`,
      lang: 'en',
      contentMd: '',
      meta: {
        parity: [n % 2 === 0 ? 'even' : 'odd'],
        twice: ['x', 'x'],
        number: [String(n).padStart(2, '0')],
        third: n % 3 === 0 ? ['yes'] : [],
      },
    }))
    await client.addBatch(name, documents)
    const parity = [
      { value: 'even', count: 30 },
      { value: 'odd', count: 30 },
    ]
    const all = { collection: name, totalDocs: 60, facets: {}, histograms: {} }
    assert.deepEqual(await aggregate({ collection: name }), all)
    const asked = await aggregate({ collection: name, facets: [{ field: 'parity' }, { field: 'meta.twice' }, { field: 'none' }] })
    assert.deepEqual(asked, { ...all, facets: { parity, 'meta.twice': [{ value: 'x', count: 60 }], none: [] } })
    const numbers = (await aggregate({ collection: name, facets: [{ field: 'number' }] })).facets as { number: { value: string }[] }
    assert.deepEqual([numbers.number.length, numbers.number[49]?.value], [50, '49'])
    assert.deepEqual(await aggregate({ collection: name, facets: [{ field: 'parity' }], maxFacetSize: 1 }), { ...all, facets: { parity: parity.slice(0, 1) } }) // prettier-ignore
    const filtered = { collection: name, filterMeta: { third: ['yes'] }, facets: [{ field: 'parity', orderBy: 'value' }] }
    assert.deepEqual(await aggregate(filtered), {
      ...all,
      totalDocs: 20,
      facets: { parity: parity.map(({ value }) => ({ value, count: 10 })) },
    })
    await client.delete(name, 'k1')
    await client.add(name, 'k3', { meta: { parity: ['even'] } })
    const changed = { collection: name, facets: [{ field: 'parity', orderBy: 'value' }] }
    assert.deepEqual(await aggregate(changed), { ...all, totalDocs: 59, facets: { parity: [{ value: 'even', count: 31 }, { value: 'odd', count: 28 }] } }) // prettier-ignore
    assert.deepEqual(await aggregate({ collection: 'unheard-of', facets: [{ field: 'a' }], histograms: [{ field: 'addedAt' }] }), {
      collection: 'unheard-of',
      totalDocs: 0,
      facets: { a: [] },
      histograms: { addedAt: [] },
    })
  })

  it('aggregate: histograms count documents by day, week, month or year; the default is month', async () => {
    const name = client.collection()
    const { addedAt } = await client.add(name, 'a')
    await client.add(name, 'b')
    const date = new Date(addedAt * 1000).toISOString()
    for (const [interval, key] of [
      ['day', date.slice(0, 10)],
      ['month', date.slice(0, 7)],
      [undefined, date.slice(0, 7)],
      ['year', date.slice(0, 4)],
    ]) {
      const { histograms } = await aggregate({ collection: name, histograms: [{ field: 'addedAt', interval }, { field: 'updatedAt' }] })
      const [bucket, ...more] = (histograms as Record<string, { key: string; from: number; to: number; count: number }[]>).addedAt ?? []
      assert.deepEqual([bucket?.key, bucket?.count, more.length], [key, 2, 0])
      assert.ok((bucket?.from ?? 0) <= addedAt && addedAt < (bucket?.to ?? 0))
      assert.equal(new Date((bucket?.from ?? 0) * 1000).toISOString().slice(11), '00:00:00.000Z')
    }
  })

  it('aggregate: invalid values and methods other than POST are refused', async () => {
    const refused = async (body: Fields): Promise<string> => summary(await client.post('/v1/aggregate', body))
    assert.equal(await refused({}), MISSING_FIELDS)
    assert.equal(await refused({ collection: 'c', facets: [{}] }), '400 {"error":"invalid facets: a field is empty"}')
    assert.equal(
      await refused({ collection: 'c', facets: [{ field: 'a', orderBy: 'size' }] }),
      '400 {"error":"invalid orderBy: must be count or value"}',
    )
    assert.equal(
      await refused({ collection: 'c', facets: [{ field: 'a' }, { field: 'a' }] }),
      '400 {"error":"invalid facets: a is asked for twice"}',
    )
    assert.equal(
      await refused({ collection: 'c', histograms: [{ field: 'price' }] }),
      '400 {"error":"invalid histograms: field must be addedAt or updatedAt"}',
    )
    assert.equal(
      await refused({ collection: 'c', histograms: [{ field: 'addedAt', interval: 'hour' }] }),
      '400 {"error":"invalid interval: must be day, week, month, or year"}',
    )
    assert.equal(await refused({ collection: 'c', maxFacetSize: -1 }), '400 {"error":"invalid maxFacetSize"}')
    assert.equal(summary(await client.server.get('/v1/aggregate?collection=c')), '405 {"error":"method not allowed"}')
  })
})
