/**
 * The server's reports about itself over HTTP. service-1, "Health and statistics"; service-2, "System" and
 * "Versioning".
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { offered } from '../../../src/operations/index.js'
import { type Server, startServer } from '../../harness/server/server.js'

const SECRET_WORDS = /secret|password|apiKey"|authorization/i

describe('the server about itself', () => {
  let server: Server
  before(async () => {
    server = await startServer({ env: { SVC_AUDIT_ENABLED: 'true', SVC_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') } })
  })
  after(() => server.stop())

  it('health: /health and /v1/health answer 200 with status, mode and the path of the data', async () => {
    for (const path of ['/health', '/v1/health']) {
      const answer = await server.get(path)
      const { status, mode, durable, persistence } = answer.json()
      assert.deepEqual([answer.status, status, mode, durable], [200, 'healthy', 'wr', true], path)
      const { path: directory, writable } = persistence as { path: string; writable: boolean }
      assert.deepEqual([directory, writable], [server.directory, true])
    }
  })

  it('config: /v1/config of a running server reports version 2.9.17, its path, mode and protocols, and no secret', async () => {
    const answer = await server.get('/v1/config')
    const { version, databasePath, mode, protocols, ...rest } = answer.json()
    assert.deepEqual([version, databasePath, mode], ['2.9.17', server.directory, 'wr'])
    assert.equal((protocols as Record<string, { enabled: boolean }>).http?.enabled, true)
    for (const field of ['authEnabled', 'metricsEnabled', 'vectorConfig', 'automationsEnabled', 'searchStatsEnabled', 'graphql_enabled'])
      assert.ok(field in rest, field)
    assert.doesNotMatch(answer.text, SECRET_WORDS)
  })

  it('system: /v1/system/info of a running server names host, platform and version 2.9.17, and its uptime grows', async () => {
    const first = (await server.get('/v1/system/info')).json()
    assert.equal(first.version, '2.9.17')
    for (const field of ['hostname', 'os', 'arch', 'goVersion']) assert.ok(String(first[field]).length > 0, field)
    for (const field of ['numCPU', 'memoryTotal', 'memoryUsed', 'numGoroutines']) assert.ok(Number(first[field]) > 0, field)
    assert.ok(Number(first.cpuUsagePercent) >= 0 && Number(first.cpuUsagePercent) <= 100)
    const end = performance.now() + 20_000
    let uptime = first.uptimeSeconds as number
    while (uptime === first.uptimeSeconds && performance.now() < end)
      uptime = (await server.get('/v1/system/info')).json().uptimeSeconds as number
    assert.ok(uptime > (first.uptimeSeconds as number))
  })

  it('endpoints: every listed HTTP endpoint is served, and every route of the table is listed', async () => {
    const { http } = (await server.get('/v1/endpoints')).json<{ http: { method: string; path: string; description: string }[] }>()
    const listed = http.map(({ method, path }) => `${method} ${path}`).sort()
    const routes = offered({
      spell: false,
      temporal: false,
      searchStats: true,
      graphqlEnabled: true,
      graphqlPlayground: true,
      mcpEnabled: true,
      sseEnabled: true,
    })
      .flatMap((row) => (row.http?.routes ?? []).map(({ method, path }) => `${method} ${path}`))
      .sort()
    assert.deepEqual(listed, routes)
    for (const { method, path, description } of http) {
      assert.ok(description.length > 0, path)
      // A stream would not end.
      const asked = path === '/v1/events' ? `${path}?include=nothing` : path.replaceAll(/:\w+/g, 'nothing')
      const { status } = await server.request(method, asked, method === 'GET' ? undefined : {})
      // A path with a name answers 404 for an unknown name; its answer to another method shows that it is
      // served.
      if (path.includes('/:'))
        assert.deepEqual([status, (await server.request('PATCH', asked, {})).status], [404, 405], `${method} ${path}`)
      else assert.ok(status === 200 || status === 400, `${method} ${path}: ${status}`)
    }
  })

  it('fts-reindex: analyses every document again in its stored language, and searches find the same before and after', async () => {
    const documents = [
      { key: 'de', lang: 'de', contentMd: 'Die Schiffe liegen in den Häfen.' },
      { key: 'en', lang: 'en', contentMd: 'The ships are connected to connections.' },
    ]
    await server.post('/v1/add-batch', { collection: 'languages', documents })
    const found = async (query: string, lang: string): Promise<unknown> => {
      const { results } = (await server.post('/v1/fts', { collection: 'languages', query, lang })).json<{
        results: { document: { key: string } }[]
      }>()
      return results.map(({ document }) => document.key)
    }
    const all = async (): Promise<unknown> => [await found('Hafen', 'de'), await found('connecting', 'en'), await found('Hafens', 'de')]
    const before = await all()
    assert.deepEqual(before, [['de'], ['en'], ['de']])
    assert.deepEqual((await server.post('/v1/fts-reindex', { collection: 'languages' })).json().reindexed, 2)
    assert.deepEqual(await all(), before)
  })

  it('fts-reindex beside deletes: what was deleted meanwhile stays deleted, in counts and in the names of metadata, too', async () => {
    const contentMd = 'reindexed words '.repeat(2_000)
    const keys = Array.from({ length: 300 }, (_, index) => `doc-${index}`)
    const documents = keys.map((key) => ({ key, lang: 'en', contentMd, meta: { mark: ['x'] } }))
    for (let first = 0; first < keys.length; first += 100) {
      await server.post('/v1/add-batch', { collection: 'reindexed', documents: documents.slice(first, first + 100) })
    }
    const reindex = server.post('/v1/fts-reindex', { collection: 'reindexed' })
    for (const key of keys) assert.equal((await server.post('/v1/delete', { collection: 'reindexed', key, lang: 'en' })).status, 200)
    assert.equal((await reindex).status, 200)
    const listing = await server.post('/v1/search', { collection: 'reindexed' })
    assert.equal(listing.headers['x-total-count'], '0')
    assert.deepEqual((await server.get('/v1/meta-keys?collection=reindexed')).json()['meta'], {})
  })

  it('metrics: the page is text exposition format, and its counts follow requests and documents', async () => {
    const count = (text: string, name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0)
    const added = 'mddb_http_requests_total\\{method="POST",path="/v1/add",status="200"\\}'
    const refused = 'mddb_http_requests_total\\{method="POST",path="/v1/add",status="400"\\}'
    const before = await server.get('/metrics')
    assert.equal(before.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
    for (const key of ['a', 'b', 'a']) await server.post('/v1/add', { collection: 'm "quoted"\\', key, lang: 'en', contentMd: '' })
    await server.post('/v1/add', { collection: 'm' })
    const { text } = await server.get('/metrics')
    assert.equal(count(text, added) - count(before.text, added), 3)
    assert.equal(count(text, refused) - count(before.text, refused), 1)
    assert.equal(count(text, 'mddb_documents_total\\{collection="m \\\\"quoted\\\\"\\\\\\\\"\\}'), 2)
    assert.equal(count(text, 'mddb_info\\{mode="wr"\\}'), 1)
    for (const line of text.trimEnd().split('\n'))
      assert.match(line, /^(# (HELP|TYPE) \S+ .+|[a-zA-Z_:][\w:]*(\{.*\})? (-?[\d.]+(e[+-]?\d+)?|NaN|[+-]Inf))$/)
  })

  it('metrics: SVC_METRICS=false ends the page with 404 not found and leaves everything else', async () => {
    const quiet = await startServer({ env: { SVC_METRICS: 'false' } })
    try {
      const { status, text } = await quiet.get('/metrics')
      assert.equal(`${status} ${text}`, '404 {"error":"not found"}')
      assert.equal((await quiet.get('/v1/stats')).status, 200)
    } finally {
      await quiet.stop()
    }
  })

  it('stats: databaseSize grows with the stored data, totals are the sums of the collections', async () => {
    const before = (await server.get('/v1/stats')).json<{ databaseSize: number }>()
    const documents = Array.from({ length: 200 }, (_, number) => ({
      key: String(number),
      lang: 'en',
      contentMd: Array.from({ length: 2000 }, (_, word) => (word * 7919 * (number + 1)).toString(36)).join(' '),
    }))
    await server.post('/v1/add-batch', { collection: 'large', documents })
    const after = (await server.get('/v1/stats')).json<{
      databaseSize: number
      totalDocuments: number
      totalRevisions: number
      collections: { name: string; documentCount: number; revisionCount: number }[]
    }>()
    assert.ok(after.databaseSize > before.databaseSize)
    assert.equal(after.totalDocuments, after.collections.reduce((sum, { documentCount }) => sum + documentCount, 0)) // prettier-ignore
    assert.equal(after.totalRevisions, after.collections.reduce((sum, { revisionCount }) => sum + revisionCount, 0)) // prettier-ignore
    const names = after.collections.map(({ name }) => name)
    assert.deepEqual(names, [...names].sort())
  })
})
