/**
 * Access modes over stored data. service-1, "Access modes": "`read`: read-only; every write operation answers
 * 403 with `read-only mode`"; "`write`: write-only"; "`wr`: read and write (default)". One directory is
 * opened in all modes in turn.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, summary } from '../../harness/clients/documents_client.js'

const ID = { collection: 'c', key: 'doc', lang: 'en' }

const WRITES: readonly (readonly [method: string, path: string, body: object])[] = [
  ['POST', '/v1/add', { ...ID, contentMd: 'changed' }],
  ['POST', '/v1/add-batch', { collection: 'c', documents: [{ key: 'doc', lang: 'en', contentMd: 'changed' }] }],
  ['POST', '/v1/bulk-ingest-job', { collection: 'c', documents: [{ key: 'doc', lang: 'en', contentMd: 'changed' }] }],
  ['DELETE', '/v1/bulk-ingest-job/bulk_0', {}],
  ['PATCH', '/v1/update', { ...ID, contentMd: 'changed' }],
  ['POST', '/v1/delete', ID],
  ['POST', '/v1/delete-batch', { collection: 'c', documents: [{ key: 'doc', lang: 'en' }] }],
  ['POST', '/v1/delete-collection', { collection: 'c' }],
  ['POST', '/v1/set-ttl', { ...ID, ttl: 1 }],
  ['POST', '/v1/revisions/restore', { ...ID, timestamp: 1, revision: 1 }],
  ['POST', '/v1/restore', { from: 'none.db' }],
  ['DELETE', '/v1/backups/none.db', {}],
  ['POST', '/v1/truncate', { collection: 'c', keepRevs: 0 }],
  ['POST', '/v1/fts-reindex', { collection: 'c' }],
  ['PUT', '/v1/collection-config', { collection: 'c', description: 'changed' }],
  ['DELETE', '/v1/collection-config', { collection: 'c' }],
  ['POST', '/v1/synonyms', { collection: 'c', term: 'walrus', synonyms: ['seal'] }],
  ['DELETE', '/v1/synonyms', { collection: 'c', term: 'walrus' }],
  ['POST', '/v1/stopwords', { collection: 'c', words: ['walrus'] }],
  ['DELETE', '/v1/stopwords', { collection: 'c', words: ['walrus'] }],
  ['POST', '/v1/curation', { collection: 'c', query: 'walrus' }],
  ['PUT', '/v1/curation', { id: 'cur_0', query: 'walrus' }],
  ['DELETE', '/v1/curation?id=cur_0', {}],
  ['POST', '/v1/schema/set', { collection: 'c', schema: {} }],
  ['POST', '/v1/schema/delete', { collection: 'c' }],
  ['POST', '/v1/embedding-configs', {}],
  ['PUT', '/v1/embedding-configs/one', {}],
  ['DELETE', '/v1/embedding-configs/one', {}],
  ['POST', '/v1/embedding-configs/set-default', { id: 'one' }],
]

const READS: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['POST', '/v1/get', ID],
  ['GET', '/v1/doc-meta?collection=c&key=doc'],
  ['POST', '/v1/doc-meta', ID],
  ['GET', '/v1/bulk-ingest-jobs'],
  ['POST', '/v1/search', { collection: 'c' }],
  ['POST', '/v1/revisions', ID],
  ['POST', '/v1/revisions/diff', { ...ID, from: 1, to: 1 }],
  ['POST', '/v1/fts', { collection: 'c', query: 'walrus' }],
  ['GET', '/v1/fts?collection=c&q=walrus'],
  ['GET', '/v1/backup'],
  ['GET', '/v1/backups'],
  ['POST', '/v1/export', { collection: 'c', format: 'ndjson' }],
  ['GET', '/v1/meta-keys?collection=c'],
  ['GET', '/v1/checksum?collection=c'],
  ['POST', '/v1/aggregate', { collection: 'c' }],
  ['GET', '/v1/collection-config?collection=c'],
  ['GET', '/v1/collection-configs'],
  ['GET', '/v1/synonyms?collection=c'],
  ['GET', '/v1/stopwords?collection=c'],
  ['GET', '/v1/curation?collection=c'],
  ['POST', '/v1/schema/get', { collection: 'c' }],
  ['POST', '/v1/schema/list', {}],
  ['POST', '/v1/validate', { collection: 'c' }],
]

const ALWAYS = [
  '/health',
  '/v1/health',
  '/metrics',
  '/v1/config',
  '/v1/stats',
  '/v1/system/info',
  '/v1/endpoints',
  '/openapi.json',
  '/docs',
]

describe('access modes over one directory', () => {
  let directory: string
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'mds-modes-'))
  })
  after(() => rm(directory, { recursive: true, force: true }))

  const inMode = async (mode: string | undefined, run: (client: DocumentsClient) => Promise<void>): Promise<void> => {
    const client = await DocumentsClient.start({ directory, env: { SVC_MODE: mode } })
    try {
      for (const path of ALWAYS) assert.equal((await client.server.get(path)).status, 200, path)
      assert.equal((await client.server.get('/health')).json().mode, mode ?? 'wr')
      await run(client)
    } finally {
      await client.stop()
    }
  }

  it('modes: wr, the default, writes and reads', async () => {
    await inMode(undefined, async (client) => {
      await client.add('c', 'doc', { contentMd: 'first walrus' })
      await client.add('c', 'doc', { contentMd: 'walrus', meta: { a: ['1'] } })
      for (const [method, path, body] of READS) assert.equal((await client.server.request(method, path, body)).status, 200, path)
    })
  })

  it('modes: read serves the existing data, refuses every write with 403 read-only mode, and leaves the data unchanged', async () => {
    await inMode('read', async (client) => {
      const before = [await client.get('c', 'doc'), await client.revisions('c', 'doc'), await client.stats('c')]
      for (const [method, path, body] of WRITES) {
        assert.equal(summary(await client.server.request(method, path, body)), '403 {"error":"read-only mode"}', path)
        assert.equal(summary(await client.server.request(method, path, {})), '403 {"error":"read-only mode"}', `${path} without fields`)
      }
      for (const [method, path, body] of READS) assert.equal((await client.server.request(method, path, body)).status, 200, path)
      assert.deepEqual([await client.get('c', 'doc'), await client.revisions('c', 'doc'), await client.stats('c')], before)
      assert.deepEqual(await client.found('c', 'walrus'), ['doc'])
    })
  })

  it('modes: write refuses every read and search with 403 write-only mode and stores what is written', async () => {
    await inMode('write', async (client) => {
      for (const [method, path, body] of READS) {
        assert.equal(summary(await client.server.request(method, path, body)), '403 {"error":"write-only mode"}', path)
      }
      await client.add('c', 'written blind', { contentMd: 'penguin' })
      await client.update('c', 'doc', { meta: { a: ['2'] } })
      assert.equal((await client.stats('c'))?.documentCount, 2)
    })
    await inMode('wr', async (client) => {
      assert.deepEqual([await client.found('c', 'penguin'), (await client.get('c', 'doc'))?.meta], [['written blind'], { a: ['2'] }])
    })
  })
})
