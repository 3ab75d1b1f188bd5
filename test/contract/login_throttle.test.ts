/** Failed logins: outside of production no client of the contract waits; a burst is one audit event. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ACCESS_ENV, ADMIN_PASSWORD, asUser } from '../harness/access.js'
import { auditOf, type EventJson } from '../harness/audit_log.js'
import { startServer } from '../harness/server.js'

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
