/** service-2, "Audit event" and "Audit, encryption, compliance": events and queries of a real server. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { openEnvironment } from '../../../src/store/environment.js'
import { currentGeneration } from '../../../src/store/files/layout.js'
import { DocumentsClient, summary } from '../../harness/clients/documents_client.js'
import { askGraphql } from '../../harness/clients/graphql.js'
import { untilAsked } from '../../harness/process/until.js'
import { addDocuments, auditOf, killStarted, startAudited, timesOf } from '../../harness/server/audit_log.js'
import { startServer } from '../../harness/server/server.js'

after(killStarted)

describe('audit events', () => {
  let client: DocumentsClient
  before(async () => {
    const key = Buffer.alloc(32, 5).toString('base64')
    client = await DocumentsClient.start({
      env: { SVC_AUDIT_ENABLED: 'true', SVC_ENCRYPTION_KEY: key, SVC_TRUSTED_PROXIES: '127.0.0.1', SVC_HTTP_LOOPS: '2' },
    })
  })
  after(() => client.stop())

  it('audit: a write is an event with its action, collection, client and user agent, and so is one that is refused', async () => {
    const collection = client.collection()
    const began = Date.now()
    const headers = { 'User-Agent': 'tester/1 "é"', 'X-Forwarded-For': '198.51.100.9, 203.0.113.7' }
    const body = { collection, key: 'a', lang: 'en', meta: {}, contentMd: 'secret words' }
    assert.equal((await client.server.post('/v1/add', body, headers)).status, 200)
    assert.equal((await client.server.post('/v1/add', { collection, key: 'a' }, headers)).status, 400)
    const { events, count, dropped } = await auditOf(client.server, 'action=write./v1/add')
    assert.deepEqual([count, dropped], [2, 0])
    const [refused, done] = events
    const common = { actor: '', action: 'write./v1/add', ip: '203.0.113.7', userAgent: 'tester/1 "é"' }
    assert.deepEqual({ ...done, ts: 0 }, { ts: 0, ...common, resource: collection, collection, key: 'a', result: 'ok' })
    assert.deepEqual({ ...refused, ts: 0 }, { ts: 0, ...common, resource: '/v1/add', result: 'fail' })
    assert.ok(done !== undefined && done.ts / 1e6 >= began - 1 && done.ts / 1e6 <= Date.now())
    assert.equal((await client.server.get('/v1/audit')).text.includes('secret words'), false)
  })

  it('audit: times are nanoseconds with all digits and increase strictly, and the events of both event loops are there', async () => {
    assert.equal(await addDocuments(client.server, client.collection(), 100), 100)
    const times = await timesOf(client.server, 'limit=1000')
    assert.ok(times.length >= 100)
    for (const [at, time] of times.entries()) {
      assert.match(time, /^\d{19}$/)
      const next = times[at + 1]
      if (next !== undefined) assert.ok(BigInt(time) > BigInt(next), `${time} comes after ${next}`)
    }
  })

  it('audit: the resource is the path where an operation has no collection, with the values of its parameters', async () => {
    await client.server.request('DELETE', '/v1/embedding-configs/nobodys')
    const { events } = await auditOf(client.server, 'action=write./v1/embedding-configs/:id')
    assert.deepEqual(events.map(({ resource, result }) => [resource, result]), [['/v1/embedding-configs/nobodys', 'fail']]) // prettier-ignore
  })

  it('audit: no event has the key of a document in an encrypted collection, but one keyed hash of it, on every way in', async () => {
    const [vault, other] = [client.collection(), client.collection()]
    for (const collection of [vault, other])
      assert.equal((await client.server.request('PUT', '/v1/collection-config', { collection, encrypted: true })).status, 200)
    const key = 'Patient-4711'
    for (const collection of [vault, other])
      await client.server.post('/v1/add', { collection, key, lang: 'en', meta: {}, contentMd: 'text' })
    await client.server.post('/v1/add', { collection: vault, key: 'patient-4711', lang: 'de', meta: {}, contentMd: 'text' })
    await client.server.post('/v1/add', { collection: vault, key: 'patient-4712', lang: 'de', meta: {}, contentMd: 'text' })
    await client.server.post('/v1/add', { collection: vault, key, lang: 'en' })
    await client.server.request('PATCH', '/v1/update', { collection: vault, key, lang: 'en', meta: { a: ['b'] } })
    const { data } = await askGraphql(client.server, `mutation { deleteDocument(collection: "${vault}", key: "${key}", lang: "en") }`)
    assert.deepEqual(data, { deleteDocument: true })
    await client.server.post('/v1/delete', { collection: vault, key: 'patient-4711', lang: 'de' })
    const everything = (await client.server.get('/v1/audit?limit=10000')).text
    assert.doesNotMatch(everything, /patient/i)
    const { events } = await auditOf(client.server, `limit=1000&collection=${vault}`)
    const hashes = events.flatMap(({ key: hash }) => hash ?? [])
    for (const hash of hashes) assert.match(hash, /^hmac:[0-9a-f]{32}$/)
    const written = events.map(({ action, key: hash, result }) => hash && result === 'ok' && action).filter(Boolean)
    assert.deepEqual(written.sort(), ['write./v1/add', 'write./v1/add', 'write./v1/add', 'write./v1/delete', 'write./v1/delete', 'write./v1/update']) // prettier-ignore
    const of = async (query: string): Promise<(string | undefined)[]> =>
      (await auditOf(client.server, query)).events.map(({ key: hash }) => hash)
    const mine = await of(`collection=${vault}&key=${key}`)
    assert.ok(mine.length >= 4 && new Set(mine).size === 1, String(mine))
    assert.equal(new Set(hashes).size, 2)
    assert.notEqual((await of(`collection=${other}&key=${key}`))[0], mine[0])
  })

  it('audit: events of one collection, and of one document in it, whose key another collection has, too', async () => {
    const [one, two] = [client.collection(), client.collection()]
    for (const collection of [one, two]) await addDocuments(client.server, collection, 3)
    const asked = async (query: string): Promise<unknown> =>
      (await auditOf(client.server, query)).events.map(({ collection, key }) => [collection, key]).sort()
    assert.deepEqual(await asked(`collection=${one}&limit=9`), [[one, 'k0'], [one, 'k1'], [one, 'k2']]) // prettier-ignore
    assert.deepEqual(await asked(`collection=${two}&key=k1`), [[two, 'k1']])
    assert.deepEqual(await asked(`collection=${two}&key=k9`), [])
    const refused = summary(await client.server.get('/v1/audit?key=k1'))
    assert.equal(refused, '400 {"error":"invalid key: it needs a collection"}')
  })

  it('audit: a rotation of keys is requested, started and completed, each with the id of the job', async () => {
    assert.equal((await client.post('/v1/encryption/rotate', { collection: 'nobodys' })).status, 404)
    const { id } = (await client.post('/v1/encryption/rotate', {})).json<{ id: string }>()
    const ended = (): Promise<number> => auditOf(client.server, 'action=encryption.rotation_completed').then(({ count }) => count)
    await untilAsked(ended, (count) => count === 1)
    const { events } = await auditOf(client.server, 'limit=1000')
    const rotation = events.filter(({ action }) => action.startsWith('encryption.'))
    assert.deepEqual(rotation.map(({ action, result, detail }) => [action, result, detail]).reverse(), [
      ['encryption.rotation_requested', 'fail', undefined],
      ['encryption.rotation_requested', 'ok', id],
      ['encryption.rotation_started', 'ok', id],
      ['encryption.rotation_completed', 'ok', id],
    ])
  })

  it('audit: every filter holds alone and together, times are inclusive, and nanoseconds take precedence', async () => {
    const collection = client.collection()
    await addDocuments(client.server, collection, 5)
    await client.server.post('/v1/delete', { collection, key: 'k1', lang: 'en' })
    await client.server.post('/v1/delete', { collection, key: 'nobody', lang: 'en' })
    const all = await timesOf(client.server, 'limit=7')
    const [newest = '', second = '', , , , , oldest = ''] = all
    const count = async (query: string): Promise<number> => (await auditOf(client.server, query)).count
    assert.deepEqual((await auditOf(client.server, 'limit=2')).events.map(({ action }) => action), ['write./v1/delete', 'write./v1/delete']) // prettier-ignore
    assert.equal(await count(`fromNanos=${oldest}&limit=1000`), 7)
    assert.equal(await count(`fromNanos=${oldest}&toNanos=${second}`), 6)
    assert.equal(await count(`fromNanos=${newest}&toNanos=${newest}`), 1)
    assert.equal(await count(`fromNanos=${oldest}&action=write./v1/add`), 5)
    assert.equal(await count(`fromNanos=${oldest}&action=write./v1/delete&result=fail`), 1)
    assert.equal(await count(`fromNanos=${oldest}&result=ok`), 6)
    assert.equal(await count(`fromNanos=${oldest}&actor=nobody`), 0)
    assert.equal(await count(`fromNanos=${oldest}&actor=`), 7)
    const rfc = (nanos: string): string => `${new Date(Number(nanos.slice(0, -6))).toISOString().slice(0, 19)}.${nanos.slice(-9)}Z`
    assert.equal(await count(`from=${rfc(oldest)}&to=${rfc(second)}`), 6)
    assert.equal(await count(`from=${rfc(second)}`), 2)
    assert.equal(await count('from=2020-01-01T00:00:00%2B02:00&to=2020-01-02T00:00:00Z'), 0)
    assert.equal(await count(`from=2999-01-01T00:00:00Z&fromNanos=${newest}`), 1)
    assert.equal(await count(`to=2020-01-01T00:00:00Z&fromNanos=${oldest}&toNanos=${newest}`), 7)
  })

  it('audit: 100 events without a limit, and a filter that is none is 400 with its name', async () => {
    await addDocuments(client.server, client.collection(), 120)
    assert.equal((await auditOf(client.server)).count, 100)
    const refused = async (query: string): Promise<string> => summary(await client.server.get(`/v1/audit?${query}`))
    for (const [query, text] of [
      ['limit=0', 'invalid limit'],
      ['limit=10001', 'invalid limit'],
      ['limit=ten', 'invalid limit'],
      ['result=maybe', 'invalid result'],
      ['from=yesterday', 'invalid from'],
      ['to=2026-02-30T00:00:00Z', 'invalid to'],
      ['fromNanos=1.5', 'invalid fromNanos'],
      ['toNanos=-1', 'invalid toNanos'],
    ] as const)
      assert.equal(await refused(query), `400 {"error":"${text}"}`, query)
    assert.equal((await client.server.get('/v1/audit?limit=10000')).status, 200)
    assert.equal((await client.server.post('/v1/audit/exporters')).status, 405)
  })

  it('audit: without exporters their list is empty', async () => {
    assert.equal((await client.server.get('/v1/audit/exporters')).text, '{"exporters":[],"count":0}')
  })
})

it('audit: without SVC_AUDIT_ENABLED both endpoints are 404 audit disabled', async () => {
  const server = await startServer()
  for (const path of ['/v1/audit', '/v1/audit/exporters']) assert.equal(summary(await server.get(path)), '404 {"error":"audit disabled"}')
  await server.stop()
})

it('audit: events beyond the ring are dropped and counted, and the ring holds the last ones', async () => {
  const server = await startAudited({ env: { SVC_AUDIT_RING_SIZE: '8' } })
  await addDocuments(server, 'many', 64)
  const { dropped, count } = await auditOf(server, 'limit=1000')
  assert.ok(dropped > 0 && dropped <= 56, String(dropped))
  assert.equal(count, 8)
  const metrics = (await server.get('/metrics')).text
  assert.match(metrics, new RegExp(`^mddb_audit_events_dropped_total ${dropped}$`, 'm'))
  assert.match(metrics, new RegExp(`^mddb_audit_events_total ${64 - dropped}$`, 'm'))
  assert.match(metrics, /^mddb_audit_writable 1$/m)
  await server.stop()
})

it('audit: a rotation of keys that fails is an event with the id of its job', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'mds-audit-rotation-'))
  after(() => rmSync(directory, { recursive: true, force: true }))
  const [first, second] = [5, 6].map((byte) => Buffer.alloc(32, byte).toString('base64')) as [string, string]
  const old = await startAudited({ directory, env: { SVC_ENCRYPTION_KEY: first } })
  assert.equal((await old.request('PUT', '/v1/collection-config', { collection: 'c', encrypted: true })).status, 200)
  await addDocuments(old, 'c', 1)
  await old.stop()
  const environment = openEnvironment(currentGeneration(directory))
  const [row] = [...environment.heads.getRange({ limit: 1 })]
  assert.ok(row !== undefined)
  const [key, damaged] = [Buffer.from(row.key), Buffer.from(row.value)]
  damaged[60]! ^= 1
  environment.root.transactionSync(() => void environment.heads.put(key, damaged))
  await environment.root.close()
  const previous = JSON.stringify([{ id: 1, key: first }])
  const env = { SVC_ENCRYPTION_KEY: second, SVC_ENCRYPTION_KEY_ID: '2', SVC_ENCRYPTION_KEYS_PREVIOUS: previous }
  const server = await startAudited({ directory, env })
  const { id } = (await server.post('/v1/encryption/rotate', {})).json<{ id: string }>()
  const { events } = await untilAsked(() => auditOf(server, 'action=encryption.rotation_failed'), ({ count }) => count > 0) // prettier-ignore
  assert.deepEqual(events.map(({ result, detail }) => [result, detail]), [['fail', id]]) // prettier-ignore
  await server.stop()
})
