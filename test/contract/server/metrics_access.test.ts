/**
 * Who may read /metrics, and the other options of the operation of a server: panel mode and search
 * statistics. service-1: GET /metrics is public; http.md, sections 0 and 8; events.md, section 13.
 */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { showsNames } from '../../../src/access/metrics_access.js'
import { runToEnd, type Server } from '../../harness/server/server.js'
import { type Env, ServerPool } from '../../harness/server/server_pool.js'
import { sharedServer } from '../../harness/server/shared_server.js'

const TOKEN = 'scraper-token-0123456789'

/** Options that do not disturb each other have one server. */
const BY_TOKEN = { SVC_METRICS_TOKEN: TOKEN, SVC_HTTP_LOOPS: '2', SVC_PANEL_MODE: 'external', SVC_CORS_ORIGINS: 'https://panel.example' }
const CLOSED = {
  SVC_METRICS_PUBLIC: 'false',
  SVC_PANEL_MODE: 'external',
  SVC_CORS_ORIGINS: '*',
  SVC_SEARCH_STATS: 'false',
  SVC_EMBEDDING_PROVIDER: 'local',
}
const CLOSED_BUT_BY_TOKEN = {
  ...CLOSED,
  SVC_METRICS_TOKEN: TOKEN,
  SVC_PANEL_MODE: 'internal',
  SVC_SEARCH_STATS: 'true',
}
const pool = new ServerPool()
after(() => pool.stop())

const withServer = async (env: Env, use: (server: Server) => Promise<void>): Promise<void> => use(await pool.of(env))

describe('access to the metrics', () => {
  it('metrics access: public by default, with the names of collections while access control is off', async () => {
    const server = await sharedServer()
    await server.post('/v1/add', { collection: 'metrics_access', key: 'a', lang: 'en', contentMd: 'x' })
    const { status, text } = await server.get('/metrics')
    assert.equal(status, 200)
    assert.match(text, /^mddb_documents_total\{collection="metrics_access"\} 1$/m)
    await server.stop()
  })

  it('metrics access: SVC_METRICS_TOKEN opens them to its bearer only, by the header only, on every event loop', async () => {
    await withServer(BY_TOKEN, async (server) => {
      const without = await server.get('/metrics')
      assert.equal(`${without.status} ${without.text}`, '401 {"error":"missing authentication"}')
      assert.equal(without.headers['www-authenticate'], 'Bearer')
      assert.equal((await server.get(`/metrics?token=${TOKEN}`)).status, 401)
      for (const wrong of [
        `Bearer ${TOKEN}x`,
        `Bearer ${TOKEN.slice(1)}`,
        'Bearer',
        `Basic ${TOKEN}`,
        TOKEN,
        `Bearer ${TOKEN} x`,
        'Bearer é',
      ]) {
        const refused = await server.get('/metrics', { authorization: wrong })
        assert.equal(`${refused.status} ${refused.text}`, '401 {"error":"invalid token"}', wrong)
      }
      // Requests side by side take several connections, which the kernel divides between the loops.
      const scrapes = Array.from({ length: 32 }, () => server.get('/metrics', { authorization: `bearer ${TOKEN}` }))
      for (const { status, text } of await Promise.all(scrapes)) {
        assert.equal(status, 200)
        assert.match(text, /^mddb_info\{/m)
      }
      const refusals = Array.from({ length: 32 }, () => server.get('/metrics'))
      for (const { status } of await Promise.all(refusals)) assert.equal(status, 401)
      assert.equal((await server.get('/health')).status, 200, 'nothing else is closed')
      assert.ok(!(await server.get('/v1/config')).text.includes(TOKEN), 'the token is not shown')
      assert.ok(!server.output().includes(TOKEN), 'the token is not logged')
    })
  })

  it('metrics access: SVC_METRICS_PUBLIC=false closes them to callers without credentials', async () => {
    await withServer(CLOSED, async (server) => {
      const { status, text } = await server.get('/metrics')
      assert.equal(`${status} ${text}`, '401 {"error":"missing authentication"}')
      assert.equal((await server.get('/metrics', { authorization: `Bearer ${TOKEN}` })).status, 401)
      assert.match(server.output(), /SVC_METRICS_PUBLIC=false: nobody can read \/metrics without SVC_METRICS_TOKEN/)
    })
    await withServer(CLOSED_BUT_BY_TOKEN, async (server) => {
      assert.equal((await server.get('/metrics')).status, 401)
      assert.equal((await server.get('/metrics', { authorization: `Bearer ${TOKEN}` })).status, 200)
      assert.doesNotMatch(server.output(), /nobody can read/)
    })
  })

  it('metrics access: while access control is on, labels name collections with SVC_METRICS_DETAIL=true only', () => {
    const rows = [
      [{ metricsDetail: false }, true],
      [{ metricsDetail: false, authEnabled: false }, true],
      [{ metricsDetail: false, authEnabled: true }, false],
      [{ metricsDetail: true, authEnabled: true }, true],
    ] as const
    for (const [rules, expected] of rows) assert.equal(showsNames(rules), expected, JSON.stringify(rules))
  })

  it('metrics access: a token that no header can carry, or a short one, stops the start without being shown', async () => {
    for (const token of ['short', 'with spaces in the token', 'ä'.repeat(20)]) {
      const { code, output } = await runToEnd({ env: { SVC_METRICS_TOKEN: token } })
      assert.equal(code, 2, output)
      assert.match(output, /SVC_METRICS_TOKEN: 16 to 1024 letters/)
      assert.ok(!output.includes(token), output)
    }
  })
})

describe('panel mode', () => {
  const CORS = ['access-control-allow-origin', 'access-control-expose-headers', 'access-control-allow-methods', 'vary']

  it('panel mode: external sends no CORS headers, also to a preflight, and /v1/config shows the mode', async () => {
    const seen = async (env: Env): Promise<readonly string[]> => {
      let names: string[] = []
      await withServer(env, async (server) => {
        const origin = { origin: 'https://panel.example' }
        const answer = await server.get('/health', origin)
        const preflight = await server.request('OPTIONS', '/v1/get', undefined, origin)
        assert.deepEqual([answer.status, preflight.status], [200, 204])
        names = CORS.filter((name) => name in answer.headers || name in preflight.headers)
        assert.equal((await server.get('/v1/config', origin)).json().panelMode, env['SVC_PANEL_MODE'])
      })
      return names
    }
    assert.deepEqual(await seen(CLOSED_BUT_BY_TOKEN), CORS.slice(0, 3))
    assert.deepEqual(await seen(CLOSED), [])
    assert.deepEqual(await seen(BY_TOKEN), [])
  })
})

describe('search statistics', () => {
  const SEARCHES = [
    ['/v1/fts', { collection: 'blog', query: 'word' }],
    ['/v1/vector-search', { collection: 'blog', query: 'word' }],
    ['/v1/hybrid-search', { collection: 'blog', query: 'word' }],
    ['/v1/cross-search', { query: 'word', targetCollections: ['blog'] }],
  ] as const

  it('search statistics: with SVC_SEARCH_STATS=false no answer has searchStats, and there is no advisor', async () => {
    for (const isOn of [true, false]) {
      await withServer(isOn ? CLOSED_BUT_BY_TOKEN : CLOSED, async (server) => {
        await server.post('/v1/add', { collection: 'blog', key: 'a', lang: 'en', contentMd: 'a word' })
        for (const [path, body] of SEARCHES) {
          const answer = await server.post(path, body)
          assert.equal(answer.status, 200, answer.text)
          assert.equal('searchStats' in answer.json(), isOn, path)
        }
        assert.equal((await server.get('/v1/config')).json().searchStatsEnabled, isOn)
        assert.equal((await server.post('/v1/search-advisor', { collection: 'blog' })).status, isOn ? 200 : 404)
      })
    }
  })
})
