/** How many collections one cross-search looks into, and what its answer says about that. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, type Fields } from '../../harness/clients/documents_client.js'
import { GrpcClient } from '../../harness/clients/grpc.js'
import { McpClient } from '../../harness/clients/mcp_client.js'
import { embeddingEnv, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer } from '../../harness/embedding/embedding_server.js'

interface Found {
  readonly total: number
  readonly targetCollections: readonly string[]
  readonly collectionsSearched: number
  readonly collectionsTotal: number
}

describe('cross-search: number of collections', () => {
  let provider: EmbeddingServer
  let client: DocumentsClient

  before(async () => {
    provider = await EmbeddingServer.start()
    client = await DocumentsClient.start({ env: embeddingEnv(provider, { SVC_LIMIT_CROSS_COLLECTIONS_MAX: '2' }) })
    const { server } = client
    // The first by name has no vectors.
    const answer = await server.request('PUT', '/v1/collection-config', { collection: 'none', description: 'no documents' })
    assert.equal(answer.status, 200, answer.text)
    for (const collection of ['one', 'two', 'three'])
      await client.addBatch(collection, [{ key: 'k', lang: 'en', contentMd: `otter ${collection}` }])
    await whenEmbedded(server, { one: 1, two: 1, three: 1 })
  })
  after(async () => {
    await client.stop()
    await provider.stop()
  })

  const across = async (fields: Fields): Promise<Found> => {
    const answer = await client.post('/v1/cross-search', { query: 'otter', threshold: -1, ...fields })
    assert.equal(answer.status, 200, answer.text)
    return answer.json<Found>()
  }

  it('cross-search: of more collections than one request searches, those with vectors come first, and the answer says how many of how many', async () => {
    const { total, targetCollections, collectionsSearched, collectionsTotal } = await across({})
    assert.deepEqual([total, targetCollections, collectionsSearched, collectionsTotal], [2, ['one', 'three'], 2, 4])
    const named = await across({ targetCollections: ['three', 'nowhere'] })
    assert.deepEqual([named.targetCollections, named.collectionsSearched, named.collectionsTotal], [['three'], 1, 1])
    const refused = await client.post('/v1/cross-search', { query: 'otter', targetCollections: ['one', 'two', 'three'] })
    assert.equal(refused.status, 400)
    assert.match(refused.text, /invalid targetCollections: at most 2 are searched at once/)
  })

  it('cross-search: over gRPC and MCP too, the answer says how many collections were searched of how many', async () => {
    const { server } = client
    const grpc = GrpcClient.of(server)
    const answer = await grpc.call<Fields>('CrossSearch', { query: 'otter', threshold: -1 })
    assert.deepEqual([answer['collections_searched'], answer['collections_total']], [2, 4])
    grpc.close()
    const { rpc } = await new McpClient(server).stateless('tools/call', {
      name: 'cross_search',
      arguments: { query: 'otter', target_collections: [] },
    })
    const found = JSON.parse(rpc.result.content[0]?.text ?? '') as Found
    assert.deepEqual([found.collectionsSearched, found.collectionsTotal], [2, 4])
  })
})
