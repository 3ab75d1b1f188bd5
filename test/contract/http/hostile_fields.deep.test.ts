/** Every hostile value in every field of every operation, with and without access control. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askByCallers } from '../../harness/hostile_callers.js'
import { askEach, hostileValues } from '../../harness/hostile_fields.js'
import { startServer } from '../../harness/server/server.js'

test('every hostile value: no field of any operation makes a fault of the server, or ends it', { timeout: 240_000 }, async (test) => {
  const server = await startServer({ env: { SVC_SPELL: 'true', SVC_TEMPORAL: 'true', SVC_EMBEDDING_PROVIDER: 'local' } })
  test.after(() => server.stop())
  const faults: string[] = []
  const count = await askEach({ leftOut: new Set(['restoreBackup']), valuesOf: hostileValues }, async ({ what, method, path, body }) => {
    const { status, text } = await server.request(method, path, body)
    if (status >= 500 && status !== 503) faults.push(`${what}: ${status} ${text.slice(0, 200)}`)
  })
  assert.deepEqual(faults, [])
  assert.ok(count > 2_000, `${count} requests`)
  assert.doesNotMatch(server.output(), /a decision failed|apply threw/)
})

test('every hostile value: no fault of the server by anybody, a reader or an administrator', { timeout: 240_000 }, async (test) => {
  const count = await askByCallers(test)
  assert.ok(count > 2_000, `${count} requests`)
})
