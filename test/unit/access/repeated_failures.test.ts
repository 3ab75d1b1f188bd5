/** Failures that a client repeats (src/audit/repeated_failures.ts). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { AUDIT_ALIKE_CLIENTS_MAX, RepeatedFailures } from '../../../src/audit/repeated_failures.js'
import type { AuditEvent } from '../../../src/telemetry/audit.js'

function failure(fields: Partial<AuditEvent>): AuditEvent {
  return { action: 'auth.jwt', actor: '', resource: '/v1/get', result: 'fail', ip: '192.0.2.1', userAgent: 'a', ...fields }
}

/** @returns how many of the events are kept as they are */
function kept(failures: RepeatedFailures, events: readonly AuditEvent[]): number {
  return events.filter((event) => failures.admits(event)).length
}

it('audit: ten failures of a client and action are events of their own, the others one with their number and what they have in common', () => {
  const failures = new RepeatedFailures(() => undefined)
  const paths = Array.from({ length: 30 }, (_, at) => failure({ resource: `/v1/${at}`, detail: 'd' }))
  assert.equal(kept(failures, paths), 10)
  assert.equal(kept(failures, [failure({ action: 'auth.missing' }), failure({ ip: '192.0.2.2' })]), 2)
  assert.equal(
    kept(
      failures,
      Array.from({ length: 30 }, () => failure({ result: 'ok' })),
    ),
    30,
  )
  assert.deepEqual(failures.take(), [{ ...failure({ resource: '', detail: 'd' }), count: 20 }])
  assert.deepEqual(failures.take(), [])
  assert.equal(kept(failures, paths), 10)
})

it('audit: names that a client tries and addresses of one network of IPv6 do not make it another client; users are told apart', () => {
  const failures = new RepeatedFailures(() => undefined)
  const tried = Array.from({ length: 30 }, (_, at) => failure({ action: 'auth.login', actor: `name${at}`, ip: `2001:db8::${at}` }))
  assert.equal(kept(failures, tried), 10)
  const users = Array.from({ length: 30 }, (_, at) => failure({ action: 'write./v1/add', actor: `user${at % 3}` }))
  assert.equal(kept(failures, users), 30)
  assert.deepEqual(failures.take().map(({ actor, ip, count }) => [actor, ip, count]), [['', '', 20]]) // prettier-ignore
})

it('audit: clients beyond the bound are counted together by action, and none is lost', () => {
  let begun = 0
  const failures = new RepeatedFailures(() => (begun += 1))
  const from = (at: number): string => `10.0.${at >> 8}.${at & 255}`
  const each = Array.from({ length: AUDIT_ALIKE_CLIENTS_MAX + 500 }, (_, at) => failure({ ip: from(at) }))
  assert.equal(kept(failures, each), AUDIT_ALIKE_CLIENTS_MAX)
  assert.equal(kept(failures, [failure({ action: 'auth.login', ip: from(9999) })]), 0)
  const events = failures.take()
  assert.deepEqual(events.map(({ action, ip, count }) => [action, ip, count]), [['auth.jwt', '', 500], ['auth.login', from(9999), 1]]) // prettier-ignore
  assert.equal(begun, 1)
})
