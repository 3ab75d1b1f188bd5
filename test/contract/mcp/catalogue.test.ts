/**
 * What MCP offers beside its tools, and which tools an operator offers: mcp.md, "Resources", "Prompts",
 * "Custom tools", and read mode.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { loadCustomTools } from '../../../src/surface/mcp/catalogue/custom_tools.js'
import { type Answer, McpClient } from '../../harness/clients/mcp_client.js'
import { ACCESS_ENV, Admin, asUser } from '../../harness/server/access.js'
import { runToEnd, type Server, type ServerOptions, startServer } from '../../harness/server/server.js'

const names = (list: readonly { readonly name: string }[]): readonly string[] => list.map(({ name }) => name)

describe('mcp: catalogue', () => {
  let server: Server
  let client: McpClient
  let folder: string

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'mds-mcp-'))
    server = await startServer()
    client = new McpClient(server)
    // With times, because the prompts show the newest first, and times are in seconds.
    const times = (second: number): object => ({ addedAt: second, updatedAt: second })
    const written = await server.post('/v1/add-batch', {
      collection: 'blog',
      keepTimes: true,
      documents: [
        { key: 'c', lang: 'de', contentMd: '# Biber', meta: { kind: ['animal'], tag: ['y'] }, ...times(1_700_000_000) },
        { key: 'a/b', lang: 'en', contentMd: '# Otters\n\nswim.', meta: { kind: ['animal'], tag: ['x'] }, ...times(1_700_000_001) },
      ],
    })
    assert.equal(written.status, 200, written.text)
    await server.post('/v1/add', { collection: 'books', key: 'c', lang: 'en', contentMd: '# Book' })
  })

  after(async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function serving(options: ServerOptions, run: (other: McpClient, server: Server) => Promise<void>): Promise<void> {
    const other = await startServer(options)
    try {
      await run(new McpClient(other), other)
    } finally {
      await other.stop()
    }
  }

  const read = async (uri: string): Promise<{ readonly uri: string; readonly mimeType: string; readonly text: string } | undefined> =>
    (await client.stateless('resources/read', { uri })).rpc.result.contents[0]
  const tool = async (other: McpClient, name: string, args: object = {}): Promise<Answer> =>
    await other.stateless('tools/call', { name, arguments: args })
  const toolNames = async (other: McpClient): Promise<readonly string[]> => names((await other.stateless('tools/list')).rpc.result.tools)

  it('mcp: resources are health, statistics, documents and searches by metadata', async () => {
    const health = await read('mddb://health')
    assert.deepEqual(
      [health?.mimeType, (JSON.parse(health?.text ?? '') as { readonly status: string }).status],
      ['application/json', 'healthy'],
    )
    const stats = await read('mddb://stats')
    assert.deepEqual(
      [stats?.mimeType, (JSON.parse(stats?.text ?? '') as { readonly totalDocuments: number }).totalDocuments],
      ['application/json', 3],
    )
    for (const uri of ['mddb://blog/a%2Fb?lang=en', 'mddb://blog/a/b', 'mddb://blog/a/b?lang=en']) {
      const document = await read(uri)
      assert.deepEqual([document?.uri, document?.mimeType, document?.text], [uri, 'text/markdown', '# Otters\n\nswim.'])
    }
    const found = await read('mddb-search://blog?meta.kind=animal&meta.tag=x&limit=5')
    const { documents, total } = JSON.parse(found?.text ?? '') as {
      readonly documents: readonly { readonly key: string }[]
      readonly total: number
    }
    assert.deepEqual([found?.mimeType, documents.map(({ key }) => key), total], ['application/json', ['a/b'], 1])
    const either = await read('mddb-search://blog?meta.tag=x&meta.tag=y&limit=1')
    assert.equal((JSON.parse(either?.text ?? '') as { readonly documents: object[] }).documents.length, 1)
    for (const key of ['__proto__', 'constructor']) {
      const none = await read(`mddb-search://blog?meta.${key}=x&meta.${key}=y`)
      assert.deepEqual(JSON.parse(none?.text ?? ''), { documents: [], total: 0 }, key)
    }
    for (const uri of ['mddb://blog/none?lang=en', 'mddb://blog', 'mddb:///k', 'http://x', 'mddb://blog/%ff', 'x'.repeat(9_000)])
      assert.equal(
        (await client.stateless('resources/read', { uri }, { 'mcp-name': `=?base64?${Buffer.from(uri).toString('base64')}?=` })).rpc.error
          ?.code,
        -32602,
        uri.slice(0, 40),
      )
    const { resources } = (await client.stateless('resources/list')).rpc.result
    assert.deepEqual(names(resources), ['health', 'stats'])
    const { resourceTemplates } = (await client.stateless('resources/templates/list')).rpc.result as unknown as {
      readonly resourceTemplates: readonly { readonly uriTemplate: string }[]
    }
    assert.deepEqual(
      resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      ['mddb://{collection}/{key}?lang={lang}', 'mddb-search://{collection}?meta.{key}={value}&limit=10'],
    )
  })

  it('mcp: prompts are those of the contract, with their arguments, and contain what the collection has', async () => {
    const { prompts } = (await client.stateless('prompts/list')).rpc.result as unknown as {
      readonly prompts: readonly {
        readonly name: string
        readonly arguments: readonly { readonly name: string; readonly required: boolean }[]
      }[]
    }
    assert.deepEqual(
      prompts.map(({ name, arguments: all }) => [name, ...all.map(({ name: of, required }) => (required ? of : `${of}?`))]),
      [
        ['analyze-collection', 'collection'],
        ['search-help', 'use_case'],
        ['summarize-collection', 'collection', 'limit?'],
        ['import-guide', 'source'],
        ['rag-pipeline', 'collection', 'model?'],
      ],
    )
    const textOf = async (name: string, args: object): Promise<string> =>
      JSON.stringify((await client.stateless('prompts/get', { name, arguments: args })).rpc.result.messages)
    assert.match(await textOf('analyze-collection', { collection: 'blog' }), /kind: animal.*Otters.*Biber/s)
    assert.match(await textOf('search-help', { use_case: 'old otters' }), /old otters/)
    assert.match(await textOf('summarize-collection', { collection: 'blog', limit: '1' }), /1 of 2 documents/)
    for (const source of ['wordpress', 'url', 'file', 'api', 'scraping'])
      assert.match(await textOf('import-guide', { source }), /add_documents_batch/)
    assert.match(await textOf('rag-pipeline', { collection: 'blog', model: 'gpt' }), /the model gpt/)
    for (const [name, args] of [
      ['import-guide', { source: 'x' }],
      ['search-help', {}],
      ['none', {}],
    ] as const)
      assert.equal((await client.stateless('prompts/get', { name, arguments: args })).rpc.error?.code, -32602, name)
  })

  it('mcp: names of collections, and known arguments of prompts, are completed', async () => {
    const values = async (ref: object, name: string, value: string): Promise<readonly string[]> =>
      (await client.stateless('completion/complete', { ref, argument: { name, value } })).rpc.result.completion.values
    assert.deepEqual(await values({ type: 'ref/prompt', name: 'rag-pipeline' }, 'collection', 'b'), ['blog', 'books'])
    assert.deepEqual(await values({ type: 'ref/prompt', name: 'rag-pipeline' }, 'collection', 'BO'), ['books'])
    assert.deepEqual(await values({ type: 'ref/resource', uri: 'mddb://{collection}/{key}?lang={lang}' }, 'collection', 'bl'), ['blog'])
    assert.deepEqual(await values({ type: 'ref/prompt', name: 'import-guide' }, 'source', ''), [
      'api',
      'file',
      'scraping',
      'url',
      'wordpress',
    ])
    assert.deepEqual(await values({ type: 'ref/prompt', name: 'search-help' }, 'use_case', 'x'), [])
    assert.equal(
      (await client.stateless('completion/complete', { ref: { type: 'x' }, argument: { name: 'a', value: '' } })).rpc.error?.code,
      -32602,
    )
    assert.equal((await client.stateless('completion/complete', { ref: {}, argument: 5 })).rpc.error?.code, -32602)
  })

  it('mcp: completions name only the collections that the caller may read', async () => {
    await serving({ env: ACCESS_ENV }, async (other, access) => {
      const admin = new Admin(access)
      await admin.register('ada')
      for (const collection of ['open', 'closed']) await admin.do('POST', '/v1/add', { collection, key: 'k', lang: 'en', contentMd: 'x' })
      await admin.grant('ada', 'open', { read: true })
      const params = { ref: { type: 'ref/prompt', name: 'rag-pipeline' }, argument: { name: 'collection', value: '' } }
      assert.deepEqual((await other.with(asUser('ada')).stateless('completion/complete', params)).rpc.result.completion.values, ['open'])
      const refused = await other
        .with(asUser('ada'))
        .stateless('prompts/get', { name: 'analyze-collection', arguments: { collection: 'closed' } })
      assert.match(refused.rpc.error?.message ?? '', /forbidden/)
    })
  })

  it('mcp: in read mode, tools that write are not listed, and are refused by name', async () => {
    await serving({ env: { SVC_MCP_MODE: 'read' } }, async (other, access) => {
      const listed = await toolNames(other)
      assert.ok(listed.includes('search_documents') && listed.includes('get_stats'))
      for (const name of ['add_document', 'delete_document', 'create_backup', 'set_schema', 'fts_reindex']) {
        assert.equal(listed.includes(name), false, name)
        const { result } = (await tool(other, name, { collection: 'c', key: 'k', lang: 'en', content_md: 'x' })).rpc
        assert.deepEqual([result.isError, result.content[0]?.text], [true, `tool ${name} not available in read-only mode`])
      }
      const plain = await other.send('POST', '/tools/call', {
        name: 'add_document',
        arguments: { collection: 'c', key: 'k', lang: 'en', content_md: 'x' },
      })
      assert.match(plain.text, /tool add_document not available in read-only mode/)
      assert.equal((await access.post('/v1/add', { collection: 'c', key: 'k', lang: 'en', contentMd: 'x' })).status, 200)
      assert.equal((await tool(other, 'search_documents', { collection: 'c' })).rpc.result.isError, undefined)
    })
  })

  const YAML = `
custom_tools:
  - name: find_animals
    description: Finds animals of the blog.
    action: full_text_search
    defaults: { collection: blog, filterMeta: { kind: animal }, limit: 1, includeContent: false }
    parameters:
      - { name: query, type: string, required: true, description: What to find. }
      - { name: limit, type: integer }
      - { name: collection, type: string }
  - name: list_blog
    description: Lists the blog.
    action: search_documents
    defaults: { collection: blog, sort: key, asc: true, fields: [tag], offset: 0 }
  - name: languages
    description: Languages.
    action: fts_languages
  - name: near
    description: By meaning.
    action: semantic_search
    defaults: { collection: blog, topK: 3, threshold: 0.5, query: otter }
`
  const configured = (text: string): { readonly SVC_MCP_CONFIG: string } => {
    const path = join(folder, 'tools.yaml')
    writeFileSync(path, text)
    return { SVC_MCP_CONFIG: path }
  }

  it('mcp: custom tools pass on declared parameters; locked defaults win, others yield to the client', async () => {
    await serving({ env: configured(YAML) }, async (other, custom) => {
      for (const [collection, key] of [
        ['blog', 'a'],
        ['blog', 'b'],
        ['secret', 's'],
      ] as const)
        await custom.post('/v1/add', { collection, key, lang: 'en', contentMd: `an otter ${key}`, meta: { kind: ['animal'], tag: [key] } })
      await custom.post('/v1/add', { collection: 'blog', key: 'p', lang: 'en', contentMd: 'an otter plant', meta: { kind: ['plant'] } })
      const listed = (await other.stateless('tools/list')).rpc.result.tools as unknown as readonly {
        readonly name: string
        readonly description: string
        readonly inputSchema: object
        readonly annotations: { readonly readOnlyHint: boolean }
      }[]
      const animals = listed.find(({ name }) => name === 'find_animals')
      assert.deepEqual(animals?.inputSchema, {
        type: 'object',
        properties: {
          query: { type: 'string', description: 'What to find.' },
          limit: { type: 'integer', description: '' },
          collection: { type: 'string', description: '' },
        },
        required: ['query'],
      })
      assert.equal(animals.description, 'Finds animals of the blog.')
      assert.equal(animals.annotations.readOnlyHint, true)
      const results = async (
        args: object,
      ): Promise<readonly { readonly document: { readonly key: string; readonly contentMd?: string } }[]> =>
        (
          JSON.parse((await tool(other, 'find_animals', args)).rpc.result.content[0]?.text ?? '') as {
            readonly results: readonly { readonly document: { readonly key: string } }[]
          }
        ).results
      assert.equal((await results({ query: 'otter' })).length, 1)
      const more = await results({
        query: 'otter',
        limit: 9,
        collection: 'secret',
        fuzzy: 2,
        filter_meta: { kind: 'plant' },
        include_content: true,
      })
      assert.deepEqual(more.map(({ document }) => [document.key, document.contentMd]).sort(), [
        ['a', undefined],
        ['b', undefined],
      ])
      assert.equal((await tool(other, 'find_animals', {})).rpc.error?.code, -32602)
      assert.equal((await tool(other, 'find_animals', { query: 'x', limit: 'many' })).rpc.error?.code, -32602)
      const { documents } = JSON.parse((await tool(other, 'list_blog')).rpc.result.content[0]?.text ?? '') as {
        readonly documents: readonly { readonly key: string }[]
      }
      assert.deepEqual(
        documents.map(({ key }) => key),
        ['a', 'b', 'p'],
      )
      assert.match((await tool(other, 'languages')).rpc.result.content[0]?.text ?? '', /"code":"en"/)
      assert.match((await tool(other, 'near')).rpc.result.content[0]?.text ?? '', /^no embedding provider/)
    })
  })

  it('mcp: SVC_MCP_BUILTIN_TOOLS=false leaves the custom tools only, in read mode too', async () => {
    await serving({ env: { ...configured(YAML), SVC_MCP_BUILTIN_TOOLS: 'false', SVC_MCP_MODE: 'read' } }, async (other, custom) => {
      assert.deepEqual(await toolNames(other), ['find_animals', 'list_blog', 'languages', 'near'])
      assert.equal((await tool(other, 'search_documents', { collection: 'blog' })).rpc.error?.code, -32602)
      assert.equal((await tool(other, 'languages')).rpc.result.isError, undefined)
      const { mcp } = (await custom.get('/v1/endpoints')).json<{ readonly mcp: readonly { readonly name: string }[] }>()
      assert.deepEqual(names(mcp), ['find_animals', 'list_blog', 'languages', 'near'])
    })
  })

  it('mcp: a custom tool with a name that is taken, an unknown action or an unknown type stops the start', async () => {
    const one = (fields: string): string => `custom_tools:\n  - { name: mine, description: x, action: fts_languages${fields} }\n`
    const refused = [
      [one('').replace('mine', 'add_document'), /add_document is the name of a tool of the server/],
      [`${one('')}${one('').split('\n')[1]}\n`, /two tools named mine/],
      [one('').replace('fts_languages', 'drop_everything'), /action: one of semantic_search/],
      [one(', parameters: [{ name: a, type: date }]'), /type: one of string, integer/],
      [one(', defaults: { colection: x }'), /defaults: collection, query/],
      [one(', defaults: { topK: many }'), /topK: a value of type integer/],
      [one('').replace('mine', '"a b"'), /name: 1 to/],
      ['custom_tools: 5', /a list expected/],
      ['{', /tools\.yaml/],
    ] as const
    for (const [text, reason] of refused) assert.throws(() => loadCustomTools(configured(text).SVC_MCP_CONFIG), reason)
    // A start says what is thrown.
    for (const [text, reason] of refused.filter((_, at) => at % 4 === 0)) {
      const { code, output } = await runToEnd({ env: configured(text) })
      assert.equal(code, 2, `${text}\n${output}`)
      assert.match(output, reason)
    }
    const missing = await runToEnd({ env: { SVC_MCP_CONFIG: join(folder, 'none.yaml') } })
    assert.deepEqual([missing.code, /can't be read/.test(missing.output)], [2, true])
  })
})
