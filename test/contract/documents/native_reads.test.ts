/** The server reads plain documents natively: what a client gets is the same, and a metric counts them. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Server, startServer } from '../../harness/server/server.js'

describe('documents that are read natively', () => {
  let server: Server
  before(async () => (server = await startServer()))
  after(() => server.stop())

  const read = async (): Promise<number> =>
    Number(/^mddb_documents_read_natively_total (\d+)$/m.exec((await server.get('/metrics')).text)?.[1])

  it('native reads: gets, listings and searches count the documents that they read so, and others are shown alike', async () => {
    const contents = ['short', 'snappy '.repeat(300), 'zstd and more of it '.repeat(3_000)]
    const documents = contents.map((contentMd, at) => ({ key: `Doc-${at}`, lang: 'en', contentMd, meta: { at: [String(at)] } }))
    assert.equal((await server.post('/v1/add-batch', { collection: 'plain', documents })).status, 200)
    const begin = await read()
    for (const { key, contentMd } of documents) {
      const shown = (await server.post('/v1/get', { collection: 'plain', key, lang: 'en' })).json<{ contentMd: string }>()
      assert.equal(shown.contentMd, contentMd)
    }
    assert.equal(await read(), begin + 3)
    const listed = (await server.post('/v1/search', { collection: 'plain', sort: 'key' })).json<{ contentMd: string }[]>()
    assert.ok(
      contents.every((content) => listed.some(({ contentMd }) => contentMd === content)),
      'every content is listed',
    )
    assert.equal(await read(), begin + 6)
    // A page of the lane's cache, or of another lane, which has read nothing yet.
    const found = (await server.post('/v1/fts', { collection: 'plain', query: 'zstd' })).json<{ results: object[] }>()
    assert.equal(found.results.length, 1)
    assert.ok((await read()) <= begin + 7)
  })

  it('native reads: a page of 300 is in order, in a listing and in a search, each document read once', async () => {
    const contentOf = (at: number): string => `word ${at} `.repeat(at === 150 ? 60_000 : 1 + at * 5)
    const documents = Array.from({ length: 300 }, (_, at) => ({
      key: `k${String(at).padStart(3, '0')}`,
      lang: 'en',
      contentMd: contentOf(at),
    }))
    assert.equal((await server.post('/v1/add-batch', { collection: 'many', documents })).status, 200)
    const begin = await read()
    const listed = (await server.post('/v1/search', { collection: 'many', sort: 'key', asc: true, limit: 300 })).json<
      { key: string; contentMd: string }[]
    >()
    assert.deepEqual(
      listed.map(({ key, contentMd }) => ({ key, lang: 'en', contentMd })),
      documents,
    )
    assert.equal(await read(), begin + 300)
    const { results } = (await server.post('/v1/fts', { collection: 'many', query: 'word', limit: 300 })).json<{
      results: { document: { key: string; contentMd: string } }[]
    }>()
    const contents = new Map(results.map(({ document }) => [document.key, document.contentMd]))
    assert.equal(contents.size, 300)
    for (const { key, contentMd } of documents) assert.equal(contents.get(key), contentMd)
    assert.equal(await read(), begin + 600)
  })

  it('native reads: another spelling is found by its rows and then read so, and templates are filled from rows', async () => {
    const add = { collection: 'plain', key: 'doc-0', lang: 'EN', contentMd: 'Hello %%name%%' }
    assert.equal((await server.post('/v1/add', add)).status, 200)
    const begin = await read()
    const { contentMd } = (await server.post('/v1/get', { collection: 'plain', key: 'Doc-0', lang: 'en' })).json<{ contentMd: string }>()
    assert.equal(contentMd, 'Hello %%name%%')
    assert.equal(await read(), begin + 1)
    const filled = await server.post('/v1/get', { collection: 'plain', key: 'doc-0', lang: 'EN', env: { name: 'Ada' } })
    assert.equal(filled.json<{ contentMd: string }>().contentMd, 'Hello Ada')
    assert.equal((await server.post('/v1/get', { collection: 'plain', key: 'nothing', lang: 'en' })).status, 404)
    assert.equal(await read(), begin + 1)
  })
})
