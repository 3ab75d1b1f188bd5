/** Rules of access control beside rights and tokens: service-2, "Authentication"; security.md. */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { niceCounts } from '../../harness/process/threads.js'
import { untilAsked } from '../../harness/process/until.js'
import { ACCESS_ENV, Admin, ADMIN_PASSWORD, asUser, bearer, keyOf, REAL_HASHES, tokenOf } from '../../harness/server/access.js'
import { auditOf, type EventJson } from '../../harness/server/audit_log.js'
import { clientsOfLoops, LOOP_LOG } from '../../harness/server/loop_clients.js'
import { startServer } from '../../harness/server/server.js'
import { ServerPool } from '../../harness/server/server_pool.js'

const DOCUMENT = { collection: 'blog', key: 'k', lang: 'en' }
const folder = mkdtempSync(join(tmpdir(), 'mds-access-rules-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** Uses of keys are recorded at once. */
const GATHERING = { ...ACCESS_ENV, SVC_LIMIT_KEY_USES_GATHERED_MS: '20' }

/** All bytes that a server has written. */
function bytesUnder(directory: string): Buffer {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((name) => join(directory, name))
  return Buffer.concat(names.filter((name) => statSync(name).isFile()).map((name) => readFileSync(name)))
}

describe('rules of access control', () => {
  const pool = new ServerPool()
  after(() => pool.stop())

  it('failed authentication: refused tokens and keys of one address are a burst over all loops, once; requests without credentials are none', async (test) => {
    const server = await startServer({
      env: {
        ...ACCESS_ENV,
        ...LOOP_LOG,
        SVC_AUDIT_ENABLED: 'true',
        SVC_INCIDENT_AUTH_THRESHOLD: '4',
        SVC_INCIDENT_AUTH_WINDOW_SEC: '3600',
      },
    })
    test.after(() => server.kill())
    const bursts = async (): Promise<readonly EventJson[]> =>
      (await auditOf(server, 'action=security.auth_failure_burst', asUser('admin'))).events
    const clients = await clientsOfLoops(server, 2)
    test.after(() => {
      for (const client of clients) client.close()
    })
    const admin = new Admin(server)
    await admin.do('POST', '/v1/add', { ...DOCUMENT, contentMd: 'x' })
    // Two kinds of wrong credentials on each of the two loops: one that is read, and one that is looked up.
    const wrong = [bearer('no token'), { 'x-api-key': `svc_live_${'0'.repeat(48)}` }]
    const statuses: number[] = []
    for (const client of clients)
      for (const headers of wrong) {
        for (let at = 0; at < 5; at++) assert.equal((await client.ask('POST', '/v1/get', DOCUMENT)).status, 401)
        assert.deepEqual(await bursts(), [])
        statuses.push((await client.ask('POST', '/v1/get', DOCUMENT, headers)).status)
      }
    assert.deepEqual(statuses, [401, 401, 401, 401])
    const [event] = await untilAsked(bursts, (found) => found.length > 0)
    assert.deepEqual([event?.ip, event?.result], ['127.0.0.1', 'fail'])
    assert.deepEqual(JSON.parse(event?.detail ?? ''), { actor: '', ip: '127.0.0.1', count: 4, windowSec: 3600 })
    for (const client of clients) await client.ask('POST', '/v1/get', DOCUMENT, bearer(tokenOf('nobody')))
    assert.equal((await admin.do('POST', '/v1/get', DOCUMENT)).status, 200)
    assert.equal((await bursts()).length, 1)
  })

  it('login: a failed one takes as long for an unknown user as for a known one', async (test) => {
    const server = await startServer({ env: REAL_HASHES })
    test.after(() => server.kill())
    const fastest = async (username: string): Promise<number> => {
      const times: number[] = []
      for (let round = 0; round < 4; round++) {
        const began = performance.now()
        assert.equal((await server.post('/v1/auth/login', { username, password: 'wrong' })).status, 401)
        times.push(performance.now() - began)
      }
      return Math.min(...times)
    }
    const [known, unknown] = [await fastest('admin'), await fastest('nobody')]
    assert.ok(unknown > known / 2 && known > unknown / 2, `known ${known} ms, unknown ${unknown} ms`)
  })

  it('storage: neither a password nor an API key stands in a file as it is, and permissions belong to user and collection', async (test) => {
    const directory = mkdtempSync(join(folder, 'store-'))
    const server = await startServer({ env: REAL_HASHES, directory })
    test.after(() => server.kill())
    const admin = new Admin(server)
    await admin.register('stored', 'a password that is looked for')
    await admin.grant('stored', 'one-collection', { read: true })
    const key = await keyOf(server, 'stored')
    const listed = await server.get('/v1/auth/permissions?username=stored', admin.headers)
    assert.deepEqual(JSON.parse(listed.text), [
      { username: 'stored', collection: 'one-collection', read: true, write: false, admin: false },
    ])
    assert.equal((await server.get('/v1/auth/permissions?username=admin', admin.headers)).text, '[]')
    assert.equal(await server.stop(), 0)
    const bytes = bytesUnder(directory)
    assert.ok(bytes.includes('one-collection') && bytes.includes('$2b$12$'), 'the rows of accounts are read')
    for (const secret of ['a password that is looked for', ADMIN_PASSWORD, key, key.slice('svc_live_'.length)])
      assert.ok(!bytes.includes(secret), 'a secret stands in a file')
  })

  it('API keys: the last use is recorded and listed, at most some minutes old', async () => {
    const server = await pool.of(GATHERING)
    await new Admin(server).register('user')
    const key = await keyOf(server, 'user')
    const lastUse = async (): Promise<number> => {
      const { keys } = (await server.get('/v1/auth/api-keys', asUser('user'))).json<{ keys: { lastUsedAt: number }[] }>()
      return keys[0]?.lastUsedAt ?? -1
    }
    assert.equal(await lastUse(), 0)
    const before = Math.floor(Date.now() / 1000)
    assert.equal((await server.get('/v1/auth/me', { 'x-api-key': key })).status, 200)
    const used = await untilAsked(lastUse, (at) => at !== 0)
    assert.ok(used >= before && used <= Date.now() / 1000)
  })

  // After the others of its server: who is registered after a deletion has tokens of another epoch.
  it('names: `/` in the name of a user, a group or a collection is a character like others, and gives no rights', async () => {
    const server = await pool.of(GATHERING)
    const admin = new Admin(server)
    for (const name of ['acme/alice', 'acme/bob']) await admin.register(name)
    await admin.grant('acme/alice', 'acme/blog', { read: true })
    const created = await admin.do('POST', '/v1/auth/groups', { name: 'acme/readers', members: ['acme/bob'] })
    assert.equal(created.json()['name'], 'acme/readers')
    await admin.do('POST', '/v1/add', { ...DOCUMENT, collection: 'acme/blog', contentMd: 'x' })
    const get = async (user: string): Promise<number> =>
      (await server.post('/v1/get', { ...DOCUMENT, collection: 'acme/blog' }, asUser(user))).status
    assert.deepEqual([await get('acme/alice'), await get('acme/bob')], [200, 403])
    await admin.grantGroup('acme/readers', 'acme/blog', { read: true })
    assert.equal(await get('acme/bob'), 200)
    const group = await server.get(`/v1/auth/groups/${encodeURIComponent('acme/readers')}`, admin.headers)
    assert.deepEqual(group.json()['members'], ['acme/bob'])
    await admin.do('DELETE', `/v1/auth/users/${encodeURIComponent('acme/alice')}`)
    assert.equal(await get('acme/alice'), 401)
  })

  it('logins: while a flood of them is hashed, gets are answered: no password is hashed on an event loop', async (test) => {
    const server = await startServer({ env: { ...ACCESS_ENV, SVC_HTTP_LOOPS: '1' } })
    test.after(() => server.kill())
    const admin = new Admin(server)
    await admin.do('POST', '/v1/add', { ...DOCUMENT, contentMd: 'x' })
    let hashed = 0
    const logins = Array.from({ length: 12 }, async () => {
      await server.post('/v1/auth/login', { username: 'nobody', password: 'x' })
      hashed++
    })
    await untilAsked(() => Promise.resolve(hashed), (count) => count > 0) // prettier-ignore
    for (let at = 0; at < 100; at++) assert.equal((await server.post('/v1/get', DOCUMENT, admin.headers)).status, 200)
    assert.ok(hashed < 12, 'a hundred gets took as long as all the hashes')
    assert.deepEqual(niceCounts(server.pid, [19]), [availableParallelism() > 2 ? 2 : 1], 'threads that hash, at the lowest priority')
    await Promise.all(logins)
  })
})
