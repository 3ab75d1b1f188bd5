/**
 * `POST /v1/multi-search`: several searches in one request. Beyond the contract;
 * docs/decisions/search/search-answers.md.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type FulltextAnswer, FulltextClient, type FulltextResult, results } from './client.js'

interface Merged extends FulltextResult {
  readonly collection: string
  readonly rank: number
  readonly searches: readonly { readonly search: number; readonly rank: number; readonly score: number }[]
}

describe('POST /v1/multi-search', () => {
  let client: FulltextClient
  before(async () => {
    client = await FulltextClient.shared()
    await client.add('multi_search-notes', [{ key: 'n1', lang: 'en', contentMd: 'A log of the day.' }])
  })
  after(() => client.stop())

  const ask = (body: unknown): Promise<FulltextAnswer> => client.request('POST', '/v1/multi-search', body)
  const blog = (query: string, more: Record<string, unknown> = {}) => ({ collection: client.blog, query, ...more })

  it('side by side, each search has the answer that it has alone', async () => {
    const searches = [
      blog('log'),
      blog('"merge tree"', { algorithm: 'bm25' }),
      { collection: 'multi_search-notes', query: 'log day', limit: 1 },
      blog('log', { facetBy: ['tags'] }),
    ]
    const { status, body } = await ask({ searches })
    assert.equal(status, 200)
    assert.equal(body.total, 4)
    assert.ok(typeof body.took === 'number')
    for (const [index, search] of searches.entries()) {
      const alone = (await client.request('POST', '/v1/fts', search)).body
      const together = (body.responses as Record<string, unknown>[])[index]
      for (const each of [alone, together]) for (const field of ['took', 'searchStats']) delete each?.[field]
      assert.deepEqual(together, alone)
    }
  })

  it('a search that is wrong has an error, the others their results', async () => {
    const { status, body } = await ask({ searches: [blog('log'), blog('(log', { mode: 'boolean' }), blog('log', { algorithm: 'nope' })] })
    assert.equal(status, 200)
    const [first, ...others] = body.responses as Record<string, unknown>[]
    assert.equal(first?.total, 3)
    assert.deepEqual(others, [
      { error: "expected ')' at character 5", status: 400 },
      { error: 'unknown algorithm: nope', status: 400 },
    ])
  })

  it('merged, each document stands once, by the sum of 1 / (k + rank)', async () => {
    const { status, body } = await ask({
      merge: true,
      searches: [blog('log'), blog('log tree'), { collection: 'multi_search-notes', query: 'log' }],
      rrfK: 10,
      limit: 3,
    })
    assert.equal(status, 200, JSON.stringify(body))
    const alone = await Promise.all([client.keys('log'), client.keys('log tree')])
    const found = body.results as Merged[]
    assert.equal(body.total, 3)
    assert.deepEqual(
      found.map(({ rank }) => rank),
      [1, 2, 3],
    )
    for (const { collection, document, score, searches, matchedTerms } of found) {
      assert.ok(matchedTerms.includes('log'))
      const expected = searches.reduce((sum, { rank }) => sum + 1 / (10 + rank), 0)
      assert.ok(Math.abs(score - expected) < 1e-12)
      for (const { search, rank } of searches) {
        if (search < 2) assert.equal(alone[search]?.[rank - 1], document.key)
        else assert.equal(collection, 'multi_search-notes')
      }
    }
    assert.deepEqual(
      found.map(({ score }) => score),
      found.map(({ score }) => score).toSorted((one, other) => other - one),
    )
    assert.equal(new Set(found.map(({ document }) => document.id)).size, 3)
  })

  it('merged, a search that is wrong is named', async () => {
    const { status, body } = await ask({ merge: true, searches: [blog('log'), blog('log)', { mode: 'expression' })] })
    assert.deepEqual([status, body.error], [400, "searches[1]: unexpected token ')' at character 4"])
  })

  it('takes 1 to 16 searches', async () => {
    assert.equal((await ask({ searches: [] })).status, 400)
    assert.equal((await ask({})).body.error, 'missing fields')
    assert.equal((await ask({ searches: Array.from({ length: 16 }, () => blog('log')) })).status, 200)
    const refused = await ask({ searches: Array.from({ length: 17 }, () => blog('log')) })
    assert.deepEqual([refused.status, refused.body.error], [400, 'invalid searches: at most 16'])
    assert.equal((await ask({ searches: [blog('log')], merge: true, rrfK: 0 })).status, 400)
  })

  it('an unknown collection is an empty one', async () => {
    const { body } = await ask({ searches: [{ collection: 'nowhere', query: 'log' }] })
    assert.deepEqual(results({ status: 200, body: (body.responses as Record<string, unknown>[])[0] ?? {} }), [])
  })
})
