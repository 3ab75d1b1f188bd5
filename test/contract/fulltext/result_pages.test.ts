/**
 * The page of a full-text search is put together by native code where the request asks for nothing but
 * documents, scores and matched terms, and by the lane otherwise. Both show the same bytes.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Server } from '../../harness/server/server.js'
import { collectionOf, sharedServer } from '../../harness/server/shared_server.js'

const WORDS = ['walrus', 'log', 'logging', 'größe', 'naïve', '東京', 'index', 'store', 'stores', 'e-mail', 'user_id', 'quote"d', 'emoji😀']
const COLLECTION = collectionOf('pages')
const DOCUMENTS = 150

/** A number below `bound`, the same in every run (Park and Miller's generator). */
function randomSource(seed: number): (bound: number) => number {
  let state = seed
  return (bound) => {
    state = (state * 48271) % 2147483647
    return state % bound
  }
}

const below = randomSource(20_261)
const words = (count: number): string => Array.from({ length: count }, () => WORDS[below(WORDS.length)]).join(' ')

function bodyOf(index: number): string {
  if (index % 10 === 0) return `${words(12)} "quotes" \\ back\tslash\nnew line `.repeat(40)
  if (index % 10 === 1) return ''
  return `# ${words(2)}\n\n${words(3 + below(60))}`
}

describe('a page of results', () => {
  let server: Server

  const ask = async (request: object): Promise<string> => {
    const answer = await server.post('/v1/fts', { collection: COLLECTION, ...request })
    assert.equal(answer.status, 200, answer.text)
    return answer.text
  }
  /** The results as the answer has them, byte for byte. */
  const resultsOf = (text: string): string => text.slice(0, text.lastIndexOf('],"total":'))

  before(async () => {
    server = await sharedServer()
    const documents = Array.from({ length: DOCUMENTS }, (_, index) => ({
      key: `k"${index}`,
      lang: index % 3 === 0 ? 'de' : 'en',
      meta: { title: [words(3)], tags: [words(1), 'ü'] },
      contentMd: bodyOf(index),
    }))
    const answer = await server.post('/v1/add-batch', { collection: COLLECTION, documents })
    assert.equal(answer.status, 200, answer.text)
  })
  after(() => server.stop())

  it('has the same bytes whether or not the lane has to look at each document', async () => {
    let shown = 0
    for (let round = 0; round < 120; round++) {
      const request = {
        query: words(1 + below(4)).replaceAll('"', ' '),
        algorithm: ['tfidf', 'bm25', 'bm25f', 'pmisparse'][below(4)],
        mode: ['auto', 'simple', 'boolean', 'phrase'][below(4)],
        limit: [1, 10, 33, 100][below(4)],
        ...(below(3) === 0 ? { filterMeta: { tags: ['ü'] }, boost: { 'tags:ü': 1.7 } } : {}),
      }
      const plain = await ask(request)
      const counted = await ask({ ...request, facetBy: ['tags'] })
      assert.equal(resultsOf(plain), resultsOf(counted), JSON.stringify(request))
      shown += (JSON.parse(plain) as { total: number }).total
    }
    assert.ok(shown > 1000, `${shown} results were compared`)
  })

  it('shows a word that two terms of the query stand for once', async () => {
    const { results } = JSON.parse(await ask({ query: 'store store STORE', mode: 'simple' })) as { results: { matchedTerms: string[] }[] }
    assert.ok(results.length > 0)
    for (const { matchedTerms } of results) assert.deepEqual(matchedTerms, [...new Set(matchedTerms)])
  })

  it('is at once that of documents which a write has just changed, and without those which are gone', async () => {
    for (let round = 0; round < 20; round++) {
      const write = { collection: COLLECTION, key: 'moving', lang: 'en', contentMd: `zeppelin round${round}` }
      assert.equal((await server.post('/v1/add', write)).status, 200)
      const { results } = JSON.parse(await ask({ query: 'zeppelin' })) as { results: { document: { contentMd: string } }[] }
      assert.deepEqual(results.map(({ document }) => document.contentMd), [`zeppelin round${round}`]) // prettier-ignore
    }
    assert.equal((await server.post('/v1/delete', { collection: COLLECTION, key: 'moving', lang: 'en' })).status, 200)
    assert.equal((JSON.parse(await ask({ query: 'zeppelin' })) as { total: number }).total, 0)
  })

  it('follows the settings and the collection that a search finds at its start', async () => {
    const name = collectionOf('settings')
    const total = async (query: string): Promise<number> =>
      (await server.post('/v1/fts', { collection: name, query })).json<{ total: number }>().total
    assert.equal(await total('puffin'), 0)
    for (let round = 0; round < 10; round++) {
      const add = { collection: name.toUpperCase(), key: 'k', lang: 'en', contentMd: 'puffin auk' }
      assert.equal((await server.post('/v1/add', add)).status, 200)
      assert.equal(await total('puffin'), 1)
      assert.equal((await server.post('/v1/stopwords', { collection: name, words: ['puffin'] })).status, 200)
      assert.equal(await total('puffin'), 0)
      assert.equal((await server.post('/v1/delete-collection', { collection: name })).status, 200)
      assert.equal(await total('auk'), 0)
    }
  })
})
