/**
 * Synonyms and stop words of a collection over HTTP: service-1, "Full-text search"; http.md, section 2.
 * Changes apply from the next search on, without a reindex.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, type Fields, MISSING_FIELDS, summary } from '../../harness/clients/documents_client.js'

const TEXTS: Readonly<Record<string, string>> = {
  auto: 'Automobiles are parked here.',
  car: 'Two cars are parked here.',
  motor: 'A motor vehicle is parked here.',
  apart: 'The motor is parked; the vehicle is gone.',
  nyc: 'Parked in NYC.',
  york: 'A new house in York, not in New York.',
}

async function fill(client: DocumentsClient): Promise<string> {
  const name = client.collection()
  await client.addBatch(
    name,
    Object.entries(TEXTS).map(([key, contentMd]) => ({ key, lang: 'en', contentMd, meta: { title: [key] } })),
  )
  return name
}

describe('synonyms', () => {
  let client: DocumentsClient
  before(async () => {
    client = await DocumentsClient.shared()
  })
  after(() => client.stop())

  const set = async (collection: string, term: string, synonyms: readonly string[]): Promise<void> => {
    assert.equal(summary(await client.post('/v1/synonyms', { collection, term, synonyms })), '200 {"status":"ok"}')
  }
  const found = async (collection: string, query: string, more: Fields = {}): Promise<string[]> => {
    const { results } = (await client.post('/v1/fts', { collection, query, ...more })).json<{ results: { document: { key: string } }[] }>()
    return results.map(({ document }) => document.key)
  }
  const sorted = async (collection: string, query: string, more: Fields = {}): Promise<string[]> =>
    (await found(collection, query, more)).sort()

  it('synonyms: posted synonyms are listed as map and as entries, a second post replaces, delete removes', async () => {
    const name = client.collection()
    assert.deepEqual((await client.server.get(`/v1/synonyms?collection=${name}`)).json(), {
      collection: name,
      synonyms: {},
      entries: [],
      total: 0,
    })
    await set(name, ' Car ', ['Automobile', 'motor  vehicle', 'Automobile'])
    await set(name, 'big', ['large'])
    await set(name, 'BIG', ['huge'])
    await set(name, '__proto__', ['prototype'])
    assert.deepEqual((await client.server.get(`/v1/synonyms?collection=${name.toUpperCase()}`)).json<{ entries: unknown }>().entries, [
      { term: '__proto__', synonyms: ['prototype'] },
      { term: 'big', synonyms: ['huge'] },
      { term: 'car', synonyms: ['Automobile', 'motor vehicle'] },
    ])
    for (const term of ['__proto__', 'CAR', 'car', 'never'])
      assert.equal(summary(await client.server.request('DELETE', '/v1/synonyms', { collection: name, term })), '200 {"status":"deleted"}')
    const listed = (await client.server.get(`/v1/synonyms?collection=${name}`)).json()
    assert.deepEqual(listed, { collection: name, synonyms: { big: ['huge'] }, entries: [{ term: 'big', synonyms: ['huge'] }], total: 1 })
  })

  it('synonyms: a search for a term finds its synonyms from the next query on, until they are deleted', async () => {
    const name = await fill(client)
    assert.deepEqual(await found(name, 'car'), ['car'])
    await set(name, 'car', ['automobile'])
    assert.deepEqual(await sorted(name, 'Cars'), ['auto', 'car'])
    assert.equal((await found(name, 'car'))[0], 'car', 'the word itself comes first')
    assert.deepEqual(await sorted(name, 'car', { algorithm: 'bm25' }), ['auto', 'car'])
    assert.deepEqual(await sorted(name, 'car AND park'), ['auto', 'car'], 'in boolean queries')
    assert.deepEqual(await sorted(name, 'parked -car'), ['apart', 'motor', 'nyc'], 'excluded like the term')
    assert.deepEqual(await found(name, '"two cars"'), ['car'], 'a phrase is taken at its word')
    assert.deepEqual(await found(name, 'automobile'), ['auto'], 'one way')
    await client.server.request('DELETE', '/v1/synonyms', { collection: name, term: 'car' })
    assert.deepEqual(await found(name, 'car'), ['car'])
  })

  it('synonyms: terms and synonyms of several words are phrases', async () => {
    const name = await fill(client)
    await set(name, 'car', ['motor vehicle'])
    await set(name, 'new york', ['nyc'])
    assert.deepEqual(await sorted(name, 'car'), ['car', 'motor'])
    assert.deepEqual(await sorted(name, 'new york'), ['nyc', 'york'])
    assert.deepEqual(await sorted(name, 'york new'), ['york'])
    assert.deepEqual(await sorted(name, 'york'), ['york'])
  })

  it('synonyms: matchedTerms show the synonym that a document has', async () => {
    const name = await fill(client)
    await set(name, 'car', ['automobile'])
    const { results } = (await client.post('/v1/fts', { collection: name, query: 'car' })).json<{
      results: { document: { key: string }; matchedTerms: string[] }[]
    }>()
    assert.deepEqual(results.find(({ document }) => document.key === 'auto')?.matchedTerms, ['automobil'])
  })

  it('synonyms: disableSynonyms looks for the words alone, and synonymsActive says which it was', async () => {
    const name = await fill(client)
    await set(name, 'car', ['automobile'])
    assert.deepEqual(await found(name, 'car', { disableSynonyms: true }), ['car'])
    const active = async (more: Fields): Promise<unknown> =>
      (await client.post('/v1/fts', { collection: name, query: 'car', ...more })).json().synonymsActive
    assert.deepEqual([await active({}), await active({ disableSynonyms: true })], [true, false])
    const query = (await client.server.get(`/v1/fts?collection=${name}&q=car&disableSynonyms=true`)).json<{ total: number }>()
    assert.equal(query.total, 1)
  })

  it('synonyms: they follow the language and the stemming of the query', async () => {
    const name = client.collection()
    await client.add(name, 'haus', { lang: 'de', contentMd: 'Gebäude' })
    await set(name, 'Häuser', ['gebäuden'])
    assert.deepEqual(await found(name, 'Haus', { lang: 'de' }), ['haus'])
    assert.deepEqual(await found(name, 'häuser', { lang: 'de', disableStem: true }), [])
  })

  it('synonyms: SVC_FTS_SYNONYMS=false switches the expansion off', async () => {
    const quiet = await DocumentsClient.start({ env: { SVC_FTS_SYNONYMS: 'false' } })
    try {
      await quiet.add('c', 'doc', { contentMd: 'automobile' })
      await quiet.post('/v1/synonyms', { collection: 'c', term: 'car', synonyms: ['automobile'] })
      const answer = (await quiet.post('/v1/fts', { collection: 'c', query: 'car' })).json()
      assert.deepEqual([answer.total, answer.synonymsActive], [0, false])
    } finally {
      await quiet.stop()
    }
  })

  it('synonyms: missing and out-of-bounds fields are refused', async () => {
    const post = async (body: Fields): Promise<string> => summary(await client.post('/v1/synonyms', body))
    assert.equal(await post({ collection: 'c', synonyms: ['a'] }), MISSING_FIELDS)
    assert.equal(await post({ collection: 'c', term: 'a' }), MISSING_FIELDS)
    assert.equal(await post({ collection: 'c', term: 'a', synonyms: [] }), MISSING_FIELDS)
    assert.equal(await post({ collection: 'c', term: ' ', synonyms: ['a'] }), '400 {"error":"invalid term: a text is empty"}')
    assert.equal(await post({ collection: 'c', term: 'a', synonyms: [''] }), '400 {"error":"invalid synonyms: a text is empty"}')
    assert.equal(await post({ collection: 'c', term: 'a', synonyms: [1] }), '400 {"error":"invalid synonyms.0"}')
    assert.equal(
      await post({ collection: 'c', term: 'a'.repeat(257), synonyms: ['a'] }),
      '400 {"error":"invalid term: 257 bytes, at most 256 are allowed"}',
    )
    assert.equal(
      await post({ collection: 'c', term: 'a', synonyms: Array.from({ length: 65 }, (_, n) => `w${n}`) }),
      '400 {"error":"invalid synonyms: 65, at most 64 are allowed"}',
    )
    assert.equal(summary(await client.server.request('DELETE', '/v1/synonyms', { collection: 'c' })), MISSING_FIELDS)
    assert.equal(summary(await client.server.get('/v1/synonyms')), MISSING_FIELDS)
  })
})

describe('stop words', () => {
  let client: DocumentsClient
  before(async () => {
    client = await DocumentsClient.shared()
  })
  after(() => client.stop())

  interface Listed {
    readonly collection: string
    readonly entries: readonly { readonly word: string; readonly isDefault: boolean }[]
    readonly total: number
    readonly defaults: number
    readonly custom: number
  }
  const list = async (collection: string): Promise<Listed> => (await client.server.get(`/v1/stopwords?collection=${collection}`)).json()
  const change = async (method: string, collection: string, words: readonly string[]): Promise<string> =>
    summary(await client.server.request(method, '/v1/stopwords', { collection, words }))

  it('stopwords: the list has the default words of the default language and those of the collection, and counts both', async () => {
    const name = client.collection()
    const before = await list(name)
    assert.deepEqual([before.collection, before.total, before.defaults, before.custom, before.entries.length], [name, 79, 79, 0, 79])
    assert.ok(before.entries.every(({ isDefault }) => isDefault))
    assert.deepEqual(before.entries[0], { word: 'a', isDefault: true })
    assert.equal(await change('POST', name, ['Foo', ' bar ', 'the', 'foo']), '200 {"status":"ok","added":2}')
    assert.equal(await change('POST', name, ['foo', 'baz']), '200 {"status":"ok","added":1}')
    const after = await list(name)
    assert.deepEqual([after.total, after.defaults, after.custom, after.entries.length], [82, 79, 3, 82])
    assert.deepEqual(
      after.entries.filter(({ isDefault }) => !isDefault).map(({ word }) => word),
      ['bar', 'baz', 'foo'],
    )
  })

  it('stopwords: delete removes own words and leaves the default ones', async () => {
    const name = client.collection()
    await change('POST', name, ['foo', 'bar'])
    assert.equal(
      await change('DELETE', name, ['FOO', 'never', 'the']),
      '200 {"status":"deleted","deleted":1,"errors":["the: default stop words cannot be deleted"]}',
    )
    assert.equal((await list(name)).custom, 1)
    assert.equal(await change('DELETE', name, ['bar']), '200 {"status":"deleted","deleted":1}')
    assert.equal(await change('DELETE', 'unheard-of', ['bar']), '200 {"status":"deleted","deleted":0}')
    const { custom, defaults } = await list(name)
    assert.deepEqual([custom, defaults], [0, 79])
  })

  it('stopwords: searches ignore them from the next query on, without a reindex, until they are deleted', async () => {
    const name = await fill(client)
    assert.deepEqual(await client.found(name, 'park'), ['apart', 'auto', 'car', 'motor', 'nyc'])
    await change('POST', name, ['parked'])
    assert.deepEqual(await client.found(name, 'parked'), [])
    assert.deepEqual(await client.found(name, 'parked cars'), ['car'])
    assert.deepEqual(await client.found(name, 'park'), ['apart', 'auto', 'car', 'motor', 'nyc'], 'compared as written, not by the stem')
    assert.deepEqual(await client.found(name, 'cars AND parked'), ['car'])
    assert.deepEqual(await client.found(name, '"cars are parked here"'), ['car'], 'a phrase keeps the gap')
    await change('DELETE', name, ['parked'])
    assert.deepEqual(await client.found(name, 'parked'), ['apart', 'auto', 'car', 'motor', 'nyc'])
  })

  it('stopwords: they belong to one collection', async () => {
    const [one, other] = [await fill(client), await fill(client)]
    await change('POST', one, ['nyc'])
    assert.deepEqual([await client.found(one, 'nyc'), await client.found(other, 'nyc')], [[], ['nyc']])
  })

  it('stopwords: the default language of the server decides which words are default', async () => {
    const german = await DocumentsClient.start({ env: { SVC_FTS_DEFAULT_LANG: 'de' } })
    try {
      const { entries } = (await german.server.get('/v1/stopwords?collection=c')).json<Listed>()
      assert.ok(entries.some(({ word }) => word === 'und') && !entries.some(({ word }) => word === 'the'))
    } finally {
      await german.stop()
    }
  })

  it('stopwords: missing and invalid words are refused', async () => {
    assert.equal(summary(await client.post('/v1/stopwords', { collection: 'c' })), MISSING_FIELDS)
    assert.equal(summary(await client.post('/v1/stopwords', { words: ['a'] })), MISSING_FIELDS)
    assert.equal(summary(await client.server.get('/v1/stopwords')), MISSING_FIELDS)
    assert.equal(await change('POST', 'c', ['two words']), '400 {"error":"invalid words: \\"two words\\" is more than one word"}')
    assert.equal(await change('POST', 'c', ['']), '400 {"error":"invalid words: a text is empty"}')
    const many = Array.from({ length: 2001 }, (_, n) => `w${n}`)
    assert.equal(await change('POST', 'c', many), '400 {"error":"invalid words: 2001, at most 2000 are allowed"}')
    assert.equal(await change('POST', 'c', many.slice(0, 2000)), '200 {"status":"ok","added":2000}')
    assert.equal(await change('POST', 'c', ['more']), '400 {"error":"too many stop words: at most 2000 in a collection"}')
  })
})
