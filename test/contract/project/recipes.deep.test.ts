/** The recipes of CONTRIBUTING.md, carried out in scratch copies of the server. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { decodeEntry } from '../../../src/store/entries/entry.js'
import { openEnvironment } from '../../../src/store/environment.js'
import { currentGeneration } from '../../../src/store/files/layout.js'
import { lsnOfKey } from '../../../src/store/rows/keys.js'
import { GrpcClient } from '../../harness/clients/grpc.js'
import { McpClient } from '../../harness/clients/mcp_client.js'
import { untilAsked } from '../../harness/process/until.js'
import { KIND_EDITS, REMARK_CODE } from '../../harness/remark_entry.js'
import { type Addition, type Edit, scratchCopy } from '../../harness/scratch_copy.js'
import { startServer } from '../../harness/server/server.js'

const ROW = `
export const countWords = operation({
  ...common,
  name: 'countWords',
  protocols: { grpc: null, graphql: null, mcp: null },
  description: 'How many words a text has',
  effect: 'read',
  permission: 'read',
  cost: 'point',
  http: { routes: [{ method: 'POST', path: '/v1/count-words' }] },
  input: Type.Object({ collection, text: Type.String({ description: 'What to count.' }) }),
  output: shape('A count.', { words: Type.Integer() }),
  deadlineMs: DEADLINE_POINT_MS,
  audit: null,
})

export const collectionOperations = [countWords, `

const HANDLER = `
function countWords(_lane: LaneContext, { text }: InputOf<typeof countWordsRow>): Answer {
  return { body: JSON.stringify({ words: text.split(' ').length }) }
}

export const collectionHandlers: readonly BoundHandler[] = [
  read(countWordsRow, countWords),`

/** Two files: the rows of an area and its handlers. */
const EDITS: readonly Edit[] = [
  { file: 'src/operations/documents/collections.ts', find: '\nexport const collectionOperations = [', replace: ROW },
  { file: 'src/worker/handlers/collections.ts', find: '\nexport const collectionHandlers: readonly BoundHandler[] = [', replace: HANDLER },
  {
    file: 'src/worker/handlers/collections.ts',
    find: "import type { InputOf } from '../../operations/row/operation.js'\n",
    replace:
      "import { countWords as countWordsRow } from '../../operations/documents/collections.js'\nimport type { InputOf } from '../../operations/row/operation.js'\n",
  },
]

it('recipe: an operation is added in two files; it is routed, validated, listed and described from its row', async () => {
  const copy = await scratchCopy(EDITS)
  const server = await startServer({ main: copy.main })
  try {
    const answer = await server.post('/v1/count-words', { collection: 'c', text: 'one two three' })
    assert.deepEqual([answer.status, answer.text], [200, '{"words":3}'])
    assert.equal((await server.post('/v1/count-words', { collection: 'c' })).text.includes('missing fields'), true)
    const { http } = (await server.get('/v1/endpoints')).json<{ http: { path: string }[] }>()
    assert.ok(http.some(({ path }) => path === '/v1/count-words'))
    assert.ok((await server.get('/openapi.json')).text.includes('/v1/count-words'))
    assert.match((await server.get('/metrics')).text, /path="\/v1\/count-words"/)
  } finally {
    await server.stop()
    copy.remove()
  }
})

const OWN_ROW = ROW.replace(
  'protocols: { grpc: null, graphql: null, mcp: null }',
  "protocols: { grpc: 'CountWords', graphql: 'countWords', mcp: 'count_words' },\n  client: 'collections.countWords'",
)
  .replace(
    "input: Type.Object({ collection, text: Type.String({ description: 'What to count.' }) })",
    "input: Type.Object({ collection: required(collection, { grpc: 1 }), text: required(Type.String({ description: 'What to count.' }), { grpc: 2 }) })",
  )
  .replace('{ words: Type.Integer() }', '{ words: required(Type.Integer(), { grpc: 1 }) }')

interface ListedTool {
  readonly name: string
  readonly inputSchema: { readonly properties: object }
  readonly outputSchema?: { readonly properties: { readonly words?: object } }
}

/** The same two files, and the tool. */
const FOUR_PROTOCOLS: readonly Edit[] = [
  { file: 'src/operations/documents/collections.ts', find: '\nexport const collectionOperations = [', replace: OWN_ROW },
  ...EDITS.slice(1),
  {
    file: 'src/surface/mcp/catalogue/tools/server.ts',
    find: 'export const serverTools: readonly ToolDefinition[] = [',
    replace: `export const serverTools: readonly ToolDefinition[] = [
  { name: 'count_words', title: 'Count words', description: 'Counts the words of a text.', class: 'RO', answers: 'plain', isStructured: true },`,
  },
  // A field of an operation that the contract has: its row alone.
  {
    file: 'src/operations/search/fulltext.ts',
    find: 'const FtsRequest = Type.Object(\n  {\n    collection,',
    replace:
      "const FtsRequest = Type.Object(\n  {\n    minScore: optional(Type.Number({ description: 'Minimum score.' }), { grpc: 101, graphql: true }),\n    collection,",
  },
]

it('recipe: an operation on four protocols is a row, a handler and a tool, and a field is its line in the row; npm run generate does the rest', async () => {
  const copy = await scratchCopy(FOUR_PROTOCOLS, true)
  const server = await startServer({ main: copy.main })
  const grpc = GrpcClient.by(join(copy.folder, 'src/surface/grpc/proto/mddb.proto'), server)
  try {
    const input = { collection: 'c', text: 'one two three' }
    assert.equal((await server.post('/v1/count-words', input)).text, '{"words":3}')
    assert.deepEqual(await grpc.call('CountWords', input), { words: 3 })
    const query = 'query ($input: CountWordsInput!) { countWords(input: $input) { words } }'
    assert.equal((await server.post('/graphql', { query, variables: { input } })).text, '{"data":{"countWords":{"words":3}}}')
    const mcp = new McpClient(server)
    assert.equal((await mcp.stateless('tools/call', { name: 'count_words', arguments: input })).rpc.result.content[0]?.text, '{"words":3}')
    // The field is read where a protocol has it: a text is no number.
    const fts = { collection: 'c', query: 'word' }
    assert.deepEqual((await grpc.call<{ results: unknown[] }>('FTS', { ...fts, min_score: 2 })).results, [])
    const typed = 'query ($input: FTSInput!) { fts(input: $input) { total } }'
    assert.equal(
      (await server.post('/graphql', { query: typed, variables: { input: { ...fts, minScore: 0.5 } } })).text,
      '{"data":{"fts":{"total":0}}}',
    )
    const { tools } = (await mcp.stateless('tools/list')).rpc.result as unknown as {
      readonly tools: readonly ListedTool[]
    }
    assert.ok('min_score' in (tools.find(({ name }) => name === 'full_text_search')?.inputSchema.properties ?? {}))
    assert.deepEqual(tools.find(({ name }) => name === 'count_words')?.outputSchema?.properties.words, { type: 'integer' })
  } finally {
    grpc.close()
    await server.stop()
    copy.remove()
  }
})

/** Writes an entry of the new kind: settings are written by it. */
const WRITER: Edit = {
  file: 'src/domain/settings_decision.ts',
  find: "entry: { kind: 'setting', lsn,",
  replace: "entry: { kind: 'remark', lsn,",
}

it('recipe: an entry kind is a folder and its line in the list; it is applied, replayed after a kill, and unknown to other versions', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'mds-recipe-'))
  const copy = await scratchCopy([...KIND_EDITS, WRITER])
  try {
    const first = await startServer({ main: copy.main, directory })
    assert.equal((await first.request('PUT', '/v1/collection-config', { collection: 'c', responsePrompt: 'plain' })).status, 200)
    await first.kill()
    const second = await startServer({ main: copy.main, directory })
    const answer = await second.get('/v1/collection-config?collection=c')
    await second.stop()
    assert.equal(answer.json<{ config: { responsePrompt: string } }>().config.responsePrompt, 'remarked')
    const environment = openEnvironment(currentGeneration(directory))
    const records = [...environment.binlog.getRange()].map(({ key, value }) => ({ lsn: lsnOfKey(key), value: Buffer.from(value) }))
    await environment.root.close()
    assert.equal(records.length, 1)
    const { lsn, value } = records[0] as (typeof records)[number]
    assert.throws(() => decodeEntry(lsn, value), { message: `binlog entry ${lsn}: unknown kind ${REMARK_CODE}` })
  } finally {
    copy.remove()
    rmSync(directory, { recursive: true, force: true })
  }
})

/** Looks at the first two entries alone, so that its lag shows that it ran and where it stands. */
const CONSUMER = `
import type { BinlogConsumer } from './consumer.js'

export function firstEntries(): BinlogConsumer {
  return {
    name: 'first-entries',
    position: 'stored',
    writesUnasked: true,
    delayMs: 0,
    pauseMs: 0,
    next: (view, after) => {
      const entry = view.binlog.entriesAfter(after, 1).at(0)
      if (entry === undefined || entry.lsn > 2n) return { lsn: after, isMore: false }
      return { lsn: entry.lsn, isMore: true, change: () => undefined }
    },
  }
}
`

/** One file, and its line in the registry with its import. */
const CONSUMER_EDITS: readonly (Edit | Addition)[] = [
  { file: 'src/consumers/first_entries.ts', text: CONSUMER },
  {
    file: 'src/consumers/registry.ts',
    find: "import { revisionPacking } from './revision_packing.js'\n",
    replace: "import { firstEntries } from './first_entries.js'\nimport { revisionPacking } from './revision_packing.js'\n",
  },
  { file: 'src/consumers/registry.ts', find: '= [revisionPacking, ', replace: '= [firstEntries, revisionPacking, ' },
]

it('recipe: a consumer is a file and its line in the registry; commits wake it, and its stored position is a lag metric', async () => {
  const copy = await scratchCopy(CONSUMER_EDITS)
  const server = await startServer({ main: copy.main })
  try {
    const documents = ['a', 'b', 'c'].map((key) => ({ key, lang: 'en', contentMd: 'text', meta: {} }))
    assert.equal((await server.post('/v1/add-batch', { collection: 'c', documents })).status, 200)
    const lag = /^mddb_binlog_consumer_lag_entries\{consumer="first-entries"\} 1$/m
    const page = await untilAsked(
      async () => (await server.get('/metrics')).text,
      (text) => lag.test(text),
    )
    assert.match(page, lag)
  } finally {
    await server.stop()
    copy.remove()
  }
})
