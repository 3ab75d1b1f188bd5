/**
 * Filters by metadata over every operation that has them and every protocol: an empty list of values admits
 * nothing, `hasMeta` asks for a key, decision 0282.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { buildSchema } from 'graphql'
import { operations } from '../../../src/operations/index.js'
import type { Schema } from '../../../src/operations/row/json_schema.js'
import { SCHEMA } from '../../../src/surface/graphql/schema.js'
import { BUILTIN_TOOLS } from '../../../src/surface/mcp/catalogue/builtin_tools.js'
import { DocumentsClient, summary } from '../../harness/clients/documents_client.js'
import { whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { GraphqlCaller } from '../../harness/protocols/graphql_caller.js'
import { GrpcCaller } from '../../harness/protocols/grpc_caller.js'
import { HttpCaller } from '../../harness/protocols/http_caller.js'
import { McpCaller } from '../../harness/protocols/mcp_caller.js'
import { type Caller, type Fields, snakeCase } from '../../harness/protocols/outcome.js'

const C = 'guarded'
/** Two have the key, one has it without a value, one lacks it. */
const TENANTS: Readonly<Record<string, Fields>> = {
  mine: { tenant: ['a'] },
  yours: { tenant: ['b', ''] },
  hollow: { tenant: [] },
  open: { other: ['a'] },
}
const query = 'otter'

/** What each operation needs beside its filter. A document is found where its content or key shows. */
const INPUTS: Readonly<Record<string, Fields>> = {
  search: { collection: C },
  fts: { collection: C, query },
  ftsQuery: { collection: C, q: query },
  vectorSearch: { collection: C, query, topK: 10, threshold: -1, includeContent: true },
  hybridSearch: { collection: C, query, topK: 10, includeContent: true },
  crossSearch: { query, targetCollections: [C], topK: 10, threshold: -1, includeContent: true },
  aggregate: { collection: C, facets: [{ field: 'name' }] },
  export: { collection: C, format: 'ndjson' },
}

const fieldsOf = (schema: Schema): readonly string[] => Object.keys(schema.properties ?? {})
/** Recall finds messages of memory only, by filterMeta: test/contract/memory/recall.test.ts. */
const filtered = operations.filter(
  ({ name, input }) => name !== 'recallMemory' && (fieldsOf(input).includes('filterMeta') || fieldsOf(input).includes('hasMeta')),
)

let client: DocumentsClient
let callers: readonly Caller[]
let grpc: GrpcCaller

before(async () => {
  client = await DocumentsClient.start({ env: { SVC_EMBEDDING_PROVIDER: 'local' } })
  const documents = Object.entries(TENANTS).map(([key, meta]) => ({
    key,
    lang: 'en',
    contentMd: `otter of ${key}`,
    meta: { ...meta, name: [key] },
  }))
  await client.addBatch(C, documents)
  await whenEmbedded(client.server, { [C]: documents.length })
  const { server } = client
  grpc = new GrpcCaller(server)
  callers = [new HttpCaller(server), grpc, new GraphqlCaller(server, buildSchema(SCHEMA)), new McpCaller(server)]
})
after(async () => {
  grpc.close()
  await client.stop()
})

/** Whether the operation has the field by this protocol. */
function has({ protocol }: Caller, { protocols, input }: (typeof operations)[number], field: string): boolean {
  if (protocol === 'gRPC') return protocols.grpc !== null
  if (protocol === 'GraphQL') return protocols.graphql !== null && protocols.graphql !== 'fts'
  if (protocol === 'MCP')
    return BUILTIN_TOOLS.some(
      ({ name, arguments: given }) => name === protocols.mcp && given.some((each) => each.name === snakeCase(field)),
    )
  return fieldsOf(input).includes(field)
}

/** Keys of the documents that each operation shows or counts, by each protocol. */
async function shown(field: 'filterMeta' | 'hasMeta', value: unknown): Promise<Readonly<Record<string, readonly string[]>>> {
  const found: Record<string, readonly string[]> = {}
  for (const row of filtered) {
    for (const caller of callers) {
      if (!has(caller, row, field)) continue
      // A query string has its list as text.
      const given = row.name === 'ftsQuery' ? String(value) : value
      const { refusal, text, value: answer } = await caller.call(row.name, { ...INPUTS[row.name], [field]: given }, {})
      assert.equal(refusal, null, `${row.name} by ${caller.protocol}: ${text}`)
      const json = JSON.stringify(answer)
      found[`${row.name} by ${caller.protocol}`] = Object.keys(TENANTS).filter((key) =>
        new RegExp(`"${key}\\\\?"|otter of ${key}`).test(json),
      )
    }
  }
  return found
}

const all = (found: Readonly<Record<string, unknown>>, keys: readonly string[]): object =>
  Object.fromEntries(Object.keys(found).map((name) => [name, keys]))

describe('filters by metadata', () => {
  it('filters: every operation with a filter has a case, and both filters', () => {
    assert.deepEqual(filtered.map(({ name }) => name).sort(), Object.keys(INPUTS).sort())
    for (const { name, input } of filtered) assert.ok(name === 'ftsQuery' || fieldsOf(input).includes('filterMeta'), name)
    for (const { name, input } of filtered) assert.ok(fieldsOf(input).includes('hasMeta'), name)
  })

  it('filters: an empty list of values admits no document, in every operation and protocol', async () => {
    const found = await shown('filterMeta', { tenant: [] })
    assert.ok(Object.keys(found).length >= 18, Object.keys(found).join())
    assert.deepEqual(found, all(found, []))
    const beside = await shown('filterMeta', { name: ['mine', 'yours'], tenant: [] })
    assert.deepEqual(beside, all(beside, []))
  })

  it('filters: an empty map is no filter, and a value admits its documents', async () => {
    const open = await shown('filterMeta', {})
    assert.deepEqual(open, all(open, Object.keys(TENANTS)))
    const mine = await shown('filterMeta', { tenant: ['a'] })
    assert.deepEqual(mine, all(mine, ['mine']))
  })

  it('filters: hasMeta asks for a key with any value, in every operation and protocol', async () => {
    const keyed = await shown('hasMeta', ['tenant'])
    assert.ok(Object.keys(keyed).length >= 19, Object.keys(keyed).join())
    assert.deepEqual(keyed, all(keyed, ['mine', 'yours']))
    const none = await shown('hasMeta', ['tenant', 'other'])
    assert.deepEqual(none, all(none, []))
    const open = await shown('hasMeta', [])
    assert.deepEqual(open, all(open, Object.keys(TENANTS)))
  })

  it('filters: null in place of a list is an empty list: it does not take its key out of the filter', async () => {
    for (const [path, body] of [
      ['/v1/search', {}],
      ['/v1/fts', { query }],
      ['/v1/search', { query, note: 'x'.repeat(100_000) }],
    ] as const) {
      const { status, text } = await client.post(path, { collection: C, ...body, filterMeta: { tenant: null } })
      assert.equal(status, 200, text)
      assert.doesNotMatch(text, /otter of/, path)
    }
    const searches = [{ collection: C, query, filterMeta: { tenant: null } }]
    const several = await client.post('/v1/multi-search', { searches, merge: true })
    assert.equal(several.json<{ total: number }>().total, 0)
    const byParameter = await client.server.post(`/v1/search?collection=${C}&filterMeta=${encodeURIComponent('{"tenant":null}')}`, {})
    assert.equal(byParameter.text, '[]')
    const mcp = callers.find(({ protocol }) => protocol === 'MCP')!
    const { value } = await mcp.call('search', { collection: C, filterMeta: { tenant: null } }, {})
    assert.doesNotMatch(JSON.stringify(value), /otter of/)
    assert.equal(
      summary(await client.post('/v1/search', { collection: C, filterMeta: { tenant: [null] } })),
      '400 {"error":"invalid filterMeta.tenant.0"}',
    )
  })

  it('filters: searches of a multi-search, operators and curation obey an empty list', async () => {
    const searches = [{ collection: C, query, filterMeta: { tenant: [] } }]
    const { responses } = (await client.post('/v1/multi-search', { searches })).json<{ responses: readonly { total: number }[] }>()
    assert.deepEqual(responses.map(({ total }) => total), [0]) // prettier-ignore
    for (const more of [
      { query: 'otter AND of' },
      { query: 'ott*' },
      { query: '"otter of mine"' },
      { count: true },
      { facetBy: ['name'] },
      { cacheTtl: 60 },
    ]) {
      const asked = { collection: C, query, filterMeta: { tenant: [] }, ...more }
      for (let turn = 0; turn < 2; turn++) {
        const answer = (await client.post('/v1/fts', asked)).json<{ total: number; totalMatches?: number }>()
        assert.deepEqual([answer.total, answer.totalMatches ?? 0], [0, 0], JSON.stringify(more))
      }
    }
    await client.post('/v1/curation', { collection: C, query, matchMode: 'exact', pins: [{ key: 'mine', lang: 'en', position: 1 }], hides: [], enabled: true }) // prettier-ignore
    const pinned = await client.post('/v1/fts', { collection: C, query, filterMeta: { tenant: [] } })
    assert.equal(pinned.json<{ total: number }>().total, 0, 'a pin passes no filter')
  })

  it('filters: a key of more than 512 bytes in hasMeta is 400; keys count with the 256 values', async () => {
    const ask = async (fields: Fields): Promise<string> => summary(await client.post('/v1/search', { collection: C, ...fields }))
    assert.equal(await ask({ hasMeta: ['k'.repeat(2000)] }), '400 {"error":"invalid hasMeta: a key of more than 512 bytes"}')
    const keys = Array.from({ length: 256 }, (_, index) => `k${index}`)
    assert.equal(await ask({ hasMeta: keys }), '200 []')
    assert.equal(await ask({ hasMeta: keys, filterMeta: { tenant: ['a'] } }), '400 {"error":"invalid filterMeta: more than 256 values"}')
  })
})
