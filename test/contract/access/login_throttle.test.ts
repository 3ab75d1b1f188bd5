/** Failed logins: outside of production no client of the contract waits; a burst is one audit event. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { scratchCopy } from '../../harness/scratch_copy.js'
import { ACCESS_ENV, Admin, ADMIN_PASSWORD, asUser } from '../../harness/server/access.js'
import { auditOf, type EventJson } from '../../harness/server/audit_log.js'
import { type Server, startServer, type TestResponse } from '../../harness/server/server.js'

it('logins: fifteen wrong passwords in a row are 401 each outside of production, the right one is 200, and the burst is one event', async (test) => {
  const env = { ...ACCESS_ENV, SVC_AUDIT_ENABLED: 'true', SVC_INCIDENT_AUTH_THRESHOLD: '4', SVC_INCIDENT_AUTH_WINDOW_SEC: '3600' }
  const server = await startServer({ env: { ...env, SVC_TRUSTED_PROXIES: '127.0.0.1' } })
  test.after(() => server.kill())
  const from = { 'x-forwarded-for': '203.0.113.7' }
  const bursts = async (): Promise<readonly EventJson[]> =>
    (await auditOf(server, 'action=security.auth_failure_burst', asUser('admin'))).events
  const statuses: number[] = []
  for (let at = 0; at < 15; at++) {
    statuses.push((await server.post('/v1/auth/login', { username: 'admin', password: `wrong ${at}` }, from)).status)
    if (at === 2) assert.deepEqual(await bursts(), [])
  }
  assert.deepEqual(statuses, Array<number>(15).fill(401))
  assert.equal((await server.post('/v1/auth/login', { username: 'admin', password: ADMIN_PASSWORD }, from)).status, 200)
  const [event, ...others] = await bursts()
  assert.deepEqual([event?.actor, event?.ip, event?.result, others], ['admin', '203.0.113.7', 'fail', []])
  assert.deepEqual(JSON.parse(event?.detail ?? ''), { actor: 'admin', ip: '203.0.113.7', count: 4, windowSec: 3600 })
})

const login = (server: Server): Promise<TestResponse> => server.post('/v1/auth/login', { username: 'admin', password: ADMIN_PASSWORD })
const guess = (server: Server, oldPassword: string, user = 'ada'): Promise<TestResponse> =>
  server.request('PUT', `/v1/auth/users/${user}`, { password: 'a password that is new', oldPassword }, asUser(user))

it("logins: one user's flood of guesses of its old password refuses neither right logins nor the changes of others", async (test) => {
  const server = await startServer({ env: ACCESS_ENV })
  test.after(() => server.kill())
  const admin = new Admin(server)
  await admin.register('ada')
  await admin.register('eve')
  const statuses = new Set<number>()
  let hasEnded = false
  const flood = Array.from({ length: 40 }, async () => {
    while (!hasEnded) statuses.add((await guess(server, 'wrong', 'eve')).status)
  })
  try {
    for (let at = 0; at < 5; at++) {
      const { status, text } = await login(server)
      assert.equal(status, 200, text)
    }
    // It needs two hashes: on a busy machine they may take longer than the deadline, but nothing is refused.
    assert.notEqual((await guess(server, 'the password of ada')).status, 429)
  } finally {
    hasEnded = true
    await Promise.all(flood)
  }
  assert.ok(statuses.has(429) && !statuses.has(200), [...statuses].join())
})

it('logins: guesses of an old password wait as logins do, by user and address, and logins do not wait for them', async (test) => {
  const copy = await scratchCopy([
    { file: 'src/access/login_throttle.ts', find: 'LOGIN_FAILURES_LENIENT = 600', replace: 'LOGIN_FAILURES_LENIENT = 3' },
    { file: 'src/access/login_throttle.ts', find: 'LOGIN_WAIT_MS_LENIENT = 100', replace: 'LOGIN_WAIT_MS_LENIENT = 600_000' },
    { file: 'src/access/login_throttle.ts', find: 'LOGIN_WAIT_MS_MAX_LENIENT = 1_000', replace: 'LOGIN_WAIT_MS_MAX_LENIENT = 600_000' },
  ])
  test.after(() => copy.remove())
  const server = await startServer({ env: ACCESS_ENV, main: copy.main })
  test.after(() => server.kill())
  await new Admin(server).register('ada')
  for (let at = 0; at < 3; at++) assert.equal((await guess(server, `wrong ${at}`)).status, 401)
  const slowed = await guess(server, 'the password of ada')
  assert.equal(slowed.status, 429)
  assert.ok(Number(slowed.headers['retry-after']) > 300)
  assert.equal((await login(server)).status, 200)
})
