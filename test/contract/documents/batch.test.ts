/**
 * Many documents in one request: add-batch and delete-batch, in which each document succeeds or fails
 * separately. service-1, "Document operations"; http.md, section 1.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { BatchJson } from '../../harness/clients/documents_client.js'
import { DocumentsClient, summary } from '../../harness/clients/documents_client.js'

interface Item {
  readonly key: string
  readonly lang: string
  readonly contentMd: string
}

const item = (key: string, contentMd = `content of ${key}`): Item => ({ key, lang: 'en', contentMd })
const items = (count: number): Item[] => Array.from({ length: count }, (_, number) => item(`key ${number}`))

describe('batches', () => {
  let client: DocumentsClient
  before(async () => {
    client = await DocumentsClient.shared()
  })
  after(() => client.stop())

  describe('"`POST /v1/add-batch`: Returns `{added, updated, failed, errors[]}`"', () => {
    it('add-batch: new documents are added, known ones updated, and all their fields are stored', async () => {
      const c = client.collection()
      await client.add(c, 'known', { contentMd: 'old', meta: { a: ['1'] } })
      const documents = [{ ...item('new', 'walrus'), meta: { b: ['2', '3'] }, ttl: 600 }, item('known', 'penguin')]
      assert.deepEqual(await client.addBatch(c, documents), { added: 1, updated: 1, failed: 0, errors: [] })
      const added = await client.get(c, 'new')
      assert.deepEqual([added?.contentMd, added?.meta, added?.expiresAt], ['walrus', { b: ['2', '3'] }, (added?.updatedAt ?? 0) + 600])
      const updated = await client.get(c, 'known')
      assert.deepEqual([updated?.contentMd, updated?.meta], ['penguin', {}])
      assert.deepEqual([await client.found(c, 'walrus'), await client.keys(c, { filterMeta: { b: ['3'] } })], [['new'], ['new']])
    })

    it('add-batch: an empty list gives zeros', async () => {
      assert.deepEqual(await client.addBatch(client.collection(), []), { added: 0, updated: 0, failed: 0, errors: [] })
    })

    it('add-batch: of one document several times in a batch the last one stays, the others are revisions', async () => {
      const c = client.collection()
      const answer = await client.addBatch(c, [item('one', 'first'), item('two'), item('one', 'second'), item('one', 'third')])
      assert.deepEqual([answer.added, answer.updated], [2, 2])
      assert.deepEqual(
        (await client.revisions(c, 'one')).map(({ contentMd }) => contentMd),
        ['third', 'second', 'first'],
      )
    })

    it('add-batch: saveRevision false keeps no revision of that document, absent and true do', async () => {
      const c = client.collection()
      const contents = async (key: string): Promise<string[]> => (await client.revisions(c, key)).map(({ contentMd }) => contentMd)
      await client.addBatch(c, [{ ...item('a', 'a1'), saveRevision: false }, { ...item('b', 'b1'), saveRevision: true }, item('c', 'c1')])
      assert.deepEqual([await contents('a'), await contents('b'), await contents('c')], [[], ['b1'], ['c1']])
      await client.addBatch(c, [item('a', 'a2'), { ...item('b', 'b2'), saveRevision: false }, { ...item('c', 'c2'), saveRevision: null }])
      assert.deepEqual([await contents('a'), await contents('b'), await contents('c')], [['a2'], ['b1'], ['c2', 'c1']])
      assert.equal((await client.get(c, 'b'))?.contentMd, 'b2')
      assert.equal((await client.stats(c))?.revisionCount, 4)
    })

    it('add-batch: a document without key, lang or contentMd fails alone, is named, and the others are written', async () => {
      const c = client.collection()
      const bad = [
        {},
        { ...item('x'), key: '' },
        { ...item('x'), lang: undefined },
        { ...item('x'), contentMd: null },
        { ...item('x'), key: null },
      ]
      const answer = await client.addBatch(c, [item('first'), ...bad, item('last')])
      assert.deepEqual(answer, {
        added: 2,
        updated: 0,
        failed: 5,
        errors: [1, 2, 3, 4, 5].map((index) => `documents[${index}]: missing fields`),
      })
      assert.deepEqual(await client.keys(c), ['first', 'last'])
    })

    it('add-batch: a document with a field of the wrong type fails alone, and its error names the field', async () => {
      const c = client.collection()
      const cases: readonly (readonly [field: string, values: readonly unknown[]])[] = [
        ['key', [1, true, ['k'], { k: 1 }]],
        ['lang', [1, false, ['en'], {}]],
        ['contentMd', [0, true, ['x'], { text: 'x' }]],
        ['meta', ['text', 1, true, ['a'], { a: 'b' }, { a: [1] }, { a: [null] }, { a: { b: ['c'] } }]],
        ['ttl', ['60', true, -1, 1.5, 1e300, [1], {}]],
        ['saveRevision', ['yes', 0, [], {}]],
      ]
      const bad = cases.flatMap(([field, values]) => values.map((value) => ({ ...item('bad'), [field]: value })))
      const fields = cases.flatMap(([field, values]) => values.map(() => field))
      const answer = await client.addBatch(c, [item('first'), ...bad, item('last')])
      assert.deepEqual([answer.added, answer.failed, answer.errors.length], [2, bad.length, bad.length])
      fields.forEach((field, index) =>
        assert.match(answer.errors[index] ?? '', new RegExp(`^documents\\[${index + 1}\\]: invalid ${field}`)),
      )
      assert.deepEqual(await client.keys(c), ['first', 'last'])
    })

    it('add-batch: an item that is not an object fails alone', async () => {
      const c = client.collection()
      const answer = await client.addBatch(c, [null, item('good'), 'text', 1, true, [item('listed')]])
      assert.deepEqual([answer.added, answer.failed], [1, 5])
      assert.match(answer.errors[0] ?? '', /^documents\[0\]: an object is expected$/)
    })

    it('add-batch: a document out of bounds fails alone and its error says by how much', async () => {
      const c = client.collection()
      const documents = [item('k'.repeat(1025)), item('good'), { ...item('long lang'), lang: 'l'.repeat(36) }, item('nul\0')]
      const answer = await client.addBatch(c, documents)
      assert.deepEqual(answer, {
        added: 1,
        updated: 0,
        failed: 3,
        errors: [
          'documents[0]: invalid key: 1025 bytes, at most 1024 are allowed',
          'documents[2]: invalid lang: 36 bytes, at most 35 are allowed',
          'documents[3]: invalid key: NUL is not allowed',
        ],
      })
    })

    it('add-batch: when every one fails, 400 all documents failed with the reasons, and no collection comes into being', async () => {
      const c = client.collection()
      const answer = await client.post('/v1/add-batch', { collection: c, documents: [{}, { ...item('x'), key: 7 }] })
      const reasons = 'documents[0]: missing fields; documents[1]: invalid key'
      assert.equal(summary(answer), `400 {"error":"all documents failed: ${reasons}"}`)
      assert.equal(await client.stats(c), undefined)
    })

    it('add-batch: 50 errors are named at most, the counters stay exact', async () => {
      const c = client.collection()
      const answer = await client.addBatch(c, [item('good'), ...Array.from({ length: 120 }, () => ({}))])
      assert.deepEqual([answer.added, answer.failed, answer.errors.length], [1, 120, 50])
    })

    it('add-batch: more documents than one commit slice, in any order of new, known and bad, are all accounted for', async () => {
      const c = client.collection()
      await client.addBatch(c, items(100))
      const good = Array.from({ length: 400 }, (_, number) => item(`key ${(number * 37) % 250}`, `v${number}`))
      const documents = good.flatMap((document, number) => (number % 4 === 3 ? [document, {}] : [document]))
      const expected = new Map(good.map(({ key, contentMd }) => [key, contentMd]))
      const known = new Set(items(100).map(({ key }) => key))
      const added = [...expected.keys()].filter((key) => !known.has(key)).length
      const answer = await client.addBatch(c, documents)
      assert.deepEqual([answer.added, answer.updated, answer.failed], [added, 400 - added, 100])
      const { documents: stored, total } = await client.search(c, { limit: 1000 })
      assert.equal(total, 100 + added)
      for (const { key, contentMd } of stored) assert.equal(contentMd, expected.get(key) ?? `content of ${key}`)
    })

    it('add-batch: 10 000 documents are accepted, 10 001 are 400 with the bound, and none of them is written', async () => {
      const c = client.collection()
      const small = Array.from({ length: 10_001 }, (_, number) => ({ key: String(number), lang: 'en', contentMd: '' }))
      const refused = await client.post('/v1/add-batch', { collection: c, documents: small })
      assert.equal(summary(refused), '400 {"error":"invalid documents: 10001, at most 10000 are allowed"}')
      assert.equal(await client.stats(c), undefined)
      assert.deepEqual(await client.addBatch(c, small.slice(1)), { added: 10_000, updated: 0, failed: 0, errors: [] } satisfies BatchJson)
      assert.equal((await client.stats(c))?.documentCount, 10_000)
    })

    it('add-batch: batches and single writes at the same time are all there afterwards', async () => {
      const c = client.collection()
      const batches = Array.from({ length: 6 }, (_, batch) => items(150).map(({ key }) => item(`${batch} ${key}`)))
      const singles = Array.from({ length: 60 }, (_, number) => `single ${number}`)
      await Promise.all([...batches.map((documents) => client.addBatch(c, documents)), ...singles.map((key) => client.add(c, key))])
      const expected = [...batches.flat().map(({ key }) => key), ...singles].sort()
      assert.deepEqual((await client.keys(c, { limit: 10_000 })).sort(), expected)
    })
  })

  describe('"`POST /v1/delete-batch`: Returns `{deleted, not_found, failed, errors}` (integers; errors array or null)"', () => {
    it('delete-batch: counts what was deleted and what was not there, errors is null when none failed', async () => {
      const c = client.collection()
      await client.addBatch(c, items(4))
      const documents = [item('key 0'), item('key 2'), item('none'), { key: 'key 1', lang: 'de' }]
      const answer = (await client.post('/v1/delete-batch', { collection: c, documents })).json()
      assert.deepEqual(answer, { deleted: 2, not_found: 2, failed: 0, errors: null })
      assert.deepEqual(await client.keys(c), ['key 1', 'key 3'])
      assert.deepEqual((await client.found(c, 'content')).sort(), ['key 1', 'key 3'])
    })

    it('delete-batch: an item without key or lang, or of another type, fails alone with missing key or lang', async () => {
      const c = client.collection()
      await client.addBatch(c, items(2))
      const documents = [{ key: 'key 0' }, { lang: 'en' }, { key: 1, lang: 'en' }, { key: '', lang: 'en' }, item('key 1')]
      const answer = (await client.post('/v1/delete-batch', { collection: c, documents })).json()
      const errors = [0, 1, 2, 3].map((index) => `documents[${index}]: missing key or lang`)
      assert.deepEqual(answer, { deleted: 1, not_found: 0, failed: 4, errors })
      assert.deepEqual(await client.keys(c), ['key 0'])
    })

    it('delete-batch: a document named twice is deleted once', async () => {
      const c = client.collection()
      await client.add(c, 'once')
      const answer = (await client.post('/v1/delete-batch', { collection: c, documents: [item('once'), item('once')] })).json()
      assert.deepEqual(answer, { deleted: 1, not_found: 1, failed: 0, errors: null })
    })

    it('delete-batch: an empty list and an unknown collection delete nothing and create nothing', async () => {
      const c = client.collection()
      const empty = (await client.post('/v1/delete-batch', { collection: c, documents: [] })).json()
      assert.deepEqual(empty, { deleted: 0, not_found: 0, failed: 0, errors: null })
      const unknown = (await client.post('/v1/delete-batch', { collection: c, documents: [item('x')] })).json()
      assert.deepEqual(unknown, { deleted: 0, not_found: 1, failed: 0, errors: null })
      assert.equal(await client.stats(c), undefined)
    })

    it('delete-batch: deletes more documents than fit into one commit slice; 10 001 are 400', async () => {
      const c = client.collection()
      await client.addBatch(c, items(1000))
      const answer = (await client.post('/v1/delete-batch', { collection: c, documents: items(1000).slice(1) })).json()
      assert.deepEqual(answer, { deleted: 999, not_found: 0, failed: 0, errors: null })
      assert.deepEqual(await client.keys(c), ['key 0'])
      const refused = await client.post('/v1/delete-batch', { collection: c, documents: items(10_001) })
      assert.equal(summary(refused), '400 {"error":"invalid documents: 10001, at most 10000 are allowed"}')
    })
  })
})
