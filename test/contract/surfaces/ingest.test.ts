/** Ingest over gRPC and GraphQL, whose messages differ from those of HTTP (documents/ingest.test.ts). */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { dataOf } from '../../harness/clients/graphql.js'
import { GrpcClient } from '../../harness/clients/grpc.js'
import { type Server, startServer } from '../../harness/server/server.js'

describe('ingest over other protocols', () => {
  let server: Server
  let client: GrpcClient
  before(async () => {
    server = await startServer()
    client = new GrpcClient(server.addressOf('grpc'))
  })
  after(async () => {
    client.close()
    await server.stop()
  })

  it('graphql: ingestDocuments takes keys from URLs, metadata as a list, and options', async () => {
    const documents = [
      {
        url: 'https://example.com/a.html',
        lang: 'en',
        contentMd: '---\nx: y\n---\na',
        extractFrontmatter: true,
        scraper: 's',
        scrapedAt: 7,
      },
      { key: 'A', lang: 'en', contentMd: 'b', meta: [{ key: 't', values: ['1'] }] },
      { lang: 'en', contentMd: 'no key' },
    ]
    const mutation = `mutation($documents: [IngestDocumentInput!]!) {
      ingestDocuments(collection: "by-graphql", documents: $documents, options: {saveRevision: false, autoConfigureCollection: true}) {
        added updated skipped failed errors collection durationMs keyCollisions warnings } }`
    const { ingestDocuments } = await dataOf<{ ingestDocuments: Record<string, unknown> }>(server, mutation, { documents })
    const { durationMs, ...rest } = ingestDocuments
    assert.equal(typeof durationMs, 'number')
    assert.deepEqual(rest, {
      added: 1,
      updated: 1,
      skipped: 0,
      failed: 1,
      errors: ['documents[2]: missing fields'],
      collection: 'by-graphql',
      keyCollisions: ['"a", "A" (en)'],
      warnings: null,
    })
    const stored = (await server.post('/v1/get', { collection: 'by-graphql', key: 'A', lang: 'en' })).json()
    assert.deepEqual(stored['meta'], { t: ['1'] })
  })

  it('grpc: Ingest takes keys from URLs and options, and keeps a revision only where save_revision asks for one', async () => {
    const documents = [
      { url: 'https://example.com/first.html', lang: 'en', content_md: '', scraper: 's', scraped_at: 7 },
      { key: 'First', lang: 'en', content_md: '---\na: b\n---\nx', extract_frontmatter: true, meta: { m: { values: ['1'] } } },
      { lang: 'en', content_md: 'no key' },
    ]
    const { duration_ms, ...answer } = await client.call('Ingest', { collection: 'ingested', documents })
    assert.ok(Number(duration_ms) >= 0)
    assert.deepEqual(answer, {
      added: 1,
      updated: 1,
      skipped: 0,
      failed: 1,
      errors: ['documents[2]: missing fields'],
      collection: 'ingested',
      key_collisions: ['"first", "First" (en)'],
      warnings: [],
      embedding_dropped: 0,
    })
    const kept = async (): Promise<number> =>
      (await server.post('/v1/revisions', { collection: 'ingested', key: 'First', lang: 'en' })).json<{ total: number }>().total
    assert.equal(await kept(), 0)
    const again = { collection: 'ingested', documents: documents.slice(1, 2), options: { skip_duplicates: true, save_revision: true } }
    assert.equal((await client.call('Ingest', again)).skipped, 1)
    await client.call('Ingest', { ...again, options: { save_revision: true } })
    assert.equal(await kept(), 1)
  })
})
