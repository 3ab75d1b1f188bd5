/**
 * What `POST /v1/ingest` does beside the documents: invalid text, vectors, index, webhooks, access modes. The
 * documents themselves: ingest.test.ts.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { decodeEntry } from '../../../src/store/entries/entry.js'
import { ENTRY_FLAGS } from '../../../src/store/entries/entry_kind.js'
import { openEnvironment } from '../../../src/store/environment.js'
import { currentGeneration } from '../../../src/store/files/layout.js'
import { lsnOfKey } from '../../../src/store/rows/keys.js'
import { DocumentsClient, type Fields, type IngestJson, summary } from '../../harness/clients/documents_client.js'
import { embeddingEnv, vectorStats, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer } from '../../harness/embedding/embedding_server.js'
import { startServer } from '../../harness/server/server.js'

const item = (key: string, contentMd = `content of ${key}`, more: Fields = {}): Fields => ({ key, lang: 'en', contentMd, ...more })

describe('ingest: invalid text', () => {
  let client: DocumentsClient
  before(async () => {
    client = await DocumentsClient.shared()
  })
  after(() => client.stop())

  /** The JSON of a request with raw bytes in place of `@`. */
  const raw = (c: string, contents: readonly string[], bytes: readonly number[]): Buffer => {
    const json = JSON.stringify({ collection: c, documents: contents.map((contentMd, at) => item(`k${at}`, contentMd)) })
    const parts = json.split('@').map((part) => Buffer.from(part))
    return Buffer.concat(parts.flatMap((part, at) => (at === 0 ? [part] : [Buffer.from(bytes), part])))
  }
  const sent = async (body: Buffer): Promise<IngestJson> => {
    const answer = await client.server.request('POST', '/v1/ingest', body, { 'content-type': 'application/json' })
    assert.equal(answer.status, 200, answer.text)
    return answer.json<IngestJson>()
  }

  it('ingest: bytes that are no UTF-8 are dropped, and the documents that had some are counted as sanitized', async () => {
    const sequences = [[0xff], [0xc3], [0xe2, 0x82], [0x80, 0x80], [0xed, 0xa0, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80]]
    for (const bytes of sequences) {
      const c = client.collection()
      const answer = await sent(raw(c, ['a@b@', 'clean \ufffd é', '@'], bytes))
      assert.deepEqual([answer.added, answer.sanitized], [3, 2], bytes.join())
      const stored = await Promise.all([0, 1, 2].map(async (at) => (await client.get(c, `k${at}`))?.contentMd))
      assert.deepEqual(stored, ['ab', 'clean \ufffd é', ''], bytes.join())
    }
    assert.equal((await client.ingest(client.collection(), [item('k', 'clean \ufffd')])).sanitized, undefined)
  })

  it('ingest: a large body that is no UTF-8 is scanned and bounded like any', async () => {
    const c = client.collection()
    const answer = await sent(raw(c, [`${'x'.repeat(200_000)}@`, 'y'], [0xff]))
    assert.deepEqual([answer.added, answer.sanitized], [2, 1])
    const many = (name: string): string => `{"collection":"${name}","documents":[${'[],'.repeat(3_000_000)}[]]}`
    const [valid, invalid] = await Promise.all([
      client.server.request('POST', '/v1/ingest', many(c)),
      client.server.request(
        'POST',
        '/v1/ingest',
        Buffer.concat([Buffer.from(many(c).slice(0, -1)), Buffer.from(',"x":"'), Buffer.from([0xff, 0x22, 0x7d])]),
      ),
    ])
    assert.equal(valid.status, 400)
    assert.doesNotMatch(valid.text, /10000/, 'the bound of values is before that of documents')
    assert.equal(invalid.text, valid.text)
  })

  it('ingest: lone surrogates are dropped in content, keys and metadata', async () => {
    const c = client.collection()
    const answer = await client.ingest(c, [item('k\ud800', 'a\udc00b', { meta: { 'm\ud800': ['v\udfff', 'w'] } })])
    assert.deepEqual([answer.added, answer.sanitized], [1, 1])
    const stored = await client.get(c, 'k')
    assert.deepEqual([stored?.contentMd, stored?.meta], ['ab', { m: ['v', 'w'] }])
  })
})

describe('ingest, with a server of its own', () => {
  it('ingest: skipEmbeddings computes no vectors of the batch, and fast computes them', async (test) => {
    const provider = await EmbeddingServer.start()
    test.after(() => provider.stop())
    const client = await DocumentsClient.start({ env: embeddingEnv(provider) })
    test.after(() => client.stop())
    await client.ingest('skipped', [item('a'), item('b')], { skipEmbeddings: true })
    await client.ingest('fast', [item('a'), item('b')], { profile: 'fast' })
    await whenEmbedded(client.server, { fast: 2 })
    assert.equal((await vectorStats(client.server)).collections.skipped?.embedded_documents ?? 0, 0)
    assert.equal((await client.post('/v1/vector-reindex', { collection: 'skipped' })).status, 200)
    await whenEmbedded(client.server, { skipped: 2 })
  })

  it('ingest: skipFts leaves texts out of full-text search, through a rebuild of the index, until fts-reindex', async (test) => {
    const directory = mkdtempSync(join(tmpdir(), 'mds-ingest-'))
    test.after(() => rmSync(directory, { recursive: true, force: true }))
    const first = await DocumentsClient.start({ directory })
    test.after(() => first.server.kill())
    const documents = [item('a', 'walrus', { meta: { kind: ['x'] } })]
    await first.ingest('c', documents, { skipFts: true })
    await first.ingest('indexed', documents)
    const states = async (client: DocumentsClient): Promise<unknown> => [
      await client.found('c', 'walrus'),
      await client.keys('c', { filterMeta: { kind: ['x'] } }),
      await client.found('indexed', 'walrus'),
    ]
    assert.deepEqual(await states(first), [[], ['a'], ['a']])
    await first.stop()
    rmSync(join(currentGeneration(directory), 'index'), { recursive: true })
    const second = await DocumentsClient.start({ directory })
    try {
      assert.deepEqual(await states(second), [[], ['a'], ['a']])
      assert.equal((await second.post('/v1/fts-reindex', { collection: 'c' })).status, 200)
      assert.deepEqual(await second.found('c', 'walrus'), ['a'])
    } finally {
      await second.stop()
    }
  })

  it('ingest: skipWebhooks and the profile fast mark their writes, so that no webhook is notified', async (test) => {
    const directory = mkdtempSync(join(tmpdir(), 'mds-ingest-'))
    test.after(() => rmSync(directory, { recursive: true, force: true }))
    const client = await DocumentsClient.start({ directory })
    test.after(() => client.server.kill())
    await client.ingest('c', [item('default')])
    await client.ingest('c', [item('skipped')], { skipWebhooks: true })
    await client.ingest('c', [item('fast')], { profile: 'fast' })
    await client.ingest('c', [item('overridden')], { profile: 'fast', skipWebhooks: false })
    await client.stop()
    const environment = openEnvironment(currentGeneration(directory))
    const marked = [...environment.binlog.getRange()].flatMap(({ key, value }) => {
      const entry = decodeEntry(lsnOfKey(key), Buffer.from(value))
      return entry.kind === 'put' ? [[entry.key, ((entry.flags ?? 0) & ENTRY_FLAGS.skipsWebhooks) !== 0]] : []
    })
    await environment.root.close()
    assert.deepEqual(Object.fromEntries(marked), { default: false, skipped: true, fast: true, overridden: false })
  })

  it('ingest: is refused in read mode', async () => {
    const server = await startServer({ env: { SVC_MODE: 'read' } })
    try {
      const answer = await server.post('/v1/ingest', { collection: 'c', documents: [item('a')] })
      assert.equal(summary(answer), '403 {"error":"read-only mode"}')
    } finally {
      await server.stop()
    }
  })
})
