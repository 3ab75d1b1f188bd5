/**
 * Autocomplete over HTTP: service-1, "Full-text search", `GET /v1/autocomplete`; service-2, "Limits". Points
 * that the contract leaves open: docs/decisions/search/term-expansion.md.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, MISSING_FIELDS, summary } from '../../harness/clients/documents_client.js'

interface Item {
  readonly term: string
  readonly field: string
  readonly docCount: number
}

interface Completed {
  readonly items: readonly Item[]
  readonly total: number
  readonly query: string
  readonly field: string
}

describe('autocomplete', () => {
  let client: DocumentsClient
  let name: string
  before(async () => {
    client = await DocumentsClient.start()
    name = client.collection()
    await client.addBatch(name, [
      {
        key: 'a',
        lang: 'en',
        meta: { title: ['Configuration'], tags: ['databases', 'config'] },
        contentMd: 'Configuration of **databases**. The library.',
      },
      {
        key: 'b',
        lang: 'en',
        meta: { title: ['Databases'], color: ['dark'] },
        contentMd: 'Configuration again, and a database; libraries.',
      },
      { key: 'c', lang: 'en', contentMd: 'Configured databases in [a Library](http://darkside.example). Win32 and win64.' },
      { key: 'd', lang: 'de', contentMd: 'Die Häuser und das Haus in Österreich.' },
      { key: 'e', lang: 'zh', contentMd: '数据库的配置' },
      { key: 'f', lang: 'fr', contentMd: 'Un café déjà fermé.' },
    ])
  })
  after(() => client.stop())

  const ask = async (parameters: Readonly<Record<string, string>>, collection = name): Promise<Completed> => {
    const answer = await client.server.get(`/v1/autocomplete?${new URLSearchParams({ collection, ...parameters }).toString()}`)
    assert.equal(answer.status, 200, answer.text)
    const completed = answer.json<Completed & Record<string, unknown>>()
    assert.deepEqual(Object.keys(completed).sort(), ['field', 'items', 'query', 'total'])
    assert.equal(completed.total, completed.items.length)
    return completed
  }
  const terms = async (parameters: Readonly<Record<string, string>>): Promise<string[]> =>
    (await ask(parameters)).items.map(({ term }) => term)

  it('autocomplete: words of the documents that begin as typed, with field and number of documents, commonest first', async () => {
    assert.deepEqual(await ask({ q: 'd' }), {
      items: [
        { term: 'databases', field: 'content', docCount: 3 },
        { term: 'déjà', field: 'content', docCount: 1 },
      ],
      total: 2,
      query: 'd',
      field: '',
    })
    assert.deepEqual(await terms({ q: 'con' }), ['configuration', 'config'])
  })

  it('autocomplete: who types no accents finds words with them, and identifiers of source code are words', async () => {
    const documents = [
      { key: 'menu', lang: 'en', contentMd: 'crème brûlée' },
      { key: 'user.ts', lang: 'en', contentMd: 'function getUserNames(userNames) {}' },
    ]
    const added = await client.server.post('/v1/add-batch', { collection: 'letters', documents })
    assert.equal(added.status, 200)
    const found = async (q: string): Promise<string[]> => {
      const answer = await client.server.get(`/v1/autocomplete?collection=letters&q=${encodeURIComponent(q)}`)
      return answer.json<{ items: { term: string }[] }>().items.map(({ term }) => term)
    }
    assert.deepEqual(await found('crem'), ['crème'])
    assert.deepEqual(await found('crèm'), ['crème'])
    assert.deepEqual(await found('brulee'), ['brûlée'])
    assert.deepEqual(await found('getus'), ['getusernames'])
  })

  it('autocomplete: a word is completed at every letter although the index contains its stem', async () => {
    for (const word of ['configuration', 'databases', 'libraries', 'library', 'häuser', 'österreich', 'café'])
      for (let length = 1; length <= word.length; length++) {
        const q = word.slice(0, length)
        const { items } = await ask({ q, topN: '100' })
        assert.ok(
          items.every(({ term }) => term.startsWith(q)),
          `${q}: ${JSON.stringify(items)}`,
        )
        if (length > 3) assert.equal(items[0]?.term.startsWith(word.slice(0, 4)), true, q)
      }
    assert.deepEqual(await terms({ q: 'databases' }), ['databases'])
    assert.deepEqual(await terms({ q: 'libraries' }), ['libraries'])
    assert.deepEqual(await terms({ q: 'configuri' }), [])
  })

  it('autocomplete: characters other than letters and digits are stripped, case is ignored, and 32 characters are compared', async () => {
    assert.deepEqual((await ask({ q: ' "Data-BA! ' })).query, 'databa')
    assert.deepEqual(await terms({ q: ' "Data-BA! ' }), ['databases'])
    assert.deepEqual(await terms({ q: 'WIN' }), ['win32', 'win64'])
    assert.deepEqual(await terms({ q: '数' }), ['数据', '数据库'])
    assert.equal((await ask({ q: 'x'.repeat(40) })).query, 'x'.repeat(32))
    const long = 'w'.repeat(40)
    const other = client.collection()
    await client.add(other, 'long', { contentMd: long })
    assert.deepEqual(
      (await ask({ q: `${'w'.repeat(32)}zzz` }, other)).items.map(({ term }) => term),
      [long],
    )
  })

  it('autocomplete: an empty q is an empty list, and so is one of which nothing is left; a missing one is refused', async () => {
    for (const q of ['', '-- !', '"*"']) assert.deepEqual(await ask({ q }), { items: [], total: 0, query: '', field: '' })
    assert.equal(summary(await client.server.get(`/v1/autocomplete?collection=${name}`)), MISSING_FIELDS)
    assert.equal(summary(await client.server.get('/v1/autocomplete?q=a')), MISSING_FIELDS)
    assert.equal(summary(await client.server.get('/v1/autocomplete?collection=&q=a')), MISSING_FIELDS)
  })

  it('autocomplete: field narrows to title, content or a metadata key; without it only fields that a search looks in count', async () => {
    assert.deepEqual(await ask({ q: 'd', field: 'title' }), {
      items: [{ term: 'databases', field: 'title', docCount: 1 }],
      total: 1,
      query: 'd',
      field: 'title',
    })
    assert.deepEqual(await terms({ q: 'co', field: 'content' }), ['configuration'])
    assert.deepEqual(await terms({ q: 'co', field: 'meta.tags' }), ['config'])
    assert.deepEqual(await terms({ q: 'dark', field: 'meta.color' }), ['dark'])
    assert.deepEqual(await terms({ q: 'dark' }), [])
    assert.deepEqual(await terms({ q: 'd', field: 'meta.nothing' }), [])
  })

  it('autocomplete: topN is 10 unless it says otherwise', async () => {
    const other = client.collection()
    await client.add(other, 'many', { contentMd: Array.from({ length: 120 }, (_, n) => `w${1000 + n}`).join(' ') })
    const count = async (parameters: Readonly<Record<string, string>>): Promise<number> =>
      (await ask({ q: 'w', ...parameters }, other)).total
    assert.deepEqual(
      [await count({}), await count({ topN: '3' }), await count({ topN: '0' }), await count({ topN: '5000' })],
      [10, 3, 10, 100],
    )
    assert.equal(summary(await client.server.get(`/v1/autocomplete?collection=${other}&q=w&topN=-1`)), '400 {"error":"invalid topN"}')
  })

  it('autocomplete: at most 10000 index entries are scanned', async () => {
    const other = client.collection()
    const words = Array.from({ length: 10_500 }, (_, n) => `a${10_000 + n}`)
    await client.add(other, 'first', { contentMd: words.join(' ') })
    await client.add(other, 'second', { contentMd: `${words[9_000] ?? ''} ${words[10_400] ?? ''}` })
    assert.deepEqual((await ask({ q: 'a', topN: '1' }, other)).items, [{ term: words[9_000], field: 'content', docCount: 2 }])
  })

  it('autocomplete: an answered write is seen by the next request, and a collection that is not there completes nothing', async () => {
    const other = client.collection()
    assert.deepEqual((await ask({ q: 'new' }, other)).items, [])
    await client.add(other, 'one', { contentMd: 'newspaper' })
    assert.deepEqual((await ask({ q: 'new' }, other)).items, [{ term: 'newspaper', field: 'content', docCount: 1 }])
    await client.add(other, 'two', { contentMd: 'newspapers, newcomer' })
    assert.deepEqual(
      (await ask({ q: 'new' }, other)).items.map(({ docCount }) => docCount),
      [2, 1],
    )
    await client.delete(other, 'one')
    await client.delete(other, 'two')
    assert.deepEqual((await ask({ q: 'newcom' }, other)).items, [])
  })

  it('autocomplete: a cached answer is reused for the same request of the same caller only until the next write', async () => {
    const other = client.collection()
    const path = `/v1/autocomplete?collection=${other}&q=rep`
    const asked = async (headers: Readonly<Record<string, string>> = {}): Promise<unknown[]> => {
      const answer = await client.server.request('GET', path, undefined, headers)
      assert.deepEqual([answer.status, answer.headers['x-cache'], answer.headers['x-cache-ttl']], [200, undefined, undefined])
      return answer.json<Completed>().items.map(({ term, docCount }) => [term, docCount])
    }
    for (let documents = 1; documents <= 20; documents++) {
      await client.add(other, `${documents}`, { contentMd: `repeated answers${' word'.repeat(documents)}` })
      for (let times = 0; times < 3; times++) assert.deepEqual(await asked(), [['repeated', documents]])
      assert.deepEqual(await asked({ Authorization: 'Bearer somebody' }), [['repeated', documents]])
      assert.deepEqual(await asked({ 'Accept-Encoding': 'gzip' }), [['repeated', documents]])
    }
    // The body contains fields that the query string lacks.
    const withBody = await client.server.request('GET', path, JSON.stringify({ topN: -1 }), { 'Content-Type': 'application/json' })
    assert.equal(summary(withBody), '400 {"error":"invalid topN"}')
  })

  it('autocomplete: without stemming words are completed as they are', async () => {
    const plain = await DocumentsClient.start({ env: { SVC_FTS_STEMMING: 'false' } })
    try {
      await plain.add('c', 'one', { contentMd: 'database databases' })
      const answer = await plain.server.get('/v1/autocomplete?collection=c&q=datab')
      assert.deepEqual(
        answer.json<Completed>().items.map(({ term }) => term),
        ['database', 'databases'],
      )
    } finally {
      await plain.stop()
    }
  })
})
