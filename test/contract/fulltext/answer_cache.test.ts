/**
 * `cacheTtl`: answers served from the cache and marked as such. http.md section 2 (`cacheTtl`,
 * `X-MDDB-Cache`); rules beyond it: docs/decisions/search/search-answers.md.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Server, startServer, type TestResponse } from '../../harness/server/server.js'
import { ServerPool } from '../../harness/server/server_pool.js'

const JSON_HEADERS = { 'Content-Type': 'application/json' }

describe('cacheTtl', () => {
  let server: Server
  before(async () => {
    server = await startServer({ env: { SVC_SEARCH_CACHE_SIZE: '3' } })
    await add('a', 'alpha beta')
  })
  after(() => server.stop())

  async function add(key: string, contentMd: string): Promise<void> {
    const { status } = await server.request(
      'POST',
      '/v1/add',
      JSON.stringify({ collection: 'c', key, lang: 'en', contentMd }),
      JSON_HEADERS,
    )
    assert.equal(status, 200)
  }

  async function search(more: Record<string, unknown>, headers: Readonly<Record<string, string>> = {}): Promise<TestResponse> {
    const body = JSON.stringify({ collection: 'c', query: 'alpha', ...more })
    return server.request('POST', '/v1/fts', body, { ...JSON_HEADERS, ...headers })
  }

  const stateOf = (answer: TestResponse): unknown => answer.headers['x-cache']

  it('the first answer is a miss, the same request again a hit with the same bytes', async () => {
    const first = await search({ cacheTtl: 60 })
    assert.deepEqual([stateOf(first), first.headers['x-mddb-cache'], first.headers['x-cache-ttl']], ['miss', 'miss', '60'])
    for (let times = 0; times < 5; times++) {
      const again = await search({ cacheTtl: 60 })
      assert.deepEqual([stateOf(again), again.headers['x-mddb-cache'], again.headers['x-cache-ttl']], ['hit', 'hit', '60'])
      assert.equal(again.text, first.text)
    }
  })

  it('another request is another answer', async () => {
    assert.equal(stateOf(await search({ cacheTtl: 61 })), 'miss')
    // While access control is off, every caller is the one anonymous principal, whatever its headers.
    assert.equal(stateOf(await search({ cacheTtl: 60 }, { Authorization: 'Bearer somebody' })), 'hit')
    assert.equal(stateOf(await search({ cacheTtl: 60 })), 'hit')
  })

  it('a write ends it: who has been answered is found', async () => {
    assert.equal(stateOf(await search({ cacheTtl: 60 })), 'hit')
    for (let at = 0; at < 20; at++) {
      await add(`b${at}`, 'alpha')
      const answer = await search({ cacheTtl: 60, limit: 100 })
      assert.equal(stateOf(answer), 'miss')
      assert.equal((JSON.parse(answer.text) as { total: number }).total, at + 2)
      assert.equal(stateOf(await search({ cacheTtl: 60, limit: 100 })), 'hit')
    }
  })

  it('without it, or with 0, nothing is kept and nothing said', async () => {
    for (const more of [{}, { cacheTtl: 0 }, { cacheTtl: null }, {}, { cacheTtl: 0 }]) assert.equal(stateOf(await search(more)), undefined)
  })

  it('at most an hour; a negative one is refused, and refusals are not kept', async () => {
    assert.equal((await search({ cacheTtl: 100_000 })).headers['x-cache-ttl'], '3600')
    for (let times = 0; times < 2; times++) {
      const answer = await search({ cacheTtl: -1 })
      assert.equal(answer.status, 400)
      assert.equal(stateOf(answer), undefined)
    }
  })

  it('keeps as many answers as configured, the most recently used ones', async () => {
    for (const limit of [1, 2, 3]) assert.equal(stateOf(await search({ cacheTtl: 60, limit })), 'miss')
    assert.equal(stateOf(await search({ cacheTtl: 60, limit: 1 })), 'hit')
    assert.equal(stateOf(await search({ cacheTtl: 60, limit: 4 })), 'miss')
    assert.equal(stateOf(await search({ cacheTtl: 60, limit: 1 })), 'hit')
    assert.equal(stateOf(await search({ cacheTtl: 60, limit: 2 })), 'miss')
  })

  it('applies to the query string, too', async () => {
    const path = '/v1/fts?collection=c&q=alpha&cacheTtl=30'
    assert.equal(stateOf(await server.get(path)), 'miss')
    assert.equal(stateOf(await server.get(path)), 'hit')
  })
})

/** Neither disturbs what the other is about. */
const BOUNDED = { SVC_SEARCH_CACHE_SIZE: '0', SVC_SEARCH_MAX_CONCURRENT: '1' }
const pool = new ServerPool()
after(() => pool.stop())

describe('SVC_SEARCH_CACHE_SIZE=0', () => {
  it('every answer is a miss', async () => {
    const server = await pool.of(BOUNDED)
    for (let times = 0; times < 3; times++) {
      assert.equal((await server.get('/v1/fts?collection=c&q=alpha&cacheTtl=30')).headers['x-cache'], 'miss')
    }
  })
})

describe('SVC_SEARCH_MAX_CONCURRENT', () => {
  it('1: searches go one after the other, and all are answered', async () => {
    const server = await pool.of(BOUNDED)
    const answers = await Promise.all(Array.from({ length: 40 }, (_, at) => server.get(`/v1/fts?collection=c&q=word${at}`)))
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  })
})
