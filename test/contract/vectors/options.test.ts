/**
 * Options, defaults and answer fields of cross-search, classify, find-duplicates and hybrid search. Each is
 * tested in a case where omitting it changes the result: service-1 "Vector search" and "Hybrid,
 * cross-collection and analysis".
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type DocumentJson, DocumentsClient, type Fields } from '../../harness/clients/documents_client.js'
import { embeddingEnv, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer, embedText } from '../../harness/embedding/embedding_server.js'

const DIMENSIONS = 64
const QUERY = 'otter river'
const RIVERS = ['otter river fish', 'otter river water', 'heron river bank', 'lynx forest snow', 'lynx forest hare', 'owl forest night']
const SEAS = ['otter sea kelp', 'river sea', 'desert fox', 'otter', 'river stone', 'camel desert']

interface Result {
  readonly document: DocumentJson
  readonly collection: string
  readonly score: number
  readonly combinedScore: number
  readonly ftsScore: number
  readonly vectorScore: number
  readonly rank: number
}

interface Found {
  readonly results: readonly Result[]
  readonly total: number
  readonly searchStats: Readonly<Record<string, number>>
  readonly [field: string]: unknown
}

const cosineOf = (one: string, other: string): number => {
  const [left, right] = [embedText(one, DIMENSIONS), embedText(other, DIMENSIONS)]
  return left.reduce((sum, value, at) => sum + value * (right[at] as number), 0)
}
const near = (one: number, other: number): boolean => Math.abs(one - other) < 1e-4
const keysOf = ({ results }: Found): string[] => results.map(({ document }) => document.key)

/** Names with their scores, best first. */
function ranked(scores: Readonly<Record<string, number>>): readonly (readonly [string, number])[] {
  return Object.entries(scores).sort((one, other) => other[1] - one[1])
}

describe('options of searches by vectors', () => {
  let provider: EmbeddingServer
  let client: DocumentsClient
  const texts: Record<string, string> = {}
  for (const [at, text] of RIVERS.entries()) texts[`river-${at}`] = text
  for (const [at, text] of SEAS.entries()) texts[`sea-${at}`] = text

  before(async () => {
    provider = await EmbeddingServer.start()
    provider.dimensions = DIMENSIONS
    client = await DocumentsClient.start({ env: embeddingEnv(provider, { SVC_EMBEDDING_DIMENSIONS: String(DIMENSIONS) }) })
    for (const [collection, kind] of [
      ['rivers', 'river'],
      ['seas', 'sea'],
    ] as const) {
      const documents = Object.entries(texts).filter(([key]) => key.startsWith(kind))
      await client.addBatch(
        collection,
        documents.map(([key, contentMd]) => ({ key, lang: 'en', contentMd, meta: { first: [contentMd.split(' ')[0]] } })),
      )
    }
    await client.addBatch('elsewhere', [{ key: 'same', lang: 'en', contentMd: QUERY }])
    await whenEmbedded(client.server, { rivers: RIVERS.length, seas: SEAS.length, elsewhere: 1 })
  })
  after(async () => {
    await client.stop()
    await provider.stop()
  })

  const ask = async (operation: string, body: Fields): Promise<Found> => {
    const answer = await client.post(`/v1/${operation}`, body)
    assert.equal(answer.status, 200, answer.text)
    return answer.json<Found>()
  }
  const across = (more: Fields = {}): Promise<Found> =>
    ask('cross-search', { query: QUERY, targetCollections: ['rivers', 'seas'], threshold: -1, ...more })
  const nearest = ranked(Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, cosineOf(QUERY, text)])))

  it('cross-search: ten results by default, each with collection, document without content, score and rank', async () => {
    const found = await across()
    const expected = nearest.slice(0, 10)
    assert.equal(found.total, 10)
    assert.equal(found.results.length, 10)
    found.results.forEach(({ document, collection, score, rank }, at) => {
      const [, wanted] = expected[at] as readonly [string, number]
      assert.ok(near(score, wanted), `${document.key}: ${score} is not ${wanted}`)
      assert.ok(near(cosineOf(QUERY, texts[document.key] as string), wanted))
      assert.deepEqual([rank, collection, document.contentMd], [at + 1, document.key.startsWith('river') ? 'rivers' : 'seas', ''])
    })
    assert.deepEqual([found.algorithm, found.distanceMetric, found.targetCollections], ['flat', 'cosine', ['rivers', 'seas']])
    const { durationMs, collectionsSearched } = found.searchStats
    assert.ok((durationMs ?? -1) >= 0)
    assert.equal(collectionsSearched, 2)
  })

  it('cross-search: topK cuts the list of all collections', async () => {
    assert.deepEqual(keysOf(await across({ topK: 2 })).sort(), nearest.slice(0, 2).map(([key]) => key).sort()) // prettier-ignore
    assert.equal((await across({ topK: 50 })).total, nearest.length)
  })

  it('cross-search: threshold leaves out documents below it; the default is 0', async () => {
    const threshold = (nearest[4] as readonly [string, number])[1] - 1e-3
    const wanted = nearest.filter(([, score]) => score >= threshold)
    assert.equal((await across({ topK: 50, threshold })).total, wanted.length)
    assert.ok(wanted.length < 10)
    const positive = nearest.filter(([, score]) => score >= 0)
    assert.ok(positive.length < nearest.length)
    assert.equal((await across({ topK: 50, threshold: undefined })).total, positive.length)
  })

  it('cross-search: targetCollections are searched and no others, all where none are named', async () => {
    assert.deepEqual([...new Set((await across({ targetCollections: ['seas'] })).results.map(({ collection }) => collection))], ['seas'])
    const everywhere = await across({ targetCollections: undefined })
    assert.equal(everywhere.results[0]?.document.key, 'same')
    assert.deepEqual([...(everywhere.targetCollections as string[])].sort(), ['elsewhere', 'rivers', 'seas'])
  })

  it('cross-search: filterMeta selects documents with the values in every collection, also if they are few of many', async () => {
    const found = await across({ filterMeta: { first: ['otter', 'camel'] } })
    const wanted = nearest.map(([key]) => key).filter((key) => /^(?:otter|camel)/.test(texts[key] as string))
    assert.deepEqual(keysOf(found).sort(), [...wanted].sort())
    assert.deepEqual((await across({ filterMeta: { first: ['nobody'] } })).results, [])
  })

  it('cross-search: includeContent shows the contents', async () => {
    for (const { document } of (await across({ includeContent: true })).results) assert.equal(document.contentMd, texts[document.key])
  })

  it('cross-search: algorithm and distanceMetric are as asked, and the answer names them', async () => {
    const codes = await across({ algorithm: 'sq4' })
    assert.equal(codes.algorithm, 'sq4')
    assert.equal(codes.total, 10)
    const distant = await across({ distanceMetric: 'euclidean', topK: 3 })
    assert.equal(distant.distanceMetric, 'euclidean')
    for (const [at, { score }] of distant.results.entries()) {
      const cosine = (nearest[at] as readonly [string, number])[1]
      assert.ok(Math.abs(score - 1 / (1 + Math.sqrt(Math.max(0, 2 - 2 * cosine)))) < 1e-3, `${score}, cosine ${cosine}`)
    }
  })

  it('vector-search: distanceMetric is the measure, and the answer names it', async () => {
    const scores = async (more: Fields): Promise<readonly number[]> => {
      const found = await ask('vector-search', { collection: 'rivers', query: QUERY, threshold: -1, ...more })
      assert.equal(found.distanceMetric, more.distanceMetric ?? 'cosine')
      return found.results.map(({ score }) => score)
    }
    const cosines = await scores({})
    const distances = await scores({ distanceMetric: 'euclidean' })
    assert.ok((cosines[0] as number) < 0.99)
    cosines.forEach((cosine, at) =>
      assert.ok(Math.abs((distances[at] as number) - 1 / (1 + Math.sqrt(Math.max(0, 2 - 2 * cosine)))) < 1e-3, `${cosine}`),
    )
  })

  it('vector-search: windowSize is how many neighbours of a passage are shown on either side, 1 where none is given', async () => {
    const words = ['lion', 'owl', 'hare', 'newt', 'crow']
    const paragraphs = words.map((word) => `${word} `.repeat(200).trim())
    await client.add('windows', 'book', { contentMd: paragraphs.join('\n\n') })
    await whenEmbedded(client.server, { windows: 1 })
    const shown = async (more: Fields): Promise<string[]> => {
      const { results } = await ask('vector-search', { collection: 'windows', query: 'hare', retrievalMode: 'window', ...more })
      const [first] = results as readonly (Result & { readonly chunkText: string })[]
      return words.filter((word) => first?.chunkText.includes(word) === true)
    }
    assert.deepEqual(await shown({ windowSize: 0 }), ['hare'])
    assert.deepEqual(await shown({}), ['owl', 'hare', 'newt'])
    assert.deepEqual(await shown({ windowSize: 2 }), words)
  })

  it('classify: threshold and topK cut the labels, and multi takes all above the threshold; without them all labels are answered', async () => {
    const [text, labels] = ['an otter in a river', ['otter river', 'otter', 'hare', 'night', 'cloud']]
    const scores = ranked(Object.fromEntries(labels.map((label) => [label, cosineOf(text, label)])))
    const labelsOf = async (more: Fields): Promise<string[]> => {
      const answer = await client.post('/v1/classify', { labels, text, ...more })
      assert.equal(answer.status, 200, answer.text)
      const { results } = answer.json<{ results: readonly { label: string; score: number }[] }>()
      for (const { label, score } of results) assert.ok(near(score, cosineOf(text, label)))
      return results.map(({ label }) => label)
    }
    const above = (threshold: number): string[] => scores.filter(([, score]) => score >= threshold).map(([label]) => label)
    assert.ok(above(0).length < labels.length, 'some label has a negative score')
    assert.deepEqual(await labelsOf({ threshold: -1 }), above(-1))
    assert.deepEqual(await labelsOf({}), above(-1))
    const threshold = (scores[2] as readonly [string, number])[1] - 1e-3
    assert.deepEqual(await labelsOf({ threshold }), above(threshold))
    assert.deepEqual(await labelsOf({ threshold, topK: 1 }), above(threshold).slice(0, 1))
    assert.ok(above(threshold).length > 1)
    assert.deepEqual(await labelsOf({ threshold, topK: 1, multi: true }), above(threshold))
  })

  it('classify: lang chooses among the documents of a key, en where none is given', async () => {
    await client.add('languages', 'same', { lang: 'en', contentMd: 'otter river' })
    await client.add('languages', 'same', { lang: 'de', contentMd: 'camel desert' })
    await whenEmbedded(client.server, { languages: 2 })
    const best = async (more: Fields): Promise<unknown> => {
      const answer = await client.post('/v1/classify', {
        labels: ['otter river', 'camel desert'],
        collection: 'languages',
        key: 'same',
        ...more,
      })
      assert.equal(answer.status, 200, answer.text)
      return answer.json<{ results: readonly { label: string }[] }>().results[0]?.label
    }
    assert.equal(await best({}), 'otter river')
    assert.equal(await best({ lang: 'de' }), 'camel desert')
  })

  it('find-duplicates: threshold is 0.9 by default', async () => {
    // Cosines of shared hashed words: 0.87 and 0.94, with one additional word beside 3 and beside 7.
    const [few, many] = ['alpha beta gamma', 'one two three four five six seven']
    const contents = [few, `${few} delta`, many, `${many} eight`]
    await client.addBatch('nearly', contents.map((contentMd, at) => ({ key: `near-${at}`, lang: 'en', contentMd }))) // prettier-ignore
    await whenEmbedded(client.server, { nearly: contents.length })
    const cosines = [cosineOf(few, `${few} delta`), cosineOf(many, `${many} eight`)] as const
    assert.ok(cosines[0] > 0.7 && cosines[0] < 0.89 && cosines[1] > 0.91, cosines.join())
    const groups = async (more: Fields): Promise<{ readonly threshold: number; readonly keys: readonly string[][] }> => {
      const answer = await client.post('/v1/find-duplicates', { collection: 'nearly', mode: 'similar', ...more })
      assert.equal(answer.status, 200, answer.text)
      const { threshold, similarGroups } = answer.json<{
        threshold: number
        similarGroups: readonly { documents: readonly { key: string }[] }[]
      }>()
      return { threshold, keys: similarGroups.map(({ documents }) => documents.map(({ key }) => key)) }
    }
    assert.deepEqual(await groups({}), { threshold: 0.9, keys: [['near-2', 'near-3']] })
    assert.equal((await groups({ threshold: 0.7 })).keys.length, 2)
    assert.deepEqual(await groups({ threshold: 0.99 }), { threshold: 0.99, keys: [] })
  })

  it('hybrid-search: ten results and rrfK 60 by default', async () => {
    const collection = 'dozen'
    await client.addBatch(collection, Array.from({ length: 12 }, (_, at) => ({ key: `d-${at}`, lang: 'en', contentMd: `otter river ${'x '.repeat(at)}` }))) // prettier-ignore
    await whenEmbedded(client.server, { [collection]: 12 })
    const found = await ask('hybrid-search', { collection, query: QUERY })
    assert.deepEqual([found.total, found.results.length, found.strategy], [10, 10, 'alpha'])
    assert.ok((found.searchStats.durationMs ?? -1) >= 0)
    const fused = await ask('hybrid-search', { collection, query: QUERY, strategy: 'rrf' })
    assert.equal(fused.rrfK, 60)
    const [best] = fused.results
    assert.ok(near((best?.combinedScore ?? 0) / (2 / 61), 1), `${best?.combinedScore} of the first of both lists`)
    const flatter = await ask('hybrid-search', { collection, query: QUERY, strategy: 'rrf', rrfK: 1 })
    assert.deepEqual([flatter.rrfK, near(flatter.results[0]?.combinedScore ?? 0, 1)], [1, true])
  })

  it('hybrid-search: algorithm scores the words by bm25, or by bm25f, which looks into titles as well', async () => {
    await client.add('titled', 'title', { contentMd: 'stone', meta: { title: ['otter'] } })
    await client.add('titled', 'text', { contentMd: 'otter', meta: { title: ['stone'] } })
    await whenEmbedded(client.server, { titled: 2 })
    const scores = async (more: Fields): Promise<Fields> => {
      const found = await ask('hybrid-search', { collection: 'titled', query: 'otter', alpha: 0, ...more })
      assert.equal(found.ftsAlgorithm, more.algorithm ?? 'bm25')
      return Object.fromEntries(
        found.results.filter(({ ftsScore }) => ftsScore > 0).map(({ document, ftsScore }) => [document.key, ftsScore]),
      )
    }
    const byFts = async (algorithm: string): Promise<Fields> => {
      const { results } = await ask('fts', { collection: 'titled', query: 'otter', algorithm })
      return Object.fromEntries(results.map(({ document, score }) => [document.key, score]))
    }
    const [bm25, bm25f] = [await byFts('bm25'), await byFts('bm25f')]
    assert.notDeepEqual(bm25, bm25f)
    assert.deepEqual(await scores({}), bm25)
    assert.deepEqual(await scores({ algorithm: 'bm25' }), bm25)
    assert.deepEqual(await scores({ algorithm: 'bm25f' }), bm25f)
  })

  it('hybrid-search: facetMaxValues cuts the values of each facet, 0 shows all', async () => {
    const facet = async (more: Fields): Promise<unknown> => {
      const found = await ask('hybrid-search', { collection: 'rivers', query: QUERY, threshold: -1, facetBy: ['first'], ...more })
      return (found.facets as Record<string, readonly { value: string; count: number }[]>).first
    }
    const all = [
      { value: 'lynx', count: 2 },
      { value: 'otter', count: 2 },
      { value: 'heron', count: 1 },
      { value: 'owl', count: 1 },
    ]
    assert.deepEqual(await facet({}), all)
    assert.deepEqual(await facet({ facetMaxValues: 0 }), all)
    assert.deepEqual(await facet({ facetMaxValues: 3 }), all.slice(0, 3))
  })

  it('hybrid-search: topK, threshold and distanceMetric hold for the meaning; the words stay', async () => {
    const search = (more: Fields): Promise<Found> => ask('hybrid-search', { collection: 'rivers', query: QUERY, ...more })
    assert.equal((await search({ topK: 3 })).total, 3)
    const strict = await search({ threshold: 0.9 })
    assert.ok(strict.results.length > 0 && strict.results.every(({ vectorScore, ftsScore }) => vectorScore === 0 || ftsScore > 0))
    assert.ok((await search({ threshold: -1 })).results.some(({ ftsScore }) => ftsScore === 0))
    assert.ok(strict.results.every(({ ftsScore }) => ftsScore > 0))
  })
})

describe('find-duplicates of much', () => {
  it('find-duplicates: 5000 documents are compared by default, oldest first, or maxDocs of them', async () => {
    const client = await DocumentsClient.shared()
    const collection = client.collection()
    try {
      const documents = Array.from({ length: 5_001 }, (_, at) => ({
        key: `k-${at}`,
        lang: 'en',
        contentMd: at < 4_999 ? `text ${at}` : 'last',
      }))
      await client.addBatch(collection, documents)
      const look = async (more: Fields): Promise<{ readonly totalDocuments: number; readonly exactDuplicates: number }> => {
        const answer = await client.post('/v1/find-duplicates', { collection, mode: 'exact', ...more })
        assert.equal(answer.status, 200, answer.text)
        const { totalDocuments, exactDuplicates } = answer.json<{ totalDocuments: number; exactDuplicates: number }>()
        return { totalDocuments, exactDuplicates }
      }
      assert.deepEqual(await look({}), { totalDocuments: 5_000, exactDuplicates: 0 })
      assert.deepEqual(await look({ maxDocs: 6_000 }), { totalDocuments: 5_001, exactDuplicates: 2 })
      assert.deepEqual(await look({ maxDocs: 7 }), { totalDocuments: 7, exactDuplicates: 0 })
    } finally {
      await client.stop()
    }
  })
})
