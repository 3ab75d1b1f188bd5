/** retrievalMode auto: docs/decisions/interfaces/mcp.md. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Server, startServer } from '../../harness/server/server.js'

interface Document {
  readonly key: string
  readonly contentMd: string
}

interface Passage {
  readonly chunkText?: string
}

interface Answer {
  readonly results: readonly ({ readonly document: Document } & Passage)[]
}

describe('retrieval: auto', () => {
  let server: Server

  before(async () => {
    server = await startServer({ env: { SVC_EMBEDDING_PROVIDER: 'local' } })
  })
  after(() => server.stop())

  const ask = async (path: string, input: object): Promise<Answer> => (await server.post(path, input)).json<Answer>()

  it('retrieval: auto shows short documents whole and the matching passage of longer ones, in every search', async () => {
    const paragraphs = ['about otters and rivers ', 'about owls and nights '].map((text) => text.repeat(40).trim())
    for (const [key, contentMd] of [
      ['long', paragraphs.join('\n\n')],
      ['short', 'owls at night'],
    ] as const)
      await server.post('/v1/add', { collection: 'auto', key, lang: 'en', contentMd })
    await server.post('/v1/vector-reindex', { collection: 'auto' })
    const auto = { collection: 'auto', retrievalMode: 'auto' }
    const meaning = { query: 'owls at night', threshold: -1 }
    for (const [path, more] of [
      ['/v1/fts', { query: 'owls' }],
      ['/v1/vector-search', meaning],
      ['/v1/hybrid-search', { query: 'owls', threshold: -1 }],
      ['/v1/cross-search', { ...meaning, targetCollections: ['auto'] }],
    ] as const) {
      const { results } = await ask(path, { ...auto, ...more })
      const of = (key: string) => results.find(({ document }) => document.key === key)
      assert.deepEqual([of('short')?.document.contentMd, of('short')?.chunkText], ['owls at night', undefined], path)
      assert.equal(of('long')?.document.contentMd, '', path)
      assert.match(of('long')?.chunkText ?? '', /owls/, path)
    }
    const listed = (await server.post('/v1/search', { ...auto, sort: 'key', asc: true })).json<readonly (Document & Passage)[]>()
    assert.deepEqual(
      listed.map(({ contentMd, chunkText }) => [contentMd, chunkText?.startsWith('about otters')]),
      [
        ['', true],
        ['owls at night', undefined],
      ],
    )
    const wide = { ...auto, ...meaning, targetCollections: ['auto'], retrievalMode: 'window', windowSize: 5 }
    const [window] = (await ask('/v1/cross-search', wide)).results.filter(({ document }) => document.key === 'long')
    assert.equal(window?.chunkText, paragraphs.join('\n\n'))
    const [narrow] = (await ask('/v1/cross-search', { ...wide, windowSize: 0 })).results.filter(({ document }) => document.key === 'long')
    assert.equal(narrow?.chunkText, paragraphs[1])
    // A profile goes before auto.
    await server.request('PUT', '/v1/collection-config', { collection: 'auto', retrieval: { retrievalMode: 'parent' } })
    const { results } = await ask('/v1/fts', { ...auto, query: 'rivers' })
    assert.equal(results[0]?.document.contentMd, paragraphs.join('\n\n'))
  })
})
