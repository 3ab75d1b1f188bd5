/**
 * Revisions: every stored state of a document, and its restoration. service-1, "Document operations"; the
 * additional revision number distinguishes revisions of the same second.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { DocumentJson } from '../../harness/clients/documents_client.js'
import { DocumentsClient, MISSING_FIELDS, NOT_FOUND, summary } from '../../harness/clients/documents_client.js'

describe('revisions', () => {
  let client: DocumentsClient
  before(async () => {
    client = await DocumentsClient.shared()
  })
  after(() => client.stop())

  const restore = async (collection: string, key: string, fields: object): Promise<DocumentJson> => {
    const answer = await client.post('/v1/revisions/restore', { collection, key, lang: 'en', ...fields })
    assert.equal(answer.status, 200, answer.text)
    return answer.json<DocumentJson>()
  }

  describe('"`POST /v1/revisions`: Returns `{collection, key, lang, revisions[], total}` with each revision `{timestamp, updatedAt, contentMd, meta}`"', () => {
    it('revisions: every write is listed, newest first, the present state included, with its content and metadata', async () => {
      const c = client.collection()
      const first = await client.add(c, 'doc', { contentMd: 'one', meta: { a: ['1'] } })
      await client.until(async () => Math.floor(Date.now() / 1000) > first.updatedAt, 'the next second')
      const second = await client.update(c, 'doc', { contentMd: 'two' })
      const third = await client.update(c, 'doc', { meta: {} })
      const answer = await client.post('/v1/revisions', { collection: c, key: 'doc', lang: 'en' })
      assert.deepEqual(answer.json(), {
        collection: c,
        key: 'doc',
        lang: 'en',
        revisions: [
          { timestamp: third.updatedAt, updatedAt: third.updatedAt, revision: 3, contentMd: 'two', meta: {} },
          { timestamp: second.updatedAt, updatedAt: second.updatedAt, revision: 2, contentMd: 'two', meta: { a: ['1'] } },
          { timestamp: first.updatedAt, updatedAt: first.updatedAt, revision: 1, contentMd: 'one', meta: { a: ['1'] } },
        ],
        total: 3,
      })
    })

    it('revisions: set-ttl keeps no revision, and a missing document is 404 not found', async () => {
      const c = client.collection()
      await client.add(c, 'doc')
      await client.setTtl(c, 'doc', 600)
      assert.equal((await client.revisions(c, 'doc')).length, 1)
      assert.equal(summary(await client.post('/v1/revisions', { collection: c, key: 'none', lang: 'en' })), NOT_FOUND)
    })

    it('revisions: 300 writes within seconds are 300 revisions with numbers of their own', async () => {
      const c = client.collection()
      for (let round = 0; round < 10; round++) {
        await Promise.all(Array.from({ length: 30 }, (_, number) => client.add(c, 'doc', { contentMd: `${round}-${number}` })))
      }
      const revisions = await client.revisions(c, 'doc')
      assert.deepEqual(
        revisions.map(({ revision }) => revision),
        Array.from({ length: 300 }, (_, index) => 300 - index),
      )
      assert.equal(new Set(revisions.map(({ contentMd }) => contentMd)).size, 300)
      assert.equal((await client.stats(c))?.revisionCount, 300)
    })
  })

  describe('"`POST /v1/revisions/restore`: body `collection`, `key`, `lang`, `timestamp`. Returns the restored Document"', () => {
    it('restore: by timestamp the state of that second comes back as a new revision, the history stays', async () => {
      const c = client.collection()
      const first = await client.add(c, 'doc', { contentMd: 'walrus', meta: { a: ['1'] } })
      await client.until(async () => Math.floor(Date.now() / 1000) > first.updatedAt, 'the next second')
      await client.add(c, 'doc', { contentMd: 'penguin', meta: { b: ['2'] } })
      const restored = await restore(c, 'doc', { timestamp: first.updatedAt })
      assert.deepEqual([restored.contentMd, restored.meta, restored.addedAt], ['walrus', { a: ['1'] }, first.addedAt])
      assert.ok(restored.updatedAt > first.updatedAt)
      assert.deepEqual(await client.get(c, 'doc'), restored)
      assert.deepEqual(
        (await client.revisions(c, 'doc')).map(({ revision, contentMd }) => [revision, contentMd]),
        [
          [3, 'walrus'],
          [2, 'penguin'],
          [1, 'walrus'],
        ],
      )
    })

    it('restore: searches find the restored text and metadata, no longer those before', async () => {
      const c = client.collection()
      await client.add(c, 'doc', { contentMd: 'walrus', meta: { colour: ['red'] } })
      const { updatedAt } = await client.add(c, 'doc', { contentMd: 'penguin', meta: { colour: ['blue'] } })
      await restore(c, 'doc', { timestamp: (await client.revisions(c, 'doc')).at(-1)?.timestamp ?? updatedAt, revision: 1 })
      assert.deepEqual([await client.found(c, 'walrus'), await client.found(c, 'penguin')], [['doc'], []])
      assert.deepEqual(await client.metaKeys(c), { colour: ['red'] })
    })

    it('restore: of several revisions in one second the timestamp alone takes the newest, the number any of them', async () => {
      const c = client.collection()
      // Enough writes that several fall into one second, whenever it begins.
      await Promise.all(Array.from({ length: 20 }, (_, number) => client.add(c, 'doc', { contentMd: `v${number}` })))
      const revisions = await client.revisions(c, 'doc')
      const crowded = revisions.filter(({ timestamp }) => revisions.filter((other) => other.timestamp === timestamp).length > 2)
      assert.ok(crowded.length > 2)
      const { timestamp } = crowded[0] ?? { timestamp: 0 }
      const wanted = crowded.filter((state) => state.timestamp === timestamp).at(-1)
      await client.until(async () => Math.floor(Date.now() / 1000) > (revisions[0]?.timestamp ?? 0), 'the next second')
      assert.equal((await restore(c, 'doc', { timestamp, revision: wanted?.revision })).contentMd, wanted?.contentMd)
      assert.equal((await restore(c, 'doc', { timestamp })).contentMd, crowded[0]?.contentMd)
    })

    it('restore: the expiry of the document stays as it is', async () => {
      const c = client.collection()
      const { updatedAt } = await client.add(c, 'doc', { contentMd: 'one', ttl: 0 })
      const { expiresAt } = await client.update(c, 'doc', { contentMd: 'two', ttl: 5000 })
      const restored = await restore(c, 'doc', { timestamp: updatedAt, revision: 1 })
      assert.deepEqual([restored.contentMd, restored.expiresAt], ['one', expiresAt])
    })

    it('restore: the present state may be restored, too', async () => {
      const c = client.collection()
      const { updatedAt } = await client.add(c, 'doc', { contentMd: 'one' })
      assert.equal((await restore(c, 'doc', { timestamp: updatedAt })).contentMd, 'one')
      assert.equal((await client.revisions(c, 'doc')).length, 2)
    })

    it('restore: a time, a number or a document that is not there is 404 not found and writes nothing', async () => {
      const c = client.collection()
      const { updatedAt } = await client.add(c, 'doc')
      const cases = [
        { timestamp: updatedAt + 1 },
        { timestamp: 0 },
        { timestamp: updatedAt, revision: 2 },
        { timestamp: updatedAt - 1, revision: 1 },
      ]
      for (const fields of cases) {
        const answer = await client.post('/v1/revisions/restore', { collection: c, key: 'doc', lang: 'en', ...fields })
        assert.equal(summary(answer), NOT_FOUND, JSON.stringify(fields))
      }
      const missing = await client.post('/v1/revisions/restore', { collection: c, key: 'none', lang: 'en', timestamp: updatedAt })
      assert.equal(summary(missing), NOT_FOUND)
      assert.equal((await client.revisions(c, 'doc')).length, 1)
    })

    it('restore: many clients that restore and update at once lose no write', async () => {
      const c = client.collection()
      const { updatedAt } = await client.add(c, 'doc', { contentMd: 'original' })
      const updates = Array.from({ length: 20 }, (_, number) => client.update(c, 'doc', { contentMd: `update ${number}` }))
      const restores = Array.from({ length: 20 }, () => restore(c, 'doc', { timestamp: updatedAt, revision: 1 }))
      await Promise.all([...updates, ...restores])
      const contents = (await client.revisions(c, 'doc')).map(({ contentMd }) => contentMd)
      assert.equal(contents.length, 41)
      assert.equal(contents.filter((contentMd) => contentMd === 'original').length, 21)
      assert.equal(new Set(contents).size, 21)
    })
  })

  describe('"`POST /v1/truncate`: body `collection`, `keepRevs` (revisions kept per document; 0 deletes all history), `dropCache`"', () => {
    const written = async (c: string, key: string, count: number): Promise<void> => {
      for (let at = 1; at <= count; at++) await client.add(c, key, { contentMd: `${key} ${at}` })
    }
    const contents = async (c: string, key: string): Promise<unknown> => (await client.revisions(c, key)).map(({ contentMd }) => contentMd)

    it('truncate: of every document the newest keepRevs revisions stay, the present state among them, and the answer counts what went', async () => {
      const c = client.collection()
      await written(c, 'many', 6)
      await written(c, 'few', 2)
      const answer = await client.post('/v1/truncate', { collection: c, keepRevs: 3, dropCache: true })
      assert.deepEqual([answer.status, answer.json()], [200, { status: 'truncated', deleted: 3 }])
      assert.deepEqual(await contents(c, 'many'), ['many 6', 'many 5', 'many 4'])
      assert.deepEqual(await contents(c, 'few'), ['few 2', 'few 1'])
      assert.equal((await client.stats(c))?.revisionCount, 5)
      assert.deepEqual((await client.post('/v1/truncate', { collection: c, keepRevs: 3 })).json(), { status: 'truncated', deleted: 0 })
    })

    it('truncate: keepRevs 0 leaves documents without history, and the next writes begin a new one', async () => {
      const c = client.collection()
      await written(c, 'doc', 3)
      const before = await client.get(c, 'doc')
      assert.deepEqual((await client.post('/v1/truncate', { collection: c, keepRevs: 0 })).json(), { status: 'truncated', deleted: 3 })
      assert.deepEqual(await contents(c, 'doc'), [])
      assert.deepEqual(await client.get(c, 'doc'), before)
      assert.equal((await client.stats(c))?.revisionCount, 0)
      await written(c, 'doc', 2)
      assert.deepEqual(await contents(c, 'doc'), ['doc 2', 'doc 1'])
    })

    it('truncate: 3 000 documents in slices, while others write to them, end with one revision each and exact counts', async () => {
      const c = client.collection()
      const documents = Array.from({ length: 1500 }, (_, number) => ({ key: `k${number}`, lang: 'en', contentMd: `text ${number}` }))
      for (let round = 0; round < 3; round++) await client.post('/v1/add-batch', { collection: c, documents })
      const [answer] = await Promise.all([
        client.post('/v1/truncate', { collection: c, keepRevs: 1 }),
        ...Array.from({ length: 20 }, (_, number) => client.add(c, `k${number * 70}`, { contentMd: 'written meanwhile' })),
      ])
      assert.equal(answer.status, 200)
      const again = (await client.post('/v1/truncate', { collection: c, keepRevs: 1 })).json<{ deleted: number }>()
      assert.equal(answer.json<{ deleted: number }>().deleted + again.deleted, 3020)
      assert.equal((await client.stats(c))?.revisionCount, 1500)
    })

    it('truncate: a collection that is not there has nothing to delete; missing and negative keepRevs are refused', async () => {
      const c = client.collection()
      assert.deepEqual((await client.post('/v1/truncate', { collection: c, keepRevs: 1 })).json(), { status: 'truncated', deleted: 0 })
      assert.equal(summary(await client.post('/v1/truncate', { collection: c })), MISSING_FIELDS)
      assert.equal(summary(await client.post('/v1/truncate', { collection: c, keepRevs: -1 })), '400 {"error":"invalid keepRevs"}')
    })
  })

  describe('"`maxRevisions`: 0 = unlimited; N keeps the newest N revisions per document, trimmed in the write transaction"', () => {
    it('maxRevisions: every write leaves the newest N revisions, however it is made; 0 keeps all', async () => {
      const c = client.collection()
      const limit = (maxRevisions: number): Promise<unknown> =>
        client.server.request('PUT', '/v1/collection-config', { collection: c, maxRevisions })
      const numbers = async (): Promise<unknown> => (await client.revisions(c, 'doc')).map(({ revision }) => revision)
      for (let at = 1; at <= 4; at++) await client.add(c, 'doc', { contentMd: `state ${at}` })
      await limit(2)
      assert.deepEqual(await numbers(), [4, 3, 2, 1])
      await client.add(c, 'doc', { contentMd: 'state 5' })
      assert.deepEqual(await numbers(), [5, 4])
      await client.update(c, 'doc', { meta: { a: ['b'] } })
      assert.deepEqual(await numbers(), [6, 5])
      await client.post('/v1/add-batch', { collection: c, documents: [{ key: 'doc', lang: 'en', contentMd: 'state 7' }] })
      assert.deepEqual(await numbers(), [7, 6])
      const [, older] = await client.revisions(c, 'doc')
      await restore(c, 'doc', { timestamp: older?.timestamp, revision: older?.revision })
      assert.deepEqual(await numbers(), [8, 7])
      assert.equal((await client.get(c, 'doc'))?.contentMd, 'state 5')
      await limit(1)
      await client.add(c, 'doc', { contentMd: 'state 9' })
      assert.deepEqual(await numbers(), [9])
      assert.equal((await client.stats(c))?.revisionCount, 1)
      await limit(0)
      await client.add(c, 'doc', { contentMd: 'state 10' })
      assert.deepEqual(await numbers(), [10, 9])
    })
  })
})
