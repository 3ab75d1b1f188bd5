/**
 * Spell correction over HTTP: service-1, `SVC_SPELL`; service-2, `spellCorrect`, `spellLang` and "Temporal
 * and spell records"; http.md, sections 2 (`spellCorrected`) and 4. Points that the contract leaves open:
 * docs/decisions/search/term-expansion.md.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { DocumentsClient, type Fields, MISSING_FIELDS, NOT_FOUND, summary } from '../../harness/clients/documents_client.js'

const TEXTS = [
  'The database keeps every configuration of the library.',
  'Databases and libraries: management of windows, threads and buffers.',
  'A database of enterprise applications, configured by the administrator.',
  'Windows receive messages; each thread has a buffer.',
]
const DOCUMENTS = TEXTS.map((contentMd, n) => ({ key: `k${n}`, lang: 'en', contentMd }))

interface Suggested {
  readonly originalText: string
  readonly suggestedText: string
  readonly tokenSuggestions: readonly {
    readonly token: string
    readonly suggestions: readonly string[]
    readonly [field: string]: unknown
  }[]
}

interface Found {
  readonly results: readonly { readonly document: { readonly key: string } }[]
  readonly spellCorrected?: { readonly original: string; readonly corrected: string }
}

describe('spell correction', () => {
  let client: DocumentsClient
  let name: string
  before(async () => {
    client = await DocumentsClient.start({ env: { SVC_SPELL: 'true' } })
    name = client.collection()
    await client.addBatch(name, DOCUMENTS)
  })
  after(() => client.stop())

  const suggest = async (text: string, more: Fields = {}): Promise<Suggested> => {
    const answer = await client.post('/v1/spell-suggest', { collection: name, text, lang: 'en', ...more })
    assert.equal(answer.status, 200, answer.text)
    return answer.json<Suggested & Record<string, unknown>>()
  }
  const suggested = async (text: string, more: Fields = {}): Promise<string> => (await suggest(text, more)).suggestedText
  const fts = async (query: string, more: Fields = {}): Promise<Found> => {
    const answer = await client.post('/v1/fts', { collection: name, query, ...more })
    assert.equal(answer.status, 200, answer.text)
    return answer.json<Found & Record<string, unknown>>()
  }
  const change = async (method: string, words: readonly string[], more: Fields = {}): Promise<string> =>
    summary(await client.server.request(method, '/v1/spell-dictionary', { collection: name, lang: 'en', words, ...more }))

  it('spell: suggestions are words of the documents, nearest and commonest first, with their confidence', async () => {
    const { originalText, suggestedText, tokenSuggestions } = await suggest('the databsae of entreprise lbrary')
    assert.equal(originalText, 'the databsae of entreprise lbrary')
    assert.equal(suggestedText, 'the database of enterprise library')
    assert.deepEqual(
      tokenSuggestions.map(({ token, suggestions, original, corrected }) => [token, suggestions[0], original, corrected]),
      [
        ['databsae', 'database', 'databsae', 'database'],
        ['entreprise', 'enterprise', 'entreprise', 'enterprise'],
        ['lbrary', 'library', 'lbrary', 'library'],
      ],
    )
    for (const { confidence } of tokenSuggestions) assert.ok(Number(confidence) > 0 && Number(confidence) <= 1)
    assert.equal((await suggest('databsaes', { maxSuggestions: 1 })).tokenSuggestions[0]?.suggestions.length, 1)
  })

  it('spell: errors in stem and ending, one or two of them, are found', async () => {
    const pairs = { databse: 'database', dataabse: 'database', confgiuration: 'configuration', configuratoin: 'configuration', configurtaoin: 'configuration', managemnt: 'management', mangement: 'management', wnidows: 'windows', recieve: 'receive', threds: 'threads', bufer: 'buffer', administrtor: 'administrator', aplicatins: 'applications' } // prettier-ignore
    for (const [wrong, right] of Object.entries(pairs)) assert.equal(await suggested(wrong), right, wrong)
  })

  it('spell: known words, numbers, identifiers, capitals, phrases and patterns are never changed', async () => {
    const texts = ['The databases, managed: receiving windows.', 'database2 v1.2 42nd', 'data_bsae getDatabsae HTPP databsae.txt', '"databsae wnidows" datab*', "don't won't", 'x q C', 'databsae/wnidows a@wnidows.example', '数据库'] // prettier-ignore
    for (const text of texts) assert.deepEqual(await suggest(text), { originalText: text, suggestedText: text, tokenSuggestions: [] }, text)
  })

  it('spell: case and everything around a word stay, and a stop word is a word', async () => {
    assert.equal(await suggested('  Databsae’s (wnidows)... teh\nbufer!'), '  Database’s (windows)... the\nbuffer!')
    assert.equal(await suggested('wich', { collection: undefined }), 'which')
    assert.equal(await suggested('databsae', { collection: undefined }), 'databsae')
    assert.equal(await suggested('databsae', { collection: 'unheard-of' }), 'databsae')
  })

  it('spell: short words are corrected by one edit at most, and only to common words', async () => {
    const other = client.collection()
    await client.addBatch(
      other,
      Array.from({ length: 300 }, (_, n) => ({ key: `k${n}`, lang: 'en', contentMd: n === 0 ? 'cat dog' : 'dog' })),
    )
    assert.equal(await suggested('dgo', { collection: other }), 'dog')
    assert.equal(await suggested('ctt', { collection: other }), 'ctt', 'one document of 300 is no evidence')
    assert.equal(await suggested('xog', { collection: other }), 'xog', 'another first letter')
  })

  it('spell: cleanup answers the corrected text and how many words it corrected', async () => {
    const answer = await client.post('/v1/spell-cleanup', { collection: name, text: 'Databsae wnidows, databsae qqqqqqq', lang: 'en' })
    assert.deepEqual(answer.json(), {
      original: 'Databsae wnidows, databsae qqqqqqq',
      cleaned: 'Database windows, database qqqqqqq',
      correctionsApplied: 3,
    })
  })

  it('spell: the dictionary of a collection and language is listed, added to and taken from', async () => {
    const list = async (lang = 'en'): Promise<Fields> =>
      (await client.server.get(`/v1/spell-dictionary?collection=${name}&lang=${lang}`)).json()
    assert.deepEqual(await list(), { collection: name, lang: 'en', words: [] })
    assert.equal(await change('PUT', ['Kubernetes', 'etcd', 'kubernetes']), '200 {"added":2}')
    assert.equal(await change('PUT', ['etcd'], { frequency: 5 }), '200 {"added":0}')
    assert.deepEqual(await list(), { collection: name, lang: 'en', words: ['etcd', 'kubernetes'] })
    assert.deepEqual((await list('de')).words, [])
    assert.equal(await suggested('Kuberentes etcd'), 'Kubernetes etcd')
    assert.deepEqual((await suggest('etcd')).tokenSuggestions, [], 'a word of the dictionary is right')
    assert.equal(await suggested('kuberentes', { lang: 'de' }), 'kuberentes', 'dictionaries have a language')
    assert.equal(await change('DELETE', ['ETCD', 'never']), '200 {"removed":1}')
    assert.equal(await change('DELETE', ['kubernetes']), '200 {"removed":1}')
    assert.deepEqual(await list(), { collection: name, lang: 'en', words: [] })
    assert.equal(await suggested('kuberentes'), 'kuberentes')
  })

  it('spell: dictionaries survive a restart and go with their collection', async () => {
    const first = await DocumentsClient.start({ env: { SVC_SPELL: 'true' } })
    const { directory } = first.server
    await first.server.request('PUT', '/v1/spell-dictionary', { collection: 'c', lang: 'en', words: ['etcd'] })
    await first.server.kill()
    const second = await DocumentsClient.start({ env: { SVC_SPELL: 'true' }, directory })
    const words = async (): Promise<unknown> => (await second.server.get('/v1/spell-dictionary?collection=c&lang=en')).json().words
    try {
      assert.deepEqual(await words(), ['etcd'])
      await second.post('/v1/delete-collection', { collection: 'c' })
      assert.deepEqual(await words(), [])
    } finally {
      await second.stop()
    }
  })

  it('spell: missing and out-of-bounds fields are refused', async () => {
    for (const path of ['/v1/spell-suggest', '/v1/spell-cleanup'])
      for (const body of [{ text: 'a' }, { lang: 'en' }, { text: '', lang: 'en' }])
        assert.equal(summary(await client.post(path, body)), MISSING_FIELDS)
    assert.equal(summary(await client.server.get(`/v1/spell-dictionary?collection=${name}`)), MISSING_FIELDS)
    assert.equal(summary(await client.server.get('/v1/spell-dictionary?lang=en')), MISSING_FIELDS)
    assert.equal(await change('PUT', []), MISSING_FIELDS)
    assert.equal(await change('PUT', ['two words']), '400 {"error":"invalid words: \\"two words\\" is more than one word"}')
    assert.equal(await change('PUT', ['']), '400 {"error":"invalid words: a text is empty"}')
    const many = Array.from({ length: 5001 }, (_, n) => `w${n}`)
    assert.equal(await change('PUT', many), '400 {"error":"invalid words: 5001, at most 5000 are allowed"}')
    const other = { collection: client.collection() }
    assert.equal(await change('PUT', many.slice(0, 5000), other), '200 {"added":5000}')
    assert.equal(await change('PUT', ['more'], other), '400 {"error":"too many words: at most 5000 in a dictionary"}')
    const long = { text: 'a '.repeat(40_000), lang: 'en' }
    assert.equal(
      summary(await client.post('/v1/spell-cleanup', long)),
      '400 {"error":"invalid text: 80000 bytes, at most 65536 are allowed"}',
    )
  })

  it('spell: a search corrects words that are not in the index, if the collection is configured so, and reports it', async () => {
    const other = client.collection()
    await client.addBatch(other, DOCUMENTS)
    assert.deepEqual((await fts('databsae', { collection: other })).results, [])
    await client.server.request('PUT', '/v1/collection-config', { collection: other, spellCorrect: true })
    const { results, spellCorrected } = await fts('Databsae bufers', { collection: other })
    assert.equal(results.length, 4)
    assert.deepEqual(spellCorrected, { original: 'Databsae bufers', corrected: 'Database buffers' })
    const right = await fts('database buffers', { collection: other })
    assert.deepEqual(
      right.results.map(({ document }) => document.key),
      results.map(({ document }) => document.key),
    )
    assert.equal('spellCorrected' in right, false, 'nothing was corrected')
    assert.equal('spellCorrected' in (await fts('qqqqqqq', { collection: other })), false)
    const query = (await client.server.get(`/v1/fts?collection=${other}&q=databsae`)).json<Found & Record<string, unknown>>()
    assert.equal(query.spellCorrected?.corrected, 'database')
  })

  it('spell: a request may ask for the correction or forbid it', async () => {
    const other = client.collection()
    await client.addBatch(other, DOCUMENTS)
    assert.equal((await fts('databsae', { collection: other, spellCorrect: true })).results.length, 3)
    await client.server.request('PUT', '/v1/collection-config', { collection: other, spellCorrect: true })
    assert.deepEqual((await fts('databsae', { collection: other, spellCorrect: false })).results, [])
  })

  it('spell: in boolean queries words outside quotes are corrected, operators and phrases stay', async () => {
    const corrected = async (query: string): Promise<string | undefined> =>
      (await fts(query, { spellCorrect: true })).spellCorrected?.corrected
    assert.equal(await corrected('databsae AND (wnidows OR "databsae wnidows")'), 'database AND (windows OR "databsae wnidows")')
    assert.equal(await corrected('+bufer -entreprise'), '+buffer -enterprise')
    assert.equal(await corrected('"databsae"'), undefined)
    assert.equal(await corrected('bufer AND databsa?'), 'buffer AND databsa?')
    assert.equal(await corrected('what is a databsae?'), 'what is a database?')
    assert.deepEqual(
      (await fts('bufer -databsae', { spellCorrect: true })).results.map(({ document }) => document.key),
      ['k3'],
    )
  })

  it('spell: spellLang says in which language words are corrected', async () => {
    const other = client.collection()
    await client.addBatch(other, DOCUMENTS)
    await client.server.request('PUT', '/v1/spell-dictionary', { collection: other, lang: 'de', words: ['datenbank'] })
    const corrected = async (): Promise<string | undefined> => (await fts('datenbnak', { collection: other })).spellCorrected?.corrected
    await client.server.request('PUT', '/v1/collection-config', { collection: other, spellCorrect: true })
    assert.equal(await corrected(), undefined)
    await client.server.request('PUT', '/v1/collection-config', { collection: other, spellLang: 'de' })
    assert.equal(await corrected(), 'datenbank')
  })

  it('spell: synonyms and stop words of the collection are known words', async () => {
    const other = client.collection()
    await client.addBatch(other, DOCUMENTS)
    await client.post('/v1/synonyms', { collection: other, term: 'windoze', synonyms: ['windows'] })
    await client.post('/v1/stopwords', { collection: other, words: ['bufferz'] })
    assert.equal('spellCorrected' in (await fts('windoze bufferz', { collection: other, spellCorrect: true })), false)
  })

  it('spell: while it is off its operations are not there and the setting has no effect', async () => {
    const plain = await DocumentsClient.shared()
    const collection = plain.collection()
    try {
      for (const [method, path] of [
        ['POST', '/v1/spell-suggest'],
        ['POST', '/v1/spell-cleanup'],
        ['GET', '/v1/spell-dictionary'],
        ['PUT', '/v1/spell-dictionary'],
      ] as const)
        // prettier-ignore
        assert.equal(summary(await plain.server.request(method, path)), NOT_FOUND)
      assert.doesNotMatch((await plain.server.get('/v1/endpoints')).text, /spell-/)
      assert.doesNotMatch((await plain.server.get('/openapi.json')).text, /spell-/)
      await plain.addBatch(collection, DOCUMENTS)
      await plain.server.request('PUT', '/v1/collection-config', { collection, spellCorrect: true, spellLang: 'en' })
      const { config } = (await plain.server.get(`/v1/collection-config?collection=${collection}`)).json<{ config: Fields }>()
      assert.deepEqual([config.spellCorrect, config.spellLang], [true, 'en'])
      const answer = await plain.post('/v1/fts', { collection, query: 'databsae', spellCorrect: true })
      assert.deepEqual([answer.json<Found & Record<string, unknown>>().results, 'spellCorrected' in answer.json()], [[], false])
    } finally {
      await plain.stop()
    }
    assert.match((await client.server.get('/v1/endpoints')).text, /spell-suggest/)
    assert.match((await client.server.get('/openapi.json')).text, /spell-suggest/)
  })

  it('spell: dictionaries are changed in mode wr only', async () => {
    const reader = await DocumentsClient.start({ env: { SVC_SPELL: 'true', SVC_MODE: 'read' } })
    try {
      const body = { collection: 'c', lang: 'en', words: ['etcd'] }
      for (const method of ['PUT', 'DELETE'])
        assert.equal(summary(await reader.server.request(method, '/v1/spell-dictionary', body)), '403 {"error":"read-only mode"}')
      assert.equal((await reader.post('/v1/spell-suggest', { text: 'wich', lang: 'en' })).status, 200)
    } finally {
      await reader.stop()
    }
  })
})
