/**
 * Inputs that no store accepts, of every operation, from callers without credentials, with the right to read
 * and with all rights: none is a fault of the server. Without access control: hostile_fields.test.ts.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askByCallers } from '../../harness/hostile_callers.js'

test(
  'access: no field of any operation makes a fault of the server, whether anybody, a reader or an administrator sends it',
  { timeout: 240_000 },
  async (test) => {
    const count = await askByCallers(test, 3)
    assert.ok(count > 1_000, `${count} requests`)
  },
)
