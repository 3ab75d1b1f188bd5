/**
 * Long texts in answers of MCP: what does not fit is cut, also of the only result, and get_document reads all
 * of a document in parts.
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
import { type Server, startServer } from '../../harness/server/server.js'

const PARAGRAPH = `How the otter swims, dives and sleeps. ${'It floats on its back. '.repeat(12)}`.trim()
const paragraphs = (count: number): string => Array.from({ length: count }, (_, n) => `${n}. ${PARAGRAPH}`).join('\n\n')
/** 60 KB, some 24 000 tokens. */
const LONG = paragraphs(190)
/** Without a place to cut it at; each character is two UTF-16 units, and an odd one comes first. */
const UNBROKEN = `otter \u{1F9A6}${'\u{1F9A6}'.repeat(9_000)}`
/** Repeated, so that it is one paragraph of its script alone. */
const LAO = `otter ${'ນາກອາໄສຢູ່ໃນແມ່ນ້ຳ'.repeat(700)}`
const MALAYALAM = `otter ${'നീർനായ പുഴയിൽ നീന്തുന്നു '.repeat(500)}`
const HEXADECIMAL = `otter ${'9f86d081884c7d659a2feaa0c55ad015'.repeat(1_000)}`
/** Their names have some 10 000 tokens. */
const COLLECTIONS = 200
const TEN_MB = 10_000_000
/** Of a part of a document by default. */
const DOCUMENT_TOKENS = 24_000

let server: Server
let client: McpClient

before(async () => {
  server = await startServer({ env: { SVC_EMBEDDING_PROVIDER: 'local' } })
  client = new McpClient(server)
  for (const [collection, contentMd] of Object.entries({
    ...{ long: LONG, unbroken: UNBROKEN, lao: LAO, malayalam: MALAYALAM, hexadecimal: HEXADECIMAL },
    largest: `${'It floats. '.repeat(TEN_MB / 11)}\n\nThe end.`,
    short: 'An otter.',
  }))
    await server.post('/v1/add', { collection, key: 'k', lang: 'en', contentMd, meta: { tag: ['a'] } })
  const values = Array.from({ length: 60 }, (_, n) => `${n} ${'x'.repeat(990)}`)
  await server.post('/v1/add', { collection: 'tagged', key: 'k', lang: 'en', contentMd: LONG, meta: { tag: values } })
  for (const collection of ['long', 'short']) await server.post('/v1/vector-reindex', { collection })
})
after(() => server.stop())

const IDENTITY = { key: 'k', lang: 'en' }
const result = (name: string, args: Fields): Promise<Result> => resultOf(client, name, args)

/** All parts of a document, as a model reads them. */
async function partsOf(collection: string, args: Fields = { max_tokens: DEFAULT_TOKENS }): Promise<readonly Fields[]> {
  const parts: Fields[] = []
  let offset: number | undefined = 0
  while (offset !== undefined) {
    const part = await result('get_document', { collection, ...IDENTITY, ...args, offset })
    const bound = Number(args['max_tokens'])
    assert.ok(tokensOf(readable(part)) <= bound, `${collection} at ${offset}: ${tokensOf(readable(part))} tokens`)
    parts.push(valueOf(part))
    assert.ok(Number(valueOf(part)['nextOffset'] ?? Infinity) > offset, `${collection} at ${offset}: no further`)
    offset = valueOf(part)['nextOffset'] as number | undefined
  }
  return parts
}
const joined = (parts: readonly Fields[]): string => parts.map(({ contentMd }) => contentMd).join('')

describe('mcp: long texts', () => {
  it('mcp: the only result is cut at a paragraph, so that every search is within the bound', async () => {
    for (const [tool, args] of [
      ['search_documents', {}],
      ['full_text_search', { query: 'otter' }],
      ['semantic_search', { query: 'otter' }],
      ['hybrid_search', { query: 'otter' }],
      ['cross_search', { query: 'otter', target_collections: ['long'] }],
    ] as const) {
      const found = await result(tool, { collection: 'long', ...args, include_content: true })
      const tokens = tokensOf(readable(found))
      assert.ok(tokens <= DEFAULT_TOKENS && tokens > DEFAULT_TOKENS / 2, `${tool}: ${tokens} tokens`)
      const value = valueOf(found)
      assert.equal(value['contextTruncated'], true, tool)
      assert.match(textsOf(found), /`fields`.*get_document/, tool)
      const [item] = itemsOf(value)
      const { key, contentMd, meta } = documentOf(item ?? {})
      assert.deepEqual([key, meta], ['k', { tag: ['a'] }], tool)
      assert.ok(LONG.startsWith(`${String(contentMd).trimEnd()}\n\n`), tool)
    }
  })

  it('mcp: a text without paragraphs is cut between two characters', async () => {
    const found = await result('search_documents', { collection: 'unbroken', include_content: true })
    const contentMd = String(documentOf(itemsOf(valueOf(found))[0] ?? {})['contentMd'])
    assert.ok(contentMd.length > 1_000 && UNBROKEN.startsWith(contentMd) && contentMd.isWellFormed())
    for (const bound of [1_000, 1_001, 1_002, 1_003]) {
      const parts = await partsOf('unbroken', { max_tokens: bound })
      for (const part of parts) assert.ok(String(part['contentMd']).isWellFormed())
      assert.equal(joined(parts), UNBROKEN)
    }
  })

  it('mcp: long metadata of the only result are cut, too', async () => {
    const found = await result('search_documents', { collection: 'tagged', fields: ['tag'] })
    assert.ok(tokensOf(readable(found)) <= DEFAULT_TOKENS)
    const { meta } = documentOf(itemsOf(valueOf(found))[0] ?? {}) as { readonly meta: { readonly tag: readonly string[] } }
    assert.ok(meta.tag.length > 5 && meta.tag.length < 60)
  })

  it('mcp: get_document reads a long document in parts within the bound, which are together its text', async () => {
    const parts = await partsOf('long')
    assert.ok(parts.length >= 3 && parts.length <= 6, `${parts.length} parts`)
    assert.equal(joined(parts), LONG)
    const [first, second] = parts
    assert.deepEqual([first?.['contextTruncated'], first?.['contentLength'], first?.['meta']], [true, LONG.length, { tag: ['a'] }])
    assert.ok(String(first?.['contentMd']).endsWith('.\n\n'))
    assert.deepEqual([second?.['offset'], 'meta' in (second ?? {})], [first?.['nextOffset'], false])
    const last = parts.at(-1) ?? {}
    assert.deepEqual(['contextTruncated' in last, 'nextOffset' in last], [false, false])
    const read = await result('get_document', { collection: 'long', ...IDENTITY, max_tokens: DEFAULT_TOKENS })
    assert.match(textsOf(read), new RegExp(`Call get_document again with \`offset\` ${String(first?.['nextOffset'])}`))
    const whole = valueOf(await result('get_document', { collection: 'long', ...IDENTITY, max_tokens: 100_000 }))
    assert.deepEqual(whole, (await server.post('/v1/get', { collection: 'long', ...IDENTITY })).json())
  })

  it('mcp: 10 MB are read in parts of at most 24 000 tokens, and max_tokens makes them few', async () => {
    const first = await result('get_document', { collection: 'largest', ...IDENTITY })
    const tokens = tokensOf(readable(first))
    assert.ok(tokens <= DOCUMENT_TOKENS && tokens > DOCUMENT_TOKENS / 2, `${tokens} tokens`)
    const parts = await partsOf('largest', { max_tokens: 1_000_000 })
    assert.ok(parts.length <= 6 && joined(parts).length === valueOf(first)['contentLength'] && joined(parts).endsWith('The end.'))
  })

  it('mcp: an offset outside of the text is a failed result that says how long it is', async () => {
    for (const offset of [-1, LONG.length + 1]) {
      const { isError, content } = await result('get_document', { collection: 'long', ...IDENTITY, offset })
      assert.deepEqual([isError, content[0]?.text], [true, `invalid offset: the text has ${LONG.length} characters`])
    }
    const end = valueOf(await result('get_document', { collection: 'long', ...IDENTITY, offset: LONG.length }))
    assert.deepEqual([end['contentMd'], 'nextOffset' in end], ['', false])
  })

  it('mcp: long metadata leave at least half of a part to the text, and get_document_meta shows the rest', async () => {
    const [first, ...further] = await partsOf('tagged')
    assert.match(String(first?.['contextHint']), /get_document_meta/)
    assert.ok(String(first?.['contentMd']).length > 8_000)
    assert.equal(joined([first ?? {}, ...further]), LONG)
    assert.ok(tokensOf(readable(await result('get_document_meta', { collection: 'tagged', ...IDENTITY }))) <= DEFAULT_TOKENS)
    const { meta } = valueOf(await result('get_document_meta', { collection: 'tagged', ...IDENTITY, max_tokens: 100_000 }))
    assert.equal((meta as { readonly tag: readonly string[] }).tag.length, 60)
  })

  it('mcp: tools that write a document, and revisions, answer within the bound', async () => {
    for (const [tool, args] of [
      ['add_document', { content_md: `${LONG}\n\nMore.` }],
      ['update_document', { meta: { tag: ['b'] } }],
      ['set_ttl', { ttl: 0 }],
      ['list_revisions', {}],
    ] as const) {
      const written = await result(tool, { collection: 'written', ...IDENTITY, ...args })
      const tokens = tokensOf(readable(written))
      assert.ok(tokens <= DEFAULT_TOKENS && tokens > DEFAULT_TOKENS / 2, `${tool}: ${tokens} tokens`)
      assert.match(textsOf(written), /get_document/, tool)
    }
    assert.equal(joined(await partsOf('written')), `${LONG}\n\nMore.`)
  })

  it('mcp: the bound holds for Lao, Malayalam and hexadecimal digits, which have many tokens', async () => {
    /** Tokenizers have one token for 1.7 random hexadecimal digits. */
    const hexadecimalTokens = (text: string): number => tokensOf(text.replace(/[0-9a-f]{16,}/g, (run) => 'x'.repeat(run.length * 1.45)))
    for (const [collection, text] of Object.entries({ lao: LAO, malayalam: MALAYALAM, hexadecimal: HEXADECIMAL })) {
      const found = await result('search_documents', { collection, include_content: true })
      const tokens = hexadecimalTokens(readable(found))
      assert.ok(tokens <= DEFAULT_TOKENS && tokens > DEFAULT_TOKENS / 3, `${collection}: ${tokens} tokens`)
      const parts = await partsOf(collection)
      for (const part of parts) assert.ok(hexadecimalTokens(JSON.stringify(part)) <= DEFAULT_TOKENS, collection)
      assert.equal(joined(parts), text)
    }
  })

  it('mcp: of a search over very many collections their names are cut before the results', async () => {
    const names = Array.from({ length: COLLECTIONS }, (_, n) => `${n}-${'otter-'.repeat(19)}`)
    for (const collection of names) await server.post('/v1/add', { collection, ...IDENTITY, contentMd: 'Nothing.', meta: {} })
    const pages = Array.from({ length: 10 }, (_, n) => ({
      key: `${n}`,
      lang: 'en',
      contentMd: `An otter, number ${n}. ${'It floats. '.repeat(40)}`,
    }))
    await server.post('/v1/add-batch', { collection: 'many', documents: pages })
    await server.post('/v1/vector-reindex', { collection: 'many' })
    const found = await result('cross_search', { query: 'otter', target_collections: ['many', ...names] })
    assert.ok(tokensOf(readable(found)) <= DEFAULT_TOKENS)
    const value = valueOf(found)
    assert.deepEqual([itemsOf(value).length, value['total'], value['contextTruncated']], [10, 10, true])
    assert.deepEqual([value['collectionsSearched'], (value['targetCollections'] as readonly string[])[0]], [COLLECTIONS + 1, 'many'])
  })
})
