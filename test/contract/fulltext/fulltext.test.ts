/**
 * Full-text search over HTTP: answers, limits, refusals, freshness. Follows service-1 ("Full-text search")
 * and http.md section 2 sentence by sentence, as far as this version implements them.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DOCUMENTS, type FulltextAnswer, FulltextClient, results } from './client.js'

describe('POST /v1/fts', () => {
  let client: FulltextClient
  before(async () => {
    client = await FulltextClient.shared()
  })
  after(() => client.stop())

  describe('answer', () => {
    it('answers {results[], total, algorithm, mode, lang, stemmingActive, synonymsActive} with the defaults', async () => {
      const { status, body } = await client.fts('merging')
      assert.equal(status, 200)
      const { results: found, searchStats, took, ...rest } = body
      assert.equal((found as unknown[]).length, 1)
      assert.deepEqual(rest, {
        total: 1,
        algorithm: 'tfidf',
        mode: 'simple',
        lang: 'en',
        stemmingActive: true,
        synonymsActive: true,
        fuzzy: 0,
      })
      const { durationMs, ...stats } = searchStats as Record<string, number>
      assert.deepEqual(stats, { queryTerms: 1, indexSize: DOCUMENTS.length, totalTokens: 1 })
      assert.ok(durationMs !== undefined && durationMs >= 0)
      assert.equal(took, durationMs)
    })

    it('gives each result its document with content, a score, and the stemmed terms that matched', async () => {
      const [result] = results(await client.fts('a Replica'))
      assert.equal(result?.document.id, `${client.blog}|raft|en`)
      assert.equal(result?.document.contentMd, DOCUMENTS[2]?.contentMd)
      assert.deepEqual(result?.document.meta, DOCUMENTS[2]?.meta)
      assert.ok((result?.score ?? 0) > 0)
      assert.deepEqual(result?.matchedTerms, ['replica'])
      const wal = results(await client.fts('running replicas')).find(({ document }) => document.key === 'wal')
      assert.deepEqual(wal?.matchedTerms, ['run'])
    })

    it('orders by score, best first', async () => {
      const scores = results(await client.fts('log')).map(({ score }) => score)
      assert.deepEqual(
        scores,
        scores.toSorted((left, right) => right - left),
      )
      assert.equal((await client.keys('log'))[0], 'raft')
    })

    it('shows the same documents on a page of megabytes as on a short one', async () => {
      await client.add(
        'fulltext-long',
        // Stored uncompressed, by snappy and by zstd.
        Array.from({ length: 260 }, (_, n) => ({
          key: `k${1_000 + n}`,
          lang: 'en',
          contentMd: `quorum "${n}" ${`text ${n} `.repeat((n % 3) * 700)}`,
        })),
      )
      const page = async (limit: number): Promise<unknown[]> =>
        results(await client.request('POST', '/v1/fts', { collection: 'fulltext-long', query: 'quorum', limit })).map(
          ({ document }) => document,
        )
      const all = await page(260)
      assert.equal(all.length, 260)
      for (const [n, document] of (all as { key: string; contentMd: string }[]).toSorted((a, b) => a.key.localeCompare(b.key)).entries()) {
        assert.equal(document.key, `k${1_000 + n}`)
        assert.ok(document.contentMd.startsWith(`quorum "${n}" `))
      }
      assert.deepEqual(await page(40), all.slice(0, 40))
      assert.deepEqual(await page(260), all, 'with some of them cached')
    })

    it('breaks ties by key, then language, the same way every time', async () => {
      await client.add(
        'fulltext-ties',
        ['b', 'a', 'c'].flatMap((key) => ['en', 'de'].map((lang) => ({ key, lang, contentMd: 'quorum' }))),
      )
      const answer = await client.request('POST', '/v1/fts', { collection: 'fulltext-ties', query: 'quorum' })
      const order = results(answer).map(({ document }) => `${document.key} ${String(document.lang)}`)
      assert.deepEqual(order, ['a de', 'a en', 'b de', 'b en', 'c de', 'c en'])
    })

    it('answers an unknown collection, and a query of stop words only, with no results', async () => {
      assert.deepEqual(results(await client.request('POST', '/v1/fts', { collection: 'nowhere', query: 'log' })), [])
      assert.deepEqual(await client.keys('the of and'), [])
      assert.deepEqual(await client.keys('"the of"'), [])
      assert.deepEqual(await client.keys('?!'), [])
    })

    it('finds the words of markdown, not its markup', async () => {
      await client.add('fulltext-markup', [
        { key: 'a', lang: 'en', contentMd: '## Heading\n\n[anchor](http://target.example/path) `code` <div class="box">inner</div>' },
      ])
      for (const [query, found] of [
        ['heading', 1],
        ['anchor', 1],
        ['code', 1],
        ['inner', 1],
        ['div', 0],
        ['class', 0],
      ] as const) {
        assert.equal(results(await client.request('POST', '/v1/fts', { collection: 'fulltext-markup', query })).length, found, query)
      }
    })
  })

  describe('limit', () => {
    it('is 50 by default, otherwise as requested', async () => {
      await client.add(
        'fulltext-many',
        Array.from({ length: 60 }, (_, index) => ({ key: `k${index}`, lang: 'en', contentMd: 'quorum' })),
      )
      const ask = async (limit?: number | null): Promise<FulltextAnswer> =>
        client.request('POST', '/v1/fts', { collection: 'fulltext-many', query: 'quorum', limit })
      assert.equal(results(await ask()).length, 50)
      assert.equal(results(await ask(null)).length, 50)
      assert.equal(results(await ask(7)).length, 7)
      assert.equal(results(await ask(0)).length, 50)
      assert.equal(results(await ask(1_000_000)).length, 60)
    })

    it('is refused when it is negative or no whole number', async () => {
      for (const limit of [-1, 1.5]) assert.equal(await client.refusal({ collection: client.blog, query: 'log', limit }), 'invalid limit')
      assert.equal(await client.refusal({ collection: client.blog, query: 'log', limit: 'ten' }), 'invalid limit')
    })

    it('leaves the number of all matches to `count`', async () => {
      const { body } = await client.request('POST', '/v1/fts', { collection: client.blog, query: 'log', limit: 1, count: true })
      assert.equal(body.total, 1)
      assert.equal(body.totalMatches, 3)
      assert.ok(!('totalMatches' in (await client.fts('log', { limit: 1 })).body))
    })

    it('treats a limit of 0, which some clients send for no limit, as the default', async () => {
      const { body } = await client.fts('log', { limit: 0 })
      assert.equal(body.total, 3)
    })
  })

  describe('bad input', () => {
    it('misses nothing silently: 400 `missing fields` without collection or query', async () => {
      for (const body of [
        {},
        { collection: client.blog },
        { query: 'log' },
        { collection: client.blog, query: '' },
        { collection: '', query: 'log' },
        { collection: client.blog, query: null },
      ]) {
        assert.equal(await client.refusal(body), 'missing fields')
      }
    })

    it('takes empty and false values of what else can be asked as not asked', async () => {
      assert.equal((await client.keys('log', { rangeMeta: [], boost: {}, facetBy: null, highlight: false, fuzzy: 0 })).length, 3)
    })

    it('refuses queries that are too long, too deep or have too many words', async () => {
      assert.match(await client.refusal({ collection: client.blog, query: 'a'.repeat(4097) }), /^query too long: 4097 bytes/)
      assert.match(
        await client.refusal({ collection: client.blog, query: '('.repeat(1000) + 'log' + ')'.repeat(1000), mode: 'boolean' }),
        /^query nested deeper/,
      )
      const words = Array.from({ length: 1300 }, (_, index) => index.toString(36).padStart(2, 'z'))
      assert.match(await client.refusal({ collection: client.blog, query: words.join(' ') }), /^query too long: more than 1024/)
    })

    it('takes any text as a query', async () => {
      for (const query of ['\u0000', '\ud800', '__proto__', '"', '((((', '-', '💥 NOT', '\\"', 'a\u0301 OR b']) {
        assert.equal((await client.fts(query)).status, 200, JSON.stringify(query))
      }
    })
  })

  describe('freshness', () => {
    it('a search that follows a write finds what was written, and no longer what was replaced or deleted', async () => {
      const keysOf = async (query: string): Promise<string[]> =>
        results(await client.request('POST', '/v1/fts', { collection: 'fulltext-fresh', query })).map(({ document }) => document.key)
      await client.add('fulltext-fresh', [{ key: 'a', lang: 'en', contentMd: 'zebra' }])
      assert.deepEqual(await keysOf('zebra'), ['a'])
      await client.add('fulltext-fresh', [{ key: 'a', lang: 'en', contentMd: 'giraffe' }])
      assert.deepEqual(await keysOf('zebra'), [])
      assert.deepEqual(await keysOf('giraffe'), ['a'])
      assert.equal((await client.request('POST', '/v1/delete', { collection: 'fulltext-fresh', key: 'a', lang: 'en' })).status, 200)
      assert.deepEqual(await keysOf('giraffe'), [])
    })

    it('searches beside a writer miss no document, and show each once, in a state that matches', async () => {
      const words = ['alpha', 'bravo', 'charlie', 'delta']
      const documents = (round: number): unknown[] =>
        Array.from({ length: 40 }, (_, index) => ({
          key: `k${index}`,
          lang: 'en',
          contentMd: `common ${words[(index + round) % words.length]}`,
        }))
      await client.add('fulltext-busy', documents(0))
      let writing = true
      const writer = (async () => {
        for (let round = 1; round <= 30; round++) await client.add('fulltext-busy', documents(round))
        writing = false
      })()
      while (writing) {
        assert.equal(results(await client.fts('common', { collection: 'fulltext-busy' })).length, 40)
        for (const word of words) {
          const found = results(await client.request('POST', '/v1/fts', { collection: 'fulltext-busy', query: word }))
          assert.equal(new Set(found.map(({ document }) => document.key)).size, found.length)
          for (const { document, matchedTerms } of found) {
            assert.ok(document.contentMd.endsWith(word), `${word} found ${document.contentMd}`)
            assert.equal(matchedTerms.length, 1)
          }
        }
      }
      await writer
      assert.equal(results(await client.request('POST', '/v1/fts', { collection: 'fulltext-busy', query: 'common' })).length, 40)
    })
  })
})
