/** What is refused before a body is read, for every caller. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Admission } from '../../../src/dispatch/admission.js'
import { OWN } from '../../../src/dispatch/surface.js'
import { login } from '../../../src/operations/access/auth.js'
import { operations } from '../../../src/operations/index.js'
import { ControlBlock } from '../../../src/wire/control_block.js'

it('admission: while too many logins wait for a hash further ones are refused, and nothing else; an audit log that refuses writes changes nothing in that', () => {
  const control = ControlBlock.create()
  control.phase = 'healthy'
  const admission = new Admission(control)
  const refused = (): string[] => operations.filter((row) => typeof admission.admit(row, OWN) === 'string').map(({ name }) => name)
  assert.deepEqual(refused(), [])
  control.loginsRefused = true
  assert.deepEqual(refused(), ['login'])
  assert.equal(admission.admit(login, OWN), 'tooManyLogins')
  control.auditRefuses = true
  assert.ok(refused().includes('login') && refused().includes('add'))
  control.loginsRefused = false
  assert.ok(!refused().includes('login') && refused().includes('add'))
  control.auditRefuses = false
  assert.deepEqual(refused(), [])
})
