/**
 * Every operation of the table with text and number values that no store accepts: empty, NUL, longer than a
 * key may be, half a character, names of JavaScript's own properties. The answer never reports a fault of the
 * server, and the server stays unaffected. service-2, "Errors"; architecture.md: bad input never costs the
 * service.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { operations } from '../../../src/operations/index.js'
import type { Schema } from '../../../src/operations/row/json_schema.js'
import type { Operation } from '../../../src/operations/row/operation.js'
import { exampleInput } from '../../../src/surface/http/pages/openapi.js'
import { startServer, type Server } from '../../harness/server/server.js'

const TEXTS = [
  '',
  '\0',
  'a\0b',
  'x'.repeat(1_978),
  'İ'.repeat(1_000),
  'x'.repeat(100_000),
  '\ud800',
  '__proto__',
  'constructor',
  '|',
  '.',
  '..',
]
const NUMBERS = [-1, 0, 1.5, 1e300, -1e300, 2 ** 53, 2 ** 32]
/** Maximum length in a path or a query string, whose size is limited. */
const URL_TEXT_MAX = 3_000
/** Requests in flight at once. */
const TOGETHER = 8

let server: Server

before(async () => {
  const env = { SVC_SPELL: 'true', SVC_TEMPORAL: 'true', SVC_EMBEDDING_PROVIDER: 'local' }
  server = await startServer({ env })
  const added = await server.post('/v1/add', { collection: 'blog', key: 'hello-world', lang: 'en', contentMd: '# Hello' })
  assert.equal(added.status, 200, added.text)
})
after(() => server.stop())

interface Sent {
  readonly method: string
  readonly path: string
  readonly body: Readonly<Record<string, unknown>> | undefined
}

function requestOf(row: Operation, input: Readonly<Record<string, unknown>>): Sent | undefined {
  const route = row.http?.routes[0]
  if (route === undefined) return undefined
  const rest = { ...input }
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = String(rest[name])
    delete rest[name]
    return encodeURIComponent(value.isWellFormed() ? value : value.toWellFormed())
  })
  // An empty path segment selects another route.
  if (path.includes('//') || path.endsWith('/')) return undefined
  if (route.method !== 'GET') return { method: route.method, path, body: rest }
  const query = new URLSearchParams(
    Object.entries(rest).map(([name, value]): [string, string] => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  )
  const url = `${path}?${query.toString()}`
  return url.length > URL_TEXT_MAX ? undefined : { method: 'GET', path: url, body: undefined }
}

function hostileValues({ type, anyOf }: Schema): readonly unknown[] {
  if (type === 'string') return TEXTS
  if (type === 'integer' || type === 'number') return NUMBERS
  if (type === 'array') return [[], [''], ['\0'], ['\ud800'], ['x'.repeat(100_000)], [['x']]]
  if (type === 'object') return [{}, { '': '' }, { __proto__: 'x' }, { constructor: ['x'] }, { 'a\0b': ['c\0d'] }]
  return anyOf === undefined ? [] : TEXTS
}

function* requests(): Generator<Sent & { readonly what: string }> {
  for (const row of operations) {
    if (row.name === 'restoreBackup') continue
    const example = exampleInput(row.input)
    for (const [name, schema] of Object.entries(row.input.properties ?? {}))
      for (const [at, value] of hostileValues(schema).entries()) {
        const sent = requestOf(row, { ...example, [name]: value })
        if (sent !== undefined) yield { ...sent, what: `${row.name} ${name} #${at}` }
      }
  }
}

test('no field of any operation makes a fault of the server, or ends it', { timeout: 240_000 }, async () => {
  const faults: string[] = []
  const source = requests()
  let count = 0
  await Promise.all(
    Array.from({ length: TOGETHER }, async () => {
      for (const { method, path, body, what } of source) {
        const { status, text } = await server.request(method, path, body)
        count++
        if (status >= 500 && status !== 503) faults.push(`${what}: ${status} ${text.slice(0, 200)}`)
      }
    }),
  )
  assert.deepEqual(faults, [])
  assert.ok(count > 2_000, `${count} requests`)
  assert.doesNotMatch(server.output(), /a decision failed|apply threw/)
  const { status, text } = await server.post('/v1/get', { collection: 'blog', key: 'hello-world', lang: 'en' })
  assert.equal(status, 200, text)
})

test('a curation rule is changed and deleted with an empty collection as without one', async () => {
  const rule = { collection: 'ruled', query: 'q', enabled: true }
  const { id } = (await server.post('/v1/curation', rule)).json<{ id: string }>()
  const replaced = await server.request('PUT', '/v1/curation', { id, collection: '', query: 'other' })
  assert.equal(replaced.status, 200, replaced.text)
  assert.equal((await server.get(`/v1/curation?id=${id}&collection=`)).json().query, 'other')
  const unknown = await server.request('DELETE', '/v1/curation', { id: 'x', collection: '' })
  assert.equal(unknown.status, 404, unknown.text)
  const deleted = await server.request('DELETE', '/v1/curation', { id, collection: '' })
  assert.deepEqual([deleted.status, deleted.json()], [200, { status: 'deleted', id }])
})
