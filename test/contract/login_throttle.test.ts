/** Failed logins: outside of production no client of the contract waits; a burst is one audit event. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { AUDIT_CHANNEL } from '../../src/telemetry/audit.js'
import { ACCESS_ENV, ADMIN_PASSWORD } from '../harness/access.js'
import { startServer } from '../harness/server.js'
import { untilAsked } from '../harness/until.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-logins-'))
after(() => rmSync(folder, { recursive: true, force: true }))

it('logins: fifteen wrong passwords in a row are 401 each outside of production, the right one is 200, and the burst is one event', async (test) => {
  const listener = join(folder, 'listener.mjs')
  const print = "console.log('AUDIT ' + JSON.stringify(event, (_, value) => typeof value === 'bigint' ? String(value) : value))"
  writeFileSync(listener, `import { subscribe } from 'node:diagnostics_channel'\nsubscribe('${AUDIT_CHANNEL}', (event) => ${print})\n`)
  const env = {
    ...ACCESS_ENV,
    NODE_OPTIONS: `--import=${listener}`,
    SVC_INCIDENT_AUTH_THRESHOLD: '4',
    SVC_INCIDENT_AUTH_WINDOW_SEC: '3600',
  }
  const server = await startServer({ env: { ...env, SVC_TRUSTED_PROXIES: '127.0.0.1' } })
  test.after(() => server.stop())
  const from = { 'x-forwarded-for': '203.0.113.7' }
  const events = (): Record<string, string>[] =>
    [...server.output().matchAll(/^AUDIT (.*)$/gm)]
      .map(([, json = '']) => JSON.parse(json) as Record<string, string>)
      .filter(({ action }) => action === 'security.auth_failure_burst')
  const statuses: number[] = []
  for (let at = 0; at < 15; at++) {
    statuses.push((await server.post('/v1/auth/login', { username: 'admin', password: `wrong ${at}` }, from)).status)
    if (at === 2) assert.deepEqual(events(), [])
  }
  assert.deepEqual(statuses, Array<number>(15).fill(401))
  assert.equal((await server.post('/v1/auth/login', { username: 'admin', password: ADMIN_PASSWORD }, from)).status, 200)
  const [event] = await untilAsked(() => Promise.resolve(events()), (found) => found.length > 0) // prettier-ignore
  assert.deepEqual([event?.actor, event?.ip, event?.result], ['admin', '203.0.113.7', 'fail'])
  assert.deepEqual(JSON.parse(event?.detail ?? ''), { actor: 'admin', ip: '203.0.113.7', count: 4, windowSec: 3600 })
  assert.equal(events().length, 1)
})
