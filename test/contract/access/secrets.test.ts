/** Secrets of clients: they are in no log line, and no query string is a credential. security.md. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { untilHolds } from '../../harness/process/until.js'
import { ACCESS_ENV, Admin, ADMIN_PASSWORD, asUser, bearer, JWT_SECRET, keyOf } from '../../harness/server/access.js'
import { type Server, startServer } from '../../harness/server/server.js'

describe('secrets of clients', () => {
  let server: Server
  let admin: Admin
  before(async () => {
    // A request that takes longer than nothing has a line, and every line of every level is written.
    server = await startServer({ env: { ...ACCESS_ENV, SVC_LOG_LEVEL: 'debug', SVC_LOG_SLOW_MS: '1', SVC_ACCESS_LOG: 'true' } })
    admin = new Admin(server)
  })
  after(() => server.kill())

  it('log: no password, token, API key, cookie or secret of the server is in a line, whether requests succeed or fail', async () => {
    const password = 'kolkrabenfeder-und-mehr'
    await admin.register('ada', password)
    const { token } = (await server.post('/v1/auth/login', { username: 'ada', password })).json<{ token: string }>()
    const key = await keyOf(server, 'ada')
    const cookie = 'session=zaunkoenigsnest'
    for (const headers of [bearer(token), { 'x-api-key': key }, bearer(key), { cookie, ...bearer(token) }]) {
      assert.equal((await server.get('/v1/auth/me', headers)).status, 200)
      assert.equal((await server.post('/v1/auth/register', { username: 'eve', password: 'dachsbau-im-herbst' }, headers)).status, 403)
    }
    for (const wrong of [bearer(`${token}wrong`), { 'x-api-key': `${key.slice(0, -4)}beef` }, { authorization: `Basic ${token}` }])
      assert.equal((await server.get('/v1/auth/me', wrong)).status, 401)
    assert.equal((await server.post('/v1/auth/login', { username: 'ada', password: 'eichelhaeher-falsch' })).status, 401)
    assert.equal((await server.post('/v1/auth/login', `{"username":"ada","password":"haselmaus-kaputt`)).status, 400)
    assert.equal((await server.request('PUT', '/v1/auth/users/ada', { password: 'siebenschlaefer-neu' }, admin.headers)).status, 200)
    // A fault of the server has its cause in the log.
    assert.equal((await server.get(`/v1/auth/me?token=${token}&api_key=${key}`)).status, 401)
    const secrets = [
      password, 'dachsbau', 'eichelhaeher', 'haselmaus', 'siebenschlaefer', 'zaunkoenigsnest',
      ADMIN_PASSWORD, JWT_SECRET, token.split('.')[2]!, key.slice(-40), '$2b$', '$2a$',
    ] // prettier-ignore
    // Lines are written in order, some time after the answer.
    await server.get('/the-last-request')
    await untilHolds(
      () => server.output().includes('/the-last-request'),
      () => server.output(),
    )
    const lines = server.output()
    for (const secret of secrets) assert.ok(!lines.includes(secret), `the log shows ${secret}`)
  })

  it('query strings: a token or an API key in one is no credential', async () => {
    const key = await keyOf(server, 'admin')
    const token = asUser('admin')['authorization']!.slice('Bearer '.length)
    for (const [name, value] of [
      ['token', token],
      ['access_token', token],
      ['authorization', `Bearer ${token}`],
      ['api_key', key],
      ['apiKey', key],
      ['x-api-key', key],
    ] as const)
      assert.equal((await server.get(`/v1/auth/me?${name}=${encodeURIComponent(value)}`)).status, 401, name)
  })

  it('start: a warning where everybody who reaches the machine may do everything; none with access control, none on loopback', async (test) => {
    for (const [address, env, isWarned] of [
      ['0.0.0.0:0', {}, true],
      ['0.0.0.0:0', ACCESS_ENV, false],
      ['127.0.0.1:0', {}, false],
    ] as const) {
      const started = await startServer({ address, env })
      test.after(() => started.kill())
      assert.equal(/every client that reaches the port can read and write everything/.test(started.output()), isWarned, address)
    }
  })

  it('login: a body that is no object is 400 invalid JSON', async () => {
    for (const body of ['[]', '7', '"x"', 'null', '{']) {
      const { status, text } = await server.post('/v1/auth/login', body)
      assert.equal(status, 400, body)
      assert.equal((JSON.parse(text) as { error: string }).error, 'invalid JSON', body)
    }
  })
})
