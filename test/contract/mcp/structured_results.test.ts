/**
 * Results of tools with an output schema are valid by it, and have no field that it does not declare. A
 * custom tool has the schema of its action.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { type Fields, itemsOf, resultOf, valueOf } from '../../harness/clients/mcp_answers.js'
import { McpClient, type Result } from '../../harness/clients/mcp_client.js'
import { type Server, startServer } from '../../harness/server/server.js'

interface Listed {
  readonly name: string
  readonly outputSchema?: Fields
}

const CUSTOM_TOOLS = `custom_tools:
  - name: further
    description: The results after the first.
    action: full_text_search
    defaults: { offset: 1 }
    parameters: [{ name: collection, type: string }, { name: query, type: string }]
`
const LONG = `# Otters\n\n${'The otter swims, dives and sleeps on its back in the river. '.repeat(400)}`

const named = { collection: 'shaped' }
const search = { ...named, query: 'otter' }
/** Forms of a document in a result: whole or a passage, all metadata or some. */
const forms: readonly Fields[] = [{}, { include_content: true }, { fields: ['tag', 'addedAt'] }, { fields: [], include_content: true }]
const faceted = { facet_by: ['tag'], facet_max_values: 1 }

/** Calls of every tool with a schema, in the forms that change which fields its result has. */
const CALLS: Readonly<Record<string, readonly Fields[]>> = {
  add_document: [{ ...named, key: 'new', lang: 'en', content_md: 'an otter', meta: { tag: 'a' } }],
  get_document_meta: [{ ...named, key: 'short', lang: 'en' }],
  get_meta_keys: [named],
  get_stats: [{}],
  aggregate: [named, { ...named, facets: ['tag'], histograms: ['addedAt'] }],
  search_documents: [...forms, { max_tokens: 1_000 }].map((form) => ({ ...named, ...form })),
  full_text_search: [
    ...[...forms, faceted, { algorithm: 'bm25f' }, { fuzzy: 1 }, { highlight: true }, { max_tokens: 1_000, ...faceted }],
    { query: 'ottr', fuzzy: 2 },
    { query: 'swim', highlight: true },
    { query: 'o*', algorithm: 'pmisparse' },
  ].map((form) => ({ ...search, ...form })),
  semantic_search: [...forms, { retrieval_mode: 'window' }, { mmr: true }].map((form) => ({ ...search, ...form })),
  vector_search: forms.map((form) => ({ ...search, ...form })),
  hybrid_search: [...forms, faceted, { strategy: 'rrf' }, { max_tokens: 1_000 }].map((form) => ({ ...search, ...form })),
  further: [search],
}

/** The schema with no further fields where it names some. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]))
  return 'properties' in schema && schema['type' as never] === 'object' ? { ...members, additionalProperties: false } : members
}

describe('mcp: structured results', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mds-structured-'))
  const ajv = new Ajv2020({ strict: false })
  let server: Server
  let client: McpClient
  let listed: readonly Listed[]

  before(async () => {
    const config = join(folder, 'tools.yaml')
    writeFileSync(config, CUSTOM_TOOLS)
    server = await startServer({ env: { SVC_EMBEDDING_PROVIDER: 'local', SVC_MCP_CONFIG: config } })
    client = new McpClient(server)
    listed = (await client.stateless('tools/list')).rpc.result.tools
    const documents = [
      { key: 'short', contentMd: 'an otter', meta: { tag: ['a', 'b'] }, ttl: 3600 },
      { key: 'long', contentMd: LONG, meta: { tag: ['a'] } },
      { key: 'pinned', contentMd: 'a beaver', meta: {} },
    ]
    await server.post('/v1/add-batch', { ...named, documents: documents.map((document) => ({ lang: 'en', ...document })) })
    await server.request('PUT', '/v1/collection-config', { ...named, responsePrompt: 'Answer in verse.' })
    await server.post('/v1/curation', { ...search, pins: [{ key: 'pinned', lang: 'en', position: 1 }], enabled: true })
    await server.post('/v1/vector-reindex', named)
  })
  after(async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const results = async (name: string): Promise<readonly Result[]> =>
    await Promise.all((CALLS[name] ?? []).map(async (args) => await resultOf(client, name, args)))

  it('mcp: results are text that holds JSON, and those with an output schema are valid by it', async () => {
    const withSchema = listed.filter(({ outputSchema }) => outputSchema !== undefined)
    assert.deepEqual(withSchema.map(({ name }) => name).toSorted(), Object.keys(CALLS).toSorted())
    for (const { name, outputSchema } of withSchema) {
      for (const { structuredContent, content, isError } of await results(name)) {
        assert.notEqual(isError, true, `${name}: ${content[0]?.text ?? ''}`)
        assert.doesNotThrow(() => JSON.parse(content[0]?.text ?? '') as unknown, name)
        assert.ok(ajv.validate(outputSchema!, structuredContent), `${name}: ${ajv.errorsText()}`)
      }
    }
  })

  it('mcp: output schemas declare every field of a result', async () => {
    for (const { name, outputSchema } of listed) {
      const isValid = ajv.compile(closed(outputSchema ?? {}) as Fields)
      for (const { structuredContent } of await results(name))
        assert.ok(isValid(structuredContent), `${name}: ${JSON.stringify(isValid.errors)}`)
    }
  })

  it('mcp: output schemas require of a document what fields and include_content never leave out', async () => {
    const [least] = itemsOf(valueOf(await resultOf(client, 'search_documents', { ...named, fields: [] })))
    const { properties } = listed.find(({ name }) => name === 'search_documents')!.outputSchema as {
      readonly properties: { readonly documents: { readonly items: { readonly required: readonly string[] } } }
    }
    assert.deepEqual(properties.documents.items.required.toSorted(), Object.keys(least!).toSorted())
  })
})
