/**
 * The typed client (clients/typescript): each of its methods against the running server, from a table that
 * does not compile if a method is missing. Every answer has the form that the row declares, from which the
 * client's types are made.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Ajv } from 'ajv'
import { NOUNS, ROUTES } from '../../../clients/typescript/src/generated.js'
import { type Document, MdsClient, MdsError } from '../../../clients/typescript/src/index.js'
import type { Route } from '../../../clients/typescript/src/route.js'
import { operations } from '../../../src/operations/index.js'
import { embeddingEnv } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer } from '../../harness/embedding/embedding_server.js'
import { untilAsked } from '../../harness/process/until.js'
import { ACCESS_ENV, ADMIN_PASSWORD, tokenOf } from '../../harness/server/access.js'
import { type Server, startServer } from '../../harness/server/server.js'
import { dumpXml, pageOf } from '../../harness/wiki_dumps.js'

const VECTOR = [1, 0, 0, 0, 0, 0, 0, 0]
const POST = { collection: 'blog', key: 'hello', lang: 'en' }
const BLOG = { collection: 'blog' }

let provider: EmbeddingServer
let server: Server
let client: MdsClient
/** Of earlier calls: what later ones need. */
const known = { job: '', rule: '', session: '', keyHash: '', mcpKey: '', backup: '', timestamp: 0, hook: '' }

before(async () => {
  provider = await EmbeddingServer.start()
  server = await startServer({
    env: {
      ...ACCESS_ENV,
      ...embeddingEnv(provider),
      SVC_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      SVC_PPROF_ENABLED: 'true',
      SVC_SPELL: 'true',
      SVC_TEMPORAL: 'true',
      SVC_SEARCH_STATS: 'true',
      SVC_AUDIT_ENABLED: 'true',
    },
  })
  client = new MdsClient({ baseUrl: server.url, token: tokenOf('admin') })
})
after(async () => {
  await server.stop()
  await provider.stop()
})

type Nouns = typeof NOUNS
type MethodName = { [Noun in keyof Nouns]: `${Noun}.${keyof Nouns[Noun] & string}` }[keyof Nouns]

/** In the order in which they are called. */
const CALLS: Readonly<Record<MethodName, () => Promise<unknown>>> = {
  'documents.add': () => client.documents.add({ ...POST, contentMd: '# Hello\n\nA first word.', meta: { tags: ['a', 'b'] } }),
  'documents.addBatch': () =>
    client.documents.addBatch({ ...BLOG, documents: [{ key: 'second', lang: 'en', contentMd: 'another word', meta: { tags: ['b'] } }] }),
  'documents.ingest': () =>
    client.documents.ingest({ ...BLOG, documents: [{ url: 'https://example.com/third.html', lang: 'en', contentMd: 'scraped' }] }),
  'documents.importUrl': () => refused(400, client.documents.importUrl({ ...BLOG, url: 'http://127.0.0.1:1/page', lang: 'en' })),
  'documents.get': () => client.documents.get(POST),
  'documents.getMeta': () => client.documents.getMeta(POST),
  'documents.update': () => client.documents.update({ ...POST, meta: { tags: ['a', 'c'] } }),
  'documents.setTtl': () => client.documents.setTtl({ ...POST, ttl: 3600 }),
  'ingestJobs.submit': async () => {
    const job = await client.ingestJobs.submit({ ...BLOG, documents: [{ key: 'third', lang: 'en', contentMd: 'a third word' }] })
    known.job = job.id
    return job
  },
  'ingestJobs.get': () =>
    untilAsked(
      () => client.ingestJobs.get({ id: known.job }),
      ({ status }) => status === 'completed',
    ),
  'ingestJobs.list': () => client.ingestJobs.list(),
  'ingestJobs.cancel': () => refused(400, client.ingestJobs.cancel({ id: known.job })),
  'revisions.list': async () => {
    const answer = await client.revisions.list(POST)
    known.timestamp = answer.revisions.at(-1)?.timestamp ?? 0
    return answer
  },
  'revisions.diff': () => client.revisions.diff(POST),
  'revisions.restore': () => client.revisions.restore({ ...POST, timestamp: known.timestamp }),
  'revisions.truncate': () => client.revisions.truncate({ ...BLOG, keepRevs: 1 }),
  'temporal.events': () => client.temporal.events(POST),
  'temporal.hot': () => client.temporal.hot(BLOG),
  'temporal.histogram': () => client.temporal.histogram({ ...BLOG, interval: 'day' }),
  'collections.metaKeys': () => client.collections.metaKeys(BLOG),
  'collections.checksum': () => client.collections.checksum(BLOG),
  'collections.aggregate': () => client.collections.aggregate({ ...BLOG, facets: [{ field: 'tags' }] }),
  'collections.setConfig': () => client.collections.setConfig({ ...BLOG, description: 'texts', retrieval: { topK: 5 } }),
  'collections.getConfig': () => client.collections.getConfig(BLOG),
  'collections.listConfigs': () => client.collections.listConfigs(),
  'collections.deleteConfig': () => client.collections.deleteConfig(BLOG),
  'schemas.set': () => client.schemas.set({ ...BLOG, schema: { required: ['tags'] } }),
  'schemas.get': () => client.schemas.get(BLOG),
  'schemas.list': () => client.schemas.list(),
  'schemas.validate': () => client.schemas.validate({ ...BLOG, meta: { tags: ['a'] } }),
  'schemas.delete': () => client.schemas.delete(BLOG),
  'synonyms.set': () => client.synonyms.set({ ...BLOG, term: 'word', synonyms: ['term'] }),
  'synonyms.list': () => client.synonyms.list(BLOG),
  'synonyms.delete': () => client.synonyms.delete({ ...BLOG, term: 'word' }),
  'stopWords.add': () => client.stopWords.add({ ...BLOG, words: ['foo', 'bar'] }),
  'stopWords.list': () => client.stopWords.list(BLOG),
  'stopWords.delete': () => client.stopWords.delete({ ...BLOG, words: ['foo', 'bar'] }),
  'curation.add': async () => {
    const rule = await client.curation.add({ ...BLOG, query: 'word', pins: [{ key: 'hello', position: 1 }] })
    known.rule = rule.id
    return rule
  },
  'curation.list': () => client.curation.list(BLOG),
  'curation.replace': () => client.curation.replace({ id: known.rule, query: 'other', hides: ['second'] }),
  'curation.delete': () => client.curation.delete({ id: known.rule }),
  'webhooks.register': async () => {
    const hook = await client.webhooks.register({ ...BLOG, url: 'https://hooks.invalid/h', events: ['doc.updated'] })
    known.hook = hook.id
    return hook
  },
  'webhooks.list': () => client.webhooks.list(BLOG),
  'webhooks.rotateSecret': () => client.webhooks.rotateSecret({ id: known.hook }),
  'webhooks.resume': () => client.webhooks.resume({ id: known.hook }),
  'webhooks.deliveries': async () => {
    await client.documents.add({ ...POST, contentMd: '# Hello\n\nA first word.', meta: { tags: ['a', 'b'] } })
    return await untilAsked(
      () => client.webhooks.deliveries({ id: known.hook }),
      ({ deliveries }) => deliveries.length > 0,
    )
  },
  'webhooks.replay': async () => {
    const { deliveries } = await client.webhooks.deliveries({ id: known.hook })
    return await client.webhooks.replay({ id: known.hook, delivery: deliveries[0]?.id ?? '' })
  },
  'webhooks.delete': () => client.webhooks.delete({ id: known.hook }),
  'memory.startSession': async () => {
    const session = await client.memory.startSession({ userId: 'alice', scenario: 'support', meta: { topic: 'bills' } })
    known.session = session.sessionId
    return session
  },
  'memory.addMessage': () => client.memory.addMessage({ sessionId: known.session, role: 'user', content: 'My bill is wrong.' }),
  'memory.recall': () => client.memory.recall({ query: 'bill', userId: 'alice' }),
  'memory.summarize': () => client.memory.summarize({ sessionId: known.session }),
  'memory.sessions': () => client.memory.sessions({ userId: 'alice' }),
  'memory.history': () => client.memory.history({ sessionId: known.session }),
  'search.fulltext': () => client.search.fulltext({ ...BLOG, query: 'word', facetBy: ['tags'] }),
  'search.fulltextByUrl': () =>
    client.search.fulltextByUrl({ ...BLOG, q: 'word & words', facetBy: ['tags', 'more'], boost: { 'tags:a': 2 }, highlight: true }),
  'search.multi': () => client.search.multi({ searches: [{ ...BLOG, query: 'word' }] }),
  'search.vector': () => client.search.vector({ ...BLOG, queryVector: VECTOR }),
  'search.hybrid': () => client.search.hybrid({ ...BLOG, query: 'word' }),
  'search.cross': () => client.search.cross({ queryVector: VECTOR, targetCollections: ['blog'] }),
  'search.classify': () => client.search.classify({ labels: ['word', 'nothing'], text: 'a word' }),
  'search.duplicates': () => client.search.duplicates({ ...BLOG, mode: 'exact' }),
  'search.projection': () => client.search.projection(BLOG),
  'search.autocomplete': () => client.search.autocomplete({ ...BLOG, q: 'wo' }),
  'search.languages': () => client.search.languages(),
  'search.advise': () => client.search.advise(BLOG),
  'indexes.rebuildFulltext': () => client.indexes.rebuildFulltext(BLOG),
  'indexes.rebuildVectors': () => client.indexes.rebuildVectors(BLOG),
  'indexes.vectorStats': () => client.indexes.vectorStats(),
  'spelling.addWords': () => client.spelling.addWords({ ...BLOG, lang: 'en', words: ['mddb'] }),
  'spelling.getDictionary': () => client.spelling.getDictionary({ ...BLOG, lang: 'en' }),
  'spelling.suggest': () => client.spelling.suggest({ ...BLOG, text: 'wrod', lang: 'en' }),
  'spelling.cleanup': () => client.spelling.cleanup({ ...BLOG, text: 'wrod', lang: 'en' }),
  'spelling.deleteWords': () => client.spelling.deleteWords({ ...BLOG, lang: 'en', words: ['mddb'] }),
  'auth.login': () => client.auth.login({ username: 'admin', password: ADMIN_PASSWORD }),
  'auth.me': () => client.auth.me(),
  'auth.createApiKey': async () => {
    const made = await client.auth.createApiKey({ description: 'of a test' })
    const { username } = await new MdsClient({ baseUrl: server.url, apiKey: made.key, token: 'not read beside a key' }).auth.me()
    assert.equal(username, 'admin')
    return made
  },
  'auth.listApiKeys': async () => {
    const answer = await client.auth.listApiKeys()
    known.keyHash = answer.keys[0]?.keyHash ?? ''
    return answer
  },
  'auth.deleteApiKey': () => client.auth.deleteApiKey({ keyHash: known.keyHash }),
  'users.register': () => client.users.register({ username: 'ann', password: 'the password of ann' }),
  'users.list': () => client.users.list(),
  'users.change': () => client.users.change({ username: 'ann', disabled: true }),
  'users.setPermission': () => client.users.setPermission({ username: 'ann', collection: 'blog', read: true }),
  'users.listPermissions': () => client.users.listPermissions({ username: 'ann' }),
  'groups.create': () => client.groups.create({ name: 'team a/b', members: ['ann'] }),
  'groups.get': () => client.groups.get({ name: 'team a/b' }),
  'groups.list': () => client.groups.list(),
  'groups.update': () => client.groups.update({ name: 'team a/b', description: 'changed' }),
  'groups.setPermission': () => client.groups.setPermission({ group: 'team a/b', collection: 'blog', read: true }),
  'groups.listPermissions': () => client.groups.listPermissions({ group: 'team a/b' }),
  'groups.delete': () => client.groups.delete({ name: 'team a/b' }),
  'users.delete': () => client.users.delete({ username: 'ann' }),
  'mcpKeys.create': async () => {
    const made = await client.mcpKeys.create({ name: 'of a test' })
    known.mcpKey = made.key
    return made
  },
  'mcpKeys.list': () => client.mcpKeys.list(),
  'mcpKeys.disable': () => client.mcpKeys.disable({ key: known.mcpKey }),
  'mcpKeys.delete': () => client.mcpKeys.delete({ key: known.mcpKey }),
  'mcpKeys.config': () => client.mcpKeys.config(),
  'backups.create': async () => {
    const made = await client.backups.create()
    known.backup = made.backup
    return made
  },
  'backups.list': () => client.backups.list(),
  'backups.restore': () => client.backups.restore({ from: known.backup }),
  'backups.delete': () => client.backups.delete({ name: known.backup }),
  'encryption.status': () => client.encryption.status(),
  'encryption.rotate': async () => {
    const job = await client.encryption.rotate({})
    known.job = job.id
    return job
  },
  'encryption.listJobs': () => client.encryption.listJobs(),
  'encryption.getJob': () => client.encryption.getJob({ id: known.job }),
  'embeddingConfigs.create': () =>
    client.embeddingConfigs.create({ id: 'x', name: 'X', provider: 'openai', model: 'm', dimensions: 8, apiUrl: provider.url('openai') }),
  'embeddingConfigs.get': () => client.embeddingConfigs.get({ id: 'x' }),
  'embeddingConfigs.list': () => client.embeddingConfigs.list(),
  'embeddingConfigs.update': () => client.embeddingConfigs.update({ id: 'x', name: 'Y' }),
  'embeddingConfigs.delete': () => client.embeddingConfigs.delete({ id: 'x' }),
  'embeddingConfigs.setDefault': () => refused(404, client.embeddingConfigs.setDefault({ id: 'x' })),
  'admin.stats': () => client.admin.stats(),
  'admin.config': () => client.admin.config(),
  'admin.systemInfo': () => client.admin.systemInfo(),
  'admin.metrics': () => client.admin.metrics(),
  'admin.complianceStatus': () => client.admin.complianceStatus(),
  'admin.auditEvents': () => client.admin.auditEvents({ limit: 5 }),
  'admin.auditExporters': () => client.admin.auditExporters(),
  'admin.profiles': () => client.admin.profiles(),
  'admin.cpuProfile': () => client.admin.cpuProfile({ seconds: 1 }),
  'admin.heapProfile': () => client.admin.heapProfile(),
  'server.health': () => client.server.health(),
  'server.livez': () => client.server.livez(),
  'server.readyz': () => client.server.readyz(),
  'server.endpoints': () => client.server.endpoints(),
  'server.openapi': () => client.server.openapi(),
  'server.docs': () => client.server.docs(),
  'server.playground': () => client.server.playground(),
  'documents.delete': () => client.documents.delete(POST),
  'documents.deleteBatch': () => client.documents.deleteBatch({ ...BLOG, documents: [{ key: 'second', lang: 'en' }] }),
  'collections.delete': () => client.collections.delete(BLOG),
}

const REFUSED = Symbol('the server refuses this call, as it should')

async function refused(status: number, call: Promise<unknown>): Promise<typeof REFUSED> {
  await assert.rejects(call, (error) => error instanceof MdsError && error.status === status && !/operation|method/.test(error.text))
  return REFUSED
}

function operationOf(name: MethodName): (typeof operations)[number] {
  const [noun, method] = name.split('.') as [keyof Nouns, string]
  const operation = (NOUNS[noun] as Readonly<Record<string, string>>)[method]
  return operations.find((row) => row.name === operation) ?? assert.fail(name)
}

describe('client: methods', () => {
  it('client: every operation that is offered over HTTP has a method, with the route of its row', () => {
    const byHand = ['search', 'export', 'graphql', 'upload', 'importWiki', 'watchChanges']
    const methods: readonly string[] = [...Object.values(NOUNS).flatMap((each) => Object.values(each) as string[]), ...byHand]
    const routes: Readonly<Record<string, Route>> = ROUTES
    for (const { name, http } of operations) {
      if (http === undefined) continue
      assert.ok(methods.includes(name), name)
      assert.deepEqual({ method: routes[name]?.method, path: routes[name]?.path }, http.routes[0])
    }
    assert.equal(new Set(methods).size, methods.length)
  })

  for (const [name, call] of Object.entries(CALLS) as [MethodName, () => Promise<unknown>][]) {
    it(`client: ${name} does what it says, and its answer has the declared form`, async () => {
      const answer = await call()
      const row = operationOf(name)
      const route: Route = ROUTES[row.name as keyof typeof ROUTES]
      if (answer === REFUSED) return
      if (route.answer === 'nothing') assert.equal(answer, undefined)
      else if (route.answer === 'bytes') assert.ok(answer instanceof Uint8Array && answer.length > 0)
      else if (route.answer === 'text') assert.ok(typeof answer === 'string' && answer !== '')
      else {
        const ajv = new Ajv({ strict: false })
        assert.ok(ajv.validate(row.output, answer), `${ajv.errorsText()}: ${JSON.stringify(answer)}`)
      }
    })
  }
})

describe('client: methods written by hand', () => {
  const collection = 'by-hand'
  before(async () => {
    const documents = Array.from({ length: 5 }, (_, at) => ({
      key: `k${at}`,
      lang: 'en',
      contentMd: `word number ${at}\n\nwith a secönd line`,
      meta: { parity: [at % 2 === 0 ? 'even' : 'odd'], rank: [String(at)] },
    }))
    await client.documents.addBatch({ collection, documents })
    await untilAsked(
      () => client.indexes.vectorStats(),
      ({ collections }) => collections[collection]?.embedded_documents === documents.length,
    )
  })

  it('client: documents.search gives a page and the number of all', async () => {
    const page = await client.documents.search({ collection, sort: 'key', asc: true, limit: 2, offset: 1 })
    assert.deepEqual(
      page.documents.map(({ key }) => key),
      ['k1', 'k2'],
    )
    assert.deepEqual([page.total, page.isTruncated], [5, false])
  })

  it('client: documents.search says that documents were left out for the token budget', async () => {
    await client.collections.setConfig({ collection, retrieval: { contextTokenBudget: 10 } })
    const page = await client.documents.search({ collection, includeContent: true })
    await client.collections.deleteConfig({ collection })
    assert.ok(page.isTruncated)
  })

  it('client: documents.export gives every document, with its text', async () => {
    const documents: Document[] = []
    for await (const document of client.documents.export({ collection, filterMeta: { parity: ['even'] } })) documents.push(document)
    assert.deepEqual(documents.map(({ key }) => key).sort(), ['k0', 'k2', 'k4'])
    assert.match(documents[0]?.contentMd ?? '', /with a secönd line/)
  })

  it('client: documents.exportArchive streams a ZIP file', async () => {
    const archive = new Uint8Array(await new Response(await client.documents.exportArchive({ collection })).arrayBuffer())
    assert.equal(new TextDecoder('latin1').decode(archive.subarray(0, 4)), 'PK\u0003\u0004')
  })

  it('client: a full-text search is built step by step, and a step leaves the builder as it is', async () => {
    const begun = client.search.in(collection).fulltext('word')
    const built = begun
      .where('parity', 'even')
      .range('rank', { gte: 1 })
      .boost('rank:4', 3)
      .facet('parity')
      .highlight({ highlightTag: '**' })
      .explain()
      .limit(1)
      .offset(0)
    assert.deepEqual(begun.input, { collection, query: 'word' })
    assert.deepEqual(built.input, {
      collection,
      query: 'word',
      filterMeta: { parity: ['even'] },
      rangeMeta: [{ field: 'rank', gte: 1 }],
      boost: { 'rank:4': 3 },
      facetBy: ['parity'],
      highlight: true,
      highlightTag: '**',
      explain: true,
      limit: 1,
      offset: 0,
    })
    const { results } = await built.run()
    assert.deepEqual(
      results.map(({ document }) => document.key),
      ['k4'],
    )
    assert.match(results[0]?.highlights?.[0]?.fragment ?? '', /\*\*word\*\*/)
    const others = begun.algorithm('bm25f').weight('content', 2).mode('simple').fuzzy().cacheFor(1).set({ count: true })
    assert.equal((await others.run()).results.length, 5)
  })

  it('client: a vector search is built step by step, from a text or a vector', async () => {
    const search = client.search.in(collection)
    const byText = await search.vector('word number 3').where('parity', 'odd').limit(3).threshold(-1).algorithm('flat').withContent().run()
    assert.deepEqual(byText.results.map(({ document }) => document.key).sort(), ['k1', 'k3'])
    assert.match(byText.results[0]?.document.contentMd ?? '', /word number/)
    const byVector = await search.vector(VECTOR).metric('euclidean').diverse(0.5).set({ threshold: -10 }).run()
    assert.ok(byVector.results.length > 0)
  })

  it('client: a hybrid search is built step by step', async () => {
    const begun = client.search
      .in(collection)
      .hybrid('word')
      .where('parity', 'even')
      .limit(2)
      .boost('rank:4', 2)
      .facet('parity')
      .withContent()
    assert.equal((await begun.alpha(0.3).run()).results.length, 2)
    assert.equal((await begun.rrf(20).run()).results.length, 2)
  })

  it('client: a refusal has the status, the text and the hint of the server', async () => {
    await assert.rejects(
      client.documents.get({ collection, key: 'none', lang: 'en' }),
      (error) => error instanceof MdsError && error.status === 404 && error.text === 'not found' && error.message === 'not found (404)',
    )
    await assert.rejects(
      client.documents.get({ collection, key: '', lang: 'en' }),
      (error) => error instanceof MdsError && error.status === 400 && (error.hint ?? '').includes('key'),
    )
  })

  it('client: graphql asks with variables, and an error of a field is an error with its code', async () => {
    const query = 'query ($key: String!) { document(collection: "by-hand", key: $key, lang: "en") { key } }'
    assert.deepEqual(await client.graphql(query, { key: 'k1' }), { document: { key: 'k1' } })
    await assert.rejects(
      client.graphql('{ stats { none } }'),
      (error) => error instanceof MdsError && error.status === 400 && /none/.test(error.text),
    )
  })

  it('client: with() makes a client of the same server with another credential', async () => {
    await assert.rejects(client.with({ token: 'x' }).auth.me(), (error) => error instanceof MdsError && error.status === 401)
    const { token } = await client.auth.login({ username: 'admin', password: ADMIN_PASSWORD })
    assert.equal((await client.with({ token }).auth.me()).username, 'admin')
  })

  it('client: a field of the path can lead to no other path', async () => {
    for (const name of ['', '.', '..']) await assert.rejects(client.backups.delete({ name }), /name cannot be part of a path/)
    await refused(404, client.groups.get({ name: '../users' }))
  })
})

it('a dump of a wiki is imported as a form', async () => {
  const dump = { name: 'dump.xml', content: dumpXml([pageOf('A page', 'text')]) }
  const { imported, failed } = await client.documents.importWiki(dump, { collection: 'wiki', lang: 'en', skipFts: true })
  assert.deepEqual([imported, failed], [1, 0])
})

it('files are uploaded as a form: one answers what it became, several their counts', async () => {
  const one = await client.documents.upload(
    { name: 'Up Loaded.html', content: '<h1>Up</h1>' },
    { collection: 'uploaded', lang: 'en', meta: { a: ['b'] }, ttl: 60 },
  )
  assert.deepEqual([one.key, one.document?.contentMd, one.document?.meta['a']], ['up-loaded', '# Up\n', ['b']])
  const files = [
    { name: 'a.md', content: new Uint8Array([120]) },
    { name: 'b.txt', content: new Blob(['y']) },
  ]
  const { added, results } = await client.documents.upload(files, { collection: 'uploaded', lang: 'en' })
  assert.deepEqual([added, results?.length], [2, 2])
})
