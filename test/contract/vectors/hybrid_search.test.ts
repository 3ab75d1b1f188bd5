/**
 * Hybrid search over HTTP: service-1 "Hybrid, cross-collection and analysis", decision 0143. The provider is
 * a server of the test, whose vectors are hashed words.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type DocumentJson, DocumentsClient, type Fields, MISSING_FIELDS, summary } from '../../harness/clients/documents_client.js'
import { embeddingEnv, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer, embedText } from '../../harness/embedding/embedding_server.js'

const DIMENSIONS = 64
const QUERY = 'otter river'
const TEXTS: Readonly<Record<string, string>> = {
  both: 'otter river otter river',
  words: 'otter otter otter among many other words that stand around it so that the meaning is elsewhere',
  meaning: 'river',
  plain: 'otter stone',
  neither: 'lynx forest snow',
}

interface Result {
  readonly document: DocumentJson
  readonly combinedScore: number
  readonly ftsScore: number
  readonly vectorScore: number
  readonly matchedTerms: readonly string[]
  readonly rank: number
  readonly pinned?: boolean
}

interface Found {
  readonly results: readonly Result[]
  readonly total: number
  readonly strategy: string
  readonly alpha?: number
  readonly rrfK?: number
  readonly facets?: Readonly<Record<string, readonly { value: string; count: number }[]>>
  readonly [field: string]: unknown
}

describe('hybrid search', () => {
  let provider: EmbeddingServer
  let client: DocumentsClient

  before(async () => {
    provider = await EmbeddingServer.start()
    provider.dimensions = DIMENSIONS
    client = await DocumentsClient.start({ env: embeddingEnv(provider, { SVC_EMBEDDING_DIMENSIONS: String(DIMENSIONS) }) })
    const documents = Object.entries(TEXTS).map(([key, contentMd]) => ({
      key,
      lang: 'en',
      contentMd,
      meta: { length: [contentMd.length > 20 ? 'long' : 'short'] },
    }))
    await client.addBatch('texts', documents)
    await whenEmbedded(client.server, { texts: documents.length })
  })
  after(async () => {
    await client.stop()
    await provider.stop()
  })

  const search = async (more: Fields = {}): Promise<Found> => {
    const answer = await client.post('/v1/hybrid-search', { collection: 'texts', query: QUERY, threshold: -1, ...more })
    assert.equal(answer.status, 200, answer.text)
    return answer.json<Found>()
  }
  const cosines = new Map(
    Object.entries(TEXTS).map(([key, text]) => {
      const [query, vector] = [embedText(QUERY, DIMENSIONS), embedText(text, DIMENSIONS)]
      return [key, query.reduce((sum, value, at) => sum + value * (vector[at] as number), 0)] as const
    }),
  )

  it('hybrid-search: alpha weighs the normalised score of words against the nearness of meaning', async () => {
    const fts = (await client.post('/v1/fts', { collection: 'texts', query: QUERY, algorithm: 'bm25' })).json<{
      results: { document: DocumentJson; score: number; matchedTerms: string[] }[]
    }>().results
    const scores = fts.map(({ score }) => score)
    const [least, most] = [Math.min(...scores), Math.max(...scores)]
    for (const alpha of [undefined, 0.3, 1]) {
      const found = await search(alpha === undefined ? {} : { alpha })
      const share = alpha ?? 0.5
      assert.deepEqual(
        [found.strategy, found.alpha, found.rrfK, found.ftsAlgorithm, found.vectorAlgorithm],
        ['alpha', share, undefined, 'bm25', 'flat'],
      )
      assert.equal(found.total, found.results.length)
      for (const [at, { document, combinedScore, ftsScore, vectorScore, matchedTerms, rank }] of found.results.entries()) {
        const word = fts.find((each) => each.document.key === document.key)
        const normalised = word === undefined ? 0 : (word.score - least) / (most - least)
        assert.ok(Math.abs(combinedScore - ((1 - share) * normalised + share * vectorScore)) < 1e-6)
        assert.ok(Math.abs(vectorScore - (cosines.get(document.key) as number)) < 1e-4)
        assert.deepEqual(
          [rank, ftsScore, [...matchedTerms].sort(), document.contentMd],
          [at + 1, word?.score ?? 0, [...(word?.matchedTerms ?? [])].sort(), ''],
        )
        assert.ok(at === 0 || combinedScore <= (found.results[at - 1]?.combinedScore as number))
      }
    }
    assert.equal((await search()).results[0]?.document.key, 'both')
  })

  it('hybrid-search: rrf looks at ranks alone; alpha 0 is by words alone and embeds nothing', async () => {
    const found = await search({ strategy: 'rrf', rrfK: 10, includeContent: true })
    assert.deepEqual([found.strategy, found.alpha, found.rrfK], ['rrf', undefined, 10])
    const byMeaning = [...cosines].sort((one, other) => other[1] - one[1]).map(([key]) => key)
    const byWords = found.results
      .filter(({ ftsScore }) => ftsScore > 0)
      .sort((one, other) => other.ftsScore - one.ftsScore)
      .map(({ document }) => document.key)
    for (const { document, combinedScore } of found.results) {
      const [word, meaning] = [byWords.indexOf(document.key), byMeaning.indexOf(document.key)]
      const expected = (word < 0 ? 0 : 1 / (10 + word + 1)) + 1 / (10 + meaning + 1)
      assert.ok(Math.abs(combinedScore - expected) < 1e-9, `${document.key}: ${combinedScore} is not ${expected}`)
      assert.equal(document.contentMd, TEXTS[document.key])
    }
    provider.requests.length = 0
    const words = await search({ query: 'otter never asked', alpha: 0 })
    assert.equal(words.alpha, 0)
    assert.ok(words.results.every(({ vectorScore, ftsScore }) => vectorScore === 0 && ftsScore > 0))
    assert.equal(provider.requests.length, 0)
  })

  it('hybrid-search: filter, boost, facets and curation', async () => {
    const filtered = await search({ filterMeta: { length: ['long'] }, facetBy: ['length'] })
    assert.deepEqual(filtered.results.map(({ document }) => document.key).sort(), ['both', 'words'])
    assert.deepEqual(filtered.facets, { length: [{ value: 'long', count: 2 }] })
    const [plain, boosted] = [await search(), await search({ boost: { 'length:short': 5 } })]
    const scoreOf = (found: Found, key: string): number =>
      found.results.find(({ document }) => document.key === key)?.combinedScore ?? Number.NaN
    assert.ok(Math.abs(scoreOf(boosted, 'meaning') - 5 * scoreOf(plain, 'meaning')) < 1e-9)
    assert.equal(scoreOf(boosted, 'both'), scoreOf(plain, 'both'))
    const rule = { collection: 'texts', query: QUERY, enabled: true, pins: [{ key: 'neither', position: 1 }], hides: ['words'] }
    const made = await client.post('/v1/curation', rule)
    assert.equal(made.status, 200, made.text)
    const curated = await search()
    assert.deepEqual([curated.results[0]?.document.key, curated.results[0]?.pinned], ['neither', true])
    assert.ok(!curated.results.some(({ document }) => document.key === 'words'))
    // More candidates than either engine returns at once.
    assert.equal((await search({ topK: 10_000, oversample: 10 })).total, curated.total)
    await client.server.request('DELETE', `/v1/curation?id=${made.json<{ id: string }>().id}`)
  })

  it('hybrid-search: topK, fuzzy words and thresholds of meaning', async () => {
    assert.equal((await search({ topK: 2 })).total, 2)
    const fuzzy = await search({ query: 'oter', fuzzy: 1 })
    assert.ok(fuzzy.results.some(({ matchedTerms }) => matchedTerms.some((term) => term.startsWith('oter~'))))
    const strict = await search({ threshold: 0.99 })
    assert.deepEqual(
      strict.results.filter(({ vectorScore }) => vectorScore > 0).map(({ document }) => document.key),
      ['both'],
    )
  })

  it('hybrid-search: alpha 1 is by meaning alone: what only the words have found is not listed', async () => {
    const near = await search({ alpha: 1, threshold: 0.99 })
    assert.deepEqual(
      near.results.map(({ document, ftsScore }) => [document.key, ftsScore > 0]),
      [['both', true]],
    )
    assert.ok((await search({ alpha: 0.9, threshold: 0.99 })).total > 1)
  })

  it('hybrid-search: stemming, synonyms, content and metrics are as asked', async () => {
    const byWords = async (more: Fields): Promise<string[]> =>
      (await search({ alpha: 0, ...more })).results.filter(({ ftsScore }) => ftsScore > 0).map(({ document }) => document.key)
    assert.deepEqual(await byWords({ query: 'forests' }), ['neither'])
    assert.deepEqual(await byWords({ query: 'forests', disableStem: true }), [])
    const synonyms = { collection: 'texts', term: 'bobcat', synonyms: ['lynx'] }
    assert.equal((await client.post('/v1/synonyms', synonyms)).status, 200)
    assert.deepEqual(await byWords({ query: 'bobcat' }), ['neither'])
    assert.deepEqual(await byWords({ query: 'bobcat', disableSynonyms: true }), [])
    const found = await search({ includeContent: true, vectorAlgorithm: 'hnsw', distanceMetric: 'euclidean', algorithm: 'bm25f' })
    assert.deepEqual([found.vectorAlgorithm, found.distanceMetric, found.ftsAlgorithm], ['hnsw', 'euclidean', 'bm25f'])
    for (const { document, vectorScore } of found.results) {
      assert.equal(document.contentMd, TEXTS[document.key])
      const distance = Math.sqrt(Math.max(0, 2 - 2 * (cosines.get(document.key) as number)))
      assert.ok(Math.abs(vectorScore - 1 / (1 + distance)) < 1e-3)
    }
  })

  it('hybrid-search: invalid requests are refused', async () => {
    const refused = async (more: Fields): Promise<string> =>
      summary(await client.post('/v1/hybrid-search', { collection: 'texts', query: QUERY, ...more }))
    assert.equal(await refused({ query: '' }), MISSING_FIELDS)
    assert.equal(await refused({ strategy: 'odd' }), '400 {"error":"unknown strategy: odd"}')
    assert.equal(await refused({ sort: 'odd' }), '400 {"error":"unknown sort: odd"}')
    assert.equal(await refused({ sort: 'distance' }), '400 {"error":"sort=distance requires a geo filter"}')
    assert.equal(await refused({ geo: { lat: 1, lng: 2, radiusMeters: 3 } }), '400 {"error":"geo index not ready"}')
    assert.equal(await refused({ algorithm: 'tfidf' }), '400 {"error":"unknown algorithm: tfidf"}')
    assert.match(await refused({ alpha: 2 }), /^400 .*alpha/)
    assert.match(await refused({ oversample: 0 }), /^422/)
  })

  it('hybrid-search: by words alone where nothing makes vectors, and while what does can not be had', async () => {
    provider.standing = { status: 500 }
    const degraded = await search({ query: 'otter stone unheard' })
    provider.standing = undefined
    assert.ok(degraded.total > 0 && degraded.results.every(({ vectorScore }) => vectorScore === 0))
    const plain = await DocumentsClient.shared()
    const collection = plain.collection()
    try {
      await plain.add(collection, 'a', { contentMd: 'an otter' })
      const answer = (await plain.post('/v1/hybrid-search', { collection, query: 'otter' })).json<Found>()
      assert.deepEqual([answer.total, answer.results[0]?.vectorScore, answer.results[0]?.combinedScore], [1, 0, 0.5])
      await plain.add(collection, 'b', { contentMd: 'otter otter otter' })
      const all = (await plain.post('/v1/hybrid-search', { collection, query: 'otter', alpha: 1 })).json<Found>()
      assert.deepEqual(
        all.results.map(({ document, combinedScore }) => [document.key, combinedScore]),
        [
          ['b', 0],
          ['a', 0],
        ],
      )
    } finally {
      await plain.stop()
    }
  })
})
