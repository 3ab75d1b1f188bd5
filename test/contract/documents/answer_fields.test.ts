/**
 * Every field of the answers of document operations has the value that follows from the preceding operations.
 * Answers are compared as a whole. service-1 "Document operations", "Health and statistics"; http.md section
 * 1.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, type Fields } from '../../harness/clients/documents_client.js'

const NAME = { key: 'First-Post', lang: 'de_AT' } as const
const META = { colour: ['red', 'blue'], year: ['2024'] } as const
const TEXT = '# Walrus\n\n"quoted" \\ and ü'

describe('fields of answers', () => {
  let client: DocumentsClient
  before(async () => {
    client = await DocumentsClient.start()
  })
  after(() => client.stop())

  const ask = async (method: string, path: string, body?: Fields): Promise<Fields> => {
    const answer = await client.server.request(method, path, body)
    assert.equal(answer.status, 200, answer.text)
    return answer.json()
  }
  const post = (operation: string, body: Fields): Promise<Fields> => ask('POST', `/v1/${operation}`, body)
  const now = (): number => Math.floor(Date.now() / 1000)
  /** Times are within the requests: from `since` until now. */
  const isBetween = (time: unknown, since: number): void => assert.ok((time as number) >= since && (time as number) <= now(), String(time))

  it('answers: a document is shown with id, key, lang, meta, content, both times and its expiry by add, get and set-ttl, without content by doc-meta', async () => {
    const collection = client.collection()
    const since = now()
    const written = await post('add', { collection, ...NAME, meta: META, contentMd: TEXT })
    const { addedAt, updatedAt, ...rest } = written
    assert.deepEqual(rest, { id: `${collection}|first-post|de_at`, ...NAME, meta: META, contentMd: TEXT })
    isBetween(addedAt, since)
    assert.equal(updatedAt, addedAt)
    assert.deepEqual(await post('get', { collection, ...NAME }), written)
    await client.until(() => Promise.resolve(now() > (addedAt as number)), 'a second has passed')
    const changed = await ask('PATCH', '/v1/update', { collection, ...NAME, meta: { colour: ['green'] } })
    assert.deepEqual(changed, { ...written, meta: { colour: ['green'] }, updatedAt: changed.updatedAt })
    isBetween(changed.updatedAt, (addedAt as number) + 1)
    const asked = now()
    const expiring = await post('set-ttl', { collection, ...NAME, ttl: 1000 })
    assert.deepEqual(expiring, { ...changed, expiresAt: expiring.expiresAt })
    isBetween((expiring.expiresAt as number) - 1000, asked)
    const path = `/v1/doc-meta?${new URLSearchParams({ collection, ...NAME }).toString()}`
    const shown = await ask('GET', path)
    assert.deepEqual({ ...shown, contentMd: TEXT }, expiring)
    assert.ok(!('contentMd' in shown))
  })

  it('answers: add-batch counts what was added, updated and refused, and names what was refused', async () => {
    const collection = client.collection()
    await client.add(collection, 'known')
    const item = (key: string): Fields => ({ key, lang: 'en', contentMd: key })
    const answer = await post('add-batch', { collection, documents: [item('known'), item('a'), item('b'), { lang: 'en' }] })
    assert.deepEqual(answer, { added: 2, updated: 1, failed: 1, errors: ['documents[3]: missing fields'] })
  })

  it('answers: delete, delete-batch and delete-collection say what was deleted, and where', async () => {
    const collection = client.collection()
    for (const key of ['a', 'b', 'c', 'd', 'e']) await client.add(collection, key)
    assert.deepEqual(await post('delete', { collection, key: 'a', lang: 'en' }), { status: 'deleted', deleted: true, collection, key: 'a', lang: 'en' }) // prettier-ignore
    const documents = [{ key: 'b', lang: 'en' }, { key: 'none', lang: 'en' }, { key: 'c', lang: 'en' }, { lang: 'en' }] // prettier-ignore
    assert.deepEqual(await post('delete-batch', { collection, documents }), {
      deleted: 2,
      not_found: 1,
      failed: 1,
      errors: ['documents[3]: missing key or lang'],
    })
    assert.deepEqual(await post('delete-collection', { collection }), { status: 'deleted', collection, deleted: 2, deletedCount: 2 })
  })

  it('answers: revisions are listed with their times, contents and metadata, newest first', async () => {
    const collection = client.collection()
    const since = now()
    await client.add(collection, NAME.key, { lang: NAME.lang, meta: META, contentMd: TEXT })
    const { updatedAt } = await client.add(collection, NAME.key, { lang: NAME.lang, contentMd: 'second' })
    const { revisions, ...rest } = await post('revisions', { collection, ...NAME })
    assert.deepEqual(rest, { collection, ...NAME, total: 2 })
    const [second, first] = revisions as readonly [Fields, Fields]
    assert.deepEqual(second, { timestamp: updatedAt, updatedAt, revision: 2, meta: {}, contentMd: 'second' })
    assert.deepEqual({ ...first, timestamp: 0, updatedAt: 0 }, { timestamp: 0, updatedAt: 0, revision: 1, meta: META, contentMd: TEXT })
    isBetween(first.timestamp, since)
    assert.equal(first.updatedAt, first.timestamp)
  })

  it('answers: meta-keys, checksum and fts-reindex tell of the collection that was named', async () => {
    const collection = client.collection()
    await client.add(collection, 'a', { meta: META })
    await client.add(collection, 'b', { meta: { colour: ['green'] } })
    assert.deepEqual(await ask('GET', `/v1/meta-keys?collection=${collection}`), {
      meta: { colour: ['blue', 'green', 'red'], year: ['2024'] },
    })
    const { checksum, checksum64, ...of } = await ask('GET', `/v1/checksum?collection=${collection}`)
    assert.deepEqual(of, { collection, documentCount: 2 })
    assert.match(String(checksum), /^[0-9a-f]{8}$/)
    assert.match(String(checksum64), /^[0-9a-f]{16}$/)
    const shown = await client.stats(collection)
    assert.deepEqual([checksum, checksum64], [shown?.checksum, shown?.checksum64])
    assert.deepEqual(await post('fts-reindex', { collection }), { status: 'ok', reindexed: 2, collection })
  })

  it('answers: stats show mode, what each collection is configured as, and an index that nothing waits for', async () => {
    const collection = client.collection()
    await client.add(collection, 'a')
    const settings = { type: 'website', description: 'All posts', icon: 'book', color: '#00ff00' }
    await ask('PUT', '/v1/collection-config', { collection, ...settings })
    const stats = await ask('GET', '/v1/stats')
    const found = (stats.collections as readonly Fields[]).find(({ name }) => name === collection) ?? {}
    assert.deepEqual([found.type, found.description, found.icon, found.color], Object.values(settings))
    assert.equal(stats.mode, 'wr')
    const { processed, ...queue } = stats.indexQueue as Fields
    assert.deepEqual(queue, { failed: 0, fallbacks: 0, queueLen: 0 })
    assert.ok((processed as number) >= 2)
  })
})
