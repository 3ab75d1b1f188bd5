/** `updateBatch`, which only gRPC offers: documents that exist are updated, each independently of others. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, type Fields } from '../../harness/clients/documents_client.js'
import { GrpcCaller } from '../../harness/protocols/grpc_caller.js'
import type { Outcome } from '../../harness/protocols/outcome.js'
import { ACCESS_ENV, Admin, asUser } from '../../harness/server/access.js'
import { auditOf } from '../../harness/server/audit_log.js'
import { startServer } from '../../harness/server/server.js'

interface Outcomes {
  readonly updated: number
  readonly notFound: number
  readonly failed: number
  readonly errors: readonly string[]
}

describe('updates in a batch', () => {
  let client: DocumentsClient
  let grpc: GrpcCaller

  before(async () => {
    client = await DocumentsClient.start()
    grpc = new GrpcCaller(client.server)
  })
  after(async () => {
    grpc.close()
    await client.stop()
  })

  async function ask(collection: string, documents: readonly Fields[]): Promise<Outcome> {
    return await grpc.call('updateBatch', { collection, documents: documents.map((document) => ({ lang: 'en', ...document })) }, {})
  }

  async function updateBatch(collection: string, documents: readonly Fields[]): Promise<Outcomes> {
    const { refusal, text, value } = await ask(collection, documents)
    assert.equal(refusal, null, text)
    return value as Outcomes
  }

  it('update-batch: documents that exist are updated, others are counted, and an invalid one fails alone', async () => {
    const c = client.collection()
    await client.add(c, 'one', { contentMd: 'first kingfisher' })
    await client.add(c, 'two', { contentMd: 'second kingfisher' })
    const outcomes = await updateBatch(c, [
      { key: 'one', contentMd: 'first heron' },
      { key: 'missing', contentMd: 'heron' },
      { key: 'one', lang: 'de', contentMd: 'heron' },
      { key: '', contentMd: 'heron' },
      { key: 'two' },
      { key: 'two', contentMd: 'second heron' },
    ])
    assert.deepEqual(outcomes, {
      updated: 2,
      notFound: 2,
      failed: 2,
      errors: ['documents[3]: missing key or lang', 'documents[4]: no fields to update'],
    })
    assert.deepEqual(await client.found(c, 'heron'), ['one', 'two'])
    assert.deepEqual(await client.found(c, 'kingfisher'), [])
    assert.equal(await client.get(c, 'missing'), undefined)
  })

  it('update-batch: absent content and absent metadata are kept, with the time of the first write and the expiry', async () => {
    const c = client.collection()
    const before = await client.add(c, 'one', { contentMd: 'content', meta: { a: ['1'] }, ttl: 1000 })
    assert.equal((await updateBatch(c, [{ key: 'one', meta: { b: ['2'] } }])).updated, 1)
    const described = await client.get(c, 'one')
    assert.deepEqual([described?.contentMd, described?.meta], ['content', { b: ['2'] }])
    assert.equal((await updateBatch(c, [{ key: 'one', contentMd: 'changed' }])).updated, 1)
    const changed = await client.get(c, 'one')
    assert.deepEqual([changed?.contentMd, changed?.meta], ['changed', { b: ['2'] }])
    assert.deepEqual([changed?.addedAt, changed?.expiresAt], [before.addedAt, before.expiresAt])
  })

  it('update-batch: a document that is named twice has both changes, in their order', async () => {
    const c = client.collection()
    await client.add(c, 'one', { contentMd: 'first' })
    const changes = [
      { key: 'one', meta: { a: ['1'] } },
      { key: 'one', contentMd: 'second' },
      { key: 'one', contentMd: 'third' },
    ]
    assert.equal((await updateBatch(c, changes)).updated, 3)
    const found = await client.get(c, 'one')
    assert.deepEqual([found?.contentMd, found?.meta], ['third', { a: ['1'] }])
  })

  it('update-batch: a revision is kept where save_revision asks for it', async () => {
    const c = client.collection()
    await client.add(c, 'one', { contentMd: 'added' })
    await updateBatch(c, [{ key: 'one', contentMd: 'passing' }])
    await updateBatch(c, [{ key: 'one', meta: { a: ['1'] } }])
    await updateBatch(c, [{ key: 'one', meta: { a: ['2'] }, saveRevision: true }])
    await updateBatch(c, [{ key: 'one', meta: { a: ['3'] } }])
    await updateBatch(c, [{ key: 'one', contentMd: 'present' }])
    const contents = (await client.revisions(c, 'one')).map(({ contentMd, meta }) => [contentMd, meta])
    assert.deepEqual(contents, [['passing', { a: ['2'] }], ['added', {}]]) // prettier-ignore
    assert.equal((await client.get(c, 'one'))?.contentMd, 'present')
  })

  it('update-batch: kept content stays readable where the bodies of a collection move to memory, also that of its revisions', async () => {
    const c = client.collection()
    await client.add(c, 'one', { contentMd: 'a heron' })
    await updateBatch(c, [{ key: 'one', meta: { at: ['1'] } }])
    const configured = await client.server.request('PUT', '/v1/collection-config', { collection: c, storageBackend: 'memory' })
    assert.equal(configured.status, 200, configured.text)
    await client.until(async () => /^mddb_bodies_moved_total 1$/m.test((await client.server.get('/metrics')).text), 'the move')
    for (const [at, saveRevision] of [false, true, false, false, true].entries())
      assert.equal((await updateBatch(c, [{ key: 'one', meta: { at: [`later ${at}`] }, saveRevision }])).updated, 1)
    assert.equal((await client.get(c, 'one'))?.contentMd, 'a heron')
    assert.deepEqual(
      (await client.revisions(c, 'one')).map(({ contentMd, meta }) => [contentMd, meta['at']]),
      [['a heron', ['later 4']], ['a heron', ['later 1']], ['a heron', undefined]],
    ) // prettier-ignore
  })

  it('update-batch: metadata is checked by the schema of the collection, document by document', async () => {
    const c = client.collection()
    await client.add(c, 'one')
    await client.add(c, 'two')
    const schema = { type: 'object', properties: { a: { type: 'string', enum: ['x'] } } }
    assert.equal((await client.server.post('/v1/schema/set', { collection: c, schema: JSON.stringify(schema) })).status, 200)
    const outcomes = await updateBatch(c, [
      { key: 'one', meta: { a: ['y'] } },
      { key: 'two', meta: { a: ['x'] } },
    ])
    assert.deepEqual([outcomes.updated, outcomes.failed], [1, 1])
    assert.match(outcomes.errors[0] ?? '', /^documents\[0\]: /)
    assert.deepEqual((await client.get(c, 'two'))?.meta, { a: ['x'] })
  })

  it('update-batch: at most 10 000 documents, and 50 errors', async () => {
    const c = client.collection()
    const most = Array.from({ length: 10_000 }, () => ({ key: 'k' }))
    const { failed, errors } = await updateBatch(c, most)
    assert.deepEqual([failed, errors.length], [10_000, 50])
    const refused = await ask(c, [...most, { key: 'k' }])
    assert.deepEqual([refused.refusal, refused.text], ['invalid', 'invalid documents: 10001, at most 10000 are allowed'])
  })
})

it('update-batch: it needs the right to write, and is an event of the audit log', async () => {
  const server = await startServer({ env: { ...ACCESS_ENV, SVC_AUDIT_ENABLED: 'true' } })
  const grpc = new GrpcCaller(server)
  try {
    const admin = new Admin(server)
    await server.request('POST', '/v1/add', { collection: 'c', key: 'one', lang: 'en', contentMd: 'x' }, admin.headers)
    await admin.register('reader')
    await admin.grant('reader', 'c', { read: true })
    const input = { collection: 'c', documents: [{ key: 'one', lang: 'en', contentMd: 'y' }] }
    assert.equal((await grpc.call('updateBatch', input, asUser('reader'))).refusal, 'forbidden')
    assert.equal((await grpc.call('updateBatch', input, admin.headers)).refusal, null)
    const { events } = await auditOf(server, 'action=write.UpdateBatch', admin.headers)
    assert.deepEqual(events.map(({ actor, result }) => [actor, result]), [['admin', 'ok'], ['reader', 'fail']]) // prettier-ignore
  } finally {
    grpc.close()
    await server.stop()
  }
})
