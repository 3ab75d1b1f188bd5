/** Audit events are made of whatever a lane answers, or fails to. */
import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import { it } from 'node:test'
import { AUDIT_CHANNEL, auditRotation, type AuditEvent } from '../../src/telemetry/audit.js'

it('a rotation whose lane was lost has an empty answer, and is a failure in the audit', () => {
  const events: AuditEvent[] = []
  subscribe(AUDIT_CHANNEL, (event) => events.push(event as AuditEvent))
  auditRotation(500, '')
  auditRotation(200, '{"id":"rot-1"}')
  assert.deepEqual(
    events.map(({ result, detail }) => [result, detail]),
    [
      ['fail', undefined],
      ['ok', 'rot-1'],
    ],
  )
})
