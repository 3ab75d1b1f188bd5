/**
 * Edge cases of vector search: impossible names, empty texts, switched models, contents that have changed
 * since they were embedded. Rules: decisions 0140 and 0141.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, type Fields, MISSING_FIELDS, NOT_FOUND, summary } from '../../harness/clients/documents_client.js'
import { embeddingEnv, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer, embedText } from '../../harness/embedding/embedding_server.js'

const DIMENSIONS = 64

interface Found {
  readonly results: readonly { readonly document: { readonly key: string }; readonly chunkIndex?: number; readonly chunkText?: string }[]
  readonly total: number
}

describe('search by vectors, at its edges', () => {
  let provider: EmbeddingServer
  let client: DocumentsClient

  before(async () => {
    provider = await EmbeddingServer.start()
    provider.dimensions = DIMENSIONS
    client = await DocumentsClient.start({
      env: embeddingEnv(provider, { SVC_EMBEDDING_DIMENSIONS: String(DIMENSIONS), SVC_EMBEDDING_API_KEY: 'key' }),
    })
    await client.add('animals', 'otter', { contentMd: 'otter river fish' })
    await whenEmbedded(client.server, { animals: 1 })
  })
  after(async () => {
    await client.stop()
    await provider.stop()
  })

  const ask = async (path: string, body: Fields): Promise<Found> => {
    const answer = await client.post(path, body)
    assert.equal(answer.status, 200, answer.text)
    return answer.json<Found>()
  }
  const refused = async (path: string, body: Fields): Promise<string> => summary(await client.post(path, body))

  it('cross-search: names that no collection or document can have are refused, as everywhere', async () => {
    const long = 'x'.repeat(5000)
    assert.match(await refused('/v1/cross-search', { query: 'x', targetCollections: [''] }), /^400 .*invalid targetCollections/)
    assert.match(await refused('/v1/cross-search', { query: 'x', targetCollections: ['animals', long] }), /^400 .*invalid collection: 5000/)
    const like = (sourceCollection: string, sourceDocID: string): Promise<string> =>
      refused('/v1/cross-search', { sourceCollection, sourceDocID })
    assert.match(await like(long, `${long}|otter|en`), /^400 .*invalid collection: 5000 bytes/)
    assert.match(await like('animals', `animals|${long}|en`), /^400 .*invalid key: 5000 bytes/)
    assert.match(await like('animals', `animals|otter|${long}`), /^400 .*invalid lang: 5000 bytes/)
    assert.equal(await like('animals', 'animals||'), NOT_FOUND)
  })

  it('a retrieval mode that there is not is refused whether the collection is there or not', async () => {
    for (const collection of ['animals', 'nowhere'])
      for (const path of ['/v1/search', '/v1/fts', '/v1/vector-search', '/v1/hybrid-search'])
        assert.match(
          await refused(path, { collection, query: 'otter', retrievalMode: 'odd' }),
          /^400 .*retrievalMode/,
          `${path} ${collection}`,
        )
  })

  it('an empty text beside a vector or a document counts as absent; alone it is missing', async () => {
    const queryVector = [...embedText('otter', DIMENSIONS)]
    assert.equal((await ask('/v1/vector-search', { collection: 'animals', query: '', queryVector })).total, 1)
    assert.equal((await ask('/v1/cross-search', { query: '', queryVector, targetCollections: ['animals'] })).total, 1)
    const like = { query: '', queryVector: [], sourceCollection: 'animals', sourceDocID: 'animals|otter|en' }
    assert.equal((await ask('/v1/cross-search', { ...like, targetCollections: ['animals'] })).total, 0)
    assert.equal((await client.post('/v1/vector-projection', { collection: 'animals', query: '' })).status, 200)
    assert.equal(await refused('/v1/vector-search', { collection: 'animals', query: '' }), MISSING_FIELDS)
    assert.equal(await refused('/v1/cross-search', { query: '' }), MISSING_FIELDS)
  })

  it('diversified results are as many as requested, also beyond the number that is compared with each other', async () => {
    const documents = Array.from({ length: 2100 }, (_, at) => ({ key: `doc-${at}`, lang: 'en', contentMd: `otter ${at} ${at % 7}` }))
    await client.addBatch('many', documents)
    await whenEmbedded(client.server, { many: documents.length })
    const found = await ask('/v1/vector-search', { collection: 'many', query: 'otter', topK: 2050, threshold: -1, mmr: true })
    assert.equal(new Set(found.results.map(({ document }) => document.key)).size, 2050)
  })

  it('a passage is the one that matched, also while a changed content waits for its vectors', async () => {
    const [otters, owls, lynxes] = ['about otters and rivers ', 'about owls and nights ', 'about lynxes and hares '].map((text) =>
      text.repeat(60).trim(),
    ) as [string, string, string]
    await client.add('passages', 'book', { contentMd: `${otters}\n\n${owls}` })
    await whenEmbedded(client.server, { passages: 1 })
    provider.hold()
    await client.add('passages', 'book', { contentMd: `${lynxes}\n\n${otters}\n\n${owls}` })
    const query = { collection: 'passages', queryVector: [...embedText('about owls and nights', DIMENSIONS)], retrievalMode: 'chunk' }
    const [result] = (await ask('/v1/vector-search', query)).results
    provider.release()
    assert.deepEqual([result?.chunkText, result?.chunkIndex], [owls, 2])
    await whenEmbedded(client.server, { passages: 1 })
  })

  it('classify: a document whose vectors another model made is classified by its text', async () => {
    const put = async (model: string): Promise<void> => {
      const config = { id: model, name: model, provider: 'openai', model, dimensions: DIMENSIONS, apiUrl: provider.url('openai') }
      const answer = await client.post('/v1/embedding-configs', { ...config, isDefault: true })
      assert.equal(answer.status, 201, answer.text)
    }
    const classify = { labels: ['otter', 'owl'], collection: 'animals', key: 'otter' }
    await ask('/v1/classify', classify)
    await put('another-model')
    provider.requests.length = 0
    await ask('/v1/classify', classify)
    assert.ok(provider.requests.some(({ texts }) => texts.includes('otter river fish')))
  })
})
