/**
 * A provider that accepts requests and never answers. The server collects garbage many times per second, so
 * that no time limit may depend on an unreferenced object.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { embeddingEnv, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer } from '../../harness/embedding/embedding_server.js'
import { FORCED_COLLECTIONS } from '../../harness/process/forced_gc.js'
import { type Server, startServer } from '../../harness/server/server.js'

const WAIT_MS = 15_000
/**
 * The deadline of such a search is 20 s. An answer after this time did not come from the time limit of the
 * texts.
 */
const LATE_MS = 19_000

describe('a provider that hangs', () => {
  let provider: EmbeddingServer
  let server: Server

  before(async () => {
    provider = await EmbeddingServer.start()
    server = await startServer({ env: embeddingEnv(provider), nodeArgs: FORCED_COLLECTIONS })
    assert.equal((await server.post('/v1/add', { collection: 'c', key: 'a', lang: 'en', contentMd: 'an otter' })).status, 200)
    await whenEmbedded(server, { c: 1 })
    provider.standing = 'hang'
  })
  after(async () => {
    await server.stop()
    await provider.stop()
  })

  it('embedding: the vectors of query texts are waited for 15 s: hybrid-search answers by words alone then, vector-search 503', async () => {
    const ask = async (
      operation: string,
      body: object,
    ): Promise<{ readonly status: number; readonly ms: number; readonly text: string }> => {
      const begun = performance.now()
      const { status, text } = await server.post(`/v1/${operation}`, { collection: 'c', ...body })
      return { status, text, ms: performance.now() - begun }
    }
    const hybrid = Array.from({ length: 6 }, (_, at) => ask('hybrid-search', { query: `otter ${at}` }))
    const [vector, ...words] = await Promise.all([ask('vector-search', { query: 'stone' }), ...hybrid])
    for (const { ms } of [vector, ...words]) assert.ok(ms >= WAIT_MS - 50 && ms < LATE_MS, `${ms} ms`)
    assert.equal(vector.status, 503, vector.text)
    for (const { status, text } of words) {
      assert.equal(status, 200, text)
      const { results } = JSON.parse(text) as { readonly results: readonly { ftsScore: number; vectorScore: number }[] }
      assert.deepEqual(
        results.map(({ ftsScore, vectorScore }) => [ftsScore > 0, vectorScore]),
        [[true, 0]],
      )
    }
  })
})
