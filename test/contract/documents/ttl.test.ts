/**
 * Expiry. service-1, "Document expiry": "a document with a TTL is deleted automatically once the TTL elapses;
 * `ttl` of 0 removes the TTL". Readers no longer see it from its second on. The sweep deletes it later, so
 * every test checks from the first moment until the row has left the statistics.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, NOT_FOUND, summary } from '../../harness/clients/documents_client.js'

const TTL_MAX = 100 * 365 * 86_400
const seconds = (): number => Math.floor(Date.now() / 1000)

/** Checks that no operation finds the document `expires`; `stays` exists beside it. */
async function gone(client: DocumentsClient, c: string): Promise<void> {
  const { documents, total } = await client.search(c, { filterMeta: { colour: ['red'] } })
  assert.deepEqual([documents.map(({ key }) => key), total], [['stays'], 1])
  assert.deepEqual(await client.found(c, 'walrus'), ['stays'])
  const counts = (await client.post('/v1/aggregate', { collection: c, facets: [{ field: 'colour' }] })).json()
  assert.deepEqual([counts.totalDocs, counts.facets], [1, { colour: [{ value: 'red', count: 1 }] }])
  const body = { collection: c, key: 'expires', lang: 'en' }
  assert.equal(await client.get(c, 'expires'), undefined)
  for (const path of ['/v1/doc-meta', '/v1/revisions', '/v1/delete']) assert.equal(summary(await client.post(path, body)), NOT_FOUND, path)
  assert.equal(summary(await client.post('/v1/set-ttl', { ...body, ttl: 60 })), NOT_FOUND)
  assert.equal(summary(await client.post('/v1/revisions/restore', { ...body, timestamp: 1 })), NOT_FOUND)
  assert.equal(summary(await client.server.request('PATCH', '/v1/update', { ...body, ttl: 60 })), NOT_FOUND)
}

describe('expiry', () => {
  let client: DocumentsClient
  before(async () => {
    client = await DocumentsClient.start()
  })
  after(() => client.stop())

  const sweptTo = async (collection: string, documents: number): Promise<void> =>
    client.until(async () => (await client.stats(collection))?.documentCount === documents, 'the sweep')

  describe('"`POST /v1/set-ttl`: `ttl` (seconds; 0 removes). Returns the Document with `expiresAt`"', () => {
    it('set-ttl: sets expiresAt to now and ttl, leaves everything else as it is, and shows in every read', async () => {
      const c = client.collection()
      const written = await client.add(c, 'doc', { contentMd: 'walrus', meta: { a: ['1'] } })
      const begin = seconds()
      const answer = await client.setTtl(c, 'doc', 600)
      const end = seconds()
      const { expiresAt, ...rest } = answer
      assert.ok(expiresAt !== undefined && expiresAt >= begin + 600 && expiresAt <= end + 600, String(expiresAt))
      assert.deepEqual(rest, written)
      assert.deepEqual(await client.get(c, 'doc'), answer)
      assert.deepEqual((await client.search(c)).documents, [answer])
      assert.equal((await client.server.get(`/v1/doc-meta?collection=${c}&key=doc`)).json().expiresAt, expiresAt)
      assert.deepEqual(await client.found(c, 'walrus'), ['doc'])
    })

    it('set-ttl: 0 removes the expiry, and succeeds if there is none', async () => {
      const c = client.collection()
      const written = await client.add(c, 'doc', { ttl: 600 })
      assert.equal(written.expiresAt, written.updatedAt + 600)
      for (let times = 0; times < 2; times++) assert.ok(!('expiresAt' in (await client.setTtl(c, 'doc', 0))))
      assert.ok(!('expiresAt' in ((await client.get(c, 'doc')) ?? { expiresAt: 1 })))
    })

    it('set-ttl: 100 years are taken; more, negative and fractional are 400 invalid ttl in every operation that takes one', async () => {
      const c = client.collection()
      await client.add(c, 'doc', { ttl: TTL_MAX })
      assert.ok(((await client.setTtl(c, 'doc', TTL_MAX)).expiresAt ?? 0) >= seconds() + TTL_MAX - 5)
      for (const ttl of [TTL_MAX + 1, 1e15, 1e300, -1, 0.5, -0.5]) {
        const body = { collection: c, key: 'doc', lang: 'en', ttl }
        assert.equal(summary(await client.post('/v1/set-ttl', body)), '400 {"error":"invalid ttl"}', String(ttl))
        assert.equal(summary(await client.post('/v1/add', { ...body, contentMd: '' })), '400 {"error":"invalid ttl"}', String(ttl))
        assert.equal(summary(await client.server.request('PATCH', '/v1/update', body)), '400 {"error":"invalid ttl"}', String(ttl))
      }
      assert.equal((await client.revisions(c, 'doc')).length, 1)
    })

    it('set-ttl: a document that is not there is 404 not found, a request without ttl 400 missing fields', async () => {
      const body = { collection: 'none', key: 'none', lang: 'en' }
      assert.equal(summary(await client.post('/v1/set-ttl', { ...body, ttl: 5 })), NOT_FOUND)
      assert.equal(summary(await client.post('/v1/set-ttl', body)), '400 {"error":"missing fields"}')
    })
  })

  // At once: each waits for its seconds.
  describe('"a document with a TTL is deleted automatically once the TTL elapses"', { concurrency: true }, () => {
    it('expiry: from its second on no operation knows the document, before the sweep and after it', async () => {
      const c = client.collection()
      await client.add(c, 'stays', { contentMd: 'walrus', meta: { colour: ['red'] } })
      const checksum = await client.checksum(c)
      await client.add(c, 'expires', { contentMd: 'walrus', meta: { colour: ['red'] }, ttl: 1 })
      await client.until(async () => (await client.get(c, 'expires')) === undefined, 'the expiry')
      await gone(client, c)
      await sweptTo(c, 1)
      await gone(client, c)
      assert.equal(await client.checksum(c), checksum, 'what is left is what would be without it')
      assert.equal((await client.stats(c))?.revisionCount, 1)
    })

    it('expiry: a document is gone from its second on although nothing sweeps it', async () => {
      const unswept = await DocumentsClient.start({ env: { SVC_LIMIT_SWEEP_DOCUMENTS_MAX: '0' } })
      try {
        const fields = { contentMd: 'walrus', meta: { colour: ['red'] } }
        await unswept.add('c', 'stays', fields)
        const { expiresAt = 0 } = await unswept.add('c', 'expires', { ...fields, ttl: 2 })
        assert.deepEqual(await unswept.keys('c'), ['stays', 'expires'])
        await unswept.until(() => Promise.resolve(seconds() >= expiresAt), 'its second')
        await gone(unswept, 'c')
        assert.equal((await unswept.stats('c'))?.documentCount, 2, 'it exists, and no request sees it')
      } finally {
        await unswept.stop()
      }
    })

    it('expiry: a ttl of add, add-batch, update and set-ttl alike ends the document', async () => {
      const c = client.collection()
      await client.add(c, 'by add', { ttl: 1 })
      await client.addBatch(c, [{ key: 'by batch', lang: 'en', contentMd: '', ttl: 1 }])
      for (const key of ['by update', 'by set-ttl', 'stays']) await client.add(c, key)
      await client.update(c, 'by update', { ttl: 1 })
      await client.setTtl(c, 'by set-ttl', 1)
      await client.until(async () => (await client.search(c)).total === 1, 'the expiries')
      assert.deepEqual(await client.keys(c), ['stays'])
      await sweptTo(c, 1)
      assert.deepEqual(await client.keys(c), ['stays'])
    })

    it('expiry: an expiry that was moved or removed in time does not end the document', async () => {
      const c = client.collection()
      for (const key of ['removed', 'moved', 'cleared', 'expires']) await client.add(c, key, { ttl: key === 'expires' ? 3 : 2 })
      await client.setTtl(c, 'removed', 0)
      await client.setTtl(c, 'moved', 5000)
      await client.update(c, 'cleared', { ttl: 0 })
      await sweptTo(c, 3)
      assert.deepEqual(await client.keys(c), ['removed', 'moved', 'cleared'])
    })

    it('expiry: a document added again without ttl is not deleted by its earlier expiry', async () => {
      const c = client.collection()
      await client.add(c, 'again', { contentMd: 'walrus', ttl: 2 })
      await client.add(c, 'expires', { ttl: 3 })
      const again = await client.add(c, 'again', { contentMd: 'walrus' })
      assert.ok(!('expiresAt' in again))
      await sweptTo(c, 1)
      assert.deepEqual(await client.get(c, 'again'), again)
      assert.deepEqual([await client.found(c, 'walrus'), (await client.search(c)).total], [['again'], 1])
    })

    it('expiry: a document added after it expired is a new one, whether the sweep has come or not', async () => {
      const c = client.collection()
      for (let round = 0; round < 3; round++) {
        const old = await client.add(c, 'doc', { contentMd: `old ${round}`, ttl: 1 })
        await client.until(async () => (await client.get(c, 'doc')) === undefined, 'the expiry')
        const fresh = await client.add(c, 'doc', { contentMd: `new ${round}` })
        assert.ok(fresh.addedAt > old.addedAt)
        assert.deepEqual(
          (await client.revisions(c, 'doc')).map(({ contentMd }) => contentMd),
          [`new ${round}`],
        )
        await client.delete(c, 'doc')
      }
    })

    it('expiry: hundreds that expire in one second leave the total at once and the store soon', async () => {
      const c = client.collection()
      await client.add(c, 'stays')
      const documents = Array.from({ length: 700 }, (_, number) => ({ key: `k${number}`, lang: 'en', contentMd: 'walrus', ttl: 2 }))
      await client.addBatch(c, documents)
      const last = seconds() + 2
      await client.until(async () => seconds() >= last, 'the expiry')
      const { documents: left, total } = await client.search(c)
      assert.deepEqual([left.map(({ key }) => key), total], [['stays'], 1])
      assert.deepEqual(await client.found(c, 'walrus'), [])
      await sweptTo(c, 1)
      assert.deepEqual(await client.metaKeys(c), {})
    })

    it('expiry: a page beyond hundreds of expired documents is as full as it can be', async () => {
      const c = client.collection()
      const documents = Array.from({ length: 300 }, (_, number) => ({
        key: `k${number}`,
        lang: 'en',
        contentMd: '',
        meta: { all: ['1'] },
        ttl: 1,
      }))
      await client.addBatch(c, documents)
      const stay = Array.from({ length: 90 }, (_, number) => `stays ${String(number).padStart(2, '0')}`)
      await client.addBatch(c, stay.map((key) => ({ key, lang: 'en', contentMd: '', meta: { all: ['1'] } }))) // prettier-ignore
      const last = seconds() + 1
      await client.until(async () => seconds() >= last, 'the expiry')
      for (const fields of [{}, { sort: 'key', asc: true }, { filterMeta: { all: ['1'] } }]) {
        const { documents: page, total } = await client.search(c, { limit: 10, offset: 20, ...fields })
        assert.deepEqual([page.map(({ key }) => key), total], [stay.slice(20, 30), 90], JSON.stringify(fields))
      }
    })

    it('expiry: the metadata of expired documents leaves meta-keys with the sweep', async () => {
      const c = client.collection()
      await client.add(c, 'expires', { meta: { colour: ['red'] }, ttl: 1 })
      await client.add(c, 'stays', { meta: { colour: ['blue'] } })
      await sweptTo(c, 1)
      await client.until(async () => JSON.stringify(await client.metaKeys(c)) === '{"colour":["blue"]}', 'the index')
    })
  })

  it('expiry: what expired while the server was down is gone when it is up, and what did not is there', async () => {
    const other = await DocumentsClient.start()
    let restarted: DocumentsClient | undefined
    try {
      await other.add('c', 'expires', { contentMd: 'walrus', ttl: 1 })
      const stays = await other.add('c', 'stays', { contentMd: 'walrus', ttl: 5000 })
      await other.server.kill()
      await client.until(async () => seconds() > stays.updatedAt + 1, 'the expiry')
      restarted = await DocumentsClient.start({ directory: other.server.directory })
      assert.deepEqual([await restarted.found('c', 'walrus'), (await restarted.search('c')).total], [['stays'], 1])
      assert.deepEqual(await restarted.get('c', 'stays'), stays)
      await restarted.until(async () => (await restarted?.stats('c'))?.documentCount === 1, 'the sweep')
    } finally {
      await restarted?.stop()
      await other.stop()
    }
  })
})
