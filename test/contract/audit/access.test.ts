/** service-2, "Authentication": with an audit log every login and every check of a credential is an event. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { ACCESS_ENV, Admin, ADMIN_PASSWORD, asUser, bearer, type Headers, JWT_SECRET, tokenOf } from '../../harness/server/access.js'
import { auditFiles, auditOf, type EventJson, killStarted, linesOf, startAudited, timesOf, verify } from '../../harness/server/audit_log.js'
import { clientsOfLoops, LOOP_LOG } from '../../harness/server/loop_clients.js'
import type { Server } from '../../harness/server/server.js'

after(killStarted)

const FROM: Headers = { 'x-forwarded-for': '203.0.113.7', 'user-agent': 'tester/1' }
const GET = { collection: 'blog', key: 'a', lang: 'en' }

describe('audit of access', () => {
  let server: Server
  let admin: Admin
  before(async () => {
    server = await startAudited({ env: { ...ACCESS_ENV, ...LOOP_LOG, SVC_TRUSTED_PROXIES: '127.0.0.1' } })
    admin = new Admin(server)
    await admin.register('ada')
    await admin.grant('ada', 'blog', { read: true, write: true })
  })

  /** The events that follow until `run` has ended, oldest first, without those of the questions. */
  async function eventsOf(run: () => Promise<unknown>): Promise<EventJson[]> {
    const [since = ''] = await timesOf(server, 'limit=1', admin.headers)
    await run()
    const { events } = await auditOf(server, `fromNanos=${BigInt(since) + 1n}&limit=1000`, admin.headers)
    return events.filter(({ resource }) => resource !== '/v1/audit').reverse()
  }

  const shown = (events: readonly EventJson[]): unknown[] =>
    events.map(({ action, actor, resource, result }) => [action, actor, resource, result])

  it('audit: a login is an event with its result, the name that was tried, address and user agent', async () => {
    const password = 'the password of ada'
    const events = await eventsOf(async () => {
      assert.equal((await server.post('/v1/auth/login', { username: 'ada', password }, FROM)).status, 200)
      assert.equal((await server.post('/v1/auth/login', { username: 'ada', password: 'wrong' }, FROM)).status, 401)
      assert.equal((await server.post('/v1/auth/login', { username: 'n'.repeat(65), password }, FROM)).status, 401)
      assert.equal((await server.post('/v1/auth/login', { username: 'ada' }, FROM)).status, 400)
    })
    const path = '/v1/auth/login'
    assert.deepEqual(shown(events), [
      ['auth.login', 'ada', path, 'ok'],
      ['auth.login', 'ada', path, 'fail'],
      ['auth.login', 'n'.repeat(64), path, 'fail'],
      ['auth.login', '', path, 'fail'],
    ])
    for (const { ip, userAgent } of events) assert.deepEqual([ip, userAgent], ['203.0.113.7', 'tester/1'])
    // What is not known is not there, beyond the seven fields of the contract.
    for (const event of events) assert.equal(Object.keys(event).join(), 'ts,actor,action,resource,result,ip,userAgent')
    const { text } = await server.get('/v1/audit?limit=1000', admin.headers)
    assert.ok(!text.includes(password) && !text.includes(ADMIN_PASSWORD) && !text.includes(JWT_SECRET))
  })

  it('audit: every check of a token is an event: valid, wrong, expired, of a disabled user; and so is a request without a credential', async () => {
    await admin.register('off')
    await admin.do('PUT', '/v1/auth/users/off', { disabled: true })
    const wrong: readonly Headers[] = [bearer('x.y.z'), bearer(tokenOf('ada', 1, -1000)), asUser('off'), bearer(`${tokenOf('ada')}x`)]
    const events = await eventsOf(async () => {
      // The first one is looked up, the second one is known.
      for (let at = 0; at < 2; at++) assert.equal((await server.post('/v1/get', GET, { ...FROM, ...asUser('ada') })).status, 404)
      for (const credential of wrong) assert.equal((await server.post('/v1/get', GET, { ...FROM, ...credential })).status, 401)
      assert.equal((await server.post('/v1/get', GET, FROM)).status, 401)
      assert.equal((await server.post('/v1/get', GET, { ...FROM, authorization: 'Basic YTpi' })).status, 401)
    })
    assert.deepEqual(shown(events), [
      ['auth.jwt', 'ada', '/v1/get', 'ok'],
      ['auth.jwt', 'ada', '/v1/get', 'ok'],
      ...wrong.map(() => ['auth.jwt', '', '/v1/get', 'fail']),
      ['auth.missing', '', '/v1/get', 'fail'],
      ['auth.jwt', '', '/v1/get', 'fail'],
    ])
    for (const { ip, userAgent } of events) assert.deepEqual([ip, userAgent], ['203.0.113.7', 'tester/1'])
  })

  it('audit: every check of an API key is an event, with the name of its user, and the key is in none', async () => {
    const { key } = (await server.post('/v1/auth/api-key', { description: 'of a test' }, asUser('ada'))).json<{ key: string }>()
    const other = key.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    const events = await eventsOf(async () => {
      assert.equal((await server.post('/v1/get', GET, { ...FROM, 'x-api-key': key })).status, 404)
      assert.equal((await server.post('/v1/get', GET, { ...FROM, ...bearer(key) })).status, 404)
      assert.equal((await server.post('/v1/get', GET, { ...FROM, 'x-api-key': other })).status, 401)
    })
    assert.deepEqual(shown(events), [
      ['auth.apikey', 'ada', '/v1/get', 'ok'],
      ['auth.apikey', 'ada', '/v1/get', 'ok'],
      ['auth.apikey', '', '/v1/get', 'fail'],
    ])
    const { text } = await server.get('/v1/audit?limit=1000', admin.headers)
    assert.ok(!text.includes(key.slice(-40)))
  })

  it('audit: a write has its user, the collection and the document, also where the user may not write', async () => {
    const headers = { ...FROM, ...asUser('ada') }
    const add = (collection: string): object => ({ collection, key: 'a', lang: 'en', meta: {}, contentMd: 'secret words' })
    const events = await eventsOf(async () => {
      assert.equal((await server.post('/v1/add', add('blog'), headers)).status, 200)
      assert.equal((await server.post('/v1/add', add('closed'), headers)).status, 403)
    })
    const writes = events.filter(({ action }) => action.startsWith('write.'))
    assert.deepEqual(
      writes.map(({ ts, ...event }) => (assert.ok(ts > 0), event)),
      ['blog', 'closed'].map((collection, at) => ({
        actor: 'ada', action: 'write./v1/add', resource: collection, collection, key: 'a', result: at === 0 ? 'ok' : 'fail',
        ip: '203.0.113.7', userAgent: 'tester/1',
      })),
    ) // prettier-ignore
  })

  it('audit: what is public is no check, and a probe is no event', async () => {
    const events = await eventsOf(async () => {
      for (const path of ['/health', '/v1/health', '/livez', '/readyz', '/metrics', '/v1/compliance-status', '/', '/docs', '/openapi.json'])
        assert.ok((await server.get(path, FROM)).status < 400, path)
    })
    assert.deepEqual(shown(events), [])
    // A credential that comes with a question for health is looked at.
    const ofHealth = await eventsOf(async () => {
      for (const credential of [asUser('ada'), bearer('x.y.z')])
        assert.equal((await server.get('/health', { ...FROM, ...credential })).status, 200)
    })
    assert.deepEqual(shown(ofHealth), [
      ['auth.jwt', 'ada', '/health', 'ok'],
      ['auth.jwt', '', '/health', 'fail'],
    ])
  })

  it('audit: checks on every event loop are events, as many as there were requests', async () => {
    const clients = await clientsOfLoops(server, 2)
    try {
      const events = await eventsOf(async () => {
        for (let at = 0; at < 50; at++)
          for (const client of clients) assert.equal((await client.ask('POST', '/v1/get', GET, asUser('ada'))).status, 200)
      })
      assert.equal(events.filter(({ action, actor, result }) => action === 'auth.jwt' && actor === 'ada' && result === 'ok').length, 100)
    } finally {
      for (const client of clients) client.close()
    }
  })

  it('audit: the log is for administrators: 401 without a credential, 403 for users; other methods are 405', async () => {
    for (const path of ['/v1/audit', '/v1/audit/exporters']) {
      assert.equal((await server.get(path)).status, 401)
      assert.equal((await server.get(path, asUser('ada'))).status, 403)
      assert.equal((await server.get(path, admin.headers)).status, 200)
      assert.equal((await server.post(path, {}, admin.headers)).status, 405)
    }
  })
})

it('audit: of failures that an address repeats, ten are events, and the others one event with their count; none is lost', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'mds-audit-flood-'))
  after(() => rmSync(directory, { recursive: true, force: true }))
  const server = await startAudited({ directory, env: { ...ACCESS_ENV, SVC_HTTP_LOOPS: '2' } })
  const [withToken, without] = [bearer('x.y.z'), {}]
  for (let round = 0; round < 10; round++)
    await Promise.all(Array.from({ length: 50 }, (_, at) => server.post('/v1/get', GET, at % 2 === 0 ? withToken : without)))
  const { events } = await auditOf(server, 'result=fail&limit=1000', asUser('admin'))
  assert.deepEqual(
    events
      .map(({ action }) => action)
      .filter((action) => action.startsWith('auth.'))
      .sort(),
    [...Array<string>(10).fill('auth.jwt'), ...Array<string>(10).fill('auth.missing')],
  )
  assert.equal(await server.stop(), 0)
  const lines = auditFiles(join(directory, 'audit')).flatMap(linesOf).filter((line) => line.startsWith('{"ts"')) // prettier-ignore
  const folded = lines.map((line) => JSON.parse(line) as EventJson & { readonly count?: number }).filter(({ count }) => count !== undefined)
  const common = { actor: '', resource: '/v1/get', result: 'fail', ip: '127.0.0.1' }
  assert.deepEqual(
    folded
      .map(({ action, actor, resource, result, ip, count }) => ({ action, actor, resource, result, ip, count }))
      .sort((one, other) => one.action.localeCompare(other.action)),
    ['auth.jwt', 'auth.missing'].map((action) => ({ action, ...common, count: 240 })),
  )
  assert.equal((await verify(join(directory, 'audit'))).code, 0)
})
