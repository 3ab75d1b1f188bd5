/**
 * The table of operations and what is derived from it: routes, OpenAPI document, reference page, loop
 * answers.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { collectionsOf } from '../../../src/access/authorize.js'
import { ANONYMOUS } from '../../../src/access/principal.js'
import { projectFolder } from '../../../src/base/installation.js'
import { entryOf } from '../../../src/errors.js'
import { checked, operationByName, operations } from '../../../src/operations/index.js'
import type { Operation } from '../../../src/operations/row/operation.js'
import { buildOpenApi, exampleInput } from '../../../src/surface/http/pages/openapi.js'
import { referencePages } from '../../../src/surface/http/pages/reference.js'
import { systemAnswers } from '../../../src/system/loop_answers.js'
import type { ServerState } from '../../../src/system/server_state.js'
import type { Answer } from '../../../src/wire/answer.js'
import type { Phase } from '../../../src/wire/control_block.js'
import { serverState } from '../../harness/server/server_state.js'
import { openApiMetaSchema } from './openapi_meta_schema.js'

/** Generated; a change of it is read where it is committed. */
const LISTED = JSON.parse(readFileSync(join(projectFolder(), 'test/golden/operations.json'), 'utf8')) as readonly {
  readonly name: string
  readonly effect: string
  readonly routes: readonly string[]
}[]
const ROUTES = LISTED.flatMap(({ routes }) => routes)

function ask(name: string, state: ServerState = serverState(), input: Readonly<Record<string, string>> = {}): Answer {
  const bound = [...systemAnswers(state), ...referencePages(state.config)]
  const [, run] = bound.find(([row]) => row.name === name) ?? assert.fail(name)
  return run(input, ANONYMOUS)
}

/** The HTTP status of an answer. */
function statusOf({ code }: Answer): number {
  return code === undefined ? 200 : entryOf(code).http
}

function askJson(name: string, state?: ServerState): Record<string, unknown> {
  return JSON.parse(String(ask(name, state).body)) as Record<string, unknown>
}

describe('the table', () => {
  it('operations: every route of the first issue is there, once', () => {
    const routes = operations.flatMap(({ http }) => (http?.routes ?? []).map(({ method, path }) => `${method} ${path}`))
    assert.deepEqual([...routes].sort(), [...ROUTES].sort())
  })

  it('operations: a table with a name or a route twice is refused', () => {
    const [first] = operations
    assert.ok(first)
    assert.throws(() => checked([first, first]), /two operations are named/)
    assert.throws(() => checked([first, { ...first, name: 'other' }]), /two operations answer/)
    assert.throws(() => checked([{ ...first, effect: 'write', cost: 'search' }]), /writes on a read lane/)
  })

  it('operations: exactly the writes are refused in mode read, and health, metrics, stats, config and pages run in every mode', () => {
    assert.deepEqual(
      operations.map(({ name, effect }) => `${name}: ${effect}`),
      LISTED.map(({ name, effect }) => `${name}: ${effect}`),
    )
    for (const name of ['health', 'metrics', 'stats', 'config', 'docs', 'openapi'])
      assert.equal(operationByName.get(name)?.effect, 'system')
    // What a name says, and the list does not know.
    const writes =
      /^(?:add|set|delete|update|create|replace|change|disable|cancel|submit|start|summarize|ingest|import|upload|register|restore|resume|replay|rotate|truncate|.*Reindex$)/
    for (const { name, effect } of operations) assert.equal(effect === 'write', writes.test(name), name)
  })

  it('operations: every write names itself in the audit log, by its path where the contract has no name for it', () => {
    for (const row of operations.filter(({ effect }) => effect === 'write')) {
      const ofOthers = new Map([['rotateEncryption', 'encryption.rotation_requested'], ['updateBatch', 'write.UpdateBatch']]) // prettier-ignore
      const named = ofOthers.get(row.name) ?? `write.${row.http?.routes[0]?.path ?? ''}`
      assert.equal(row.audit, named)
    }
  })

  it('operations: every operation on a collection takes its name from a required field, but for rules and jobs that are named by their id or listed, and texts that are checked without one', () => {
    const without = [
      'listBulkIngests',
      'listCuration',
      'replaceCuration',
      'deleteCuration',
      'spellSuggest',
      'spellCleanup',
      'classify',
      'listWebhooks',
      'registerWebhook',
      'watchChanges',
    ]
    for (const row of operations) {
      if (row.collections.kind !== 'named' || row.name === 'crossSearch') continue
      const ofList = row.input as { readonly properties: { readonly searches?: { readonly items: object } } }
      const { required } = (row.name === 'multiSearch' ? ofList.properties.searches?.items : row.input) as {
        readonly required?: readonly string[]
      }
      assert.deepEqual(row.collections.paths, [row.name === 'multiSearch' ? 'searches.collection' : 'collection'], row.name)
      assert.equal(required?.includes('collection') ?? false, !without.includes(row.name), row.name)
    }
  })

  it('operations: permission on a job or a webhook is asked on its own collection, and on all where there is no such one', () => {
    const known = new Map([['job bulk_1', 'notes'], ['webhook 0123456789abcdef', 'notes']]) // prettier-ignore
    const asked = (row: Operation, id: string): readonly string[] =>
      collectionsOf(row, { id }, (kind, each) => known.get(`${kind} ${each}`))
    const jobs = operations.filter(({ http }) => http?.routes.some(({ path }) => path.startsWith('/v1/bulk-ingest-job/')))
    assert.deepEqual(jobs.map(({ name }) => name).sort(), ['cancelBulkIngest', 'getBulkIngest'])
    const hooks = operations.filter(({ http }) => http?.routes.some(({ path }) => path.startsWith('/v1/webhooks/')))
    assert.equal(hooks.length, 5)
    for (const row of jobs) assert.deepEqual([asked(row, 'bulk_1'), asked(row, 'bulk_2')], [['notes'], ['*']], row.name)
    for (const row of hooks) assert.deepEqual([asked(row, '0123456789abcdef'), asked(row, 'none')], [['notes'], ['*']], row.name)
  })

  it('operations: each input schema takes its own example and the same with unknown fields', () => {
    const ajv = new Ajv2020({ allowUnionTypes: true })
    for (const row of operations) {
      const validate = ajv.compile(row.input)
      const example = exampleInput(row.input)
      assert.ok(validate(example), `${row.name}: ${ajv.errorsText(validate.errors)}`)
      assert.ok(validate({ ...example, unheardOf: { deep: [1] } }), row.name)
    }
  })
})

describe('the OpenAPI document', () => {
  const document = JSON.parse(String(ask('openapi').body)) as Record<string, unknown>

  it('openapi: the document obeys the structure of OpenAPI 3.1', () => {
    const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true, allErrors: true })
    const validate = ajv.compile(openApiMetaSchema)
    assert.ok(validate(document), ajv.errorsText(validate.errors, { separator: '\n' }))
  })

  it('openapi: the structure check refuses documents that are broken', () => {
    const validate = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true }).compile(openApiMetaSchema)
    const broken = (change: (copy: Record<string, Record<string, never>>) => void): boolean => {
      const copy = structuredClone(document) as Record<string, Record<string, never>>
      change(copy)
      return validate(copy)
    }
    assert.equal(
      broken((copy) => void delete copy.info),
      false,
    )
    assert.equal(
      broken((copy) => void Object.assign(copy, { openapi: '3.0.3' })),
      false,
    )
    assert.equal(
      broken((copy) => void Object.assign(copy.paths ?? {}, { 'no-slash': {} })),
      false,
    )
    assert.equal(
      broken((copy) => void Object.assign(copy.paths ?? {}, { '/x': { get: { summary: 'no responses' } } })),
      false,
    )
    assert.equal(
      broken((copy) => void Object.assign(copy.paths ?? {}, { '/x': { get: { responses: { nonsense: { description: '' } } } } })),
      false,
    )
  })

  it('openapi: every schema in it is a JSON Schema and every reference leads somewhere', () => {
    const ajv = new Ajv2020({ strict: false })
    ajv.addSchema({ $id: 'document', components: document.components })
    let schemas = 0
    const walk = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return
      const { schema, ...rest } = node as Record<string, unknown>
      if (schema !== undefined && typeof schema === 'object') {
        const text = JSON.stringify(schema).replaceAll('"#/components', '"document#/components')
        ajv.compile(JSON.parse(text) as object)
        schemas += 1
      }
      for (const value of Object.values(rest)) walk(value)
    }
    walk(document.paths)
    assert.ok(schemas > 60, `${schemas} schemas`)
  })

  it('openapi: operations are named as their rows, further routes of one by number, and every route of the table is described', () => {
    const paths = document.paths as Record<string, Record<string, { operationId: string }>>
    const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId))
    const named = operations.flatMap(({ name, http }) =>
      (http?.routes ?? []).map((_, index) => (index === 0 ? name : `${name}${index + 1}`)),
    )
    assert.deepEqual(ids.toSorted(), named.toSorted())
    assert.equal(new Set(ids).size, ids.length)
    for (const route of ROUTES) {
      const [method = '', path = ''] = route.split(' ')
      assert.ok(paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()], route)
    }
  })

  it('openapi: writes tell of read-only mode, reads of write-only mode, look-ups of 404, searches of X-Total-Count', () => {
    const responses = (path: string): Record<string, { description: string; headers?: Record<string, unknown> }> => {
      const paths = document.paths as Record<string, Record<string, { responses: Record<string, { description: string }> }>>
      return Object.values(paths[path] ?? {})[0]?.responses ?? {}
    }
    assert.match(responses('/v1/add')['403']?.description ?? '', /read-only mode/)
    assert.match(responses('/v1/get')['403']?.description ?? '', /write-only mode/)
    assert.match(responses('/v1/get')['404']?.description ?? '', /not found/)
    assert.match(responses('/v1/get')['400']?.description ?? '', /missing fields/)
    assert.ok(responses('/v1/search')['200']?.headers?.['X-Total-Count'])
    assert.doesNotMatch(responses('/v1/health')['403']?.description ?? '', /mode/)
    for (const status of ['403', '500', '503']) assert.ok(responses('/v1/stats')[status], status)
  })

  it('openapi: a path with a parameter becomes a template with the parameter in it', () => {
    const row = operationByName.get('checksum')
    assert.ok(row)
    const { paths } = buildOpenApi([{ ...row, http: { routes: [{ method: 'GET', path: '/v1/checksum/:collection' }] } }]) as {
      paths: Record<string, Record<string, unknown>>
    }
    const { parameters } = paths['/v1/checksum/{collection}']?.get as { parameters: { name: string; in: string; required: boolean }[] }
    assert.deepEqual(
      parameters.map(({ name, in: part, required }) => ({ name, part, required })),
      [{ name: 'collection', part: 'path', required: true }],
    )
  })

  it('openapi: a document of GraphQL that cannot be run is described as answered with errors, other faults are not', () => {
    const { paths } = buildOpenApi(operations) as { paths: Record<string, Record<string, { responses: Record<string, unknown> }>> }
    const responses = paths['/graphql']?.post?.responses ?? {}
    const schemaOf = (status: string): string => JSON.stringify(responses[status]).match(/schemas\/\w+/)?.[0] ?? ''
    assert.deepEqual(['200', '400', '503'].map(schemaOf), ['schemas/GraphqlAnswer', 'schemas/GraphqlAnswer', 'schemas/Error'])
  })
})

describe('answers of the loop', () => {
  it('health: a healthy server answers 200 with status, mode, persistence and durable', () => {
    const answer = ask('health')
    assert.equal(statusOf(answer), 200)
    const body = askJson('health')
    assert.equal(body.status, 'healthy')
    assert.equal(body.mode, 'wr')
    assert.deepEqual(Object.keys(body.persistence as object).sort(), [
      'ephemeral',
      'filesystem',
      'freeBytes',
      'path',
      'warnings',
      'writable',
    ])
    assert.equal(typeof body.durable, 'boolean')
  })

  it('health: warming up, a storage failure and shutting down answer 503 with their status', () => {
    const expected: readonly (readonly [Phase, string])[] = [['warming_up', 'warming_up'], ['unhealthy', 'unhealthy'], ['draining', 'shutting_down']] // prettier-ignore
    for (const [phase, status] of expected) {
      const state = serverState(phase)
      assert.equal(statusOf(ask('health', state)), 503)
      assert.equal(askJson('health', state).status, status)
    }
    assert.equal(askJson('health', serverState('unhealthy')).error, 'flush failed')
  })

  it('health: with a full disk writers get 503 degraded, readers 200, and freeBytes says how much there is', () => {
    const full = serverState('healthy', {}, true)
    assert.equal(ask('health', full).code, 'diskFull')
    assert.equal(entryOf('diskFull').retryAfterSeconds, 5)
    const { status, error, persistence } = askJson('health', full) as Record<string, unknown> & {
      persistence: { writable: boolean; freeBytes: number; warnings: { code: string }[] }
    }
    assert.deepEqual([status, error], ['degraded', 'disk full, writes are refused until there is space'])
    assert.equal(persistence.writable, false)
    assert.ok(persistence.freeBytes > 0)
    assert.ok(persistence.warnings.some(({ code }) => code === 'disk_full'))
    for (const answer of [ask('health', full, { mode: 'read' }), ask('health', serverState('healthy', { SVC_MODE: 'read' }, true))]) {
      assert.equal(statusOf(answer), 200)
      assert.equal((JSON.parse(String(answer.body)) as { status: string }).status, 'degraded')
    }
    assert.equal(statusOf(ask('health', serverState('warming_up', {}, true), { mode: 'read' })), 503)
  })

  it('health: async durability is never called durable', () => {
    const body = askJson('health', serverState('healthy', { SVC_DURABILITY: 'async' }))
    assert.equal(body.durable, false)
    assert.equal(askJson('health', serverState('unhealthy')).durable, false)
  })

  it('config: /v1/config has every field of the contract and version 2.9.17', () => {
    const body = askJson('config', serverState('healthy', { SVC_METRICS: 'false', SVC_MODE: 'read' }))
    for (const field of [
      'version',
      'databasePath',
      'mode',
      'protocols',
      'authEnabled',
      'metricsEnabled',
      'vectorConfig',
      'automationsEnabled',
      'searchStatsEnabled',
      'graphql_enabled',
      'replicationRole',
      'chunkConfig',
      'automationLogsEnabled',
    ]) {
      assert.ok(field in body, field)
    }
    assert.equal(body.version, '2.9.17')
    assert.equal(body.mode, 'read')
    assert.equal(body.metricsEnabled, false)
    const protocols = body.protocols as Record<string, { enabled: boolean; addr: string }>
    assert.equal(protocols.http?.addr, '127.0.0.1:4711')
    for (const name of ['http', 'grpc', 'mcp', 'http3']) assert.equal(typeof protocols[name]?.enabled, 'boolean')
  })

  it('config: a server open to others without access control says so', () => {
    const isExposed = (env: NodeJS.ProcessEnv): unknown =>
      askJson('config', serverState('healthy', { SVC_AUTH_ENABLED: 'false', ...env })).exposed
    assert.equal(isExposed({}), true)
    assert.equal(isExposed({ SVC_AUTH_ENABLED: 'true' }), false)
    assert.equal(isExposed({ SVC_ADDR: '127.0.0.1:1' }), false)
    assert.equal(isExposed({ SVC_ADDR: 'unix:/tmp/s' }), false)
  })

  it('system: /v1/system/info has every field of the contract with plausible values', () => {
    const body = askJson('systemInfo')
    for (const field of ['hostname', 'os', 'arch', 'goVersion', 'version']) assert.equal(typeof body[field], 'string', field)
    for (const field of ['numCPU', 'uptimeSeconds', 'memoryTotal', 'memoryUsed', 'numGoroutines', 'cpuUsagePercent'])
      assert.equal(typeof body[field], 'number', field)
    for (const field of ['memorySystem', 'memoryHeap']) assert.ok((body[field] as number) > 0, field)
    assert.ok('network' in body)
    assert.equal(body.version, '2.9.17')
    assert.ok((body.uptimeSeconds as number) >= 61)
    assert.ok((body.memoryUsed as number) > 0 && (body.memoryUsed as number) < (body.memoryTotal as number))
    assert.ok((body.cpuUsagePercent as number) >= 0 && (body.cpuUsagePercent as number) <= 100)
    assert.ok((body.goVersion as string).includes(process.version))
  })

  const PUBLIC = /^\/(health|v1\/health|livez|readyz|metrics|openapi\.json|docs|graphql|playground|v1\/auth\/login|v1\/compliance-status)$/
  it('endpoints: /v1/endpoints lists every route with method, path, description and requiresAuth', () => {
    const { http, grpc, mcp } = askJson('endpoints') as {
      http: { method: string; path: string; description: string; requiresAuth: boolean }[]
      grpc: unknown[]
      mcp: unknown[]
    }
    assert.deepEqual(http.map(({ method, path }) => `${method} ${path}`).sort(), [...ROUTES].sort())
    // Their lists are compared with the protocols in test/contract: grpc_access and mcp_tools.
    for (const list of [grpc, mcp]) assert.ok(list.length > 40)
    for (const { path, description, requiresAuth } of http) {
      assert.ok(description.length > 0, path)
      assert.equal(requiresAuth, !PUBLIC.test(path), path)
    }
  })

  it('answers of the loop have the fields that their schemas promise', () => {
    const ajv = new Ajv2020({ allowUnionTypes: true })
    for (const name of ['health', 'config', 'systemInfo', 'endpoints']) {
      const row = operationByName.get(name) ?? assert.fail(name)
      assert.ok(ajv.validate(row.output, askJson(name)), `${name}: ${ajv.errorsText()}`)
    }
  })
})
