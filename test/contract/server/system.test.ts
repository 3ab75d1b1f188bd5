/**
 * The running server's reports about itself, and every operation compared with its own row: access modes,
 * statistics, metrics, reference pages, and each answer's shape as specified by the OpenAPI document.
 * service-1: Access modes, Health and statistics; service-2: System; http.md, sections 1 and 8.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { operationByName, operations } from '../../../src/operations/index.js'
import type { Operation } from '../../../src/operations/row/operation.js'
import { exampleInput } from '../../../src/surface/http/pages/openapi.js'
import { withoutHint } from '../../harness/clients/documents_client.js'
import { untilAsked } from '../../harness/process/until.js'
import { CALLS, FIRST } from '../../harness/protocols/http_calls.js'
import { httpRequestOf } from '../../harness/protocols/http_request.js'
import type { Fields } from '../../harness/protocols/outcome.js'
import { ACCESS_ENV, asUser } from '../../harness/server/access.js'
import type { Server, TestResponse } from '../../harness/server/server.js'
import { runToEnd, startServer } from '../../harness/server/server.js'
import { collectionOf, sharedServer } from '../../harness/server/shared_server.js'

/** Enables the optional operations. */
const EVERYTHING_ON = {
  ...ACCESS_ENV,
  SVC_SPELL: 'true',
  SVC_TEMPORAL: 'true',
  SVC_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  SVC_EMBEDDING_PROVIDER: 'local',
  SVC_PPROF_ENABLED: 'true',
  SVC_AUDIT_ENABLED: 'true',
  SVC_OUTBOUND_ALLOW_PRIVATE: 'true',
}

/** Where access control is off, credentials are not looked at. */
const AS_ADMIN = asUser('admin')

async function call(server: Server, row: Operation, input: Fields, routeIndex = 0): Promise<TestResponse> {
  const { method, path, body, headers } = await httpRequestOf(row, input, routeIndex)
  return server.request(method, path, body, { ...headers, ...AS_ADMIN })
}

function rowOf(name: string): Operation {
  const row = operationByName.get(name)
  assert.ok(row, name)
  return row
}

interface Deliveries {
  readonly deliveries: readonly { readonly id: string }[]
}

/** It is recorded a moment after its change. */
async function firstDelivery(server: Server, hook: string): Promise<string | undefined> {
  const { deliveries } = await untilAsked(
    async () => (await server.request('GET', `/v1/webhooks/${hook}/deliveries`, undefined, AS_ADMIN)).json<Deliveries>(),
    (answer) => answer.deliveries.length > 0,
  )
  return deliveries[0]?.id
}

describe('every operation of a running server', () => {
  let server: Server
  const answers = new Map<string, TestResponse>()

  before(async () => {
    server = await startServer({ env: EVERYTHING_ON })
    for (const [name, input] of CALLS) {
      const past = name === 'restoreRevision' ? { timestamp: (answers.get('revisions')?.json().revisions as Fields[])[0]?.timestamp } : {}
      const rule = name === 'replaceCuration' || name === 'deleteCuration' ? { id: answers.get('addCuration')?.json().id } : {}
      const job = name === 'getBulkIngest' || name === 'cancelBulkIngest' ? { id: answers.get('submitBulkIngest')?.json().id } : {}
      const mcpKey = /^(disable|delete)McpKey$/.test(name) ? { key: answers.get('createMcpKey')?.json().key } : {}
      const apiKey = name === 'deleteApiKey' ? { keyHash: (answers.get('listApiKeys')?.json().keys as Fields[])[0]?.keyHash } : {}
      const url = name === 'importUrl' ? { url: `${server.url}/livez` } : {}
      const hook = name.includes('Webhook') && name !== 'registerWebhook' ? { id: answers.get('registerWebhook')?.json().id } : {}
      const delivery = name === 'replayWebhookDelivery' ? { delivery: await firstDelivery(server, String(hook.id)) } : {}
      const rotation = name === 'encryptionJob' ? { id: answers.get('rotateEncryption')?.json().id } : {}
      const session = /^(add|summarize)Memory|History$/.test(name) ? { sessionId: answers.get('startMemorySession')?.json().sessionId } : {}
      const more = { ...past, ...rule, ...job, ...rotation, ...mcpKey, ...apiKey, ...url, ...session, ...hook, ...delivery }
      answers.set(name, await call(server, rowOf(name), { ...input, ...more }))
      assert.equal(answers.get(name)?.status, rowOf(name).http?.successStatus ?? 200, `${name}: ${answers.get(name)?.text}`)
    }
  })
  after(() => server.stop())

  it('operations: every operation of the table answers 200 by its canonical route', () => {
    assert.deepEqual(
      [...new Set(CALLS.map(([name]) => name))].sort(),
      operations
        // An answer without an end is another test's: test/contract/documents/change_feed.test.ts.
        .filter(({ http, contentType }) => http !== undefined && contentType !== 'text/event-stream')
        .map(({ name }) => name)
        .sort(),
      'every operation is called',
    )
    for (const [name, { status, text }] of answers)
      assert.equal(status, rowOf(name).http?.successStatus ?? 200, `${name}: ${text.slice(0, 300)}`)
  })

  it('operations: every answer has the fields and types that its schema promises', () => {
    const ajv = new Ajv2020({ allowUnionTypes: true })
    for (const [name, answer] of answers) {
      const { output, contentType, http } = rowOf(name)
      if (contentType !== undefined || http?.successStatus === 204) continue
      assert.ok(ajv.validate(output, answer.json()), `${name}: ${ajv.errorsText()} in ${answer.text.slice(0, 500)}`)
    }
  })

  it('operations: every answer has the content type of its row', () => {
    for (const [name, { status, headers }] of answers)
      if (status !== 204) assert.equal(headers['content-type'], rowOf(name).contentType ?? 'application/json; charset=utf-8', name)
  })

  it('operations: a required field that is absent, null or empty answers 400 missing fields', async () => {
    // What a thread runs has a form of errors of its own.
    for (const row of operations.filter(({ cost, http }) => cost !== 'thread' && http !== undefined)) {
      const { required = [], properties = {} } = row.input as { required?: string[]; properties?: Record<string, { minLength?: number }> }
      const example = exampleInput(row.input)
      for (const field of required.filter((name) => row.http?.routes[0]?.path.includes(`:${name}`) !== true)) {
        const spoiled = row.http?.routes[0]?.method === 'GET' ? [undefined] : [undefined, null]
        const texts = (properties[field]?.minLength ?? 0) > 0 ? [...spoiled, ''] : spoiled
        for (const value of texts) {
          const input = Object.fromEntries(Object.entries({ ...example, [field]: value }).filter(([, given]) => given !== undefined))
          const { status, text } = await call(server, row, input)
          assert.equal(`${status} ${withoutHint(text)}`, '400 {"error":"missing fields"}', `${row.name} with ${field}: ${String(value)}`)
        }
      }
    }
  })

  const get = (path: string): Promise<TestResponse> => server.get(path, AS_ADMIN)
  const post = (path: string, body?: unknown): Promise<TestResponse> => server.post(path, body, AS_ADMIN)

  it('operations: unknown fields are ignored and null counts as absent', async () => {
    const { status } = await post('/v1/search', { collection: 'blog', limit: null, filterMeta: null, unheardOf: [1] })
    assert.equal(status, 200)
  })

  it('doc-meta: GET and POST answer alike, lang is en by default, content is left out', async () => {
    await post('/v1/add', { ...FIRST, collection: 'doc-meta' })
    const byGet = await get('/v1/doc-meta?collection=doc-meta&key=Hello')
    const byPost = await post('/v1/doc-meta', { collection: 'doc-meta', key: 'Hello' })
    assert.equal(byGet.status, 200)
    assert.deepEqual(byGet.json(), byPost.json())
    assert.equal(byGet.json().lang, 'en')
    assert.ok(!('contentMd' in byGet.json()))
    const empty = [await get('/v1/doc-meta?collection=doc-meta&key=Hello&lang='), await post('/v1/doc-meta', { collection: 'doc-meta', key: 'Hello', lang: '' })] // prettier-ignore
    for (const answer of empty) assert.deepEqual([answer.status, answer.json()], [200, byGet.json()], 'an empty lang is an absent one')
    const unknown = await get('/v1/doc-meta?collection=doc-meta&key=none')
    assert.equal(`${unknown.status} ${unknown.text}`, '404 {"error":"not found"}')
  })

  it('fts-reindex: the collection may stand in the body or in the query string', async () => {
    await post('/v1/add', { ...FIRST, collection: 'reindex' })
    const byBody = await post('/v1/fts-reindex', { collection: 'reindex' })
    const byQuery = await post('/v1/fts-reindex?collection=reindex')
    assert.equal(byBody.json().reindexed, 1)
    assert.deepEqual(byQuery.json(), byBody.json())
    assert.equal(withoutHint((await post('/v1/fts-reindex')).text), '{"error":"missing fields"}')
  })
})

describe('statistics and metrics', () => {
  let server: Server
  before(async () => {
    server = await startServer()
    for (const collection of ['zebra', 'apple']) await server.post('/v1/add', { ...FIRST, collection })
    await server.post('/v1/add', { ...FIRST, collection: 'apple', contentMd: 'again' })
  })
  after(() => server.stop())

  it('stats: counts documents, revisions and metadata triples per collection, sorted by name, and in all', async () => {
    const { collections, ...totals } = (await server.get('/v1/stats')).json<{
      collections: Record<string, unknown>[]
      [total: string]: unknown
    }>()
    assert.deepEqual(
      collections.map(({ name, documentCount, revisionCount, metaIndexCount }) => ({ name, documentCount, revisionCount, metaIndexCount })),
      [
        { name: 'apple', documentCount: 1, revisionCount: 2, metaIndexCount: 3 },
        { name: 'zebra', documentCount: 1, revisionCount: 1, metaIndexCount: 3 },
      ],
    )
    assert.equal(totals.totalDocuments, 2)
    assert.equal(totals.totalRevisions, 3)
    assert.equal(totals.totalMetaIndices, 6)
    assert.equal(totals.databasePath, server.directory)
    assert.ok((totals.databaseSize as number) > 0)
    assert.match(totals.uptime as string, /^((\d+h)?\d+m)?\d+s$/)
  })

  it('stats: the checksum of a collection is that of /v1/checksum', async () => {
    const { collections } = (await server.get('/v1/stats')).json<{ collections: { name: string; checksum: string }[] }>()
    const { checksum, documentCount } = (await server.get('/v1/checksum?collection=apple')).json()
    assert.equal(collections[0]?.checksum, checksum)
    assert.match(checksum as string, /^[0-9a-f]{8}$/)
    assert.equal(documentCount, 1)
  })

  it('metrics: a scrape counts the requests that were answered and the documents that are there', async () => {
    const { text } = await server.get('/metrics')
    assert.match(text, /^mddb_http_requests_total\{method="POST",path="\/v1\/add",status="200"\} 3$/m)
    assert.match(text, /^mddb_documents_total\{collection="apple"\} 1$/m)
    assert.match(text, /^mddb_revisions_total\{collection="apple"\} 2$/m)
    assert.match(text, /^mddb_engine_info\{isa="[^"]+"\} 1$/m)
    assert.match(text, /^mddb_wasm_memory_bytes [1-9]\d*$/m)
    assert.match(text, /^mddb_database_oldest_reader_age \d+$/m)
    assert.match(text, /^mddb_lane_wait_seconds_count\{queue="prepare"\} \d+$/m)
  })
})

describe('access modes', () => {
  const expected: readonly (readonly [mode: string, effect: string, status: number, text: string])[] = [
    ['read', 'write', 403, '{"error":"read-only mode"}'],
    ['write', 'read', 403, '{"error":"write-only mode"}'],
  ]
  for (const [mode, effect, status, text] of expected) {
    it(`mode ${mode}: every ${effect} operation answers ${text}, all others run`, async () => {
      const server = await startServer({ args: ['--mode', mode], env: EVERYTHING_ON })
      try {
        for (const row of operations) {
          for (const [index, { method, path }] of (row.http?.routes ?? []).entries()) {
            const answer = await call(server, row, exampleInput(row.input), index)
            if (row.effect === effect) assert.equal(`${answer.status} ${answer.text}`, `${status} ${text}`, `${method} ${path}`)
            else assert.notEqual(answer.status, 403, `${method} ${path}`)
          }
        }
        assert.equal((await server.get('/health')).json().mode, mode)
        assert.equal((await server.get('/v1/config', AS_ADMIN)).json().mode, mode)
      } finally {
        await server.stop()
      }
    })
  }

  it('mode: SVC_API_MODE=read closes HTTP to writes while the database is open to them', async () => {
    const server = await startServer({ env: { SVC_API_MODE: 'read' } })
    try {
      assert.equal((await server.post('/v1/add', FIRST)).text, '{"error":"read-only mode"}')
      assert.equal((await server.get('/v1/config')).json().mode, 'wr')
    } finally {
      await server.stop()
    }
  })

  it('metrics: every consumer of the binlog has its lag from the start, and it falls to zero', async () => {
    const own = await startServer()
    try {
      const lagOf = async (name: string): Promise<string | undefined> => {
        const { text } = await own.get('/metrics')
        return new RegExp(`^mddb_binlog_consumer_lag_entries\\{consumer="${name}"\\} (\\d+)$`, 'm').exec(text)?.[1]
      }
      assert.deepEqual([await lagOf('revision-packing'), await lagOf('change-notices')], ['0', '0'])
      await own.post('/v1/add', { collection: 'lag', key: 'a', lang: 'en', contentMd: 'x' })
      for (const name of ['revision-packing', 'change-notices'])
        await untilAsked(
          () => lagOf(name),
          (lag) => lag === '0',
        )
    } finally {
      await own.stop()
    }
  })
})

describe('options of a running server', () => {
  let standard: Server
  let without: Server
  before(async () => {
    standard = await sharedServer()
    without = await startServer({ env: { SVC_METRICS: 'false', SVC_FTS_STEMMING: 'false', SVC_COMPRESSION_ENABLED: 'false' } })
  })
  after(async () => {
    await standard.stop()
    await without.stop()
  })

  it('metrics: SVC_METRICS=false answers 404', async () => {
    const { status, text } = await without.get('/metrics')
    assert.equal(`${status} ${text}`, '404 {"error":"not found"}')
    assert.equal((await without.get('/v1/config')).json().metricsEnabled, false)
  })

  it('fts: SVC_FTS_STEMMING=false finds words only as they are written', async () => {
    await without.post('/v1/add', { ...FIRST, contentMd: 'connections' })
    const found = async (query: string): Promise<unknown> => (await without.post('/v1/fts', { collection: 'blog', query })).json().total
    assert.deepEqual([await found('connections'), await found('connection')], [1, 0])
  })

  it('compression: contents of every size class, compression on or off, read back byte for byte', async () => {
    const id = { ...FIRST, collection: collectionOf('sizes') }
    for (const bytes of [0, 1, 1023, 1024, 10_239, 10_240, 1_000_000]) {
      const contentMd = 'Ärger "quoted" \\ tab\t and line\n'.repeat(Math.ceil(bytes / 30)).slice(0, bytes)
      for (const one of [standard, without]) {
        assert.equal((await one.post('/v1/add', { ...id, contentMd })).status, 200)
        assert.equal((await one.post('/v1/get', id)).json().contentMd, contentMd)
      }
    }
  })

  it('start: a bad option, and access control without its secrets, end the start with one line and exit code 2', async () => {
    const bad = await runToEnd({ args: ['--mode', 'rw'] })
    assert.equal(bad.code, 2)
    assert.match(bad.output, /^configuration: --mode: one of read, write, wr expected, got "rw"\n$/)
    const open = await runToEnd({ env: { SVC_AUTH_ENABLED: 'true' } })
    assert.equal(open.code, 2)
    assert.equal(open.output, 'configuration: SVC_AUTH_ENABLED needs SVC_AUTH_JWT_SECRET and SVC_AUTH_ADMIN_PASSWORD\n')
  })

  it('start: without SVC_AUTH_ENABLED no credentials are asked for, and wrong ones do no harm', async () => {
    const headers = { authorization: 'Bearer nonsense', 'x-api-key': 'svc_live_0' }
    const { status } = await standard.request('POST', '/v1/add', { ...FIRST, collection: collectionOf('open') }, headers)
    assert.equal(status, 200)
    assert.equal((await standard.get('/v1/config')).json().authEnabled, false)
  })
})
