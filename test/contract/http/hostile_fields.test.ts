/**
 * Every operation of the table with text and number values that no store accepts: empty, NUL, longer than a
 * key may be, half a character, names of JavaScript's own properties. The answer never reports a fault of the
 * server, and the server stays unaffected. service-2, "Errors"; architecture.md: bad input never costs the
 * service.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { askEach, hostileValues } from '../../harness/hostile_fields.js'
import { type Server, startServer } from '../../harness/server/server.js'

/** Of each field; hostile_fields.deep.test.ts takes all. */
const VALUES_MAX = 4
/** What the contract answers with 500 where the backup to restore is not there. */
const NO_BACKUP = /^\{"error":"restore failed: backup \S+ is not there"\}$/

let server: Server

before(async () => {
  const env = { SVC_SPELL: 'true', SVC_TEMPORAL: 'true', SVC_EMBEDDING_PROVIDER: 'local' }
  server = await startServer({ env })
  const added = await server.post('/v1/add', { collection: 'blog', key: 'hello-world', lang: 'en', contentMd: '# Hello' })
  assert.equal(added.status, 200, added.text)
})
after(() => server.stop())

test('no field of any operation makes a fault of the server, or ends it', { timeout: 240_000 }, async () => {
  const faults: string[] = []
  const asked = { leftOut: new Set(['restoreBackup']), valuesOf: hostileValues, valuesMax: VALUES_MAX }
  const count = await askEach(asked, async ({ what, method, path, body }) => {
    const { status, text } = await server.request(method, path, body)
    if (status >= 500 && status !== 503 && !NO_BACKUP.test(text)) faults.push(`${what}: ${status} ${text.slice(0, 200)}`)
  })
  assert.deepEqual(faults, [])
  assert.ok(count > 1_000, `${count} requests`)
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
