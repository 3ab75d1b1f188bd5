/**
 * What tools of MCP do beyond passing a request on: defaults and merges of their own, several spellings of an
 * argument, passages in place of texts, bounds of an export. That each tool gives the answer of its operation
 * is in every_protocol.test.ts.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { McpClient, type Result } from '../../harness/clients/mcp_client.js'
import { type Server, startServer } from '../../harness/server/server.js'

type Fields = Readonly<Record<string, unknown>>
type Found = readonly { readonly document: Fields; readonly chunkText?: string }[]

const LONG = `# Restore\n\n${'How a backup is restored, step by step, with every detail of it. '.repeat(60)}`

let server: Server
let client: McpClient

before(async () => {
  server = await startServer({ env: { SVC_EMBEDDING_PROVIDER: 'local' } })
  client = new McpClient(server)
  await server.post('/v1/add', {
    collection: 'notes',
    key: 'restore',
    lang: 'en',
    contentMd: LONG,
    meta: { topic: ['backup'], status: ['draft'] },
  })
  await server.post('/v1/add', { collection: 'notes', key: 'other', lang: 'en', contentMd: 'something else', meta: { topic: ['misc'] } })
  await server.post('/v1/vector-reindex', { collection: 'notes' })
})
after(() => server.stop())

async function result(name: string, args: Fields): Promise<Result> {
  const { rpc } = await client.stateless('tools/call', { name, arguments: args })
  assert.equal(rpc.error, undefined, `${name}: ${JSON.stringify(rpc.error)}`)
  return rpc.result
}

async function called(name: string, args: Fields): Promise<Fields> {
  const { isError, content, structuredContent } = await result(name, args)
  assert.notEqual(isError, true, `${name}: ${content[0]?.text ?? ''}`)
  return (structuredContent ?? JSON.parse(content[0]?.text ?? '')) as Fields
}

async function refusalOf(name: string, args: Fields): Promise<{ readonly code: number; readonly message: string } | undefined> {
  return (await client.stateless('tools/call', { name, arguments: args })).rpc.error
}

describe('mcp: rules of tools', () => {
  it('mcp: a curation rule is enabled unless the call says otherwise, and a change keeps what it does not name', async () => {
    const made = await called('create_curation_rule', { collection: 'notes', query: 'start', pins: [{ key: 'other', position: 1 }] })
    assert.equal(made['enabled'], true)
    const off = await called('create_curation_rule', { collection: 'notes', query: 'start', enabled: 'no' })
    assert.equal(off['enabled'], false)
    const changed = await called('update_curation_rule', { id: made['id'], hides: 'restore' })
    assert.deepEqual(
      [changed['query'], changed['enabled'], changed['pins'], changed['hides'], changed['createdAt']],
      ['start', true, made['pins'], ['restore'], made['createdAt']],
    )
    const unknown = await result('update_curation_rule', { id: 'cur_00000000000000000000000000000000', query: 'x' })
    assert.deepEqual([unknown.isError, unknown.content[0]?.text], [true, 'not found'])
    for (const { id } of [made, off]) await called('delete_curation_rule', { id })
    assert.equal((await called('list_curation_rules', { collection: 'notes' }))['total'], 0)
  })

  it('mcp: a result with a passage has no text of the document, unless it is asked for', async () => {
    const ask = { collection: 'notes', query: 'how is a backup restored', top_k: 1 }
    const [whole] = (await called('semantic_search', { ...ask, retrieval_mode: 'parent' }))['results'] as Found
    assert.equal(whole?.document['contentMd'], LONG)
    const [passage] = (await called('semantic_search', { ...ask, retrieval_mode: 'chunk' }))['results'] as Found
    assert.ok((passage?.chunkText ?? '').length > 0)
    assert.equal('contentMd' in (passage?.document ?? {}), false)
    const [both] = (await called('semantic_search', { ...ask, retrieval_mode: 'chunk', include_content: true }))['results'] as Found
    assert.equal(both?.document['contentMd'], LONG)
    // As the collection is configured.
    await server.request('PUT', '/v1/collection-config', { collection: 'notes', retrieval: { retrievalMode: 'chunk' } })
    for (const tool of ['semantic_search', 'hybrid_search']) {
      const [configured] = (await called(tool, ask))['results'] as Found
      assert.ok((configured?.chunkText ?? '').length > 0, tool)
      assert.equal('contentMd' in (configured?.document ?? {}), false, tool)
    }
    await server.request('PUT', '/v1/collection-config', { collection: 'notes', retrieval: null })
  })

  it('mcp: fields leaves id, key, lang and the named metadata, with or without the prefix meta.', async () => {
    const ask = { collection: 'notes', filter_meta: { topic: 'backup' } }
    const reduced = { id: 'notes|restore|en', key: 'restore', lang: 'en', meta: { topic: ['backup'] } }
    for (const fields of ['topic', ['topic'], ['meta.topic', 'absent']])
      assert.deepEqual((await called('search_documents', { ...ask, fields }))['documents'], [reduced], JSON.stringify(fields))
    const { addedAt } = ((await called('search_documents', { ...ask, fields: ['addedAt'] }))['documents'] as readonly Fields[])[0] ?? {}
    assert.equal(typeof addedAt, 'number')
    const [hit] = (await called('full_text_search', { collection: 'notes', query: 'backup', fields: 'topic', highlight: 'yes' }))[
      'results'
    ] as Found
    assert.deepEqual(hit?.document, reduced)
    assert.match(JSON.stringify(hit), /<mark>backup<\/mark>/)
  })

  it('mcp: facets and histograms are names or objects, and lists and objects may be JSON text', async () => {
    const wanted = { topic: [{ value: 'backup', count: 1 }, { value: 'misc', count: 1 }] } // prettier-ignore
    for (const facets of [['topic'], [{ field: 'topic', order_by: 'value' }], '["topic"]'])
      assert.deepEqual((await called('aggregate', { collection: 'notes', facets }))['facets'], wanted, JSON.stringify(facets))
    const { histograms, totalDocs } = await called('aggregate', {
      collection: 'notes',
      histograms: [{ field: 'addedAt', interval: 'year' }],
      filter_meta: '{"topic":"misc"}',
    })
    assert.equal(totalDocs, 1)
    assert.equal(((histograms as Fields)['addedAt'] as readonly Fields[])[0]?.['count'], 1)
  })

  it('mcp: names of arguments may be written as over HTTP, numbers as text, and unknown arguments are ignored', async () => {
    const { documents, total } = await called('search_documents', {
      collection: 'notes',
      filterMeta: { topic: 'misc' },
      limit: '1',
      colour: 'red',
    })
    assert.deepEqual([(documents as readonly Fields[]).map(({ key }) => key), total], [['other'], 1])
    const { items } = await called('autocomplete', { collection: 'notes', q: 'rest', topN: 1 })
    assert.equal((items as readonly Fields[]).length, 1)
    const source = { targetCollections: ['notes'], sourceCollection: 'notes' }
    for (const name of ['source_doc_id', 'sourceDocId', 'sourceDocID'])
      assert.ok('results' in (await called('cross_search', { ...source, [name]: 'notes|other|en' })), name)
  })

  it('mcp: what cannot be read as the type of its argument is an error that names it', async () => {
    for (const [name, args, text] of [
      ['search_documents', {}, 'missing required argument: collection'],
      ['search_documents', { collection: null }, 'missing required argument: collection'],
      ['search_documents', { collection: 'notes', limit: 'many' }, 'invalid argument limit: a whole number expected'],
      ['search_documents', { collection: 'notes', limit: 1.5 }, 'invalid argument limit: a whole number expected'],
      ['search_documents', { collection: 'notes', include_content: 'perhaps' }, 'invalid argument include_content: true or false expected'],
      ['search_documents', { collection: ['notes'] }, 'invalid argument collection: a string expected'],
      [
        'search_documents',
        { collection: 'notes', filter_meta: 'topic' },
        'invalid argument filter_meta: an object with strings or arrays of strings expected',
      ],
      ['add_documents_batch', { collection: 'notes', documents: ['a'] }, 'invalid argument documents[0]: an object expected'],
    ] as const) {
      const error = await refusalOf(name, args)
      assert.deepEqual([error?.code, error?.message], [-32602, text])
    }
  })

  it('mcp: a batch accepts content_md and metadata with plain strings, and reports an invalid document alone', async () => {
    const documents = [
      { key: 'one', lang: 'en', content_md: 'first', meta: { tag: 'x', nested: ['a', 'b'] } },
      { key: 'two', lang: 'en', contentMd: 'second' },
      { key: '', lang: 'en', content_md: 'none' },
    ]
    const counts = await called('add_documents_batch', { collection: 'batch', documents })
    assert.deepEqual([counts['added'], counts['failed']], [2, 1])
    const { meta, contentMd } = await called('get_document', { collection: 'batch', key: 'one', lang: 'en' })
    assert.deepEqual([meta, contentMd], [{ tag: ['x'], nested: ['a', 'b'] }, 'first'])
  })

  it('mcp: a schema may be JSON text or an object', async () => {
    const rules = { required: ['status'] }
    for (const schema of [JSON.stringify(rules), rules]) {
      await called('set_schema', { collection: 'strict', schema })
      assert.deepEqual(JSON.parse(String((await called('get_schema', { collection: 'strict' }))['schema'])), rules)
      assert.equal((await called('validate_document', { collection: 'strict', meta: {} }))['valid'], false)
      await called('delete_schema', { collection: 'strict' })
    }
  })

  it('mcp: an export is NDJSON by default or a ZIP file; beyond its bound NDJSON ends with a whole line, and a ZIP file is refused', async () => {
    const small = await called('export_documents', { collection: 'notes' })
    assert.deepEqual([small['format'], small['count'], small['truncated']], ['ndjson', 2, false])
    const absent = await result('export_documents', { collection: 'nothing' })
    assert.deepEqual([absent.isError, /not found/.test(absent.content[0]?.text ?? '')], [true, true])
    const zip = await called('export_documents', { collection: 'notes', format: 'zip', filter_meta: { topic: 'misc' } })
    assert.equal(Buffer.from(String(zip['content']), 'base64').toString('latin1', 0, 2), 'PK')
    // Not compressible.
    const line = (seed: number): string =>
      Array.from({ length: 200 }, (_, at) => ((at * 7919 + seed * 104_729) ** 2 % 2_147_483_647).toString(36)).join(' ')
    const texts = Array.from({ length: 48 }, (_, seed) => ({ key: `k${seed}`, lang: 'en', contentMd: line(seed) }))
    await server.post('/v1/add-batch', { collection: 'large', documents: texts })
    const large = await called('export_documents', { collection: 'large' })
    const content = String(large['content'])
    assert.equal(large['truncated'], true)
    // 8 000 tokens of 2.5 characters.
    assert.ok(content.length <= 20_000 && content.endsWith('\n'))
    const lines = content.trimEnd().split('\n')
    assert.equal(large['count'], lines.length)
    for (const each of lines) JSON.parse(each)
    const refused = await result('export_documents', { collection: 'large', format: 'zip' })
    assert.equal(refused.isError, true)
    assert.match(refused.content[0]?.text ?? '', /export too large.*POST \/v1\/export/)
  })
})
