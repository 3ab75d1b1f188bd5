/**
 * Finding documents by metadata, sorted and paged. service-1, "Metadata" and `POST /v1/search`;
 * docs/decisions/interfaces/http-conventions.md.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, summary } from '../../harness/clients/documents_client.js'

describe('`POST /v1/search`: "body `collection` (required), `filterMeta`, `sort`, `asc` (bool), `limit` (default 50), `offset` (default 0)"', () => {
  let client: DocumentsClient
  before(async () => {
    client = await DocumentsClient.shared()
    const documents = [
      ['wal', { tags: ['storage', 'log'], status: ['draft'] }],
      ['lsm', { tags: ['storage'], status: ['done'] }],
      ['raft', { tags: ['network', 'log'], status: ['done'], rating: [] }],
      ['plain', {}],
    ] as const
    for (const [key, meta] of documents) await client.add('listing-filtered', key, { meta })
  })
  after(() => client.stop())

  describe('"Filtering (`filterMeta`): between different keys AND, between values of one key OR"', () => {
    const cases: readonly (readonly [filter: Record<string, string[]>, keys: string[]])[] = [
      [{}, ['wal', 'lsm', 'raft', 'plain']],
      [{ tags: ['storage'] }, ['wal', 'lsm']],
      [{ tags: ['network', 'storage'] }, ['wal', 'lsm', 'raft']],
      [{ tags: ['log'], status: ['done'] }, ['raft']],
      [{ tags: ['log'], status: ['done', 'draft'] }, ['wal', 'raft']],
      [{ tags: ['log'], status: ['unheard'] }, []],
      [{ tags: ['unheard', 'log'] }, ['wal', 'raft']],
      [{ unheard: ['log'] }, []],
      [{ tags: ['Log'] }, []],
      [{ tags: ['log '] }, []],
      [{ Tags: ['log'] }, []],
      [{ tags: ['log', 'log'] }, ['wal', 'raft']],
    ]

    it('search: keys are joined by AND, values of a key by OR, both compared exactly', async () => {
      for (const [filterMeta, keys] of cases) {
        const { documents, total } = await client.search('listing-filtered', { filterMeta })
        assert.deepEqual([documents.map(({ key }) => key), total], [keys, keys.length], JSON.stringify(filterMeta))
      }
    })

    it('search: hasMeta asks that a key has a value at all', async () => {
      assert.deepEqual(await client.keys('listing-filtered', { hasMeta: ['tags'] }), ['wal', 'lsm', 'raft'])
      assert.deepEqual(await client.keys('listing-filtered', { filterMeta: { tags: ['log'] }, hasMeta: ['status', 'tags'] }), [
        'wal',
        'raft',
      ])
      assert.deepEqual(await client.keys('listing-filtered', { hasMeta: ['unheard'] }), [])
      assert.deepEqual(await client.keys('listing-filtered', { hasMeta: ['rating'] }), [], 'a list without values holds none')
    })

    it('search: names of Object.prototype, separators and any text are ordinary keys and values', async () => {
      const c = client.collection()
      const meta = { constructor: ['a'], toString: ['b\0c'], 'a b': ['=,|:"\\'], '🙂': ['Ä\u0000'], '': [''] }
      await client.add(c, 'odd', { meta })
      await client.add(c, 'even', {})
      for (const [key, values] of Object.entries(meta))
        assert.deepEqual(await client.keys(c, { filterMeta: { [key]: values } }), ['odd'], key)
      assert.deepEqual(await client.keys(c, { hasMeta: ['hasOwnProperty'] }), [])
      assert.deepEqual(await client.keys(c, { filterMeta: { a: [' b'] } }), [])
    })

    it('search: 256 values in a filter are taken, 257 are 400 and name the bound', async () => {
      const filterMeta = (count: number): unknown => ({
        tags: Array.from({ length: count }, (_, number) => (number === 0 ? 'log' : `t${number}`)),
      })
      assert.deepEqual(await client.keys('listing-filtered', { filterMeta: filterMeta(256) }), ['wal', 'raft'])
      const refused = await client.post('/v1/search', { collection: 'listing-filtered', filterMeta: filterMeta(257) })
      assert.equal(summary(refused), '400 {"error":"invalid filterMeta: more than 256 values"}')
    })
  })

  describe('"`sort` (`addedAt`, `updatedAt`, `key`), `asc` (bool)"', () => {
    let c: string
    before(async () => {
      c = client.collection()
      // Two documents in each of three seconds, updated in another order.
      for (const pair of [
        ['b', 'e'],
        ['a', 'F'],
        ['ä', 'd'],
      ]) {
        const written = await Promise.all(pair.map((key) => client.add(c, key)))
        const last = Math.max(...written.map(({ addedAt }) => addedAt))
        await client.until(async () => Math.floor(Date.now() / 1000) > last, 'the next second')
      }
      await client.update(c, 'b', { contentMd: 'updated' })
    })

    it('search: sort key orders by the bytes of the key, descending unless asc is true', async () => {
      const ascending = ['F', 'a', 'b', 'd', 'e', 'ä']
      assert.deepEqual(await client.keys(c, { sort: 'key', asc: true }), ascending)
      assert.deepEqual(await client.keys(c, { sort: 'key', asc: false }), [...ascending].reverse())
      assert.deepEqual(await client.keys(c, { sort: 'key' }), [...ascending].reverse())
    })

    it('search: sort addedAt orders by the first write, newest first unless asc is true', async () => {
      const order = async (fields: object): Promise<number[]> =>
        (await client.search(c, { sort: 'addedAt', ...fields })).documents.map(({ addedAt }) => addedAt)
      const ascending = await order({ asc: true })
      assert.deepEqual(
        ascending,
        [...ascending].sort((one, other) => one - other),
      )
      assert.equal(new Set(ascending).size >= 3, true)
      assert.deepEqual(await order({}), [...ascending].reverse())
    })

    it('search: sort updatedAt orders by the last write: what was updated last comes first', async () => {
      const { documents } = await client.search(c, { sort: 'updatedAt' })
      assert.equal(documents[0]?.key, 'b')
      const times = documents.map(({ updatedAt }) => updatedAt)
      assert.deepEqual(
        times,
        [...times].sort((one, other) => other - one),
      )
      assert.equal((await client.keys(c, { sort: 'updatedAt', asc: true })).at(-1), 'b')
    })

    it('search: ties keep one order, so that pages neither repeat nor miss a document', async () => {
      const own = client.collection()
      const keys = Array.from({ length: 90 }, (_, number) => `key-${number}`)
      await client.addBatch(own, keys.map((key) => ({ key, lang: 'en', contentMd: '' }))) // prettier-ignore
      await client.addBatch(own, keys.map((key) => ({ key, lang: 'de', contentMd: '' }))) // prettier-ignore
      for (const sort of ['addedAt', 'updatedAt', 'key', undefined]) {
        for (const asc of [true, false]) {
          const whole = (await client.search(own, { sort, asc, limit: 1000 })).documents.map(({ id }) => id)
          assert.equal(new Set(whole).size, 180)
          const paged: string[] = []
          for (let offset = 0; offset < 180; offset += 17) {
            paged.push(...(await client.search(own, { sort, asc, limit: 17, offset })).documents.map(({ id }) => id))
          }
          assert.deepEqual(paged, whole, `${String(sort)} ${asc}`)
        }
      }
    })

    it('search: an unknown, empty or absent sort is the order of storage, which updates do not change', async () => {
      const stored = await client.keys(c)
      assert.deepEqual([...stored].sort(), ['F', 'a', 'b', 'd', 'e', 'ä'])
      assert.deepEqual(new Set(stored.slice(0, 2)), new Set(['b', 'e']), 'first written, first stored')
      for (const sort of ['', 'price', 'KEY', 'constructor', 'toString', '__proto__']) {
        assert.deepEqual(await client.keys(c, { sort }), stored, sort)
        assert.deepEqual(await client.keys(c, { sort, asc: true }), stored, sort)
      }
    })
  })

  describe('"header `X-Total-Count` carries the total before pagination"', () => {
    let c: string
    before(async () => {
      c = client.collection()
      const documents = Array.from({ length: 120 }, (_, number) => ({
        key: `k${String(number).padStart(3, '0')}`,
        lang: 'en',
        contentMd: '',
        meta: { half: [String(number % 2)] },
      }))
      await client.addBatch(c, documents)
    })

    it('search: limit is 50 by default and for 0, offset 0 by default, the total counts all that match', async () => {
      for (const fields of [{}, { limit: 0 }, { limit: null, offset: null }]) {
        const { documents, total } = await client.search(c, { sort: 'key', asc: true, ...fields })
        assert.deepEqual([documents.length, documents[0]?.key, total], [50, 'k000', 120], JSON.stringify(fields))
      }
    })

    it('search: limit and offset cut a page, the total stays, also beyond the end', async () => {
      const page = async (fields: object): Promise<unknown> => {
        const { documents, total } = await client.search(c, { sort: 'key', asc: true, ...fields })
        return [documents.map(({ key }) => key), total]
      }
      assert.deepEqual(await page({ limit: 2, offset: 3 }), [['k003', 'k004'], 120])
      assert.deepEqual(await page({ limit: 3, offset: 118 }), [['k118', 'k119'], 120])
      assert.deepEqual(await page({ limit: 3, offset: 120 }), [[], 120])
      assert.deepEqual(await page({ limit: 3, offset: 99_000 }), [[], 120])
      assert.deepEqual(await page({ limit: 2, offset: 1, filterMeta: { half: ['1'] } }), [['k003', 'k005'], 60])
    })

    it('search: a limit above 10 000 counts as 10 000, however large', async () => {
      for (const limit of [10_000, 10_001, 1e9, 2 ** 53, 1e300]) {
        const { documents, total } = await client.search(c, { limit })
        assert.deepEqual([documents.length, total], [120, 120], String(limit))
      }
    })

    it('search: negative and fractional limits and offsets are 400 invalid limit and invalid offset', async () => {
      for (const value of [-1, -0.5, 0.5, 1.5, -1e300]) {
        assert.equal(summary(await client.post('/v1/search', { collection: c, limit: value })), '400 {"error":"invalid limit"}')
        assert.equal(summary(await client.post('/v1/search', { collection: c, offset: value })), '400 {"error":"invalid offset"}')
      }
      for (const value of ['1e999', '-1e999']) {
        const answer = await client.post('/v1/search', `{"collection":"${c}","limit":${value}}`)
        assert.equal(summary(answer), '400 {"error":"invalid limit"}')
      }
    })

    it('search: offset and limit together reach 100 000 documents deep, beyond it is 400 and names the bound', async () => {
      assert.equal((await client.search(c, { offset: 99_999, limit: 1 })).total, 120)
      for (const offset of [100_000, 1e12, 1e300]) {
        const answer = await client.post('/v1/search', { collection: c, offset, limit: 1 })
        assert.equal(summary(answer), '400 {"error":"invalid offset: offset + limit is at most 100000"}')
      }
    })

    it('search: an unknown collection has no documents, total 0, and does not come into being', async () => {
      const answer = await client.post('/v1/search', { collection: 'unheard-of' })
      assert.equal(`${summary(answer)} ${String(answer.headers['x-total-count'])}`, '200 [] 0')
      assert.equal(await client.stats('unheard-of'), undefined)
    })

    it('search: the answer is an array of whole documents', async () => {
      const { documents } = await client.search('listing-filtered', { filterMeta: { status: ['draft'] } })
      assert.deepEqual(documents, [await client.get('listing-filtered', 'wal')])
    })

    it('search: beside a writer every page is whole: each document once, total as many as there are', async () => {
      const own = client.collection()
      const keys = Array.from({ length: 40 }, (_, number) => `key-${number}`)
      await client.addBatch(own, keys.map((key) => ({ key, lang: 'en', contentMd: '' }))) // prettier-ignore
      let writing = true
      const writer = async (): Promise<void> => {
        for (let round = 0; round < 12; round++) {
          await Promise.all(keys.map((key) => client.update(own, key, { contentMd: `round ${round}`, meta: { round: [String(round)] } })))
        }
        writing = false
      }
      const reader = async (): Promise<number> => {
        let pages = 0
        for (; writing; pages++) {
          const { documents, total } = await client.search(own, { sort: 'key', asc: true })
          assert.equal(total, 40)
          assert.deepEqual(documents.map(({ key }) => key), [...keys].sort()) // prettier-ignore
        }
        return pages
      }
      const [, pages] = await Promise.all([writer(), reader()])
      assert.ok(pages > 0)
    })
  })
})
