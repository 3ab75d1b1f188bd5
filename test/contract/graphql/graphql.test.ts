/**
 * GraphQL over a real server: every query and mutation of the contract, its request, answers and errors
 * (service-2, "GraphQL" and "Errors"). Accounts: accounts.test.ts; authorisation:
 * access.test.ts; bounds: limits.test.ts.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { askGraphql, dataOf } from '../../harness/clients/graphql.js'
import { embeddingEnv, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer } from '../../harness/embedding/embedding_server.js'
import { type Server, startServer } from '../../harness/server/server.js'

interface Shown {
  readonly id: string
  readonly key: string
  readonly lang: string
  readonly meta: Readonly<Record<string, readonly string[]>>
  readonly contentMd: string
  readonly addedAt: string
  readonly updatedAt: string
  readonly expiresAt: string | null
}

const DOCUMENT = 'id key lang meta contentMd addedAt updatedAt expiresAt'
const ADD = `mutation($input: AddDocumentInput!) { addDocument(input: $input) { ${DOCUMENT} } }`
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/
const secondsOf = (time: string | null): number => Date.parse(time ?? '') / 1000

describe('graphql', () => {
  let server: Server
  let provider: EmbeddingServer
  before(async () => {
    provider = await EmbeddingServer.start()
    server = await startServer({ env: embeddingEnv(provider) })
    for (const [at, topic] of ['storage', 'search', 'storage', 'search', 'storage'].entries())
      await server.post('/v1/add', {
        collection: 'docs',
        key: `k${at}`,
        lang: 'en',
        meta: { topic: [topic], n: [String(at)] },
        contentMd: `# Page ${at}\n\nAbout ${topic} for %%name%%.`,
      })
    await whenEmbedded(server, { docs: 5 })
  })
  after(async () => {
    await server.stop()
    await provider.stop()
  })

  const restDocument = async (key: string): Promise<Record<string, unknown>> =>
    (await server.post('/v1/get', { collection: 'docs', key, lang: 'en' })).json()

  it('graphql: document answers what POST /v1/get does, with times as RFC 3339 text', async () => {
    const { document } = await dataOf<{ document: Shown }>(
      server,
      `query($k: String!) { document(collection: "docs", key: $k, lang: "en") { ${DOCUMENT} } }`,
      { k: 'k1' },
    )
    const rest = await restDocument('k1')
    assert.match(document.addedAt, TIME)
    assert.deepEqual(
      { ...document, addedAt: secondsOf(document.addedAt), updatedAt: secondsOf(document.updatedAt) },
      { ...rest, expiresAt: null },
    )
  })

  it('graphql: long contents are those of HTTP, several in one answer, whatever is in them', async () => {
    const contents = ['é漢😀 "quoted" \\ \u0000 \u2028 </script> ', '"},"contentMd":"x"} ', 'plain text ', '\\"\n\t'].map((text) =>
      text.repeat(300),
    )
    for (const [at, contentMd] of contents.entries())
      await server.post('/v1/add', { collection: 'long', key: `k${at}`, lang: 'en', contentMd, meta: { contentMd: ['"contentMd":"'] } })
    const fields = contents.map((_, at) => `d${at}: document(collection: "long", key: "k${at}", lang: "en") { key contentMd meta }`)
    const data = await dataOf<Record<string, Shown>>(server, `{ ${fields.join(' ')} }`)
    for (const [at, contentMd] of contents.entries())
      assert.deepEqual(data[`d${at}`], { key: `k${at}`, contentMd, meta: { contentMd: ['"contentMd":"'] } })
  })

  it('graphql: document with env replaces %%name%% in the content', async () => {
    const query = 'query($env: JSONObject) { document(collection: "docs", key: "k0", lang: "en", env: $env) { contentMd } }'
    const byVariable = await dataOf<{ document: Shown }>(server, query, { env: { name: 'Ada' } })
    assert.match(byVariable.document.contentMd, /for Ada\./)
    const byLiteral = await dataOf<{ document: Shown }>(
      server,
      '{ document(collection: "docs", key: "k0", lang: "en", env: {name: "Ada"}) { contentMd } }',
    )
    assert.equal(byLiteral.document.contentMd, byVariable.document.contentMd)
  })

  it('graphql: a document that is missing is null beside an error with its path and code', async () => {
    const { status, data, errors } = await askGraphql(server, '{ document(collection: "docs", key: "no", lang: "en") { id } }')
    assert.equal(status, 200)
    assert.deepEqual(data, { document: null })
    assert.deepEqual(
      errors.map(({ message, path, extensions }) => ({ message, path, extensions })),
      [{ message: 'not found', path: ['document'], extensions: { code: 'NOT_FOUND' } }],
    )
  })

  it('graphql: fields that fail leave the others their values', async () => {
    const { data, errors } = await askGraphql(
      server,
      '{ a: document(collection: "docs", key: "no", lang: "en") { id } b: document(collection: "docs", key: "k1", lang: "en") { id } }',
    )
    assert.deepEqual(data, { a: null, b: { id: 'docs|k1|en' } })
    assert.deepEqual(
      errors.map(({ path }) => path),
      [['a']],
    )
  })

  const SEARCH = `query($input: SearchInput!) { search(input: $input) {
    edges { cursor node { key } } totalCount
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor totalCount } } }`
  interface Found {
    readonly search: {
      readonly edges: readonly { readonly cursor: string; readonly node: Shown }[]
      readonly totalCount: number
      readonly pageInfo: {
        readonly hasNextPage: boolean
        readonly hasPreviousPage: boolean
        readonly startCursor: string | null
        readonly endCursor: string | null
        readonly totalCount: number
      }
    }
  }

  it('graphql: search answers edges with cursors, and what is before and behind the page', async () => {
    const input = { collection: 'docs', sort: 'key', asc: true, limit: 2, offset: 2 }
    const { search } = await dataOf<Found>(server, SEARCH, { input })
    assert.deepEqual(
      search.edges.map(({ node }) => node.key),
      ['k2', 'k3'],
    )
    assert.equal(search.totalCount, 5)
    const { startCursor, endCursor, ...page } = search.pageInfo
    assert.deepEqual(page, { hasNextPage: true, hasPreviousPage: true, totalCount: 5 })
    assert.deepEqual(
      [startCursor, endCursor],
      search.edges.map(({ cursor }) => cursor),
    )
    assert.equal(new Set(search.edges.map(({ cursor }) => cursor)).size, 2)
    const last = await dataOf<Found>(server, SEARCH, { input: { ...input, offset: 4 } })
    assert.equal(last.search.pageInfo.hasNextPage, false)
    const first = await dataOf<Found>(server, SEARCH, { input: { ...input, offset: 0 } })
    assert.equal(first.search.pageInfo.hasPreviousPage, false)
    const none = await dataOf<Found>(server, SEARCH, { input: { collection: 'docs', filterMeta: [{ key: 'n', values: ['9'] }] } })
    assert.deepEqual(none.search.pageInfo, {
      hasNextPage: false,
      hasPreviousPage: false,
      startCursor: null,
      endCursor: null,
      totalCount: 0,
    })
  })

  it('graphql: filterMeta is a list of keys and values', async () => {
    const filterMeta = [
      { key: 'topic', values: ['storage'] },
      { key: 'n', values: ['0', '1', '2'] },
    ]
    const { search } = await dataOf<Found>(server, SEARCH, { input: { collection: 'docs', filterMeta, sort: 'key', asc: true } })
    assert.deepEqual(
      search.edges.map(({ node }) => node.key),
      ['k0', 'k2'],
    )
  })

  it('graphql: search has 50 documents where no limit is given', async () => {
    const documents = Array.from({ length: 60 }, (_, at) => ({ key: `m${at}`, lang: 'en', contentMd: 'x' }))
    await server.post('/v1/add-batch', { collection: 'many', documents })
    const { search } = await dataOf<Found>(server, SEARCH, { input: { collection: 'many' } })
    assert.equal(search.edges.length, 50)
    assert.equal(search.totalCount, 60)
  })

  it('graphql: fts answers documents with scores and matched terms', async () => {
    const query = `query($input: FTSInput!) { fts(input: $input) { total results { score matchedTerms document { key contentMd } } } }`
    interface Hits {
      readonly fts: {
        readonly total: number
        readonly results: readonly { readonly score: number; readonly matchedTerms: readonly string[]; readonly document: Shown }[]
      }
    }
    const { fts } = await dataOf<Hits>(server, query, { input: { collection: 'docs', query: 'storage' } })
    assert.equal(fts.total, 3)
    assert.deepEqual(fts.results.map(({ document }) => document.key).sort(), ['k0', 'k2', 'k4'])
    assert.deepEqual(fts.results[0]!.matchedTerms, ['storag'])
    assert.ok(fts.results[0]!.score > 0)
    const one = await dataOf<Hits>(server, query, { input: { collection: 'docs', query: 'storage', limit: 1 } })
    assert.equal(one.fts.results.length, 1)
  })

  it('graphql: vectorSearch answers documents with score and rank, by text and by vector', async () => {
    const query = `query($input: VectorSearchInput!) { vectorSearch(input: $input) {
      total model dimensions results { score rank document { key contentMd } } } }`
    interface Nearest {
      readonly vectorSearch: {
        readonly total: number
        readonly model: string
        readonly dimensions: number
        readonly results: readonly { readonly score: number; readonly rank: number; readonly document: Shown }[]
      }
    }
    const { vectorSearch } = await dataOf<Nearest>(server, query, { input: { collection: 'docs', query: 'storage', topK: 3 } })
    assert.equal(vectorSearch.results.length, 3)
    assert.equal(vectorSearch.total, 3)
    assert.deepEqual(
      vectorSearch.results.map(({ rank }) => rank),
      [1, 2, 3],
    )
    assert.equal(vectorSearch.dimensions, 8)
    const queryVector = [1, 0, 0, 0, 0, 0, 0, 0]
    const byVector = await dataOf<Nearest>(server, query, {
      input: { collection: 'docs', queryVector, threshold: -1, includeContent: true },
    })
    assert.equal(byVector.vectorSearch.results.length, 5, 'topK is 5')
    assert.match(byVector.vectorSearch.results[0]!.document.contentMd, /About/)
    const filtered = await dataOf<Nearest>(server, query, {
      input: { collection: 'docs', queryVector, threshold: -1, filterMeta: [{ key: 'n', values: ['3'] }], includeContent: false },
    })
    assert.deepEqual(
      filtered.vectorSearch.results.map(({ document }) => [document.key, document.contentMd]),
      [['k3', '']],
    )
  })

  it('graphql: vectorStats has the collections as a list', async () => {
    const { vectorStats } = await dataOf<{ vectorStats: Record<string, unknown> }>(
      server,
      '{ vectorStats { enabled provider model dimensions indexReady collections { collection totalDocuments embeddedDocuments } } }',
    )
    assert.equal(vectorStats['enabled'], true)
    assert.equal(vectorStats['indexReady'], true)
    assert.equal(vectorStats['dimensions'], 8)
    assert.ok(typeof vectorStats['provider'] === 'string' && typeof vectorStats['model'] === 'string')
    assert.deepEqual(
      (vectorStats['collections'] as readonly { readonly collection: string }[]).filter(({ collection }) => collection === 'docs'),
      [{ collection: 'docs', totalDocuments: 5, embeddedDocuments: 5 }],
    )
  })

  it('graphql: vectorReindex embeds and answers the stats', async () => {
    const { vectorReindex } = await dataOf<{ vectorReindex: Record<string, unknown> }>(
      server,
      'mutation { vectorReindex(collection: "docs", force: true) { enabled collections { collection embeddedDocuments } } }',
    )
    assert.equal(vectorReindex['enabled'], true)
    assert.ok(
      (vectorReindex['collections'] as readonly object[]).some(
        (one) => JSON.stringify(one) === '{"collection":"docs","embeddedDocuments":5}',
      ),
    )
  })

  it('graphql: stats answers counts and sizes', async () => {
    const { stats } = await dataOf<{ stats: Record<string, unknown> }>(
      server,
      `{ stats { databasePath databaseSize mode totalDocuments totalRevisions totalMetaIndices
         collections { name documentCount revisionCount metaIndexCount checksum checksum64 } } }`,
    )
    const rest = (await server.get('/v1/stats')).json()
    for (const name of ['databasePath', 'mode', 'totalDocuments', 'totalRevisions', 'totalMetaIndices'])
      assert.deepEqual(stats[name], rest[name], name)
    assert.ok(Number(stats['databaseSize']) > 0)
    const docs = (stats['collections'] as readonly Record<string, unknown>[]).find(({ name }) => name === 'docs')
    const { checksum, checksum64 } = (await server.get('/v1/checksum?collection=docs')).json()
    assert.deepEqual(docs, { name: 'docs', documentCount: 5, revisionCount: 5, metaIndexCount: 10, checksum, checksum64 })
  })

  it('graphql: addDocument writes a document, with metadata as a list of keys and values', async () => {
    const input = {
      collection: 'notes',
      key: 'first',
      lang: 'en',
      contentMd: '# First',
      meta: [
        { key: 'tag', values: ['a', 'b'] },
        { key: '__proto__', values: ['x'] },
      ],
      ttl: 3600,
    }
    const { addDocument } = await dataOf<{ addDocument: Shown }>(server, ADD, { input })
    assert.equal(addDocument.id, 'notes|first|en')
    assert.deepEqual(Object.entries(addDocument.meta), [
      ['__proto__', ['x']],
      ['tag', ['a', 'b']],
    ])
    assert.equal(secondsOf(addDocument.expiresAt), secondsOf(addDocument.addedAt) + 3600)
    const rest = (await server.post('/v1/get', { collection: 'notes', key: 'first', lang: 'en' })).json()
    assert.equal(rest['contentMd'], '# First')
  })

  it('graphql: updateDocument changes metadata and content independently', async () => {
    await dataOf(server, ADD, {
      input: { collection: 'notes', key: 'second', lang: 'en', contentMd: 'old', meta: [{ key: 'a', values: ['1'] }] },
    })
    const query = `mutation($input: UpdateDocumentInput!) { updateDocument(input: $input) { meta contentMd } }`
    const name = { collection: 'notes', key: 'second', lang: 'en' }
    const content = await dataOf<{ updateDocument: Shown }>(server, query, { input: { ...name, contentMd: 'new' } })
    assert.deepEqual(content.updateDocument, { meta: { a: ['1'] }, contentMd: 'new' })
    const meta = await dataOf<{ updateDocument: Shown }>(server, query, { input: { ...name, meta: [] } })
    assert.deepEqual(meta.updateDocument, { meta: {}, contentMd: 'new' })
    const nothing = await askGraphql(server, query, { input: name })
    assert.deepEqual(
      nothing.errors.map(({ message, extensions }) => [message, extensions?.code]),
      [['no fields to update', 'BAD_USER_INPUT']],
    )
  })

  it('graphql: setTTL sets the expiry and removes it', async () => {
    await dataOf(server, ADD, { input: { collection: 'notes', key: 'ttl', lang: 'en', contentMd: 'x' } })
    const query = 'mutation($ttl: Int!) { setTTL(collection: "notes", key: "ttl", lang: "en", ttl: $ttl) { updatedAt expiresAt } }'
    const set = await dataOf<{ setTTL: Shown }>(server, query, { ttl: 60 })
    assert.match(set.setTTL.expiresAt ?? '', TIME)
    const removed = await dataOf<{ setTTL: Shown }>(server, query, { ttl: 0 })
    assert.equal(removed.setTTL.expiresAt, null)
  })

  it('graphql: deleteDocument answers true, and an error for one that is missing', async () => {
    await dataOf(server, ADD, { input: { collection: 'notes', key: 'gone', lang: 'en', contentMd: 'x' } })
    const query = 'mutation { deleteDocument(collection: "notes", key: "gone", lang: "en") }'
    assert.deepEqual(await dataOf(server, query), { deleteDocument: true })
    const again = await askGraphql(server, query)
    assert.equal(again.data, null)
    assert.equal(again.errors[0]?.extensions?.code, 'NOT_FOUND')
  })

  it('graphql: deleteCollection answers the number of documents', async () => {
    for (const key of ['a', 'b']) await dataOf(server, ADD, { input: { collection: 'brief', key, lang: 'en', contentMd: 'x' } })
    assert.deepEqual(await dataOf(server, 'mutation { deleteCollection(collection: "brief") }'), { deleteCollection: 2 })
  })

  it('graphql: addBatch writes each document independently', async () => {
    const documents = [
      { key: 'a', lang: 'en', contentMd: 'a', meta: [{ key: 't', values: ['1'] }] },
      { key: 'b', lang: 'en', contentMd: 'b', saveRevision: false },
      { key: '', lang: 'en', contentMd: 'c' },
    ]
    const { addBatch } = await dataOf<{ addBatch: Record<string, unknown> }>(
      server,
      `mutation($documents: [AddBatchDocumentInput!]!) {
        addBatch(collection: "batch", documents: $documents) { added updated failed errors } }`,
      { documents },
    )
    const { errors, ...counts } = addBatch
    assert.deepEqual(counts, { added: 2, updated: 0, failed: 1 })
    assert.equal((errors as readonly string[]).length, 1)
    const rest = (await server.post('/v1/get', { collection: 'batch', key: 'a', lang: 'en' })).json()
    assert.deepEqual(rest['meta'], { t: ['1'] })
  })

  it('graphql: setSchema, schema, schemas, validateDocument and deleteSchema are those of HTTP', async () => {
    const text = '{"required":["status"]}'
    const set = 'mutation($input: SetSchemaInput!) { setSchema(input: $input) }'
    assert.deepEqual(await dataOf(server, set, { input: { collection: 'ruled', schema: text } }), { setSchema: true })
    assert.deepEqual(
      await dataOf(server, '{ schema(collection: "ruled") { collection schema enabled } none: schema(collection: "other") { schema } }'),
      { schema: { collection: 'ruled', schema: text, enabled: true }, none: null },
    )
    assert.deepEqual(await dataOf(server, '{ schemas { collection schema enabled } }'), {
      schemas: [{ collection: 'ruled', schema: text, enabled: true }],
    })
    const check = `mutation($meta: [MetaInput!]!) { validateDocument(collection: "ruled", meta: $meta) { valid errors warnings } }`
    const bad = await dataOf<{ validateDocument: { valid: boolean; errors: readonly string[] } }>(server, check, { meta: [] })
    assert.equal(bad.validateDocument.valid, false)
    assert.equal(bad.validateDocument.errors.length, 1)
    const good = await dataOf(server, check, { meta: [{ key: 'status', values: ['done'] }] })
    assert.deepEqual(good, { validateDocument: { valid: true, errors: [], warnings: [] } })
    assert.deepEqual(await dataOf(server, 'mutation { deleteSchema(collection: "ruled") }'), { deleteSchema: true })
    assert.deepEqual(await dataOf(server, '{ schemas { collection } }'), { schemas: [] })
    const broken = await askGraphql(server, set, { input: { collection: 'ruled', schema: '{' } })
    assert.equal(broken.errors[0]?.extensions?.code, 'BAD_USER_INPUT')
  })

  it('graphql: fields of operations that this version does not have answer UNIMPLEMENTED', async () => {
    for (const [kind, field] of [['query', 'codeGraph(input: {collection: "c", key: "k"}) { root }']] as const) {
      const { status, errors } = await askGraphql(server, `${kind} { ${field} }`)
      assert.equal(status, 200, field)
      assert.equal(errors[0]?.extensions?.code, 'UNIMPLEMENTED', field)
    }
  })

  it('graphql: operationName says which operation of the document runs', async () => {
    const query = 'query A { a: __typename } query B { b: __typename }'
    const answer = await server.post('/graphql', { query, operationName: 'B' })
    assert.deepEqual(answer.json(), { data: { b: 'Query' } })
    const unnamed = await server.post('/graphql', { query })
    assert.equal(unnamed.status, 400)
    assert.match(unnamed.text, /Must provide operation name/)
  })

  it('graphql: a request that is not one, and a document that can not be run, are 400 with errors', async () => {
    const cases: readonly (readonly [body: unknown, message: RegExp])[] = [
      ['{', /invalid JSON/],
      ['', /invalid JSON/],
      [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), /invalid UTF-8/],
      [{}, /query is required/],
      [{ query: 5 }, /query is required/],
      [{ query: '{ __typename }', variables: [] }, /variables must be an object/],
      [{ query: '{ __typename }', operationName: 5 }, /operationName must be a text/],
      [[{ query: '{ __typename }' }], /several requests in one are not supported/],
      [{ query: '{ stats ' }, /Syntax Error/],
      [{ query: '{ nothing }' }, /Cannot query field \\"nothing\\" on type \\"Query\\"/],
      [{ query: 'query($k: String!) { document(collection: "c", key: $k, lang: "en") { id } }' }, /Variable \\"\$k\\" of required type/],
    ]
    for (const [body, message] of cases) {
      const answer = await server.post('/graphql', body)
      assert.equal(answer.status, 400, answer.text)
      assert.match(answer.text, message)
      const { errors, data } = answer.json<{ errors: readonly { extensions: object }[]; data?: unknown }>()
      assert.equal(data, undefined)
      assert.deepEqual(errors[0]?.extensions, { code: 'BAD_USER_INPUT' })
    }
  })

  it('graphql: a name that is nearly right gets a suggestion while access control is off', async () => {
    const { errors } = await askGraphql(server, '{ documnt }')
    assert.match(errors[0]!.message, /Did you mean "document"\?/)
  })

  it('graphql: a time must be RFC 3339 text', async () => {
    const query = 'mutation($t: Time) { createAPIKey(input: {description: "x", expiresAt: $t}) { key } }'
    for (const t of ['tomorrow', '2026-02-31', 5]) {
      const { status, errors } = await askGraphql(server, query, { t })
      assert.equal(status, 400)
      assert.match(errors[0]!.message, /RFC 3339/)
    }
  })

  it('graphql: GET is 405', async () => {
    const answer = await server.get('/graphql?query={__typename}')
    assert.equal(answer.status, 405)
    assert.equal(answer.headers['allow'], 'POST')
  })

  it('graphql: the schema can be asked for', async () => {
    const { __schema } = await dataOf<{ __schema: { queryType: { name: string } } }>(server, '{ __schema { queryType { name } } }')
    assert.equal(__schema.queryType.name, 'Query')
  })
})
