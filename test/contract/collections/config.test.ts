/**
 * Collection configuration over HTTP: service-2, "Collection configuration"; http.md, section 5. Settings
 * persist, secrets are never shown, and settings that cannot be honoured are refused.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, type Fields, MISSING_FIELDS, summary } from '../../harness/clients/documents_client.js'

const PATH = '/v1/collection-config'

describe('collection configuration', () => {
  let client: DocumentsClient
  before(async () => {
    client = await DocumentsClient.start()
  })
  after(() => client.stop())

  const put = async (collection: string, fields: Fields): Promise<void> => {
    const answer = await client.server.request('PUT', PATH, { collection, ...fields })
    assert.equal(summary(answer), `200 {"status":"ok","collection":"${collection}"}`)
  }
  const refusal = async (collection: string, fields: Fields): Promise<string> => {
    const answer = await client.server.request('PUT', PATH, { collection, ...fields })
    assert.equal(answer.status, 400, answer.text)
    return answer.json<{ error: string }>().error
  }
  const get = async (collection: string, from = client): Promise<{ config: Record<string, unknown>; configured: boolean }> => {
    const answer = await from.server.get(`${PATH}?collection=${encodeURIComponent(collection)}`)
    assert.equal(answer.status, 200, answer.text)
    const { collection: named, ...rest } = answer.json<{ collection: string; config: Record<string, unknown>; configured: boolean }>()
    assert.equal(named, collection)
    return rest
  }
  const configOf = async (collection: string): Promise<Record<string, unknown>> => (await get(collection)).config

  it('collection-config: a collection without a configuration is reported with type default', async () => {
    assert.deepEqual(await get('never'), { config: { type: 'default' }, configured: false })
    await client.add('written', 'doc')
    assert.deepEqual(await get('written'), { config: { type: 'default' }, configured: false })
    assert.equal(summary(await client.server.get(PATH)), MISSING_FIELDS)
    assert.equal(summary(await client.server.request('PUT', PATH, { type: 'website' })), MISSING_FIELDS)
    assert.equal(summary(await client.server.request('DELETE', PATH, {})), MISSING_FIELDS)
  })

  it('collection-config: every field that is put is shown again', async () => {
    const name = client.collection()
    const fields = {
      type: 'documents',
      description: 'Handbücher',
      icon: '📚',
      color: '#3b82f6',
      customMeta: { owner: 'team', nested: { list: [1, 2.5, true, 'x'] } },
      storageBackend: 'boltdb',
      maxRevisions: 7,
      retrieval: {
        defaultSearchType: 'hybrid',
        topK: 12,
        retrievalMode: 'window',
        hybridStrategy: 'rrf',
        hybridAlpha: 0,
        hybridAlphaSet: true,
        oversample: 2.5,
        contextTokenBudget: 4000,
      },
      responsePrompt: 'Answer briefly.',
      trackAccess: true,
      trackHot: false,
      spellCorrect: true,
      spellLang: 'de',
      quantization: 'int8',
      disk_only_vectors: true,
      encrypted: false,
    }
    await put(name, fields)
    assert.deepEqual(await get(name), { config: { ...fields, diskOnlyVectors: true }, configured: true })
  })

  it('collection-config: types are default, website, images, audio, documents and scraping', async () => {
    const name = client.collection()
    for (const type of ['default', 'website', 'images', 'audio', 'documents', 'scraping']) {
      await put(name, { type })
      assert.deepEqual(await configOf(name), { type })
    }
    assert.equal(await refusal(name, { type: 'video' }), 'invalid type: must be default, website, images, audio, documents, or scraping')
    assert.deepEqual(await configOf(name), { type: 'scraping' })
  })

  it('collection-config: a put merges: omitted fields stay, false and 0 are values, null clears', async () => {
    const name = client.collection()
    await put(name, { type: 'website', trackHot: true, maxRevisions: 3, customMeta: { a: 1 }, retrieval: { topK: 5, hybridAlpha: 1 } })
    await put(name, { description: 'later' })
    await put(name, { trackHot: false, maxRevisions: 0 })
    const merged = { type: 'website', description: 'later', trackHot: false, maxRevisions: 0 }
    assert.deepEqual(await configOf(name), { ...merged, customMeta: { a: 1 }, retrieval: { topK: 5, hybridAlpha: 1 } })
    // A block is replaced as one value.
    await put(name, { customMeta: { b: 2 }, retrieval: { topK: 6 } })
    assert.deepEqual(await configOf(name), { ...merged, customMeta: { b: 2 }, retrieval: { topK: 6 } })
    await put(name, { customMeta: null, retrieval: null, description: null, type: null, unheardOf: null })
    assert.deepEqual(await get(name), { config: { type: 'default', trackHot: false, maxRevisions: 0 }, configured: true })
  })

  it('collection-config: puts that run at the same time lose nothing', async () => {
    const name = client.collection()
    const fields = ['description', 'icon', 'color', 'responsePrompt', 'spellLang']
    await Promise.all(fields.map((field) => put(name, { [field]: field })))
    assert.deepEqual(await configOf(name), { type: 'default', ...Object.fromEntries(fields.map((field) => [field, field])) })
  })

  it('collection-config: credentials are never shown, kept by an empty one, replaced by another, cleared with their block', async () => {
    const name = client.collection()
    const storage = { endpoint: 's3.example', bucket: 'docs', region: 'eu', accessKey: 'AK', prefix: 'p/', useTLS: true }
    await put(name, { storageConfig: { ...storage, secretKey: 'first-secret' }, cms: { url: 'https://cms.example', apiKey: 'cms-secret' } })
    const masked = {
      type: 'default',
      storageConfig: { ...storage, secretKey: '', secretKeySet: true },
      cms: { url: 'https://cms.example', apiKey: '', apiKeySet: true },
    }
    assert.deepEqual(await configOf(name), masked)
    // A configuration is written back as it was read, flags included.
    await put(name, masked)
    await put(name, { storageConfig: storage, cms: { url: 'https://cms.example' } })
    assert.deepEqual(await configOf(name), masked)
    const list = await client.server.get('/v1/collection-configs')
    assert.doesNotMatch(list.text, /first-secret|cms-secret/)
    // The flags are ignored.
    await put(name, { storageConfig: { ...storage, secretKey: '', secretKeySet: false } })
    assert.deepEqual(await configOf(name), masked)
    await put(name, { storageConfig: null, wordpress: { url: 'https://other.example', apiKey: 'x' } })
    assert.deepEqual(await configOf(name), { type: 'default', cms: { url: 'https://other.example', apiKey: '', apiKeySet: true } })
    await put(name, { storageConfig: { ...storage, secretKey: '' }, cms: null })
    assert.deepEqual(await configOf(name), { type: 'default', storageConfig: { ...storage, secretKey: '', secretKeySet: false } })
  })

  it('collection-config: an unknown storage backend, a missing location or a forbidden address is refused with the text of the contract', async () => {
    const name = client.collection()
    const storageConfig = { endpoint: 'localhost:1024', bucket: 'bkt', secretKey: 's' }
    assert.equal(await refusal(name, { storageBackend: 'tape' }), 'invalid storageBackend: must be boltdb, memory, or s3')
    assert.equal(await refusal(name, { storageBackend: 's3' }), 's3 storageBackend requires storageConfig with endpoint and bucket')
    assert.equal(
      await refusal(name, { storageBackend: 's3', storageConfig: { endpoint: 'x' } }),
      's3 storageBackend requires storageConfig with endpoint and bucket',
    )
    const refused = { storageBackend: 's3', storageConfig }
    assert.equal(await refusal(name, refused), 'invalid storageConfig: accessKey and secretKey go together')
    assert.match(
      await refusal(name, { ...refused, storageConfig: { ...storageConfig, accessKey: 'a' } }),
      /^storage backend unreachable: the address is not a public one$/,
    )
    assert.equal(
      await refusal(name, { ...refused, storageConfig: { endpoint: 'x', bucket: 'A_b' } }),
      'invalid storageConfig: invalid bucket',
    )
    assert.equal(await refusal(name, { encrypted: true }), 'invalid encrypted: SVC_ENCRYPTION_KEY is not set')
    assert.deepEqual(await get(name), { config: { type: 'default' }, configured: false })
    assert.equal(await client.stats(name), undefined, 'a refused put creates nothing')
  })

  it('collection-config: credentials in the endpoint, which is shown, are refused with every storage backend', async () => {
    const name = client.collection()
    const storageConfig = { endpoint: 'http://user:secretpw@store.example', bucket: 'bkt', accessKey: 'a', secretKey: 's' }
    for (const storageBackend of ['s3', 'memory', 'boltdb', undefined])
      assert.equal(await refusal(name, { storageBackend, storageConfig }), 'invalid storageConfig: invalid endpoint', storageBackend)
    assert.deepEqual(await get(name), { config: { type: 'default' }, configured: false })
  })

  it('collection-config: values out of their range are refused with a text that names them', async () => {
    const name = client.collection()
    const cases: readonly (readonly [Fields, string])[] = [
      [{ maxRevisions: -1 }, 'invalid maxRevisions: must be from 0 to 1000000'],
      [{ maxRevisions: 1.5 }, 'invalid maxRevisions'],
      [{ quantization: 'int2' }, 'invalid quantization: must be float32, int8, or int4'],
      [{ diskOnlyVectors: true }, 'diskOnlyVectors requires quantization (int8 or int4)'],
      [{ disk_only_vectors: true, quantization: 'float32' }, 'diskOnlyVectors requires quantization (int8 or int4)'],
      [{ disk_only_vectors: true, diskOnlyVectors: false }, 'invalid disk_only_vectors: diskOnlyVectors says otherwise'],
      [{ responsePrompt: 'ä'.repeat(2049) }, 'invalid responsePrompt: 4098 bytes, at most 4096 are allowed'],
      [{ retrieval: { defaultSearchType: 'geo' } }, 'invalid retrieval.defaultSearchType: must be fts, vector, or hybrid'],
      [{ retrieval: { retrievalMode: 'page' } }, 'invalid retrieval.retrievalMode: must be parent, chunk, or window'],
      [{ retrieval: { hybridStrategy: 'best' } }, 'invalid retrieval.hybridStrategy: must be alpha or rrf'],
      [{ retrieval: { topK: 0 } }, 'invalid retrieval.topK: must be from 1 to 1000'],
      [{ retrieval: { topK: 1001 } }, 'invalid retrieval.topK: must be from 1 to 1000'],
      [{ retrieval: { hybridAlpha: 1.1 } }, 'invalid retrieval.hybridAlpha: must be from 0 to 1'],
      [{ retrieval: { oversample: 0.5 } }, 'invalid retrieval.oversample: must be from 1 to 10'],
      [{ retrieval: { contextTokenBudget: -1 } }, 'invalid retrieval.contextTokenBudget: must be from 0 to 67108864'],
      [{ retrieval: 'all' }, 'invalid retrieval'],
      [{ trackHot: 'yes' }, 'invalid trackHot'],
      [{ storageConfig: { endpoint: 5 } }, 'invalid storageConfig.endpoint'],
      [{ description: 'x'.repeat(70_000) }, 'invalid configuration: 70018 bytes, at most 65536 are allowed'],
    ]
    for (const [fields, text] of cases) assert.equal(await refusal(name, fields), text)
    await put(name, { responsePrompt: 'ä'.repeat(2048), quantization: 'int4', diskOnlyVectors: true })
  })

  it('collection-config: delete removes the configuration and leaves the documents', async () => {
    const name = client.collection()
    await client.add(name, 'doc')
    await put(name, { type: 'images' })
    for (let times = 0; times < 2; times++) {
      const answer = await client.server.request('DELETE', `${PATH}?collection=${name}`)
      assert.equal(summary(answer), `200 {"status":"deleted","collection":"${name}"}`)
      assert.deepEqual(await get(name), { config: { type: 'default' }, configured: false })
    }
    assert.ok(await client.get(name, 'doc'))
  })

  it('collection-config: delete-collection removes the configuration as well', async () => {
    const name = client.collection()
    await put(name, { type: 'audio', cms: { apiKey: 's' } })
    assert.equal((await client.post('/v1/delete-collection', { collection: name })).status, 200)
    assert.deepEqual(await get(name), { config: { type: 'default' }, configured: false })
    await client.add(name, 'doc')
    await put(name, { cms: { url: 'u' } })
    assert.deepEqual(await configOf(name), { type: 'default', cms: { url: 'u', apiKey: '', apiKeySet: false } })
  })

  it('collection-config: the list has every configured collection by name, and stats show type, description, icon and color', async () => {
    const other = await DocumentsClient.start()
    try {
      assert.deepEqual((await other.server.get('/v1/collection-configs')).json(), { configs: [], total: 0 })
      await other.add('plain', 'doc')
      for (const name of ['zoo', 'Blog'])
        await other.server.request('PUT', PATH, {
          collection: name,
          type: 'website',
          description: name,
          icon: '🐘',
          color: '#fff',
          cms: { apiKey: 's' },
        })
      const config = { type: 'website', icon: '🐘', color: '#fff', cms: { apiKey: '', apiKeySet: true } }
      assert.deepEqual((await other.server.get('/v1/collection-configs')).json(), {
        configs: ['Blog', 'zoo'].map((collection) => ({ collection, config: { ...config, description: collection } })),
        total: 2,
      })
      // Names are compared case-insensitively.
      assert.equal((await get('BLOG', other)).configured, true)
      const { collections } = (await other.server.get('/v1/stats')).json<{ collections: Record<string, unknown>[] }>()
      const shown = collections.map(({ name, type, description, icon, color }) => ({ name, type, description, icon, color }))
      assert.deepEqual(shown, [
        { name: 'Blog', type: 'website', description: 'Blog', icon: '🐘', color: '#fff' },
        { name: 'plain', type: 'default', description: '', icon: '', color: '' },
        { name: 'zoo', type: 'website', description: 'zoo', icon: '🐘', color: '#fff' },
      ])
    } finally {
      await other.stop()
    }
  })

  it('collection-config: settings of every kind survive a kill', async () => {
    const first = await DocumentsClient.start()
    let second: DocumentsClient | undefined
    try {
      await first.add('c', 'doc', { contentMd: 'automobile' })
      await first.server.request('PUT', PATH, { collection: 'c', type: 'website', storageConfig: { secretKey: 's' } })
      await first.post('/v1/synonyms', { collection: 'c', term: 'car', synonyms: ['automobile'] })
      await first.post('/v1/stopwords', { collection: 'c', words: ['vehicle'] })
      await first.post('/v1/curation', { collection: 'c', query: 'boat', enabled: true, pins: [{ key: 'doc', position: 1 }] })
      const state = async (of: DocumentsClient): Promise<unknown> => [
        await get('c', of),
        (await of.server.get('/v1/synonyms?collection=c')).json(),
        (await of.server.get('/v1/stopwords?collection=c')).json(),
        (await of.server.get('/v1/curation')).json(),
        [await of.found('c', 'car'), await of.found('c', 'boat'), await of.found('c', 'vehicle')],
      ]
      const before = await state(first)
      assert.deepEqual((before as unknown[])[4], [['doc'], ['doc'], []])
      await first.server.kill()
      second = await DocumentsClient.start({ directory: first.server.directory })
      assert.deepEqual(await state(second), before)
    } finally {
      await second?.stop()
      await first.stop()
    }
  })
})

describe('retrieval profile', () => {
  let client: DocumentsClient
  before(async () => {
    client = await DocumentsClient.start()
  })
  after(() => client.stop())

  const profile = async (collection: string, retrieval: unknown): Promise<void> => {
    const answer = await client.server.request('PUT', PATH, { collection, retrieval })
    assert.equal(answer.status, 200, answer.text)
  }
  const fts = async (collection: string, more: Fields = {}): Promise<{ total: number; contextTruncated?: boolean }> =>
    (await client.post('/v1/fts', { collection, query: 'walrus', ...more })).json()
  /** 80 documents of 40 bytes, which are 10 tokens, each. */
  const fill = async (collection: string): Promise<void> => {
    const documents = Array.from({ length: 80 }, (_, number) => ({
      key: `k${number + 100}`,
      lang: 'en',
      contentMd: `walrus "é"\n${'x'.repeat(27)}`,
    }))
    for (const { contentMd } of documents) assert.equal(Buffer.byteLength(contentMd), 40 - 1)
    await client.addBatch(
      collection,
      documents.map((document) => ({ ...document, contentMd: `${document.contentMd}x` })),
    )
  }

  it('retrieval: an explicit limit goes before topK of the profile, and that before the default, in fts and search', async () => {
    const name = client.collection()
    await fill(name)
    const counts = async (more: Fields = {}): Promise<number[]> => [(await fts(name, more)).total, (await client.keys(name, more)).length]
    assert.deepEqual(await counts(), [50, 50])
    await profile(name, { topK: 7, defaultSearchType: 'vector' })
    assert.deepEqual(await counts(), [7, 7])
    assert.deepEqual(await counts({ limit: 3 }), [3, 3])
    assert.deepEqual(await counts({ limit: 70 }), [70, 70])
    await profile(name, null)
    assert.deepEqual(await counts(), [50, 50])
  })

  it('retrieval: the token budget drops trailing results, keeps the first, and says contextTruncated', async () => {
    const name = client.collection()
    await fill(name)
    await profile(name, { contextTokenBudget: 35 })
    const answer = await fts(name)
    assert.deepEqual([answer.total, answer.contextTruncated], [3, true])
    const listing = await client.post('/v1/search', { collection: name })
    assert.deepEqual(
      [listing.json<unknown[]>().length, listing.headers['x-context-truncated'], listing.headers['x-total-count']],
      [3, '1', '80'],
    )
    await profile(name, { contextTokenBudget: 1 })
    assert.deepEqual([(await fts(name)).total, (await client.keys(name)).length], [1, 1])
    await profile(name, { contextTokenBudget: 30 })
    const fitting = await fts(name, { limit: 3 })
    assert.deepEqual([fitting.total, 'contextTruncated' in fitting], [3, false])
    assert.equal((await client.post('/v1/search', { collection: name, limit: 3 })).headers['x-context-truncated'], undefined)
    await profile(name, { contextTokenBudget: 0 })
    assert.equal((await fts(name)).total, 50)
  })
})
