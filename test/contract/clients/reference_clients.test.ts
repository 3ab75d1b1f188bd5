/**
 * What the clients of the reference implementation and their suites presume of a server: a stand-in for the
 * Node client (gRPC), and a short one for the Go client. Clients over HTTP: reference_clients_http.test.ts;
 * Python and PHP themselves: scripts/campaigns/grpc-clients.mjs.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Client, credentials, loadPackageDefinition, type ServiceError, status } from '@grpc/grpc-js'
import { loadSync, type MethodDefinition } from '@grpc/proto-loader'
import { GrpcClient, PROTO } from '../../harness/clients/grpc.js'
import { ACCESS_ENV, Admin, keyOf, tokenOf } from '../../harness/server/access.js'
import { type Server, startServer } from '../../harness/server/server.js'

/** The loader of the Node client. */
const LOADER = { keepCase: true, longs: String, enums: String, defaults: true, oneofs: true } as const
const ID = { collection: 'c', key: 'k', lang: 'en' }

type Service = Readonly<Record<string, MethodDefinition<object, object>>>

describe('clients of the reference', () => {
  let server: Server
  let node: GrpcClient

  before(async () => {
    server = await startServer()
    node = GrpcClient.of(server)
  })
  after(async () => {
    node.close()
    await server.stop()
  })

  it('clients: the service has more than 50 unary RPCs by their names, no stream of requests, and Export as a stream', () => {
    const methods = Object.entries(loadSync(PROTO, LOADER)['mddb.MDDB'] as unknown as Service)
    assert.ok(methods.filter(([, { requestStream, responseStream }]) => !requestStream && !responseStream).length > 50)
    assert.deepEqual(
      methods.filter(([, { requestStream }]) => requestStream),
      [],
    )
    assert.deepEqual(
      methods.filter(([, { responseStream }]) => responseStream).map(([name]) => name),
      ['Export'],
    )
    const loaded = loadPackageDefinition(loadSync(PROTO, LOADER)) as unknown as { mddb: { MDDB: new (...given: unknown[]) => Client } }
    const client = new loaded.mddb.MDDB(server.addressOf('grpc'), credentials.createInsecure()) as unknown as Record<string, unknown>
    for (const name of ['Add', 'Get', 'Search', 'Export', 'FTS', 'VectorSearch']) assert.equal(typeof client[name], 'function', name)
    ;(client as unknown as Client).close()
  })

  it('clients: the Node client adds, gets, searches and counts over plain HTTP/2, with fields in snake case and int64 as text', async () => {
    const added = await node.call('Add', { ...ID, content_md: '# K' })
    assert.equal(added.id, 'c|k|en')
    assert.deepEqual([typeof added.added_at, added.expires_at, added.meta], ['string', '0', {}])
    const [code, details] = await node.refusal('Get', { ...ID, key: 'nothing' })
    assert.equal(code, status.NOT_FOUND)
    assert.match(details, /not found/)
    const found = await node.call<{ total: number; documents: readonly unknown[] }>('Search', { collection: 'c' })
    assert.deepEqual([found.total, found.documents.length], [1, 1])
    assert.equal(typeof (await node.call('Stats', {})).total_documents, 'number')
    const ten = 'x'.repeat(1_900_000)
    const documents = Array.from({ length: 5 }, (_, at) => ({ key: `l${at}`, lang: 'en', content_md: ten }))
    assert.equal((await node.call('AddBatch', { collection: 'long', documents })).added, 5)
  })

  it('clients: the Node client calls every unary RPC by its name: an answer, or a status of the catalogue', async () => {
    const known: readonly number[] = [status.INVALID_ARGUMENT, status.NOT_FOUND, status.UNIMPLEMENTED]
    const request = { ...ID, query: 'k', text: 'k', term: 'k', words: ['w'], labels: ['a', 'b'], schema: '{}', ttl: '100', id: 'none' }
    const methods = Object.entries(loadSync(PROTO, LOADER)['mddb.MDDB'] as unknown as Service)
    for (const [name] of methods.filter(([, { responseStream }]) => !responseStream)) {
      const code = await node.call(name, request, { deadlineMs: 30_000 }).then(
        () => status.OK,
        (error: ServiceError) => error.code,
      )
      assert.ok(code === status.OK || known.includes(code), `${name}: ${code}`)
    }
  })

  it('clients: the Node client has a time limit of its own, which the server obeys, or none', async () => {
    await node.call('Add', { ...ID, content_md: '# K' }, { deadlineMs: 30_000 })
    assert.equal((await node.refusal('Get', ID, { deadlineMs: 0 }))[0], status.DEADLINE_EXCEEDED)
    assert.equal((await node.call('Get', ID)).key, 'k')
  })

  it('clients: the Node client shows its key or its token, and may show both', async (t) => {
    const closed = await startServer({ env: ACCESS_ENV })
    t.after(() => closed.stop())
    const admin = new Admin(closed)
    await admin.register('client')
    await admin.grant('client', 'c', { read: true, write: true })
    const client = GrpcClient.of(closed)
    const [key, token] = [await keyOf(closed, 'client'), `Bearer ${tokenOf('client')}`]
    for (const headers of [{ 'x-api-key': key }, { authorization: token }, { 'x-api-key': key, authorization: token }])
      assert.equal((await client.call('Add', { ...ID, content_md: 'x' }, { headers: headers })).key, 'k')
    await admin.do('PUT', '/v1/auth/users/client', { disabled: true })
    assert.deepEqual(await client.refusal('Get', ID, { headers: { authorization: token } }), [status.UNAUTHENTICATED, 'invalid token'])
    client.close()
  })

  it('clients: the Go client sends null for its maps, and reads bare arrays and numbers', async () => {
    await server.post('/v1/add', { ...ID, meta: null, contentMd: '# K' })
    const got = (await server.post('/v1/get', { ...ID, env: null })).json<{ addedAt: unknown; meta: unknown }>()
    assert.deepEqual([typeof got.addedAt, got.meta], ['number', {}])
    const listed = (
      await server.post('/v1/search', { collection: 'c', filterMeta: null, sort: '', asc: false, limit: 50, offset: 0 })
    ).json<unknown>()
    assert.ok(Array.isArray(listed) && listed.length === 1)
    const found = (await server.post('/v1/fts', { collection: 'c', query: 'k', limit: 50 })).json<{
      results: { matchedTerms: unknown }[]
      total: number
    }>()
    assert.deepEqual([found.total, Array.isArray(found.results[0]?.matchedTerms)], [1, true])
    const exported = await server.post('/v1/export', { collection: 'c', filterMeta: {}, format: 'ndjson' })
    assert.match(exported.text, /"key":"k"/)
    const { backup } = (await server.get('/v1/backup?to=of-a-client')).json<{ backup: string }>()
    assert.match(backup, /of-a-client/)
    assert.deepEqual((await server.post('/v1/truncate', { collection: 'c', keepRevs: 5, dropCache: true })).status, 200)
    const stats = (await server.get('/v1/stats')).json<Record<string, unknown>>()
    for (const name of ['databaseSize', 'totalDocuments', 'totalRevisions', 'totalMetaIndices'])
      assert.equal(typeof stats[name], 'number', name)
    const schemas = (await server.post('/v1/schema/list', {})).json<{ schemas: unknown }>()
    assert.ok(typeof schemas.schemas === 'object')
    const { data } = (await server.post('/graphql', { query: '{ stats { totalDocuments } }', variables: {} })).json<{
      data: { stats: object }
    }>()
    assert.equal(typeof data.stats, 'object')
  })

  it('clients: a backup without a name is called backup-<unix seconds>.db', async () => {
    const { backup } = await node.call<{ backup: string }>('Backup', {})
    assert.match(backup, /backup-\d{10}\.db$/)
  })
})
