/**
 * The clients of the reference implementation that use HTTP: stand-ins that send what the Go client, the PHP
 * client and the integrations send, byte for byte where it matters, and read the fields that those read.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { embeddingEnv, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer } from '../../harness/embedding/embedding_server.js'
import { ACCESS_ENV, Admin, ADMIN_PASSWORD, keyOf, tokenOf } from '../../harness/server/access.js'
import { type Server, startServer } from '../../harness/server/server.js'

type Body = Readonly<Record<string, unknown>>

const ID = { collection: 'blog', key: 'first', lang: 'en' }
const UNIX_SECONDS_MIN = 1_700_000_000

/** The types of the fields, as a decoder of Go sees them. */
function typesOf(value: unknown, ...names: readonly string[]): Readonly<Record<string, string>> {
  const fields = value as Body
  return Object.fromEntries(names.map((name) => [name, Array.isArray(fields[name]) ? 'list' : typeof fields[name]]))
}

const numbers = (...names: readonly string[]): Readonly<Record<string, string>> => Object.fromEntries(names.map((name) => [name, 'number']))

describe('clients of the reference over HTTP', () => {
  let provider: EmbeddingServer
  let server: Server

  before(async () => {
    provider = await EmbeddingServer.start()
    server = await startServer({ env: embeddingEnv(provider) })
    for (const key of ['first', 'second'])
      await server.post('/v1/add', { ...ID, key, meta: { tag: ['a', key] }, contentMd: `# A heron, ${key} in %%year%%` })
    await whenEmbedded(server, { blog: 2 })
  })
  after(async () => {
    await server.stop()
    await provider.stop()
  })

  /** As the Go client does: an error for every status from 400 on, with the body as it came. */
  async function ask<Answer = Body>(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await server.request(method, path, body)
    assert.ok(answer.status < 400, `${path}: ${answer.status} ${answer.text}`)
    return answer.json<Answer>()
  }

  it('clients: the Go client reads documents with times as numbers, and searches as bare lists', async () => {
    const added = await ask('POST', '/v1/add', { ...ID, key: 'third', meta: {}, contentMd: 'x' })
    assert.deepEqual([added.id, typesOf(added, 'addedAt', 'updatedAt')], ['blog|third|en', numbers('addedAt', 'updatedAt')])
    const got = await ask('POST', '/v1/get', { ...ID, env: { year: '2004' } })
    assert.equal(got.contentMd, '# A heron, first in 2004')
    assert.deepEqual(typesOf(got, 'id', 'key', 'lang', 'meta'), { id: 'string', key: 'string', lang: 'string', meta: 'object' })
    const options = { sort: 'updatedAt', asc: false, limit: 50, offset: 0 }
    const listed = await ask<readonly Body[]>('POST', '/v1/search', {
      collection: 'blog',
      filterMeta: { tag: ['first', 'second'] },
      ...options,
    })
    assert.deepEqual(listed.map(({ key }) => key).sort(), ['first', 'second'])
    assert.equal((await ask<readonly Body[]>('POST', '/v1/search', { collection: 'nothing', filterMeta: {}, ...options })).length, 0)
    await ask('POST', '/v1/set-ttl', { ...ID, key: 'third', ttl: 3600 })
    assert.ok(Number((await ask('POST', '/v1/get', { ...ID, key: 'third', env: {} })).expiresAt) > UNIX_SECONDS_MIN)
    const missing = await server.post('/v1/get', { ...ID, key: 'none', env: {} })
    assert.deepEqual([missing.status, missing.text], [404, '{"error":"not found"}'])
  })

  it('clients: the Go client reads what it shows of searches, and of vectors in snake case', async () => {
    const found = await ask<{ results: readonly Body[]; total: number }>('POST', '/v1/fts', {
      collection: 'blog',
      query: 'heron',
      limit: 50,
    })
    assert.equal(found.total, 2)
    assert.deepEqual(typesOf(found.results[0], 'document', 'score', 'matchedTerms'), {
      document: 'object',
      score: 'number',
      matchedTerms: 'list',
    })
    const request = { collection: 'blog', query: 'a heron', topK: 5, threshold: 0, includeContent: false }
    const near = await ask<{ results: readonly Body[] }>('POST', '/v1/vector-search', request)
    assert.deepEqual(typesOf(near, 'model', 'dimensions'), { model: 'string', dimensions: 'number' })
    assert.deepEqual(typesOf(near.results[0], 'document', 'score', 'rank'), { document: 'object', score: 'number', rank: 'number' })
    await ask('POST', '/v1/vector-search', { ...request, filterMeta: { tag: ['a'] } })
    const again = await ask('POST', '/v1/vector-reindex', { collection: 'blog', force: true })
    assert.deepEqual(typesOf(again, 'embedded', 'skipped', 'failed'), numbers('embedded', 'skipped', 'failed'))
    const stats = await ask<{ collections: Readonly<Record<string, Body>> }>('GET', '/v1/vector-stats')
    assert.deepEqual(typesOf(stats, 'enabled', 'provider', 'model', 'dimensions', 'index_ready'), {
      enabled: 'boolean',
      provider: 'string',
      model: 'string',
      dimensions: 'number',
      index_ready: 'boolean',
    })
    assert.deepEqual(
      typesOf(stats.collections.blog, 'total_documents', 'embedded_documents'),
      numbers('total_documents', 'embedded_documents'),
    )
  })

  it('clients: the Go client exports, backs up by GET, restores and truncates', async () => {
    const lines = await server.post('/v1/export', { collection: 'blog', filterMeta: {}, format: 'ndjson' })
    assert.match(lines.text, /^\{"id":"blog\|first\|en".*\n/)
    const zip = await server.post('/v1/export', { collection: 'blog', filterMeta: {}, format: 'zip' })
    assert.equal(zip.body.subarray(0, 2).toString(), 'PK')
    assert.equal((await ask('GET', '/v1/backup?to=of-go.db')).backup, 'of-go.db')
    assert.equal((await ask('POST', '/v1/truncate', { collection: 'blog', keepRevs: 5, dropCache: true })).status, 'truncated')
    assert.equal((await ask('POST', '/v1/restore', { from: 'of-go.db' })).restored, 'of-go.db')
    const stats = await ask<{ collections: readonly Body[] }>('GET', '/v1/stats')
    assert.deepEqual(typesOf(stats, 'databasePath', 'mode'), { databasePath: 'string', mode: 'string' })
    const counts = ['documentCount', 'revisionCount', 'metaIndexCount']
    assert.deepEqual(typesOf(stats.collections[0], 'name', ...counts), { name: 'string', ...numbers(...counts) })
  })

  it('clients: the Go client sets schemas as text, lists them, and validates', async () => {
    const schema = '{"required":["tag"]}'
    await ask('POST', '/v1/schema/set', { collection: 's', schema })
    assert.equal((await ask('POST', '/v1/schema/get', { collection: 's' })).schema, schema)
    assert.deepEqual((await ask('POST', '/v1/schema/list', {})).schemas, [{ collection: 's', schema }])
    const checked = await ask('POST', '/v1/validate', { collection: 's', meta: {} })
    assert.deepEqual([checked.valid, typesOf(checked, 'errors')], [false, { errors: 'list' }])
    await ask('POST', '/v1/schema/delete', { collection: 's' })
    assert.deepEqual((await ask('POST', '/v1/schema/list', {})).schemas, [])
  })

  it('clients: the PHP client sends empty maps as [], escapes slashes and letters, and reads objects', async () => {
    const send = async (path: string, bytes: string): Promise<Body> => {
      const answer = await server.post(path, bytes, { 'Content-Type': 'application/json', Accept: '*/*' })
      assert.equal(answer.status, 200, `${path}: ${answer.text}`)
      return answer.json()
    }
    const id = String.raw`"collection":"php","key":"a\/b","lang":"en_GB"`
    const added = await send('/v1/add', String.raw`{${id},"meta":[],"contentMd":"# Gr\u00fc\u00dfe %%year%%"}`)
    assert.deepEqual([added.id, added.key, added.meta, typeof added.addedAt], ['php|a/b|en_gb', 'a/b', {}, 'number'])
    assert.equal((await send('/v1/get', `{${id},"env":[]}`)).contentMd, '# Grüße %%year%%')
    assert.equal((await send('/v1/get', `{${id},"env":{"year":"2004"}}`)).contentMd, '# Grüße 2004')
    await send('/v1/add', `{${id},"meta":{"category":["blog"]},"contentMd":"x"}`)
    const search = '{"collection":"php","filterMeta":{"category":["blog"]},"sort":"addedAt","asc":true,"limit":100,"offset":0}'
    assert.equal(((await send('/v1/search', search)) as unknown as readonly Body[]).length, 1)
    const missing = await server.post('/v1/get', '{"collection":"php","key":"none","lang":"en_GB","env":[]}')
    assert.deepEqual([missing.status, missing.text], [404, '{"error":"not found"}'])
  })

  it('clients: probes and queries of the integrations are answered', async () => {
    // The GitHub Action probes with a member that this operation does not have.
    assert.deepEqual(await ask('POST', '/v1/search', { collection: '_gh_action_probe', query: '*', limit: 1 }), [])
    // Grafana sends POST for everything, Airbyte adds one document a record.
    assert.equal(typeof (await ask('POST', '/v1/stats', {})).totalDocuments, 'number')
    const facets = await ask<{ facets: Body }>('POST', '/v1/aggregate', { collection: 'blog', facets: [{ field: 'tag' }] })
    assert.deepEqual(typesOf(facets.facets, 'tag'), { tag: 'list' })
    const meta = { id: ['u-1'], active: ['true'] }
    const record = { collection: 'users', key: 'u-1', lang: 'en_US', meta, contentMd: '<!-- emittedAt=1 -->\n```json\n{"id":"u-1"}\n```\n' }
    assert.deepEqual((await ask('POST', '/v1/add', record)).meta, meta)
  })
})

it('clients: the Go client logs in and keeps keys, shows one of them, and a key also as a bearer', async (t) => {
  const server = await startServer({ env: ACCESS_ENV })
  t.after(() => server.stop())
  const admin = new Admin(server)
  await admin.register('reader')
  await admin.grant('reader', 'c', { read: true, write: true })
  const login = (await server.post('/v1/auth/login', { username: 'admin', password: ADMIN_PASSWORD })).json()
  assert.deepEqual(typesOf(login, 'token', 'expiresAt'), { token: 'string', expiresAt: 'number' })
  assert.ok(Number(login.expiresAt) > UNIX_SECONDS_MIN)
  const made = (await admin.do('POST', '/v1/auth/api-key', { description: 'of go' })).json()
  assert.deepEqual(typesOf(made, 'key', 'createdAt', 'expiresAt'), { key: 'string', createdAt: 'number', expiresAt: 'number' })
  const [first] = (await admin.do('GET', '/v1/auth/api-keys')).json<{ keys: readonly Body[] }>().keys
  assert.deepEqual(typesOf(first, 'keyHash', 'createdAt', 'expiresAt'), { keyHash: 'string', createdAt: 'number', expiresAt: 'number' })
  await admin.do('DELETE', `/v1/auth/api-keys/${first?.keyHash as string}`)
  const key = await keyOf(server, 'reader')
  const document = { collection: 'c', key: 'k', lang: 'en', meta: {}, contentMd: 'x' }
  const statusOf = async (headers: Readonly<Record<string, string>>) => (await server.post('/v1/add', document, headers)).status
  assert.equal(await statusOf({ 'X-API-Key': key }), 200)
  assert.equal(await statusOf({ Authorization: `Bearer ${tokenOf('reader')}` }), 200)
  assert.equal(await statusOf({ Authorization: `Bearer ${key}` }), 200, 'as the integrations send it')
  assert.equal(await statusOf({}), 401)
})
