/**
 * Vector search over HTTP: service-1 "Vector search", "Hybrid, cross-collection and analysis", http.md
 * section 2, decisions 0140 to 0142. The provider is a server of the test, whose vectors are hashed words.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import {
  type DocumentJson,
  DocumentsClient,
  type Fields,
  MISSING_FIELDS,
  NOT_FOUND,
  summary,
} from '../../harness/clients/documents_client.js'
import { embeddingEnv, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer, embedText } from '../../harness/embedding/embedding_server.js'
import type { TestResponse } from '../../harness/server/server.js'

const DIMENSIONS = 64
const ANIMALS = ['otter river fish', 'otter river water', 'heron river bank', 'lynx forest snow', 'lynx forest hare', 'owl forest night']

interface Result {
  readonly document: DocumentJson
  readonly score: number
  readonly rank: number
  readonly chunkIndex?: number
  readonly chunkText?: string
  readonly collection?: string
}

interface Found {
  readonly results: readonly Result[]
  readonly total: number
  readonly [field: string]: unknown
}

const near = (one: number, other: number): boolean => Math.abs(one - other) < 1e-4

/** Keys ordered by cosine with the query, and the cosines. */
function ranking(query: Float32Array, texts: Readonly<Record<string, string>>): readonly (readonly [string, number])[] {
  const scored = Object.entries(texts).map(([key, text]) => {
    const vector = embedText(text, DIMENSIONS)
    return [key, vector.reduce((sum, value, at) => sum + value * (query[at] as number), 0)] as const
  })
  return scored.sort((one, other) => other[1] - one[1])
}

describe('search by vectors', () => {
  let provider: EmbeddingServer
  let client: DocumentsClient
  const texts = Object.fromEntries(ANIMALS.map((text, at) => [`doc-${at}`, text]))
  const keysOf = (found: Found): string[] => found.results.map(({ document }) => document.key)

  before(async () => {
    provider = await EmbeddingServer.start()
    provider.dimensions = DIMENSIONS
    client = await DocumentsClient.start({ env: embeddingEnv(provider, { SVC_EMBEDDING_DIMENSIONS: String(DIMENSIONS) }) })
    const documents = ANIMALS.map((contentMd, at) => ({
      key: `doc-${at}`,
      lang: 'en',
      contentMd,
      meta: { place: [contentMd.split(' ')[1]] },
    }))
    await client.addBatch('animals', documents)
    await whenEmbedded(client.server, { animals: ANIMALS.length })
  })
  after(async () => {
    await client.stop()
    await provider.stop()
  })

  const ask = async (path: string, body: Fields): Promise<Found> => {
    const answer = await client.post(path, body)
    assert.equal(answer.status, 200, answer.text)
    return answer.json<Found>()
  }
  const refused = async (path: string, body: Fields): Promise<string> => summary(await client.post(path, body))

  it('vector-search: the nearest documents by cosine, best first, each with its rank and without its content', async () => {
    const query = 'otter in the river'
    const found = await ask('/v1/vector-search', { collection: 'animals', query, threshold: -1 })
    const expected = ranking(embedText(query, DIMENSIONS), texts).slice(0, 5)
    assert.deepEqual(
      keysOf(found),
      expected.map(([key]) => key),
    )
    found.results.forEach(({ score, rank, document }, at) => {
      assert.ok(near(score, expected[at]?.[1] as number), `${score} is not ${expected[at]?.[1]}`)
      assert.deepEqual([rank, document.contentMd], [at + 1, ''])
    })
    const { total, model, dimensions, algorithm, distanceMetric } = found
    assert.deepEqual([total, model, dimensions, algorithm, distanceMetric], [5, 'text-embedding-3-small', DIMENSIONS, 'flat', 'cosine'])
    assert.ok((found.searchStats as { durationMs: number }).durationMs >= 0)
  })

  it('vector-search: a given vector needs no text; topK, threshold, filter and content are as asked', async () => {
    const queryVector = [...embedText('forest', DIMENSIONS)]
    const expected = ranking(Float32Array.from(queryVector), texts)
    const all = await ask('/v1/vector-search', { collection: 'animals', queryVector, topK: 50, threshold: -1 })
    assert.deepEqual(
      keysOf(all),
      expected.map(([key]) => key),
    )
    const threshold = (expected[2] as [string, number])[1] - 1e-3
    const above = await ask('/v1/vector-search', { collection: 'animals', queryVector, topK: 50, threshold })
    assert.deepEqual(
      keysOf(above),
      expected.slice(0, 3).map(([key]) => key),
    )
    const rivers = await ask('/v1/vector-search', {
      ...{ collection: 'animals', queryVector, topK: 2, threshold: -1, includeContent: true },
      filterMeta: { place: ['river'] },
    })
    const wanted = expected.filter(([key]) => texts[key]?.includes('river') === true).slice(0, 2)
    assert.deepEqual(
      keysOf(rivers),
      wanted.map(([key]) => key),
    )
    for (const { document } of rivers.results) assert.equal(document.contentMd, texts[document.key])
  })

  it('vector-search: every algorithm and metric answers, with the nearest first', async () => {
    const queryVector = [...embedText('lynx forest snow', DIMENSIONS)]
    for (const algorithm of ['flat', 'hnsw', 'ivf', 'pq', 'opq', 'sq', 'sq4', 'bq', 'quantized']) {
      const found = await ask('/v1/vector-search', { collection: 'animals', queryVector, algorithm, topK: 3 })
      assert.deepEqual([keysOf(found)[0], found.algorithm, found.total], ['doc-3', algorithm, 3])
    }
    const metrics = { cosine: 1, dot_product: 1, euclidean: 1 }
    for (const [distanceMetric, score] of Object.entries(metrics)) {
      const found = await ask('/v1/vector-search', { collection: 'animals', queryVector, distanceMetric, topK: 1 })
      assert.ok(near(found.results[0]?.score ?? 0, score), `${distanceMetric}: ${found.results[0]?.score}`)
    }
  })

  it('vector-search: results may be chosen so that they differ', async () => {
    const contents = ['otter river', 'otter river too', 'otter river again', 'otter snow']
    await client.addBatch(
      'alike',
      contents.map((contentMd, at) => ({ key: `doc-${at}`, lang: 'en', contentMd })),
    )
    await whenEmbedded(client.server, { alike: contents.length })
    const query = { collection: 'alike', query: 'otter river', topK: 2, threshold: -1 }
    assert.deepEqual(
      keysOf(await ask('/v1/vector-search', { ...query, mmr: true, mmrLambda: 1 })),
      keysOf(await ask('/v1/vector-search', query)),
    )
    const different = keysOf(await ask('/v1/vector-search', { ...query, mmr: true, mmrLambda: 0.2 }))
    assert.deepEqual(different, ['doc-0', 'doc-3'])
  })

  it('vector-search: invalid requests are refused', async () => {
    const query = { collection: 'animals', query: 'otter' }
    assert.equal(await refused('/v1/vector-search', { collection: 'animals' }), MISSING_FIELDS)
    assert.equal(await refused('/v1/vector-search', { query: 'otter' }), MISSING_FIELDS)
    for (const oversample of [0.5, 11])
      assert.equal(await refused('/v1/vector-search', { ...query, oversample }), '422 {"error":"oversample must be from 1 to 10"}')
    assert.equal(await refused('/v1/vector-search', { ...query, topK: -1 }), '400 {"error":"invalid topK"}')
    assert.equal(await refused('/v1/vector-search', { ...query, algorithm: 'magic' }), '400 {"error":"unknown algorithm: magic"}')
    assert.equal(await refused('/v1/vector-search', { ...query, distanceMetric: 'taxi' }), '400 {"error":"unknown distanceMetric: taxi"}')
    assert.match(await refused('/v1/vector-search', { ...query, retrievalMode: 'graph' }), /^400 .*no code graph/)
    assert.match(await refused('/v1/vector-search', { ...query, retrievalMode: 'all' }), /^400 .*unknown retrievalMode/)
    assert.match(await refused('/v1/vector-search', { ...query, mmrLambda: 2 }), /^400 .*mmrLambda/)
    assert.match(
      await refused('/v1/vector-search', { collection: 'animals', queryVector: Array.from({ length: 9000 }, () => 1) }),
      /^400 .*queryVector/,
    )
    for (const large of ['1e999', '3e38', '-1e16'])
      assert.equal(
        summary(await client.server.post('/v1/vector-search', `{"collection":"animals","queryVector":[${large},1,1]}`)),
        '400 {"error":"invalid queryVector: a number is not finite, or too large"}',
      )
    const none = { results: [], total: 0 }
    const { results, total } = await ask('/v1/vector-search', { ...query, collection: 'nowhere' })
    assert.deepEqual({ results, total }, none)
  })

  it('vector-search, cross-search and vector-projection: a queryVector of the wrong length is 400 and names the right one', async () => {
    const text = '400 {"error":"invalid queryVector: 3 dimensions, 64 are expected"}'
    for (const path of ['/v1/vector-search', '/v1/cross-search', '/v1/vector-projection']) {
      for (const collection of ['animals', 'nowhere'])
        assert.equal(await refused(path, { collection, targetCollections: [collection], queryVector: [1, 2, 3] }), text, path)
      const long = Array.from({ length: DIMENSIONS + 1 }, () => 1)
      assert.match(await refused(path, { collection: 'animals', queryVector: long }), /^400 .*invalid queryVector: 65 dimensions, 64 are/)
      assert.match(await refused(path, { collection: 'animals', queryVector: long.slice(1) }), /^200 /)
    }
  })

  it('vector-search: deleted and changed documents are found as they are', async () => {
    await client.addBatch(
      'changing',
      ['one', 'two', 'three'].map((word) => ({ key: word, lang: 'en', contentMd: `word ${word}` })),
    )
    await whenEmbedded(client.server, { changing: 3 })
    await client.delete('changing', 'two')
    await client.add('changing', 'three', { contentMd: 'something else' })
    await whenEmbedded(client.server, { changing: 2 })
    const found = await ask('/v1/vector-search', { collection: 'changing', query: 'something else', threshold: -1, includeContent: true })
    assert.deepEqual(keysOf(found), ['three', 'one'])
    assert.ok(near(found.results[0]?.score ?? 0, 1))
    await client.post('/v1/delete-collection', { collection: 'changing' })
    assert.equal((await ask('/v1/vector-search', { collection: 'changing', query: 'word', threshold: -1 })).total, 0)
  })

  it('vector-search: passages are returned instead of documents, alone or with their neighbours', async () => {
    const paragraphs = ['about otters and rivers ', 'about owls and nights ', 'about lynxes and hares '].map((text) =>
      text.repeat(40).trim(),
    )
    await client.add('passages', 'book', { contentMd: paragraphs.join('\n\n') })
    const stats = await whenEmbedded(client.server, { passages: 1 })
    assert.ok((stats.collections.passages?.total_chunks ?? 0) >= 2)
    const query = { collection: 'passages', query: 'owls at night', threshold: -1 }
    const [whole] = (await ask('/v1/vector-search', query)).results
    assert.deepEqual([whole?.chunkText, whole?.chunkIndex], [undefined, undefined])
    const [chunk] = (await ask('/v1/vector-search', { ...query, retrievalMode: 'chunk' })).results
    assert.ok(chunk?.chunkText?.includes('owls'), chunk?.chunkText)
    assert.equal(chunk?.document.contentMd, '')
    const [window] = (await ask('/v1/vector-search', { ...query, retrievalMode: 'window', windowSize: 5, includeContent: true })).results
    assert.equal(window?.chunkText, paragraphs.join('\n\n'))
    assert.equal(window.document.contentMd, paragraphs.join('\n\n'))
    const fts = await ask('/v1/fts', { collection: 'passages', query: 'hares', retrievalMode: 'chunk' })
    assert.ok(fts.results[0]?.chunkText?.includes('hares') === true)
    assert.equal(fts.results[0].document.contentMd, '')
    for (const more of [{ alpha: 0 }, { threshold: 1 }]) {
      const [byWords] = (await ask('/v1/hybrid-search', { collection: 'passages', query: 'hares', retrievalMode: 'chunk', ...more }))
        .results
      assert.deepEqual([byWords?.chunkIndex, byWords?.chunkText], [fts.results[0].chunkIndex, fts.results[0].chunkText])
    }
    const [listed] = (await client.post('/v1/search', { collection: 'passages', retrievalMode: 'chunk' })).json<(DocumentJson & Result)[]>()
    assert.deepEqual([listed?.contentMd, listed?.chunkIndex, listed?.chunkText?.startsWith('about otters')], ['', 0, true])
  })

  it('vector-search: the retrieval profile of the collection applies where the request sets nothing', async () => {
    const retrieval = { topK: 2, retrievalMode: 'chunk', contextTokenBudget: 5 }
    await client.addBatch(
      'profiled',
      ANIMALS.map((contentMd, at) => ({ key: `doc-${at}`, lang: 'en', contentMd })),
    )
    await whenEmbedded(client.server, { profiled: ANIMALS.length })
    const put = await client.server.request('PUT', '/v1/collection-config', { collection: 'profiled', retrieval })
    assert.equal(put.status, 200, put.text)
    const found = await ask('/v1/vector-search', { collection: 'profiled', query: 'otter', threshold: -1 })
    assert.deepEqual([found.total, found.contextTruncated], [1, true])
    assert.ok(found.results[0]?.chunkText?.includes('otter'))
    const asked = await ask('/v1/vector-search', {
      collection: 'profiled',
      query: 'otter',
      threshold: -1,
      topK: 3,
      retrievalMode: 'parent',
    })
    assert.deepEqual([asked.total, asked.contextTruncated], [3, undefined])
  })

  it('cross-search: the nearest of several collections in one list, by text, vector or document', async () => {
    await client.addBatch(
      'others',
      ['otter sea kelp', 'desert fox'].map((contentMd, at) => ({ key: `other-${at}`, lang: 'en', contentMd })),
    )
    await whenEmbedded(client.server, { others: 2 })
    const targetCollections = ['animals', 'others']
    const found = await ask('/v1/cross-search', { query: 'otter', targetCollections, threshold: -1 })
    const all = { ...texts, 'other-0': 'otter sea kelp', 'other-1': 'desert fox' }
    assert.deepEqual(
      keysOf(found),
      ranking(embedText('otter', DIMENSIONS), all).map(([key]) => key),
    )
    assert.deepEqual([...new Set(found.results.map(({ collection }) => collection))].sort(), targetCollections)
    assert.deepEqual(found.targetCollections, targetCollections)
    assert.equal((found.searchStats as { collectionsSearched: number }).collectionsSearched, 2)
    const like = await ask('/v1/cross-search', {
      sourceCollection: 'others',
      sourceDocID: 'others|other-0|en',
      targetCollections,
      threshold: -1,
      topK: 1,
    })
    assert.equal(keysOf(like)[0], ranking(embedText('otter sea kelp', DIMENSIONS), { ...texts, 'other-1': 'desert fox' })[0]?.[0])
    assert.deepEqual([like.sourceCollection, like.sourceDocID], ['others', 'others|other-0|en'])
    const everywhere = await ask('/v1/cross-search', { queryVector: [...embedText('otter', DIMENSIONS)], topK: 3 })
    assert.ok((everywhere.targetCollections as string[]).length >= 2)
    assert.equal(await refused('/v1/cross-search', {}), MISSING_FIELDS)
    for (const sourceDocID of ['others|nobody|en', 'animals|other-0|en'])
      assert.equal(await refused('/v1/cross-search', { sourceCollection: 'others', sourceDocID }), NOT_FOUND)
    assert.match(await refused('/v1/cross-search', { query: 'x', oversample: 20 }), /^422/)
  })

  it('classify: labels by nearness to a text, or to a document by the vectors that it has', async () => {
    const labels = ['otter river', 'forest night', 'desert']
    const results = async (body: Fields): Promise<readonly { label: string; score: number }[]> => {
      const answer = await client.post('/v1/classify', body)
      assert.equal(answer.status, 200, answer.text)
      const {
        model,
        dimensions,
        results: found,
      } = answer.json<{ model: string; dimensions: number; results: { label: string; score: number }[] }>()
      assert.deepEqual([model, dimensions], ['text-embedding-3-small', DIMENSIONS])
      return found
    }
    const text = 'an otter in a river'
    const expected = ranking(embedText(text, DIMENSIONS), Object.fromEntries(labels.map((label) => [label, label])))
    const all = await results({ labels, text, threshold: -1 })
    assert.deepEqual(
      all.map(({ label }) => label),
      expected.map(([label]) => label),
    )
    all.forEach(({ score }, at) => assert.ok(near(score, expected[at]?.[1] as number)))
    assert.equal((await results({ labels, text, topK: 1 })).length, 1)
    provider.requests.length = 0
    const [best] = await results({ labels, collection: 'animals', key: 'doc-0' })
    assert.equal(best?.label, 'otter river')
    assert.deepEqual(
      provider.requests.flatMap(({ texts: asked }) => asked).filter((asked) => asked === ANIMALS[0]),
      [],
      'stored vectors are used',
    )
    for (const missing of [{ text }, { text, labels: [] }, { labels }, { labels, key: 'doc-0' }, { labels, collection: 'animals' }])
      assert.equal(await refused('/v1/classify', missing), MISSING_FIELDS, JSON.stringify(missing))
    const many = Array.from({ length: 101 }, (_, at) => `label ${at}`)
    assert.equal(await refused('/v1/classify', { labels: many, text }), '400 {"error":"maximum 100 labels allowed"}')
    assert.equal(await refused('/v1/classify', { labels, collection: 'animals', key: 'nobody' }), NOT_FOUND)
  })

  it('classify: without topK and threshold, and with 0 for both, all labels are answered, those with a negative score among them', async () => {
    const text = 'otter'
    const cosine = (label: string): number => ranking(embedText(text, DIMENSIONS), { [label]: label })[0]?.[1] ?? 0
    const apart = Array.from({ length: 200 }, (_, at) => `word${at}`).filter((label) => cosine(label) < -0.01)
    const labels = ['otter', ...apart.slice(0, 3)]
    assert.equal(labels.length, 4)
    for (const fields of [{}, { topK: 0 }, { threshold: 0 }, { topK: 0, threshold: 0 }, { multi: true }, { topK: null, threshold: null }]) {
      const { results } = (await client.post('/v1/classify', { labels, text, ...fields })).json<{
        results: { label: string; score: number }[]
      }>()
      assert.deepEqual(results.map(({ label }) => label).sort(), [...labels].sort(), JSON.stringify(fields))
      assert.ok((results.at(-1)?.score ?? 0) < 0)
    }
    const { results } = (await client.post('/v1/classify', { labels, text, threshold: 0.001 })).json<{ results: { label: string }[] }>()
    assert.deepEqual(results.map(({ label }) => label), ['otter']) // prettier-ignore
  })

  it('find-duplicates: equal contents and near ones are grouped; equal ones need no vectors', async () => {
    const contents = ['same words here', 'same words here', 'same words here now', 'quite another text', 'same words yere']
    await client.addBatch(
      'twins',
      contents.map((contentMd, at) => ({ key: `twin-${at}`, lang: 'en', contentMd })),
    )
    await whenEmbedded(client.server, { twins: contents.length })
    const answer = await client.post('/v1/find-duplicates', { collection: 'twins', threshold: 0.8 })
    assert.equal(answer.status, 200, answer.text)
    const found = answer.json<Record<string, unknown> & { exactGroups: Group[]; similarGroups: Group[] }>()
    const contentHash = createHash('sha256')
      .update(contents[0] as string)
      .digest('hex')
    assert.deepEqual(found.exactGroups, [
      {
        groupId: 'exact-1',
        type: 'exact',
        documents: [0, 1].map((at) => ({ docId: `twins|twin-${at}|en`, key: `twin-${at}`, contentHash })),
      },
    ])
    const [similar] = found.similarGroups
    assert.deepEqual([found.similarGroups.length, similar?.documents.map(({ key }) => key)], [1, ['twin-0', 'twin-1', 'twin-2']])
    assert.ok((similar?.score ?? 0) >= 0.8 && similar?.documents.every(({ score }) => (score ?? 0) >= 0.8) === true)
    const { collection, mode, threshold, distanceMetric, totalDocuments, totalEmbedded, exactDuplicates, similarPairs } = found
    assert.deepEqual(
      [collection, mode, threshold, distanceMetric, totalDocuments, totalEmbedded, exactDuplicates, similarPairs],
      ['twins', 'both', 0.8, 'cosine', 5, 5, 2, 3],
    )
    const byDistance = { collection: 'twins', mode: 'similar', threshold: 0.6, distanceMetric: 'euclidean', includeContent: true }
    const [distant, ...others] = (await client.post('/v1/find-duplicates', byDistance)).json<typeof found>().similarGroups
    assert.deepEqual([distant?.documents.map(({ contentMd }) => contentMd), others], [contents.slice(0, 3), []])
    const beyond = (await client.post('/v1/find-duplicates', { collection: 'twins', mode: 'similar', threshold: 1.5 })).json<typeof found>()
    assert.deepEqual([beyond.similarGroups, beyond.similarPairs], [[], 0])
    const anything = (await client.post('/v1/find-duplicates', { collection: 'twins', mode: 'similar', threshold: -1 })).json<
      typeof found
    >()
    assert.deepEqual([anything.similarGroups.map(({ documents }) => documents.length), anything.similarPairs], [[5], 10])
    await client.add('twins', 'empty', { contentMd: '' })
    await whenEmbedded(client.server, { twins: contents.length + 1 })
    const counted = (await client.post('/v1/find-duplicates', { collection: 'twins' })).json<typeof found>()
    assert.deepEqual([counted.totalDocuments, counted.totalEmbedded], [6, 5])
    const exact = (await client.post('/v1/find-duplicates', { collection: 'twins', mode: 'exact', maxDocs: 1 })).json<typeof found>()
    assert.deepEqual([exact.exactGroups, exact.similarGroups, exact.totalDocuments], [[], [], 1])
    assert.match(await refused('/v1/find-duplicates', { collection: 'twins', mode: 'odd' }), /^400 .*unknown mode: odd/)
  })

  it('vector-projection: points of a plane, near where texts are alike', async () => {
    const answer = await client.post('/v1/vector-projection', { collection: 'animals', query: 'otter river fish' })
    assert.equal(answer.status, 200, answer.text)
    const { points, query, total, sampled, dimensions } = answer.json<Projected>()
    assert.deepEqual([points.length, total, sampled, dimensions], [ANIMALS.length, ANIMALS.length, ANIMALS.length, DIMENSIONS])
    const same = points.find(({ key }) => key === 'doc-0')
    assert.ok(same !== undefined && near(same.x, query.x) && near(same.y, query.y))
    assert.deepEqual([same.id, same.docId, same.chunkIndex], ['animals|doc-0|en#0', 'animals|doc-0|en', 0])
    const spread = (of: 'x' | 'y'): number => points.reduce((sum, point) => sum + point[of] ** 2, 0)
    assert.ok(spread('x') >= spread('y'), 'the first axis shows most')
    for (const sample of [1, 2, ANIMALS.length - 1]) {
      const some = (await client.post('/v1/vector-projection', { collection: 'animals', sample })).json<Projected>()
      assert.deepEqual([some.points.length, new Set(some.points.map(({ key }) => key)).size], [sample, sample])
    }
  })

  it('search by vectors: without a provider texts are refused and vectors work; a provider that fails fails texts alone', async () => {
    const plain = await DocumentsClient.start()
    try {
      await plain.add('plain', 'a', { contentMd: 'text' })
      const asked = (path: string, body: Fields): Promise<TestResponse> => plain.post(path, body)
      assert.equal(
        summary(await asked('/v1/vector-search', { collection: 'plain', query: 'text' })),
        '400 {"error":"no embedding provider configured"}',
      )
      assert.equal((await asked('/v1/vector-search', { collection: 'plain', queryVector: [1, 0] })).json<Found>().total, 0)
      assert.equal(summary(await asked('/v1/classify', { labels: ['a'], text: 'b' })), '400 {"error":"no embedding provider configured"}')
    } finally {
      await plain.stop()
    }
    provider.standing = { status: 500 }
    assert.equal((await client.post('/v1/vector-search', { collection: 'animals', query: 'never asked before' })).status, 503)
    assert.equal(
      (await client.post('/v1/vector-search', { collection: 'animals', queryVector: [...embedText('otter', DIMENSIONS)] })).status,
      200,
    )
    provider.standing = undefined
  })
})

interface Group {
  readonly groupId: string
  readonly type: string
  readonly documents: readonly { readonly key: string; readonly contentMd?: string; readonly score?: number }[]
  readonly score?: number
}

interface Projected {
  readonly points: readonly {
    readonly id: string
    readonly key: string
    readonly docId: string
    readonly chunkIndex: number
    readonly x: number
    readonly y: number
  }[]
  readonly query: { readonly x: number; readonly y: number }
  readonly total: number
  readonly sampled: number
  readonly dimensions: number
}
