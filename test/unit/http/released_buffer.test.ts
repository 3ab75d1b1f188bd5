/** Memory that is free before a garbage collection: src/wire/released_buffer.ts, and who may release it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { successOf } from '../../../src/dispatch/answers/answers.js'
import { ownedBufferOf, releaseAnswer } from '../../../src/wire/answer.js'
import { releaseBuffer } from '../../../src/wire/released_buffer.js'

const BYTES = 64 * 2 ** 20

describe('released buffers', () => {
  it('their memory is free at once, without a collection', () => {
    const buffer = new ArrayBuffer(BYTES)
    const before = process.memoryUsage().arrayBuffers
    releaseBuffer(buffer)
    assert.equal(buffer.byteLength, 0)
    assert.ok(process.memoryUsage().arrayBuffers <= before - BYTES)
  })

  it('an answer is released with the buffer that it owns, and not one with text or another body', () => {
    const body = new Uint8Array(BYTES)
    const answer = { ...successOf(body), owned: body.buffer }
    const copy = { ...answer, body: new Uint8Array(8) }
    for (const kept of [successOf(body), successOf('text'), copy, { ...answer, body: 'text' }]) {
      assert.equal(ownedBufferOf(kept), null)
      releaseAnswer(kept)
    }
    assert.equal(body.length, BYTES)
    assert.equal(copy.body.length, 8)
    releaseAnswer(answer)
    assert.equal(body.length, 0)
  })
})
