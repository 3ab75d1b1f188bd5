/** The dispatcher emits the audit events of every surface, from the row of the operation. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ANONYMOUS } from '../../../src/access/principal.js'
import { lineOf, NO_TIME } from '../../../src/audit/event_line.js'
import { ForwardedEvents } from '../../../src/audit/forwarded_events.js'
import { refusal, successOf } from '../../../src/dispatch/answers/answers.js'
import { emitOutcome, noteAttemptedName, noteNames, pendingEvent } from '../../../src/dispatch/audit_trail.js'
import { operations } from '../../../src/operations/index.js'
import { type AuditEvent, type AuditLines, receiveAuditEvents } from '../../../src/telemetry/audit.js'
import type { OutgoingAnswer } from '../../../src/wire/answer.js'

const events: AuditEvent[] = []
receiveAuditEvents({ take: (event) => void events.push(event), takeLines: () => undefined })

function answered(name: string, answer: OutgoingAnswer, actor = ''): void {
  const operation = operations.find((row) => row.name === name)
  assert.ok(operation !== undefined)
  const principal = actor === '' ? ANONYMOUS : { ...ANONYMOUS, name: actor }
  const request = { audit: pendingEvent(operation, principal, []) }
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
  assert.deepEqual(events.map(({ actor }) => actor), ['ada', '']) // prettier-ignore
})

it('audit: a rotation whose lane was lost has an empty answer, and is a failure; another one names its job', () => {
  events.length = 0
  answered('rotateEncryption', { ...refusal('laneLost'), body: '' })
  answered('rotateEncryption', successOf('{"id":"rot-1"}'))
  assert.deepEqual(events.map(({ result, detail }) => [result, detail]), [['fail', undefined], ['ok', 'rot-1']]) // prettier-ignore
})

it('audit: the name that a failed login stores has at most 64 characters', () => {
  const row = operations.find(({ name }) => name === 'login')
  assert.ok(row !== undefined)
  events.length = 0
  for (const name of ['ada', 'a'.repeat(65)]) {
    const request = { audit: pendingEvent(row, ANONYMOUS, []) }
    noteAttemptedName(request, name)
    emitOutcome(request, refusal('invalidCredentials'))
  }
  assert.deepEqual(events.map(({ actor }) => actor), ['ada', 'a'.repeat(64)]) // prettier-ignore
})

it('audit: the resource is what the lane has read, else the path with its values; all collections are none', () => {
  const row = operations.find(({ name }) => name === 'cancelBulkIngest')
  assert.ok(row !== undefined)
  events.length = 0
  for (const collections of [[], ['*'], ['a', 'b']]) {
    const request = { audit: pendingEvent(row, ANONYMOUS, ['id', '$&']) }
    noteNames(request, { collections, key: 'k' })
    emitOutcome(request, successOf('{}'))
  }
  assert.deepEqual(
    events.map(({ resource, key }) => [resource, key]),
    [
      ['/v1/bulk-ingest-job/$&', ''],
      ['/v1/bulk-ingest-job/$&', ''],
      ['a,b', 'k'],
    ],
  )
})

it('audit: the events of an event loop in a thread are forwarded together, in order, as lines without a time', async () => {
  const sent: AuditLines[] = []
  const forwarded = new ForwardedEvents((lines) => sent.push(lines))
  const event = { action: 'auth.jwt', actor: '', resource: '', result: 'ok', ip: '', userAgent: '' } as const
  for (let at = 0; at < 5000; at++) forwarded.take({ ...event, detail: `ä${at}` })
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(sent.map(({ events: count }) => count), [4096, 904]) // prettier-ignore
  const lines = sent.flatMap(({ bytes }) => Buffer.from(bytes).toString().split('\n').slice(0, -1))
  assert.deepEqual(
    lines,
    Array.from({ length: 5000 }, (_, at) => lineOf(NO_TIME, { ...event, detail: `ä${at}` }).trimEnd()),
  )
})
