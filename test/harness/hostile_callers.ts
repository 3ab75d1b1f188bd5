/** Hostile values from callers without credentials, with the right to read and with all rights. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { askEach } from './hostile_fields.js'
import { ACCESS_ENV, Admin, asUser, type Headers } from './server/access.js'
import { startServer } from './server/server.js'

/** Of any type, because most are refused before their type matters. */
const VALUES = ['\0', 'x'.repeat(1_978), '__proto__', -1, 2 ** 53, [''], [['x']], { '': '' }, true]
/** They end the session of the test, or take long. */
const LEFT_OUT = new Set(['restore', 'backup', 'cpuProfile', 'heapProfile', 'login', 'register', 'changeUser'])

/** @returns how many requests were sent; none was a fault of the server */
export async function askByCallers(test: TestContext, valuesMax?: number): Promise<number> {
  const server = await startServer({ env: { ...ACCESS_ENV, SVC_TEMPORAL: 'true', SVC_SPELL: 'true' } })
  test.after(() => server.kill())
  const admin = new Admin(server)
  await admin.register('reader')
  await admin.grant('reader', '*', { read: true })
  const callers: readonly Headers[] = [{}, asUser('reader'), admin.headers]
  const faults: string[] = []
  const asked = { leftOut: LEFT_OUT, valuesOf: () => VALUES, ...(valuesMax === undefined ? {} : { valuesMax }) }
  const count = await askEach(asked, async ({ what, method, path, body }) => {
    for (const headers of callers) {
      const { status, text } = await server.request(method, path, body, headers)
      if (status >= 500 && status !== 503) faults.push(`${what}: ${status} ${text.slice(0, 200)}`)
    }
  })
  assert.deepEqual(faults, [])
  assert.equal((await server.get('/v1/stats', admin.headers)).status, 200)
  return count * callers.length
}
