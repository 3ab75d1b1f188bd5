/**
 * Documents that have expired without being swept, or are deleted, do not shorten a search while more matches
 * exist: rounds continue until the page is full or the matches are exhausted. Issue 15, point B2; http.md
 * section 2.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, type Fields } from '../../harness/clients/documents_client.js'
import { embeddingEnv, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer } from '../../harness/embedding/embedding_server.js'

/** More than four doublings of the first round's size. */
const MORTAL = 400
const LIVING = 12

describe('the nearest are gone', () => {
  let provider: EmbeddingServer
  let client: DocumentsClient
  before(async () => {
    provider = await EmbeddingServer.start()
    provider.dimensions = 16
    const env = embeddingEnv(provider, { SVC_EMBEDDING_DIMENSIONS: '16', SVC_LIMIT_SWEEP_DOCUMENTS_MAX: '0' })
    client = await DocumentsClient.start({ env })
    const living = Array.from({ length: LIVING }, (_, at) => ({ key: `living-${at}`, lang: 'en', contentMd: `otter and word${at}` }))
    const mortal = Array.from({ length: MORTAL }, (_, at) => ({ key: `mortal-${at}`, lang: 'en', contentMd: 'otter' }))
    await client.addBatch('pond', [...mortal, ...living])
    await client.addBatch(
      'lake',
      living.map((one) => ({ ...one, contentMd: `${one.contentMd} and more beside it` })),
    )
    await whenEmbedded(client.server, { pond: MORTAL + LIVING, lake: LIVING })
    for (const { key } of mortal) await client.setTtl('pond', key, 1)
    await client.until(async () => (await client.search('pond', { limit: 1 })).total === LIVING, 'the expiry')
  })
  after(async () => {
    await client.stop()
    await provider.stop()
  })

  const keysOf = async (path: string, fields: Fields): Promise<string[]> => {
    const answer = await client.post(path, { query: 'otter', threshold: -1, ...fields })
    assert.equal(answer.status, 200, answer.text)
    return answer
      .json<{ results: { document: { key: string }; collection?: string }[] }>()
      .results.map(({ document, collection = '' }) => `${collection}${document.key}`)
  }

  it('vector-search: a page is full although the nearest have expired, by every algorithm', async () => {
    for (const algorithm of ['flat', 'hnsw', 'sq'])
      assert.equal((await keysOf('/v1/vector-search', { collection: 'pond', topK: 5, algorithm })).length, 5, algorithm)
    assert.equal((await keysOf('/v1/vector-search', { collection: 'pond', topK: 50 })).length, LIVING, 'all there are')
  })

  it('cross-search: nearer documents of one collection come first although those before them have expired', async () => {
    const found = await keysOf('/v1/cross-search', { targetCollections: ['lake', 'pond'], topK: 5 })
    const alone = await keysOf('/v1/cross-search', { targetCollections: ['pond'], topK: 5 })
    const all = await keysOf('/v1/cross-search', { targetCollections: ['lake', 'pond'], topK: 2 * LIVING })
    assert.equal(all.length, 2 * LIVING)
    assert.deepEqual(found, all.slice(0, 5))
    assert.equal(alone.length, 5)
    assert.ok(found.some((key) => key.startsWith('pond')))
  })

  it('hybrid-search and fts: the page is full as well', async () => {
    for (const [path, limit] of [
      ['/v1/hybrid-search', 'topK'],
      ['/v1/fts', 'limit'],
    ] as const)
      // prettier-ignore
      assert.equal((await keysOf(path, { collection: 'pond', [limit]: 5 })).length, 5, path)
  })

  it('hybrid-search: vectorsUsed says whether meaning took part', async () => {
    const used = async (fields: Fields): Promise<unknown> =>
      (await client.post('/v1/hybrid-search', { collection: 'pond', query: 'otter', ...fields })).json().vectorsUsed
    assert.deepEqual([await used({}), await used({ alpha: 0 }), await used({ strategy: 'rrf' }), await used({ collection: 'none' })], [true, false, true, false]) // prettier-ignore
    provider.standing = { status: 500 }
    assert.equal(await used({ query: 'a text that has no vector yet' }), false)
    provider.standing = undefined
    const without = await DocumentsClient.shared()
    try {
      const collection = without.collection()
      await without.add(collection, 'k', { contentMd: 'otter' })
      const answer = await without.post('/v1/hybrid-search', { collection, query: 'otter' })
      assert.deepEqual([answer.json().total, answer.json().vectorsUsed], [1, false])
    } finally {
      await without.stop()
    }
  })

  it('vector-search: where no document has vectors the answer says 0 of how many and what to call, and the call makes it work', async () => {
    const plain = await DocumentsClient.start()
    await plain.add('notes', 'a', { contentMd: 'otter' })
    await plain.add('notes', 'b', { contentMd: 'lynx' })
    await plain.server.kill()
    const env = embeddingEnv(provider, { SVC_EMBEDDING_DIMENSIONS: '16' })
    const later = await DocumentsClient.start({ env, directory: plain.server.directory })
    try {
      const ask = async (): Promise<Fields> => (await later.post('/v1/vector-search', { collection: 'notes', query: 'otter' })).json()
      const before = await ask()
      assert.deepEqual([before.total, before.embedded], [0, '0 of 2'])
      assert.match(String(before.hint), /POST \/v1\/vector-reindex \{"collection":"notes"\}$/)
      assert.equal((await later.post('/v1/vector-reindex', { collection: 'notes' })).json().embedded, 2)
      const after = await ask()
      assert.deepEqual([Number(after.total) > 0, after.embedded, after.hint], [true, undefined, undefined])
    } finally {
      await later.stop()
    }
  })

  it('cross-search: sourceDocID finds documents whose key contains a |', async () => {
    await client.add('pond', 'a|b|c', { contentMd: 'otter' })
    await whenEmbedded(client.server, { pond: MORTAL + LIVING + 1 })
    for (const sourceDocID of ['pond|a|b|c|en', 'Pond|A|b|c|EN'])
      assert.equal(
        (await keysOf('/v1/cross-search', { query: undefined, sourceCollection: 'pond', sourceDocID, targetCollections: ['lake'] })).length,
        10,
      )
    const unknown = await client.post('/v1/cross-search', { sourceCollection: 'pond', sourceDocID: 'pond|a|b|en' })
    assert.equal(unknown.status, 404)
    const invalid = await client.post('/v1/cross-search', { sourceCollection: 'pond', sourceDocID: 'pond|en' })
    assert.equal(invalid.json().error, 'invalid sourceDocID')
  })
})
