/**
 * Vectors of documents through the real server: they are made asynchronously after the writes, once per text.
 * Documents wait while the provider is unavailable. Also reindexes and the reports about them. The provider
 * is a server of the test.
 */
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it, type TestContext } from 'node:test'
import { embeddingEnv, vectorStats, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer } from '../../harness/embedding/embedding_server.js'
import { untilHolds } from '../../harness/process/until.js'
import { type Server, type ServerOptions, startServer, type TestResponse } from '../../harness/server/server.js'
import { collectionOf, sharedServer } from '../../harness/server/shared_server.js'

const PARAGRAPH = 'A paragraph of some length that fills a chunk of its own, so that a change of another one leaves it alone. '

/** Paragraphs, each of which forms one chunk. */
function long(...names: readonly string[]): string {
  return names.map((name) => `${name}: ${PARAGRAPH.repeat(3)}`.trim()).join('\n\n')
}

describe('embedding', () => {
  let provider: EmbeddingServer
  let server: Server

  before(async () => {
    provider = await EmbeddingServer.start()
    server = await startServer({ env: embeddingEnv(provider, { SVC_EMBEDDING_CHUNK_SIZE: '400' }) })
  })
  after(async () => {
    await server.stop()
    await provider.stop()
  })
  beforeEach(() => {
    provider.requests.length = 0
  })

  const texts = (): string[] => provider.requests.flatMap((request) => request.texts)
  const add = async (collection: string, key: string, contentMd: string, more: object = {}): Promise<void> => {
    const answer = await server.post('/v1/add', { collection, key, lang: 'en', contentMd, ...more })
    assert.equal(answer.status, 200, answer.text)
  }

  it('add: documents are embedded in the background, each of their chunks once', async () => {
    await add('first', 'a', long('one', 'two', 'three'))
    await add('first', 'b', 'short')
    const stats = await whenEmbedded(server, { first: 2 })
    assert.deepEqual(stats.collections.first, { total_documents: 2, embedded_documents: 2, total_chunks: 4, stale_embeddings: 0 })
    assert.equal(texts().length, 4)
    assert.equal(new Set(texts()).size, 4)
  })

  it('add-batch: documents are embedded', async () => {
    const documents = Array.from({ length: 100 }, (_, at) => ({ key: `k${at}`, lang: 'en', contentMd: `document ${at}` }))
    const answer = await server.post('/v1/add-batch', { collection: 'batch', documents })
    assert.deepEqual([answer.json().added, answer.json().embeddingDropped], [100, undefined])
    await whenEmbedded(server, { batch: 100 })
    assert.equal(texts().length, 100)
  })

  it('update: current vectors are reused: after changes of metadata or TTL, for equal content, and for unchanged chunks of changed content', async () => {
    await add('changes', 'a', long('one', 'two', 'three'))
    await whenEmbedded(server, { changes: 1 })
    provider.requests.length = 0
    const identity = { collection: 'changes', key: 'a', lang: 'en' }
    assert.equal((await server.request('PATCH', '/v1/update', { ...identity, meta: { tag: ['x'] } })).status, 200)
    assert.equal((await server.post('/v1/set-ttl', { ...identity, ttl: 1000 })).status, 200)
    assert.equal((await vectorStats(server)).queue.depth, 0)
    await add('changes', 'a', long('one', 'two', 'three'))
    await add('changes', 'marker', 'a marker')
    await whenEmbedded(server, { changes: 2 })
    assert.deepEqual(texts(), ['a marker'])
    await add('changes', 'a', long('one', 'another', 'three'))
    await whenEmbedded(server, { changes: 2 })
    assert.equal(texts().length, 2)
    assert.match(texts()[1] ?? '', /^another/)
  })

  it('vectors with numbers that cannot be compared are refused, and the server goes on', async () => {
    provider.standing = 'tooLarge'
    await add('large', 'a', 'one')
    await untilHolds(
      () => provider.requests.length > 0,
      () => 'a request of the provider',
    )
    provider.standing = undefined
    assert.deepEqual((await whenEmbedded(server, { large: 1 })).collections.large?.total_chunks, 1)
  })

  it('update: a document that becomes code is cut and embedded again', async () => {
    await add('kinds', 'a', long('one', 'two'))
    await whenEmbedded(server, { kinds: 1 })
    const before = (await vectorStats(server)).queue
    assert.equal(before.depth, 0)
    const answer = await server.request('PATCH', '/v1/update', { collection: 'kinds', key: 'a', lang: 'en', meta: { kind: ['code'] } })
    assert.equal(answer.status, 200)
    await whenEmbedded(server, { kinds: 1 })
    const reindexed = (await server.post('/v1/vector-reindex', { collection: 'kinds' })).json()
    assert.equal(reindexed.skipped, 1, 'its vectors are those of the code')
  })

  it('delete: the vectors of a document, and of a collection, go with it', async () => {
    await add('gone', 'a', 'one')
    await add('gone', 'b', 'two')
    await whenEmbedded(server, { gone: 2 })
    await server.post('/v1/delete', { collection: 'gone', key: 'a', lang: 'en' })
    const left = (await vectorStats(server)).collections.gone
    assert.deepEqual([left?.embedded_documents, left?.total_chunks], [1, 1])
    await server.post('/v1/delete-collection', { collection: 'gone' })
    assert.equal((await vectorStats(server)).collections.gone, undefined)
    await add('gone', 'b', 'three')
    assert.equal((await whenEmbedded(server, { gone: 1 })).collections.gone?.total_chunks, 1)
  })

  it('vector-reindex: current documents are skipped; with force all are embedded again', async () => {
    await add('again', 'a', long('one', 'two'))
    await add('again', 'b', 'short')
    await add('again', 'empty', ' \n ')
    await whenEmbedded(server, { again: 3 })
    provider.requests.length = 0
    const answer = await server.post('/v1/vector-reindex', { collection: 'again' })
    assert.deepEqual(answer.json(), { embedded: 0, skipped: 3, failed: 0, errors: [], totalChunks: 0 })
    assert.equal(provider.requests.length, 0)
    const forced = await server.post('/v1/vector-reindex', { collection: 'again', force: true })
    assert.deepEqual(forced.json(), { embedded: 3, skipped: 0, failed: 0, errors: [], totalChunks: 3 })
    assert.equal(texts().length, 3)
  })

  it('vector-reindex: an unknown collection has nothing to embed; a missing one is 400', async () => {
    const answer = await server.post('/v1/vector-reindex', { collection: 'nowhere' })
    assert.deepEqual([answer.status, answer.json().embedded], [200, 0])
    assert.equal((await server.post('/v1/vector-reindex', {})).status, 400)
  })

  it('vector-reindex: documents that the provider refuses are counted and named, the others are embedded', async () => {
    provider.refuses = ({ texts: asked }) => asked.some((text) => text.includes('poison'))
    for (const name of ['a', 'poison', 'c', 'd']) await add('poisoned', name, `the text of ${name}`)
    await whenEmbedded(server, { poisoned: 3 })
    const answer = (await server.post('/v1/vector-reindex', { collection: 'poisoned' })).json<{ errors: string[] }>()
    assert.deepEqual({ ...answer, errors: answer.errors.length }, { embedded: 0, skipped: 3, failed: 1, errors: 1, totalChunks: 0 })
    assert.match(answer.errors[0] ?? '', /^poisoned\|poison\|en: .*HTTP 400/)
    provider.refuses = () => false
    assert.equal((await server.post('/v1/vector-reindex', { collection: 'poisoned' })).json().embedded, 1)
  })

  it('vector-stats: provider, model, dimensions, chunking and queue', async () => {
    await add('counted', 'a', 'a text')
    await whenEmbedded(server, { counted: 1 })
    const { collections, ...stats } = await vectorStats(server)
    assert.deepEqual(stats, {
      enabled: true,
      provider: 'openai',
      model: 'text-embedding-3-small',
      dimensions: 8,
      index_ready: true,
      chunking: { enabled: true, chunkSize: 400 },
      queue: { size: 1000, depth: 0, dropped: 0, wait: '5s' },
    })
    assert.ok(Object.keys(collections).length > 0)
  })

  it('metrics: vectors and their making', async () => {
    await add('counted', 'a', 'a text')
    await whenEmbedded(server, { counted: 1 })
    const { text } = await server.get('/metrics')
    assert.match(text, /^mddb_vector_embeddings_total [1-9]\d*$/m)
    assert.match(text, /^mddb_vector_index_ready 1$/m)
    assert.match(text, /^mddb_embedding_provider_configured 1$/m)
    assert.match(text, /^mddb_embedding_queue_size 0$/m)
    assert.match(text, /^mddb_documents_embedded_total [1-9]\d*$/m)
    for (const name of ['hits_total', 'misses_total', 'size']) assert.match(text, new RegExp(`^mddb_embedding_cache_${name} 0$`, 'm'))
  })
})

async function started(t: TestContext, options: ServerOptions): Promise<Server> {
  const server = await startServer(options)
  t.after(() => server.stop())
  return server
}

async function providerOf(t: TestContext): Promise<EmbeddingServer> {
  const provider = await EmbeddingServer.start()
  t.after(() => provider.stop())
  return provider
}

describe('embedding without a provider', () => {
  it('embedding: nothing waits, and a reindex is 400', async (t) => {
    const server = await sharedServer()
    t.after(() => server.stop())
    const collection = collectionOf('c')
    await server.post('/v1/add', { collection, key: 'a', lang: 'en', contentMd: 'text' })
    const stats = await vectorStats(server)
    assert.deepEqual([stats.enabled, stats.provider, stats.model, stats.dimensions, stats.queue.depth], [false, 'none', '', 0, 0])
    const answer = await server.post('/v1/vector-reindex', { collection })
    assert.deepEqual([answer.status, answer.json()], [400, { error: 'no embedding provider configured' }])
  })
})

describe('embedding on this machine', () => {
  it('local: documents are embedded without a key and without a network', async (t) => {
    const server = await started(t, { env: { SVC_EMBEDDING_PROVIDER: 'local' } })
    await server.post('/v1/add', { collection: 'c', key: 'a', lang: 'en', contentMd: 'A text about sailing ships.' })
    const stats = await whenEmbedded(server, { c: 1 })
    assert.deepEqual([stats.enabled, stats.provider, stats.model, stats.collections.c?.total_chunks], [true, 'local', 'static', 1])
  })
})

describe('embedding with an unavailable provider', () => {
  it('add-batch: writes wait for capacity in the embedding queue, then documents are stored without vectors, and the answer counts them; a reindex embeds them', async (t) => {
    const provider = await providerOf(t)
    const server = await started(t, {
      env: embeddingEnv(provider, { SVC_EMBEDDING_QUEUE_SIZE: '5', SVC_EMBEDDING_QUEUE_WAIT: '200ms' }),
    })
    provider.hold()
    // All slots of the provider are taken; one more slice of documents waits for a slot.
    for (let at = 0; at < 3; at++) {
      await server.post('/v1/add', { collection: 'first', key: `k${at}`, lang: 'en', contentMd: `first ${at}` })
      await untilHolds(
        () => provider.requests.length > at,
        () => 'requests of the provider',
      )
    }
    const documents = Array.from({ length: 80 }, (_, at) => ({ key: `k${at}`, lang: 'en', contentMd: `document ${at}` }))
    const answer = (await server.post('/v1/add-batch', { collection: 'c', documents })).json()
    assert.deepEqual([answer.added, answer.failed], [80, 0])
    const dropped = answer.embeddingDropped as number
    assert.ok(dropped >= 80 - 64 - 5 && dropped <= 80 - 5, `${dropped} were dropped`)
    const single = await server.post('/v1/add', { collection: 'c', key: 'single', lang: 'en', contentMd: 'one more' })
    assert.equal(single.status, 200)
    assert.deepEqual((await vectorStats(server)).queue, { size: 5, depth: 83 - dropped, dropped: dropped + 1, wait: '200ms' })
    const others = documents.slice(0, 3).map((one) => ({ ...one, key: `other ${one.key}` }))
    const job = (await server.post('/v1/bulk-ingest-job', { collection: 'c', documents: others })).json()
    await whenDropped(server, job.id as string)
    provider.release()
    await whenEmbedded(server, { c: 80 - dropped, first: 3 })
    assert.equal((await server.post('/v1/vector-reindex', { collection: 'c' })).json().embedded, dropped + 1 + 3)
    await whenEmbedded(server, { c: 84 })
  })

  async function whenDropped(server: Server, id: string): Promise<void> {
    for (const end = performance.now() + 30_000; performance.now() < end;) {
      const job = (await server.get(`/v1/bulk-ingest-job/${id}`)).json()
      assert.notEqual(job.status, 'failed')
      // The number is reported once the documents have waited for queue space.
      if (job.status === 'completed' && job.embeddingDropped === 3) return
    }
    assert.fail('its documents were not dropped')
  }
})

describe('reindex without its provider', () => {
  it('vector-reindex: where the provider can not be had it is answered with what failed, and writes go on meanwhile', async (t) => {
    const provider = await providerOf(t)
    const server = await started(t, { env: embeddingEnv(provider) })
    provider.standing = { status: 500 }
    for (let at = 0; at < 3; at++) await server.post('/v1/add', { collection: 'c', key: `k${at}`, lang: 'en', contentMd: `text ${at}` })
    const reindexing = server.post('/v1/vector-reindex', { collection: 'c' })
    assert.equal((await server.post('/v1/add', { collection: 'other', key: 'k', lang: 'en', contentMd: 'text' })).status, 200)
    const answer = await reindexing
    const { errors, ...counts } = answer.json<{ errors: string[] }>()
    assert.deepEqual(counts, { embedded: 0, skipped: 0, failed: 3, totalChunks: 0 })
    assert.match(errors[0] ?? '', /embedding provider openai/)
    assert.equal((await vectorStats(server)).queue.depth, 4, 'what waits waits on')
  })
})

describe('embedding with another model', () => {
  it('start: collections with vectors of another model are named, nothing is rewritten, and a reindex replaces the vectors', async (t) => {
    const provider = await providerOf(t)
    const first = await started(t, { env: embeddingEnv(provider) })
    await first.post('/v1/add', { collection: 'old', key: 'a', lang: 'en', contentMd: 'text' })
    await whenEmbedded(first, { old: 1 })
    await first.kill()
    provider.requests.length = 0
    const env = embeddingEnv(provider, { SVC_EMBEDDING_DIMENSIONS: '16' })
    const server = await startServer({ directory: first.directory, env })
    try {
      assert.equal((await vectorStats(server)).collections.old?.stale_embeddings, 1)
      assert.equal(provider.requests.length, 0)
      assert.equal((await server.post('/v1/vector-reindex', { collection: 'old' })).json().embedded, 1)
      assert.match(server.output(), /collection old: 1 document with vectors of openai\/text-embedding-3-small\/8\/r1/)
      assert.equal((await vectorStats(server)).collections.old?.stale_embeddings, 0)
    } finally {
      // Before the first, whose end removes the directory.
      await server.stop()
    }
  })
})

describe('a reindex that meets another model', () => {
  let provider: EmbeddingServer
  let server: Server
  before(async () => {
    provider = await EmbeddingServer.start()
    server = await startServer({ env: embeddingEnv(provider, { SVC_EMBEDDING_API_KEY: 'key' }) })
  })
  afterEach(() => provider.release())
  after(async () => {
    await server.stop()
    await provider.stop()
  })

  const choose = async (id: string): Promise<void> => {
    const config = { id, name: id, provider: 'openai', model: `of-${id}`, dimensions: 8, apiUrl: provider.url('openai') }
    assert.equal((await server.post('/v1/embedding-configs', { ...config, isDefault: true })).status, 201)
  }

  it('vector-reindex: if another model is chosen while it runs, the rest is compared with that one', async () => {
    // Three pages, the last of which is current for the first model.
    const documents = Array.from({ length: 520 }, (_, at) => ({ key: `k${at}`, lang: 'en', contentMd: `text ${at}` }))
    await server.post('/v1/add-batch', { collection: 'switched', documents })
    await whenEmbedded(server, { switched: 520 })
    provider.hold()
    const changed = documents.slice(0, 512).map((document) => ({ ...document, contentMd: `${document.contentMd} anew` }))
    await server.post('/v1/add-batch', { collection: 'switched', documents: changed })
    const reindexing = server.post('/v1/vector-reindex', { collection: 'switched' })
    await choose('compared')
    provider.release()
    const { failed } = (await reindexing).json<{ failed: number }>()
    const { collections } = await whenEmbedded(server, { switched: 520 })
    assert.deepEqual([failed, collections.switched?.stale_embeddings], [0, 0])
  })

  it('vector-reindex: documents under way when another model is chosen are embedded by that one, and none counts as failed', async () => {
    const documents = Array.from({ length: 520 }, (_, at) => ({ key: `k${at}`, lang: 'en', contentMd: `held ${at}` }))
    await server.post('/v1/add-batch', { collection: 'held', documents })
    await whenEmbedded(server, { held: 520 })
    const held = await heldReindex(server, provider, 'held', 3)
    await choose('under-way')
    provider.release()
    const { embedded, failed } = (await held.answer).json<{ embedded: number; failed: number }>()
    assert.deepEqual([embedded, failed], [520, 0])
    assert.equal((await vectorStats(server)).collections.held?.stale_embeddings, 0)
  })

  it('vector-reindex: is answered when the provider is removed during a request to it', async () => {
    await server.post('/v1/add', { collection: 'left', key: 'k', lang: 'en', contentMd: 'text' })
    await whenEmbedded(server, { left: 1 })
    const held = await heldReindex(server, provider, 'left', 1)
    const keyless = { id: 'keyless', name: 'Without its key', provider: 'voyage', model: 'voyage-3', dimensions: 1024, isDefault: true }
    assert.equal((await server.post('/v1/embedding-configs', keyless)).status, 201)
    const { errors, ...counts } = (await held.answer).json<{ errors: string[] }>()
    assert.deepEqual(counts, { embedded: 0, skipped: 0, failed: 1, totalChunks: 0 })
    assert.match(errors[0] ?? '', /no embedding provider configured/)
  })
})

/** A reindex of everything, once the given number of its requests waits at the provider. */
async function heldReindex(
  server: Server,
  provider: EmbeddingServer,
  collection: string,
  requests: number,
): Promise<{ answer: Promise<TestResponse> }> {
  provider.hold()
  provider.requests.length = 0
  const answer = server.post('/v1/vector-reindex', { collection, force: true })
  await untilHolds(
    () => provider.requests.length >= requests,
    () => 'requests of the provider',
  )
  return { answer }
}
