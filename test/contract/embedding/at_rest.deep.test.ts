/**
 * Vectors of documents that are encrypted, restored, or in another generation. The tests also search every
 * file.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { embeddingEnv, vectorStats, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer, embedText } from '../../harness/embedding/embedding_server.js'
import { untilHolds } from '../../harness/process/until.js'
import { type Server, startServer } from '../../harness/server/server.js'

const DIMENSIONS = 64
const CLEAR = 'the text of a document that anybody may read'
const SECRET = 'the words of a letter for one pair of eyes only'

async function directoryOf(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'mds-vectors-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function providerOf(t: TestContext): Promise<EmbeddingServer> {
  const provider = await EmbeddingServer.start()
  t.after(() => provider.stop())
  return provider
}

/** Files that contain the vector of the text in plaintext. */
async function filesWith(directory: string, text: string): Promise<string[]> {
  const vector = Buffer.from(embedText(text, DIMENSIONS).buffer)
  const found: string[] = []
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const bytes = await readFile(join(entry.parentPath, entry.name))
    if (bytes.includes(vector)) found.push(entry.name)
  }
  return found
}

async function add(server: Server, collection: string, key: string, contentMd: string): Promise<void> {
  assert.equal((await server.post('/v1/add', { collection, key, lang: 'en', contentMd })).status, 200)
}

describe('vectors at rest', () => {
  it('encryption: no file contains a vector of an encrypted collection, and after a start they are searched again', async (t) => {
    const provider = await providerOf(t)
    const directory = await directoryOf(t)
    const env = embeddingEnv(provider, {
      SVC_EMBEDDING_DIMENSIONS: String(DIMENSIONS),
      SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    })
    const server = await startServer({ directory, env })
    const config = await server.request('PUT', '/v1/collection-config', { collection: 'vault', encrypted: true })
    assert.equal(config.status, 200, config.text)
    await add(server, 'vault', 'letter', SECRET)
    await add(server, 'open', 'poster', CLEAR)
    await whenEmbedded(server, { vault: 1, open: 1 })
    assert.equal(await server.stop(), 0)
    assert.deepEqual(await filesWith(directory, SECRET), [])
    assert.notDeepEqual(await filesWith(directory, CLEAR), [], 'what is not encrypted would have been found')
    provider.requests.length = 0
    const next = await startServer({ directory, env })
    t.after(() => next.stop())
    const stats = await vectorStats(next)
    assert.deepEqual([stats.collections.vault?.embedded_documents, stats.index_ready], [1, true])
    assert.deepEqual((await next.post('/v1/vector-reindex', { collection: 'vault' })).json().skipped, 1)
    assert.equal(provider.requests.length, 0)
  })

  it('encryption: a rotation seals existing vectors, too', async (t) => {
    const provider = await providerOf(t)
    const directory = await directoryOf(t)
    const env = embeddingEnv(provider, {
      SVC_EMBEDDING_DIMENSIONS: String(DIMENSIONS),
      SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    })
    const server = await startServer({ directory, env })
    await add(server, 'vault', 'letter', SECRET)
    await whenEmbedded(server, { vault: 1 })
    await server.request('PUT', '/v1/collection-config', { collection: 'vault', encrypted: true })
    const { id } = (await server.post('/v1/encryption/rotate', {})).json<{ id: string }>()
    for (let status = ''; status !== 'completed';) {
      status = (await server.get(`/v1/encryption/jobs/${id}`)).json<{ status: string }>().status
      assert.notEqual(status, 'failed')
    }
    assert.equal(await server.stop(), 0)
    // The next start rewrites the store without overwritten data.
    const next = await startServer({ directory, env })
    assert.equal((await vectorStats(next)).collections.vault?.embedded_documents, 1)
    assert.equal(await next.stop(), 0)
    assert.deepEqual(await filesWith(directory, SECRET), [])
  })

  it('restore: vectors are those of the backup, what waited then is embedded now, and nothing that was made for the other store is written', async (t) => {
    const provider = await providerOf(t)
    const server = await startServer({ env: embeddingEnv(provider) })
    t.after(() => server.stop())
    await add(server, 'c', 'a', 'embedded before the backup')
    await whenEmbedded(server, { c: 1 })
    provider.hold()
    await add(server, 'c', 'b', 'waits while the backup is made')
    await untilHolds(
      () => provider.requests.length >= 2,
      () => 'requests of the provider',
    )
    assert.equal((await server.get('/v1/backup?to=one.db')).status, 200)
    await server.post('/v1/delete', { collection: 'c', key: 'a', lang: 'en' })
    await add(server, 'c', 'c', 'written after the backup')
    await add(server, 'other', 'c', 'in another collection')
    const restored = await server.post('/v1/restore', { from: 'one.db' })
    assert.equal(restored.status, 200, restored.text)
    provider.release()
    const stats = await whenEmbedded(server, { c: 2 })
    assert.deepEqual(Object.keys(stats.collections), ['c'])
    const reindexed = (await server.post('/v1/vector-reindex', { collection: 'c' })).json()
    assert.deepEqual([reindexed.embedded, reindexed.skipped], [0, 2])
  })
})

describe('how contents are cut', () => {
  it('SVC_EMBEDDING_CHUNK_ENABLED, SVC_EMBEDDING_CHUNK_SIZE and SVC_EMBEDDING_CHUNK_MODE: after a change a reindex embeds new chunks only', async (t) => {
    const provider = await providerOf(t)
    const directory = await directoryOf(t)
    const contentMd = Array.from({ length: 6 }, (_, at) => `Paragraph ${at}: ${'some words of it '.repeat(6).trim()}.`).join('\n\n')
    const chunksWith = async (
      more: Readonly<Record<string, string>>,
    ): Promise<{ chunks: number; size: number; isCut: boolean; texts: number }> => {
      const server = await startServer({ directory, env: embeddingEnv(provider, more) })
      if ((await vectorStats(server)).collections.c === undefined) await add(server, 'c', 'a', contentMd)
      await whenEmbedded(server, { c: 1 })
      provider.requests.length = 0
      await server.post('/v1/vector-reindex', { collection: 'c' })
      const { collections, chunking } = await vectorStats(server)
      assert.equal(await server.stop(), 0)
      const texts = provider.requests.reduce((sum, request) => sum + request.texts.length, 0)
      return { chunks: collections.c?.total_chunks ?? 0, size: chunking.chunkSize, isCut: chunking.enabled, texts }
    }
    assert.deepEqual(await chunksWith({ SVC_EMBEDDING_CHUNK_SIZE: '130' }), { chunks: 6, size: 130, isCut: true, texts: 0 })
    assert.deepEqual(await chunksWith({ SVC_EMBEDDING_CHUNK_ENABLED: 'false' }), { chunks: 1, size: 1500, isCut: false, texts: 1 })
    assert.deepEqual(await chunksWith({}), { chunks: 1, size: 1500, isCut: true, texts: 0 })
    assert.equal((await chunksWith({ SVC_EMBEDDING_CHUNK_MODE: 'code', SVC_EMBEDDING_CHUNK_SIZE: '130' })).chunks, 6)
  })

  it('SVC_EMBEDDING_CHUNK_SIZE counts characters, however many bytes they have', async (t) => {
    const provider = await providerOf(t)
    const server = await startServer({ env: embeddingEnv(provider, { SVC_EMBEDDING_CHUNK_SIZE: '100' }) })
    t.after(() => server.stop())
    await add(server, 'c', 'a', ['猫', '😺', 'ä'].map((letter) => letter.repeat(100)).join('\n\n'))
    assert.equal((await whenEmbedded(server, { c: 1 })).collections.c?.total_chunks, 3)
  })
})
