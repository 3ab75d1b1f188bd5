/** Messages as other encoders write them: a default value may be left out, also in entries of maps. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { decode, methodsOf, SERVICE } from '../../../src/surface/grpc/proto.js'
import { inputOf } from '../../../src/surface/grpc/request_input.js'

it('grpc: an entry of metadata without a value is a key without values', () => {
  const add = methodsOf(SERVICE).find(({ name }) => name === 'Add')!.request
  // Field 4, an entry that has only its key.
  const bytes = Buffer.from([0x22, 3, 0x0a, 1, 'k'.charCodeAt(0)])
  assert.deepEqual(inputOf(add, decode(add, bytes)), { meta: { k: [] } })
})
