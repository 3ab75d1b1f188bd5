/**
 * The cache of query vectors: a text that was queried before is not sent to the provider again within the
 * limits of the options. The provider is a server of the test, which counts requests.
 */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { embeddingEnv, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer } from '../../harness/embedding/embedding_server.js'
import { type Server, startServer } from '../../harness/server/server.js'

const TTL_MS = 1000

describe('cache of query texts', () => {
  let provider: EmbeddingServer
  let servers: Server[] = []

  before(async () => {
    provider = await EmbeddingServer.start()
  })
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.stop()))
    servers = []
  })
  after(() => provider.stop())

  const start = async (more: Readonly<Record<string, string>> = {}): Promise<Server> => {
    const server = await startServer({ env: embeddingEnv(provider, more) })
    servers.push(server)
    assert.equal((await server.post('/v1/add', { collection: 'c', key: 'a', lang: 'en', contentMd: 'an otter' })).status, 200)
    await whenEmbedded(server, { c: 1 })
    provider.requests.length = 0
    return server
  }
  const asked = (): string[] => provider.requests.splice(0).flatMap(({ texts }) => texts)
  const post = async (server: Server, operation: string, body: object): Promise<void> => {
    const answer = await server.post(`/v1/${operation}`, body)
    assert.equal(answer.status, 200, answer.text)
  }
  const search = (server: Server, query: string): Promise<void> => post(server, 'vector-search', { collection: 'c', query })

  it('SVC_EMBEDDING_CACHE_SIZE: a text that was asked before is not embedded again, whichever search brings it; as a document it is another', async () => {
    const server = await start()
    await search(server, 'otter')
    await search(server, 'otter')
    await post(server, 'hybrid-search', { collection: 'c', query: 'otter' })
    await post(server, 'cross-search', { query: 'otter' })
    await post(server, 'vector-projection', { collection: 'c', query: 'otter' })
    assert.deepEqual(asked(), ['otter'])
    // Labels are queries, the text is a document.
    await post(server, 'classify', { labels: ['otter', 'fox'], text: 'otter' })
    assert.deepEqual(asked().sort(), ['fox', 'otter'])
    await post(server, 'classify', { labels: ['otter', 'fox'], text: 'otter' })
    await search(server, 'Otter')
    assert.deepEqual(asked(), ['Otter'])
    const metrics = (await server.get('/metrics')).text
    assert.match(metrics, /^mddb_embedding_cache_misses_total 4$/m)
    assert.match(metrics, /^mddb_embedding_cache_size 4$/m)
  })

  it('SVC_EMBEDDING_CACHE_SIZE=0: every request has its texts embedded', async () => {
    const server = await start({ SVC_EMBEDDING_CACHE_SIZE: '0' })
    await search(server, 'otter')
    await search(server, 'otter')
    assert.deepEqual(asked(), ['otter', 'otter'])
  })

  it('SVC_EMBEDDING_CACHE_TTL: after that time it is asked again', async () => {
    const server = await start({ SVC_EMBEDDING_CACHE_TTL: `${TTL_MS}ms` })
    const begin = Date.now()
    await search(server, 'otter')
    let searches = 1
    for (; provider.requests.length < 2; searches++) await search(server, 'otter')
    assert.ok(Date.now() - begin >= TTL_MS, `asked again after ${Date.now() - begin} ms`)
    assert.ok(searches > 2, 'the first ones were answered from the cache')
    assert.deepEqual(asked(), ['otter', 'otter'])
  })

  it('the vectors of another model are others, and those of the one before are there when it comes back', async () => {
    const server = await start()
    const url = { apiUrl: provider.url('openai'), provider: 'openai', dimensions: 8 }
    for (const model of ['one', 'two']) {
      const made = await server.post('/v1/embedding-configs', { ...url, id: model, name: model, model, apiKey: 'key' })
      assert.equal(made.status, 201, made.text)
    }
    for (const [model, texts] of [
      ['one', ['otter']],
      ['two', ['otter']],
      ['one', []],
    ] as const) {
      await post(server, 'embedding-configs/set-default', { id: model })
      await search(server, 'otter')
      await search(server, 'otter')
      assert.deepEqual(asked(), texts)
    }
  })
})
