/**
 * Full-text search over HTTP: algorithms, modes, languages, filters, the GET form. Follows service-1
 * ("Full-text search") and http.md section 2 sentence by sentence, as far as this version implements them.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { FulltextClient, results } from './client.js'

describe('full-text queries', () => {
  let client: FulltextClient
  before(async () => {
    client = await FulltextClient.shared()
  })
  after(() => client.stop())

  describe('algorithm', () => {
    it('is tfidf by default, or bm25, or bm25f, and is named in the answer', async () => {
      for (const algorithm of ['tfidf', 'bm25', 'bm25f']) {
        const answer = await client.fts('log', { algorithm })
        assert.equal(answer.body.algorithm, algorithm)
        assert.ok(results(answer).length >= 3)
      }
      assert.equal((await client.fts('log')).body.algorithm, 'tfidf')
    })

    it('bm25f looks into titles and tags as well, with weights that the request may replace', async () => {
      assert.ok(
        !(await client.keys('vector log', { algorithm: 'bm25', mode: 'boolean', filterMeta: { tags: ['search'] } })).includes('vec'),
      )
      const standard = await client.fts('log', { algorithm: 'bm25f' })
      assert.ok(results(standard).some(({ document }) => document.key === 'vec'))
      assert.deepEqual(standard.body.fieldWeights, {
        content: 1,
        'meta.title': 3,
        'meta.tags': 2,
        'meta.category': 2,
        'meta.description': 1.5,
      })
      const titles = await client.fts('log', { algorithm: 'bm25f', fieldWeights: { title: 2, content: 0, 'meta.tags': -1 } })
      assert.deepEqual(
        results(titles)
          .map(({ document }) => document.key)
          .sort(),
        ['vec', 'wal'],
      )
      assert.deepEqual(titles.body.fieldWeights, { 'meta.title': 2 })
      assert.deepEqual(await client.keys('log', { algorithm: 'bm25f', fieldWeights: { content: 0 } }), [])
      assert.ok(!('fieldWeights' in (await client.fts('log', { algorithm: 'bm25', fieldWeights: { title: 2 } })).body))
    })

    it('is refused when it is unknown', async () => {
      assert.equal(await client.refusal({ collection: client.blog, query: 'log', algorithm: 'pagerank' }), 'unknown algorithm: pagerank')
    })

    it('does not take weights that are no numbers or are out of range', async () => {
      for (const weight of ['2', 1e300]) {
        assert.match(
          await client.refusal({ collection: client.blog, query: 'log', algorithm: 'bm25f', fieldWeights: { title: weight } }),
          /^invalid fieldWeights/,
        )
      }
    })
  })

  describe('mode', () => {
    it('auto detects the mode from the syntax and says which', async () => {
      for (const [query, mode] of [
        ['log tree', 'simple'],
        ['"merge tree"', 'phrase'],
        ['log AND tree', 'boolean'],
        ['+log -tree', 'boolean'],
      ] as const) {
        assert.equal((await client.fts(query)).body.mode, mode)
        assert.equal((await client.fts(query, { mode: 'auto' })).body.mode, mode)
      }
    })

    it('simple finds documents with any of the words', async () => {
      assert.deepEqual(await client.sortedKeys('neighbours tree', { mode: 'simple' }), ['lsm', 'vec'])
      assert.deepEqual(await client.sortedKeys('neighbours AND tree', { mode: 'simple' }), ['lsm', 'vec'])
    })

    it('boolean uses AND, OR, NOT, +required, -excluded', async () => {
      assert.deepEqual(await client.sortedKeys('log AND tree'), ['lsm'])
      assert.deepEqual(await client.sortedKeys('neighbours OR tree'), ['lsm', 'vec'])
      assert.deepEqual(await client.sortedKeys('log NOT tree'), ['raft', 'wal'])
      assert.deepEqual(await client.sortedKeys('+log -tree'), ['raft', 'wal'])
      assert.deepEqual(await client.sortedKeys('log -tree -replicas'), ['wal'])
      assert.deepEqual(await client.sortedKeys('log AND (tree OR replicas)'), ['lsm', 'raft'])
      assert.deepEqual(await client.sortedKeys('log NOT (tree OR replicas)'), ['wal'])
      assert.deepEqual(await client.sortedKeys('"merge tree" OR "nearest neighbours"'), ['lsm', 'vec'])
      assert.deepEqual(await client.sortedKeys('log safe', { mode: 'boolean' }), ['wal'])
    })

    it('boolean NOT alone finds nothing', async () => assert.deepEqual(await client.keys('NOT log'), []))

    it('boolean shows no term as matched that the query excludes', async () => {
      for (const { matchedTerms } of results(await client.fts('log OR (neighbours -tree)'))) assert.ok(!matchedTerms.includes('tree'))
    })

    it('phrase finds consecutive words, scores by occurrences, and keeps the gaps of stop words', async () => {
      assert.deepEqual(await client.keys('"merge tree"'), ['lsm'])
      assert.deepEqual(await client.keys('"tree merge"'), [])
      assert.deepEqual(await client.keys('merge tree', { mode: 'phrase' }), ['lsm'])
      assert.deepEqual(await client.keys('tree merge', { mode: 'phrase' }), [])
      assert.deepEqual(await client.keys('"replicas agree on a log"'), ['raft'])
      assert.deepEqual(await client.keys('"agree log"'), [])
      await client.add('fulltext_query-phrases', [{ key: 'twice', lang: 'en', contentMd: 'vector heap, then vector heap; heap vector' }])
      const [twice] = results(await client.request('POST', '/v1/fts', { collection: 'fulltext_query-phrases', query: '"vector heap"' }))
      assert.equal(twice?.score, 2)
      assert.deepEqual(twice?.matchedTerms, ['vector', 'heap'])
    })

    it('an unknown mode is refused', async () =>
      assert.equal(await client.refusal({ collection: client.blog, query: 'log', mode: 'fancy' }), 'unknown mode: fancy'))

    it('an invalid boolean query or phrase is refused with the position of the error', async () => {
      assert.equal(
        await client.refusal({ collection: client.blog, query: 'log AND "merge', mode: 'boolean' }),
        'unclosed quote at character 9',
      )
      assert.equal(
        await client.refusal({ collection: client.blog, query: '(log OR tree', mode: 'boolean' }),
        `expected ')' at character 13`,
      )
      assert.equal(await client.refusal({ collection: client.blog, query: '"merge tree', mode: 'phrase' }), 'unclosed quote at character 1')
    })
  })

  describe('language', () => {
    it('is the server default, or that of the request', async () => {
      assert.deepEqual(await client.keys('Schiff Hafen', { lang: 'de' }), ['hafen'])
      const answer = await client.fts('Häfen', { lang: 'de_DE' })
      assert.equal(answer.body.lang, 'de')
      assert.deepEqual(
        results(answer).map(({ document }) => document.key),
        ['hafen'],
      )
    })

    it('disableStem leaves the words of the query as they are', async () => {
      const stemmed = await client.fts('merging')
      const literal = await client.fts('merging', { disableStem: true })
      assert.equal(results(stemmed).length, 1)
      assert.equal(results(literal).length, 0)
      assert.deepEqual([stemmed.body.stemmingActive, literal.body.stemmingActive], [true, false])
    })

    it('GET /v1/fts-languages lists the languages with the default', async () => {
      const { status, body } = await client.request('GET', '/v1/fts-languages')
      assert.equal(status, 200)
      assert.equal(body.defaultLang, 'en')
      const languages = body.languages as { readonly code: string; readonly name: string }[]
      const codes = languages.map(({ code }) => code)
      for (const code of 'en pl de fr es it pt nl ru sv no da fi hu ro tr ar ta'.split(' ')) assert.ok(codes.includes(code), code)
      for (const { name } of languages) assert.ok(name.length > 0)
    })
  })

  describe('filterMeta', () => {
    it('joins keys by AND and the values of a key by OR, before the limit', async () => {
      assert.deepEqual(await client.sortedKeys('log', { filterMeta: { tags: ['storage'] } }), ['lsm', 'wal'])
      assert.deepEqual(await client.sortedKeys('log', { filterMeta: { tags: ['storage', 'network'] } }), ['lsm', 'raft', 'wal'])
      assert.deepEqual(await client.sortedKeys('log', { filterMeta: { tags: ['log'], title: ['Consensus'] } }), ['raft'])
      assert.deepEqual(await client.keys('log', { filterMeta: { tags: ['absent'] } }), [])
      assert.deepEqual(await client.keys('log', { filterMeta: { tags: ['storage'], title: ['Merge trees'] }, limit: 1 }), ['lsm'])
    })

    it('is refused when it is no map of lists of texts', async () => {
      assert.equal(await client.refusal({ collection: client.blog, query: 'log', filterMeta: ['tags'] }), 'invalid filterMeta')
      assert.match(await client.refusal({ collection: client.blog, query: 'log', filterMeta: { tags: [1] } }), /^invalid filterMeta/)
      assert.match(
        await client.refusal({ collection: client.blog, query: 'log', filterMeta: { tags: Array(300).fill('x') } }),
        /^invalid filterMeta/,
      )
    })
  })

  describe('GET form', () => {
    it('takes collection, q and meta.<key>, repeated for more values', async () => {
      const get = async (query: string): Promise<string[]> =>
        results(await client.request('GET', `/v1/fts?${query}`))
          .map(({ document }) => document.key)
          .sort()
      assert.deepEqual(await get(`collection=${client.blog}&q=log+tree`), ['lsm', 'raft', 'wal'])
      assert.deepEqual(await get(`collection=${client.blog}&q=log%20AND%20tree`), ['lsm'])
      assert.deepEqual(await get(`collection=${client.blog}&q=log&meta.tags=network`), ['raft'])
      assert.deepEqual(await get(`collection=${client.blog}&q=log&meta.tags=network&meta.tags=storage`), ['lsm', 'raft', 'wal'])
      assert.deepEqual(await get(`collection=${client.blog}&q=log&meta.tags=log&meta.title=Consensus`), ['raft'])
      assert.equal((await get(`collection=${client.blog}&q=log&limit=1`)).length, 1)
      assert.deepEqual(await get(`collection=${client.blog}&q=merging&disableStem=true`), [])
    })

    it('needs collection and q', async () => {
      for (const query of [`collection=${client.blog}`, 'q=log', '']) {
        const answer = await client.request('GET', `/v1/fts?${query}`)
        assert.deepEqual([answer.status, answer.body.error], [400, 'missing fields'])
      }
    })
  })
})
