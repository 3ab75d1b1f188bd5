/**
 * Answers of MCP are short enough for a model: passages by default, a bound in tokens, one copy. What a model
 * can mend is a failed result.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  DEFAULT_TOKENS,
  documentOf,
  type Fields,
  itemsOf,
  readable,
  resultOf,
  textsOf,
  tokensOf,
  valueOf,
} from '../../harness/clients/mcp_answers.js'
import { McpClient, type Result } from '../../harness/clients/mcp_client.js'
import { untilAsked } from '../../harness/process/until.js'
import { type Server, startServer } from '../../harness/server/server.js'

const PAGES = 112
const paragraph = (page: number, at: number): string =>
  `## Part ${at} of page ${page}\n\nHow the otter of page ${page} swims, dives and sleeps in part ${at}. ${'It floats on its back. '.repeat(12)}\n\n`
const english = (page: number): string => Array.from({ length: 24 }, (_, at) => paragraph(page, at)).join('')
const chinese = (page: number): string => `水獭 ${page}\n\n${'水獭在河里游泳，它们吃鱼，也睡在水面上。'.repeat(200)}`

let server: Server
let client: McpClient

before(async () => {
  server = await startServer({ env: { SVC_EMBEDDING_PROVIDER: 'local' } })
  client = new McpClient(server)
  const page = (text: (n: number) => string, n: number): object => ({
    key: `page-${n}`,
    lang: 'en',
    contentMd: text(n),
    meta: { title: [`Page ${n}`], tag: [`tag-${n}-${'x'.repeat(200)}`] },
  })
  const pages = (count: number, text: (n: number) => string): object[] => Array.from({ length: count }, (_, n) => page(text, n))
  await server.post('/v1/add-batch', { collection: 'pages', documents: pages(PAGES, english) })
  await server.post('/v1/add-batch', { collection: 'chinese', documents: pages(30, chinese) })
  await server.post('/v1/add-batch', { collection: 'twins', documents: pages(PAGES, () => english(0)) })
  await server.post('/v1/add-batch', { collection: 'short', documents: pages(5, (n) => `An otter, number ${n}.`) })
  await server.post('/v1/vector-reindex', { collection: 'pages' })
  await server.post('/v1/vector-reindex', { collection: 'short' })
})
after(() => server.stop())

const result = (name: string, args: Fields): Promise<Result> => resultOf(client, name, args)

const SEARCHES = [
  ['search_documents', {}],
  ['full_text_search', { query: 'otter' }],
  ['semantic_search', { query: 'otter', top_k: 50 }],
  ['vector_search', { query: 'otter', top_k: 50 }],
  ['hybrid_search', { query: 'otter', top_k: 50 }],
  ['cross_search', { query: 'otter', top_k: 50, target_collections: ['pages'] }],
] as const

describe('mcp: size of answers', () => {
  it('mcp: by default a search answers passages in at most 8 000 tokens, and says how to get more', async () => {
    for (const [tool, args] of SEARCHES) {
      const found = await result(tool, { collection: 'pages', ...args })
      const tokens = tokensOf(readable(found))
      assert.ok(tokens <= DEFAULT_TOKENS && tokens > DEFAULT_TOKENS / 2, `${tool}: ${tokens} tokens`)
      const value = valueOf(found)
      assert.equal(value['contextTruncated'], true, tool)
      assert.match(String(value['contextHint']), /`fields`.*get_document/, tool)
      assert.match(textsOf(found), /`fields`.*get_document/, tool)
      const items = itemsOf(value)
      assert.ok(items.length > 3, `${tool}: ${items.length} results`)
      for (const item of items) {
        assert.match(String(item['chunkText']), /otter of page/, tool)
        assert.equal('contentMd' in documentOf(item), false, tool)
      }
    }
  })

  it('mcp: the bound holds for Chinese texts, of which a token has fewer characters', async () => {
    for (const [tool, args] of [
      ['search_documents', {}],
      ['full_text_search', { query: '水獭' }],
    ] as const) {
      const found = await result(tool, { collection: 'chinese', ...args })
      const tokens = tokensOf(readable(found))
      assert.ok(tokens <= DEFAULT_TOKENS, `${tool}: ${tokens} tokens`)
      assert.ok(itemsOf(valueOf(found)).length > 1, tool)
    }
  })

  it('mcp: short documents are shown whole by default, and nothing is left out', async () => {
    for (const [tool, args] of SEARCHES) {
      const value = valueOf(await result(tool, { collection: 'short', ...args, target_collections: ['short'] }))
      const items = itemsOf(value)
      assert.equal(items.length, 5, tool)
      for (const item of items) {
        assert.match(String(documentOf(item)['contentMd']), /^An otter, number \d\.$/, tool)
        assert.equal('chunkText' in item, false, tool)
      }
      assert.equal('contextTruncated' in value || 'contextHint' in value, false, tool)
    }
  })

  it('mcp: the profile of a collection goes before the default of passages', async () => {
    await server.request('PUT', '/v1/collection-config', { collection: 'short', retrieval: { retrievalMode: 'chunk' } })
    const [item] = itemsOf(valueOf(await result('full_text_search', { collection: 'short', query: 'otter' })))
    assert.match(String(item?.['chunkText']), /^An otter/)
    await server.request('PUT', '/v1/collection-config', { collection: 'short', retrieval: null })
  })

  it('mcp: max_tokens bounds the answer, the first result always stays, and include_content returns whole texts', async () => {
    const ask = { collection: 'pages', query: 'otter' }
    const few = await result('full_text_search', { ...ask, max_tokens: 2_000 })
    assert.ok(tokensOf(readable(few)) <= 2_000)
    const many = itemsOf(valueOf(await result('full_text_search', { ...ask, max_tokens: 1_000_000 })))
    assert.equal(many.length, 50)
    assert.ok(itemsOf(valueOf(few)).length < itemsOf(valueOf(await result('full_text_search', ask))).length)
    const one = valueOf(await result('full_text_search', { ...ask, include_content: true, max_tokens: 5_000 }))
    assert.equal(itemsOf(one).length, 1)
    const { key, contentMd } = documentOf(itemsOf(one)[0] ?? {})
    assert.equal(contentMd, english(Number(String(key).slice('page-'.length))))
    const least = await result('full_text_search', { ...ask, max_tokens: 1 })
    assert.ok(tokensOf(readable(least)) <= 1_000 && itemsOf(valueOf(least)).length === 1)
  })

  it('mcp: fields gives an overview of all results in fewer tokens', async () => {
    const found = await result('full_text_search', { collection: 'pages', query: 'otter', fields: ['title'] })
    assert.ok(tokensOf(readable(found)) <= DEFAULT_TOKENS)
    assert.ok(itemsOf(valueOf(found)).length >= 40)
  })

  it('mcp: a long structured result is not repeated as text: the text is an outline with the identities', async () => {
    const found = await result('full_text_search', { collection: 'pages', query: 'otter' })
    const [text] = found.content
    assert.ok(tokensOf(text?.text ?? '') <= DEFAULT_TOKENS / 8)
    const outline = JSON.parse(text?.text ?? '') as Fields
    assert.match(String(outline['note']), /structuredContent/)
    const [first] = itemsOf(outline)
    assert.equal(documentOf(first ?? {})['id'], documentOf(itemsOf(valueOf(found))[0] ?? {})['id'])
    const short = await result('full_text_search', { collection: 'short', query: 'otter', limit: 1 })
    assert.deepEqual(JSON.parse(short.content[0]?.text ?? ''), short.structuredContent)
  })

  it('mcp: clients of revisions without structured content get the JSON as text, within the same bound', async () => {
    for (const [revision, isStructured] of [
      ['2025-03-26', false],
      ['2025-06-18', true],
    ] as const) {
      const session = await client.initialize(revision)
      const params = { name: 'full_text_search', arguments: { collection: 'pages', query: 'otter' } }
      const found = (await session.ask('tools/call', params)).rpc.result
      assert.equal('structuredContent' in found, isStructured, revision)
      assert.ok(tokensOf(readable(found)) <= DEFAULT_TOKENS)
      const [item] = itemsOf(valueOf(found))
      assert.match(String(item?.['chunkText']), /otter of page/, revision)
    }
  })

  it('mcp: every other tool that lists is within the bound, too, and so are prompts and the search resource', async () => {
    for (let n = 0; n < 20; n++)
      await server.post('/v1/add', { collection: 'versions', key: 'k', lang: 'en', contentMd: `${n} ${english(n)}`, meta: {} })
    for (const [tool, args] of [
      ['find_duplicates', { collection: 'twins', mode: 'exact', include_content: true }],
      ['list_revisions', { collection: 'versions', key: 'k', lang: 'en' }],
      ['export_documents', { collection: 'pages' }],
      ['get_meta_keys', { collection: 'pages' }],
      ['aggregate', { collection: 'pages', facets: ['tag'], max_facet_size: 1_000 }],
    ] as const) {
      const found = await result(tool, args)
      const tokens = tokensOf(readable(found))
      assert.ok(tokens <= DEFAULT_TOKENS && tokens > 500, `${tool}: ${tokens} tokens`)
      assert.equal(valueOf(found)['contextTruncated'], true, tool)
    }
    const exported = valueOf(await result('export_documents', { collection: 'pages' }))
    const lines = String(exported['content']).trimEnd().split('\n')
    assert.deepEqual([exported['truncated'], exported['count']], [true, lines.length])
    for (const line of lines) JSON.parse(line)
    const { contents } = (await client.stateless('resources/read', { uri: 'mddb-search://pages?limit=100' })).rpc.result
    const text = contents[0]?.text ?? ''
    assert.ok(tokensOf(text) <= DEFAULT_TOKENS && itemsOf(JSON.parse(text) as Fields).length > 3)
    const prompt = await client.stateless('prompts/get', { name: 'summarize-collection', arguments: { collection: 'chinese', limit: 30 } })
    assert.ok(tokensOf(JSON.stringify(prompt.rpc.result.messages)) <= DEFAULT_TOKENS)
  })

  it('mcp: a search asks one operation, responsePrompt included', async () => {
    await server.request('PUT', '/v1/collection-config', { collection: 'short', responsePrompt: 'Answer in verse.' })
    for (const [tool, args] of SEARCHES.filter(([name]) => name !== 'cross_search'))
      assert.equal(valueOf(await result(tool, { collection: 'short', ...args }))['responsePrompt'], 'Answer in verse.', tool)
    /** Requests that lanes have taken. */
    const taken = async (): Promise<number> =>
      (await server.get('/metrics')).text
        .split('\n')
        .filter((line) => line.startsWith('mddb_lane_wait_seconds_count'))
        .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
    const first = await taken()
    const ofMetrics = (await taken()) - first
    for (const tool of ['search_documents', 'full_text_search']) {
      const before = await taken()
      for (let n = 0; n < 5; n++) await result(tool, { collection: 'short', query: 'otter' })
      assert.equal((await taken()) - before - ofMetrics, 5, tool)
    }
  })
})

describe('mcp: refusals that a model can mend', () => {
  it('mcp: a refusal of an operation is a result with isError and its reason', async () => {
    await result('set_schema', { collection: 'strict', schema: { required: ['status'] } })
    const { id } = valueOf(
      await result('bulk_ingest_submit', { collection: 'done', documents: [{ key: 'a', lang: 'en', content_md: 'x' }] }),
    )
    await untilAsked(
      async () => valueOf(await result('bulk_ingest_status', { id })),
      ({ status }) => status === 'completed',
    )
    for (const [tool, args, text] of [
      ['add_document', { collection: 'strict', key: 'k', lang: 'en', content_md: 'x' }, /status/],
      ['update_document', { collection: 'short', key: 'page-1', lang: 'en' }, /no fields to update/],
      ['export_documents', { collection: 'short', format: 'pdf' }, /unsupported format/],
      ['bulk_ingest_cancel', { id }, /job/],
      ['full_text_search', { collection: 'short', query: 'otter', limit: -1 }, /limit/],
      ['full_text_search', { collection: 'short', query: 'otter', algorithm: 'none' }, /unknown algorithm/],
      ['hybrid_search', { collection: 'short', query: '' }, /missing/],
    ] as const) {
      const { isError, content } = await result(tool, args)
      assert.equal(isError, true, tool)
      assert.match(content[0]?.text ?? '', text, tool)
    }
  })

  it('mcp: an unknown tool and a malformed call stay -32602, and so do refused resources and prompts', async () => {
    const codeOf = async (method: string, params: Fields): Promise<number | undefined> =>
      (await client.stateless(method, params)).rpc.error?.code
    assert.equal(await codeOf('tools/call', { name: 'no_such_tool', arguments: {} }), -32602)
    assert.equal(await codeOf('tools/call', { name: 'search_documents', arguments: {} }), -32602)
    assert.equal(await codeOf('resources/read', { uri: 'mddb-search://short?limit=many' }), -32602)
  })
})
