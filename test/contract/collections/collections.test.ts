/**
 * Whole collections: deletion, metadata keys, checksum and counts, and their persistence over a restart.
 * service-1, "Document operations" and "Health and statistics".
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, type Fields, MISSING_FIELDS, summary } from '../../harness/clients/documents_client.js'
import { bothChecksums, type Checksums } from '../../harness/store/checksums.js'

const EMPTY = '00000000'

describe('collections', () => {
  let client: DocumentsClient
  before(async () => {
    client = await DocumentsClient.shared()
  })
  after(() => client.stop())

  const fill = async (collection: string, count: number): Promise<void> => {
    const documents = Array.from({ length: count }, (_, number) => ({
      key: `key ${number}`,
      lang: 'en',
      contentMd: `walrus ${number}`,
      meta: { parity: [String(number % 2)] },
    }))
    await client.addBatch(collection, documents)
  }
  const drop = async (collection: string): Promise<unknown> => (await client.post('/v1/delete-collection', { collection })).json()

  describe('"`POST /v1/delete-collection`: Returns the count `{deleted}` or `{status, collection}` (documented both ways)"', () => {
    it('delete-collection: answers both documented shapes with the number of documents', async () => {
      const c = client.collection()
      await fill(c, 300)
      await client.add(c, 'key 1')
      assert.deepEqual(await drop(c), { status: 'deleted', collection: c, deleted: 300, deletedCount: 300 })
    })

    it('delete-collection: after the answer no operation finds anything of the collection, and others stay', async () => {
      const [c, other] = [client.collection(), client.collection()]
      for (const name of [c, other]) await fill(name, 500)
      await drop(c)
      assert.equal(await client.get(c, 'key 0'), undefined)
      assert.deepEqual(await client.search(c), { documents: [], total: 0 })
      assert.deepEqual(await client.search(c, { filterMeta: { parity: ['1'] } }), { documents: [], total: 0 })
      assert.deepEqual([await client.found(c, 'walrus'), await client.metaKeys(c)], [[], {}])
      assert.deepEqual([await client.checksum(c), await client.stats(c)], [EMPTY, undefined])
      assert.equal((await client.search(other)).total, 500)
      assert.equal((await client.found(other, 'walrus')).length, 500)
    })

    it('delete-collection: a collection created again under the name starts fresh, while the old rows are still being removed', async () => {
      const c = client.collection()
      await fill(c, 2000)
      await drop(c)
      const document = await client.add(c, 'key 0', { contentMd: 'penguin' })
      assert.deepEqual(await client.search(c), { documents: [document], total: 1 })
      assert.deepEqual([await client.found(c, 'walrus'), await client.found(c, 'penguin')], [[], ['key 0']])
      assert.equal((await client.revisions(c, 'key 0')).length, 1)
      assert.deepEqual(await client.metaKeys(c), {})
      const { documentCount, revisionCount, metaIndexCount } = (await client.stats(c)) ?? {}
      assert.deepEqual([documentCount, revisionCount, metaIndexCount], [1, 1, 0])
    })

    it('delete-collection: again and again with the same name, old documents with a TTL do no harm to new ones', async () => {
      const c = client.collection()
      for (let round = 0; round < 5; round++) {
        await client.add(c, 'doc', { contentMd: `round ${round}`, ttl: 1 })
        await drop(c)
        await client.add(c, 'doc', { contentMd: `lasting ${round}` })
        assert.equal((await client.get(c, 'doc'))?.contentMd, `lasting ${round}`)
      }
      const other = client.collection()
      await client.add(other, 'expires', { ttl: 2 })
      await client.until(async () => (await client.stats(other))?.documentCount === 0, 'the sweep')
      assert.equal((await client.get(c, 'doc'))?.contentMd, 'lasting 4')
    })

    it('delete-collection: an unknown collection has no documents to delete', async () => {
      assert.deepEqual(await drop('unheard-of'), { status: 'deleted', collection: 'unheard-of', deleted: 0, deletedCount: 0 })
      assert.equal(await client.stats('unheard-of'), undefined)
    })

    it('delete-collection: with concurrent writers the collection contains exactly the later writes', async () => {
      const c = client.collection()
      const writes = Array.from({ length: 60 }, (_, number) => client.add(c, `key ${number}`, { contentMd: 'walrus' }))
      await Promise.all([...writes, drop(c), drop(c)])
      const { documents, total } = await client.search(c, { limit: 100 })
      const keys = documents.map(({ key }) => key).sort()
      assert.equal(total, keys.length)
      assert.deepEqual(await client.found(c, 'walrus'), keys)
      assert.equal((await client.stats(c))?.documentCount ?? 0, keys.length)
      for (const key of keys) assert.notEqual(await client.get(c, key), undefined)
    })
  })

  describe('"`GET /v1/meta-keys?collection=`: `{meta: {key: [values]}}`"', () => {
    it('meta-keys: every key with its distinct values, both sorted, of all documents', async () => {
      const c = client.collection()
      await client.add(c, 'one', { meta: { tags: ['b', 'a'], author: ['Ada'] } })
      await client.add(c, 'two', { meta: { tags: ['c', 'b'], empty: [], Ärger: ['🙂'] } })
      const meta = await client.metaKeys(c)
      assert.deepEqual(meta, { author: ['Ada'], tags: ['a', 'b', 'c'], Ärger: ['🙂'] })
      assert.deepEqual(Object.keys(meta), ['author', 'tags', 'Ärger'])
    })

    it('meta-keys: values that no document has any more are gone after update and delete', async () => {
      const c = client.collection()
      await client.add(c, 'one', { meta: { tags: ['a', 'b'] } })
      await client.add(c, 'two', { meta: { tags: ['b'], status: ['draft'] } })
      await client.update(c, 'one', { meta: { tags: ['c'] } })
      assert.deepEqual(await client.metaKeys(c), { status: ['draft'], tags: ['b', 'c'] })
      await client.delete(c, 'two')
      assert.deepEqual(await client.metaKeys(c), { tags: ['c'] })
    })

    it('meta-keys: names of Object.prototype are ordinary keys', async () => {
      const c = client.collection()
      await client.add(c, 'one', { meta: { constructor: ['a'], toString: ['b'], valueOf: ['c'] } })
      assert.deepEqual(Object.entries(await client.metaKeys(c)), [['constructor', ['a']], ['toString', ['b']], ['valueOf', ['c']]]) // prettier-ignore
    })

    it('meta-keys, checksum: an unknown collection is empty, no collection is 400 missing fields', async () => {
      assert.deepEqual(await client.metaKeys('unheard-of'), {})
      const answer = (await client.server.get('/v1/checksum?collection=unheard-of')).json()
      assert.deepEqual(answer, { collection: 'unheard-of', checksum: EMPTY, checksum64: EMPTY + EMPTY, documentCount: 0 })
      for (const path of ['/v1/meta-keys', '/v1/checksum', '/v1/meta-keys?collection=', '/v1/checksum?other=x']) {
        assert.equal(summary(await client.server.get(path)), MISSING_FIELDS, path)
      }
    })
  })

  describe('"`GET /v1/checksum?collection=`: `{collection, checksum (CRC32 hex), documentCount}`"', () => {
    const documents = Array.from({ length: 90 }, (_, number) => ({
      key: `key ${number}`,
      lang: number % 2 === 0 ? 'en' : 'de',
      contentMd: `content ${number}`,
      meta: { a: [String(number)], b: ['x', 'y'] },
    }))

    it('checksum: eight hexadecimal digits and the number of documents', async () => {
      const c = client.collection()
      await client.addBatch(c, documents)
      const answer = (await client.server.get(`/v1/checksum?collection=${c}`)).json()
      assert.match(String(answer.checksum), /^[0-9a-f]{8}$/)
      assert.match(String(answer.checksum64), /^[0-9a-f]{16}$/)
      assert.deepEqual(answer, { collection: c, checksum: answer.checksum, checksum64: answer.checksum64, documentCount: 90 })
      const [shown, computed] = await bothChecksums(client.server, c)
      assert.deepEqual(shown, computed)
    })

    it('checksum: equal for equal contents, in whatever order and by whatever writes they came', async () => {
      const [c, other] = [client.collection(), client.collection()]
      await client.addBatch(c, documents)
      await client.add(other, 'key 0', { contentMd: 'draft' })
      await client.add(other, 'too much')
      for (const { key, ...fields } of [...documents].reverse()) {
        await client.add(other, key, { ...fields, meta: { b: fields.meta.b, a: fields.meta.a }, ttl: 5000 })
      }
      await client.delete(other, 'too much')
      assert.equal(await client.checksum(other), await client.checksum(c))
    })

    it('checksum: another content, metadata, key or language is another checksum, and the old state has the old one', async () => {
      const c = client.collection()
      await client.addBatch(c, documents)
      const original = await client.checksum(c)
      const seen = new Set([original])
      const changed = async (): Promise<void> => {
        const checksum = await client.checksum(c)
        assert.ok(!seen.has(checksum))
        seen.add(checksum)
      }
      await client.update(c, 'key 0', { contentMd: 'content 0!' })
      await changed()
      await client.update(c, 'key 0', { contentMd: 'content 0', meta: { a: ['0'], b: ['y', 'x'] } })
      await changed()
      await client.update(c, 'key 0', { meta: { a: ['0'], b: ['x', 'y'] } })
      assert.equal(await client.checksum(c), original)
      await client.delete(c, 'key 0')
      await changed()
      await client.add(c, 'key 0', { contentMd: 'content 0', meta: { b: ['x', 'y'], a: ['0'] }, lang: 'fr' })
      await changed()
      await client.post('/v1/delete', { collection: c, key: 'key 0', lang: 'fr' })
      await client.add(c, 'key 0', { contentMd: 'content 0', meta: { b: ['x', 'y'], a: ['0'] } })
      assert.equal(await client.checksum(c), original)
    })
  })

  describe('checksum64', () => {
    /** Both checksums of a new collection with these documents. */
    async function checksumsWith(documents: readonly Fields[]): Promise<readonly [string, string]> {
      const c = client.collection()
      await client.post('/v1/add-batch', { collection: c, keepTimes: true, documents })
      const { checksum, checksum64 } = (await client.server.get(`/v1/checksum?collection=${c}`)).json<Checksums>()
      return [checksum, checksum64]
    }
    const document = (number: number, fields: Fields = {}): Fields => ({
      key: `key ${number}`,
      lang: 'en',
      contentMd: `content ${number}`,
      meta: { number: [String(number)] },
      addedAt: 1_700_000_000 + number,
      updatedAt: 1_700_000_100 + number,
      ...fields,
    })
    const four = [1, 2, 3, 4].map((number) => document(number))

    it('checksum64: what two documents exchange shows in both checksums: contents, metadata, the boundary of two fields', async () => {
      const [one, two] = [document(1), document(2)]
      const seen = new Set<string>()
      const collections = [
        [one, two],
        [
          { ...one, contentMd: two.contentMd },
          { ...two, contentMd: one.contentMd },
        ],
        [
          { ...one, meta: two.meta },
          { ...two, meta: one.meta },
        ],
        [
          { ...one, contentMd: two.contentMd, meta: two.meta },
          { ...two, contentMd: one.contentMd, meta: one.meta },
        ],
        [{ ...one, key: 'key 1e', lang: 'n' }, two],
      ]
      for (const documents of collections) for (const checksum of await checksumsWith(documents)) seen.add(checksum)
      assert.equal(seen.size, 2 * collections.length)
    })

    it('checksum64: four documents of equal content have checksums, and others than two of them, or than four others', async () => {
      const equal = four.map((each) => ({ ...each, contentMd: 'equal', meta: {} }))
      const [all, some, others] = await Promise.all([
        checksumsWith(equal),
        checksumsWith(equal.slice(0, 2)),
        checksumsWith(equal.map((each) => ({ ...each, contentMd: 'others' }))),
      ])
      assert.equal(new Set([EMPTY, EMPTY + EMPTY, ...all, ...some, ...others]).size, 8)
    })

    it('checksum64: covers addedAt, updatedAt and expiresAt, which checksum does not', async () => {
      const [checksum, checksum64] = await checksumsWith(four)
      assert.deepEqual(await checksumsWith([...four].reverse()), [checksum, checksum64], 'the order does not matter')
      const seen = new Set([checksum64])
      const times = [{ addedAt: 1_700_000_000 }, { updatedAt: 1_700_000_300 }, { expiresAt: 4_000_000_000 }, { expiresAt: 4_000_000_001 }]
      for (const changed of times) {
        const found = await checksumsWith([document(1, changed), ...four.slice(1)])
        assert.equal(found[0], checksum)
        seen.add(found[1])
      }
      const exchanged = [document(1, { updatedAt: 1_700_000_102 }), document(2, { updatedAt: 1_700_000_101 })]
      seen.add((await checksumsWith([...exchanged, ...four.slice(2)]))[1])
      assert.equal(seen.size, 6)
    })

    it('checksum64: a new expiry changes it, its removal and the deletion of another document bring it back; stats shows it', async () => {
      const c = client.collection()
      await client.post('/v1/add-batch', { collection: c, keepTimes: true, documents: four })
      const seen: string[] = []
      const see = async (): Promise<void> => {
        const [shown, computed] = await bothChecksums(client.server, c)
        assert.deepEqual(shown, computed)
        assert.equal((await client.stats(c))?.checksum64, shown.checksum64)
        seen.push(shown.checksum64)
      }
      await see()
      await client.post('/v1/set-ttl', { collection: c, key: 'key 1', lang: 'en', ttl: 5000 })
      await see()
      await client.post('/v1/set-ttl', { collection: c, key: 'key 1', lang: 'en', ttl: 0 })
      await client.add(c, 'another')
      await see()
      await client.delete(c, 'another')
      await see()
      assert.equal(new Set(seen).size, 3)
      assert.equal(seen[3], seen[0])
    })

    it('checksum64: an export that is read with keepTimes has it, one without has the checksum alone', async () => {
      const c = client.collection()
      await client.post('/v1/add-batch', { collection: c, keepTimes: true, documents: four })
      const [shown] = await bothChecksums(client.server, c)
      const documents = (await client.server.post('/v1/export', { collection: c, format: 'ndjson' })).text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Fields)
      assert.deepEqual(
        documents.map(({ addedAt }) => addedAt).sort(),
        four.map(({ addedAt }) => addedAt),
      )
      const [copy, retimed] = [client.collection(), client.collection()]
      await client.post('/v1/add-batch', { collection: copy, keepTimes: true, documents })
      await client.post('/v1/add-batch', { collection: retimed, documents })
      assert.deepEqual((await bothChecksums(client.server, copy))[0], shown)
      const [other] = await bothChecksums(client.server, retimed)
      assert.equal(other.checksum, shown.checksum)
      assert.notEqual(other.checksum64, shown.checksum64)
    })

    it('checksum64: a restored revision is covered as a write of its content, in any storage backend', async () => {
      for (const storageBackend of ['boltdb', 'memory']) {
        const c = client.collection()
        await client.post('/v1/collection-config', { collection: c, storageBackend })
        await client.post('/v1/add-batch', { collection: c, keepTimes: true, documents: [document(1, { key: 'doc', contentMd: 'first' })] })
        const first = await client.checksum(c)
        await client.post('/v1/add-batch', {
          collection: c,
          keepTimes: true,
          documents: [document(1, { key: 'doc', contentMd: 'second', updatedAt: 1_700_000_200 })],
        })
        const [revision] = (await client.revisions(c, 'doc')).filter(({ contentMd }) => contentMd === 'first')
        const { timestamp } = revision ?? assert.fail('no revision')
        const restored = await client.post('/v1/revisions/restore', { collection: c, key: 'doc', lang: 'en', timestamp })
        assert.equal(restored.status, 200, restored.text)
        assert.equal(await client.checksum(c), first)
        const [shown, computed] = await bothChecksums(client.server, c)
        assert.deepEqual(shown, computed, storageBackend)
      }
    })
  })

  describe('"`GET /v1/stats`: `collections[]` of `{name, documentCount, revisionCount, metaIndexCount}`, totals"', () => {
    it('stats: counts follow every kind of write exactly', async () => {
      const c = client.collection()
      const counts = async (): Promise<unknown> => {
        const { documentCount, revisionCount, metaIndexCount } = (await client.stats(c)) ?? {}
        return [documentCount, revisionCount, metaIndexCount]
      }
      await client.add(c, 'a', { meta: { t: ['1', '2', '1'], u: [] } })
      assert.deepEqual(await counts(), [1, 1, 2])
      await client.add(c, 'A', { meta: { t: ['1'] } })
      assert.deepEqual(await counts(), [1, 2, 1])
      await client.addBatch(c, [{ key: 'b', lang: 'en', contentMd: '', meta: { t: ['1', '2', '3'] }, saveRevision: false }])
      assert.deepEqual(await counts(), [2, 2, 4])
      await client.update(c, 'b', { meta: {} })
      assert.deepEqual(await counts(), [2, 3, 1])
      await client.setTtl(c, 'b', 600)
      assert.deepEqual(await counts(), [2, 3, 1])
      await client.delete(c, 'a')
      assert.deepEqual(await counts(), [1, 1, 0])
    })

    it('stats: a collection keeps the spelling of its first write', async () => {
      await client.add('Spelled Once', 'a')
      await client.add('SPELLED ONCE', 'b')
      assert.equal((await client.stats('Spelled Once'))?.documentCount, 2)
      assert.equal(await client.stats('SPELLED ONCE'), undefined)
    })
  })
})

describe('after a restart', () => {
  it('restart: documents, revisions, expiries, spellings and counts are as before, searches find and deleted stays deleted', async () => {
    const first = await DocumentsClient.start()
    let second: DocumentsClient | undefined
    try {
      await first.add('kept', 'Spelled', { contentMd: 'first walrus', meta: { a: ['1'] } })
      await first.add('kept', 'SPELLED', { contentMd: 'second walrus', meta: { b: ['2'] }, ttl: 5000 })
      await first.add('kept', 'deleted', { contentMd: 'walrus', meta: { gone: ['1'] } })
      await first.delete('kept', 'deleted')
      await first.add('kept', 'empty')
      await first.add('dropped', 'doc', { contentMd: 'walrus' })
      await first.post('/v1/delete-collection', { collection: 'dropped' })
      const state = async (client: DocumentsClient): Promise<unknown> => ({
        documents: await client.search('kept'),
        filtered: await client.keys('kept', { filterMeta: { b: ['2'] } }),
        found: [await client.found('kept', 'walrus'), await client.found('kept', 'first'), await client.found('dropped', 'walrus')],
        spellings: [await client.get('kept', 'Spelled'), await client.get('kept', 'SPELLED'), await client.get('kept', 'spelled')],
        deleted: [await client.get('kept', 'deleted'), await client.get('dropped', 'doc')],
        revisions: await client.revisions('kept', 'SPELLED'),
        meta: await client.metaKeys('kept'),
        stats: [await client.stats('kept'), await client.stats('dropped')],
      })
      const before = await state(first)
      assert.equal(await first.server.request('GET', '/health').then(({ status }) => status), 200)
      await first.server.kill()
      second = await DocumentsClient.start({ directory: first.server.directory })
      assert.deepEqual(await state(second), before)
      const { addedAt } = (await second.get('kept', 'SPELLED')) ?? {}
      assert.equal((await second.add('kept', 'spelled', { contentMd: 'third' })).addedAt, addedAt)
      assert.equal((await second.revisions('kept', 'Spelled'))[0]?.revision, 3)
    } finally {
      await second?.stop()
      await first.stop()
    }
  })

  it('restart: an orderly stop and start keeps 1 000 documents searchable with the same order and checksum', async () => {
    const first = await DocumentsClient.start()
    let second: DocumentsClient | undefined
    try {
      const documents = Array.from({ length: 1000 }, (_, number) => ({
        key: `k${number}`,
        lang: 'en',
        contentMd: `walrus w${number % 10}`,
      }))
      await first.addBatch('c', documents)
      const state = async (client: DocumentsClient): Promise<unknown> => [
        await client.keys('c', { limit: 1000 }),
        await client.keys('c', { limit: 1000, sort: 'addedAt' }),
        await client.found('c', 'w3'),
        await client.checksum('c'),
      ]
      const before = await state(first)
      first.server.output()
      process.kill(first.server.pid, 'SIGTERM')
      assert.equal(await first.server.ended, 0)
      second = await DocumentsClient.start({ directory: first.server.directory })
      assert.deepEqual(await state(second), before)
    } finally {
      await second?.stop()
      await first.stop()
    }
  })
})
