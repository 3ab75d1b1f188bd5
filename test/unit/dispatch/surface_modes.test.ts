/** The mode of a server: what clients may do on any of its surfaces. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { modeOfAll } from '../../../src/dispatch/surface.js'

it('the mode of a server is that of all its surfaces, or else reading and writing', () => {
  assert.equal(modeOfAll(['read']), 'read')
  assert.equal(modeOfAll(['read', 'read']), 'read')
  assert.equal(modeOfAll(['write', 'write']), 'write')
  for (const modes of [['read', 'wr'], ['read', 'write'], ['wr', 'read'], ['wr'], []] as const) assert.equal(modeOfAll(modes), 'wr')
})
