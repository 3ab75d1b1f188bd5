/**
 * Inputs that no store accepts, of every operation, from callers without credentials, with the right to read
 * and with all rights: none is a fault of the server. Without access control: hostile_fields.test.ts.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '../../../src/operations/index.js'
import type { Operation } from '../../../src/operations/row/operation.js'
import { exampleInput } from '../../../src/surface/http/pages/openapi.js'
import { ACCESS_ENV, Admin, asUser, type Headers } from '../../harness/server/access.js'
import { startServer } from '../../harness/server/server.js'

const VALUES = ['\0', 'x'.repeat(1_978), '__proto__', -1, 2 ** 53, [''], [['x']], { '': '' }, true]
/** They end the session of the test, or take long. */
const LEFT_OUT = new Set(['restore', 'backup', 'cpuProfile', 'heapProfile', 'login', 'register', 'changeUser'])
const TOGETHER = 8

interface Sent {
  readonly what: string
  readonly method: string
  readonly path: string
  readonly body: object | undefined
}

function requestOf({ name, http }: Operation, input: Readonly<Record<string, unknown>>): Sent | undefined {
  const route = http?.routes[0]
  if (route === undefined) return undefined
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
  const path = route.path.replaceAll(/:(\w+)/g, (_, field: string) => encodeURIComponent(textOf(input[field])))
  if (route.method !== 'GET') return { what: name, method: route.method, path, body: input }
  const query = new URLSearchParams(Object.entries(input).map(([field, value]): [string, string] => [field, textOf(value)]))
  return { what: name, method: 'GET', path: `${path}?${query.toString()}`, body: undefined }
}

function* requests(): Generator<Sent> {
  for (const row of operations) {
    if (LEFT_OUT.has(row.name)) continue
    const example = exampleInput(row.input)
    for (const field of Object.keys(row.input.properties ?? {}))
      for (const value of VALUES) {
        const sent = requestOf(row, { ...example, [field]: value })
        if (sent !== undefined) yield { ...sent, what: `${sent.what} ${field} ${JSON.stringify(value).slice(0, 20)}` }
      }
  }
}

test(
  'access: no field of any operation makes a fault of the server, whether anybody, a reader or an administrator sends it',
  { timeout: 240_000 },
  async (test) => {
    const server = await startServer({ env: { ...ACCESS_ENV, SVC_TEMPORAL: 'true', SVC_SPELL: 'true' } })
    test.after(() => server.kill())
    const admin = new Admin(server)
    await admin.register('reader')
    await admin.grant('reader', '*', { read: true })
    const callers: readonly Headers[] = [{}, asUser('reader'), admin.headers]
    const faults: string[] = []
    const source = requests()
    let count = 0
    await Promise.all(
      Array.from({ length: TOGETHER }, async () => {
        for (const { what, method, path, body } of source)
          for (const headers of callers) {
            const { status, text } = await server.request(method, path, body, headers)
            count++
            if (status >= 500 && status !== 503) faults.push(`${what}: ${status} ${text.slice(0, 200)}`)
          }
      }),
    )
    assert.deepEqual(faults, [])
    assert.ok(count > 2_000, `${count} requests`)
    assert.equal((await server.get('/v1/stats', admin.headers)).status, 200)
  },
)
