/** The dispatcher emits the audit events of every surface, from the row of the operation. */
import assert from 'node:assert/strict'
import { subscribe } from 'node:diagnostics_channel'
import { it } from 'node:test'
import { ANONYMOUS } from '../../src/access/principal.js'
import { refusal, successOf } from '../../src/dispatch/answers.js'
import { emitOutcome, pendingEvent } from '../../src/dispatch/audit_trail.js'
import { operations } from '../../src/operations/index.js'
import { AUDIT_CHANNEL, type AuditEvent } from '../../src/telemetry/audit.js'
import type { OutgoingAnswer } from '../../src/wire/answer.js'

const events: AuditEvent[] = []
subscribe(AUDIT_CHANNEL, (event) => events.push(event as AuditEvent))

function answered(name: string, answer: OutgoingAnswer, actor = ''): void {
  const operation = operations.find((row) => row.name === name)
  assert.ok(operation !== undefined)
  const principal = actor === '' ? ANONYMOUS : { ...ANONYMOUS, name: actor }
  const request = { audit: pendingEvent(operation, principal) }
  emitOutcome(request, answer)
  emitOutcome(request, refusal('internal'))
}

it('audit: every operation that names an event emits it, once, with how it ended; the others emit none', () => {
  for (const { name, audit } of operations) {
    events.length = 0
    answered(name, successOf('{}'))
    answered(name, refusal('forbidden'))
    assert.deepEqual(events.map(({ action, result }) => [action, result]), audit === null ? [] : [[audit, 'ok'], [audit, 'fail']], name) // prettier-ignore
  }
})

it('audit: an event says who asked, where the principal has a name', () => {
  events.length = 0
  answered('add', successOf('{}'), 'ada')
  answered('add', successOf('{}'))
  assert.deepEqual(events.map(({ actor }) => actor), ['ada', undefined]) // prettier-ignore
})

it('audit: a rotation whose lane was lost has an empty answer, and is a failure; another one names its job', () => {
  events.length = 0
  answered('rotateEncryption', { ...refusal('laneLost'), body: '' })
  answered('rotateEncryption', successOf('{"id":"rot-1"}'))
  assert.deepEqual(events.map(({ result, detail }) => [result, detail]), [['fail', undefined], ['ok', 'rot-1']]) // prettier-ignore
})
