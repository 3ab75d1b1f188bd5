/** Buffers that are used again: src/dispatch/port/spare_buffers.ts. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SpareBuffers } from '../../../src/dispatch/port/spare_buffers.js'
import { PORT_TRANSFER_BYTES_MIN } from '../../../src/limits/lanes.js'

const LONG = 2 * PORT_TRANSFER_BYTES_MIN

describe('spare buffers', () => {
  it('a buffer is given out once, for bytes of at least half its length', () => {
    const spare = new SpareBuffers(10 * LONG)
    const buffer = new ArrayBuffer(LONG)
    spare.keep(buffer)
    assert.equal(spare.take(LONG + 1), null)
    assert.equal(spare.take(LONG / 2 - 1), null)
    assert.equal(spare.take(LONG / 2)?.buffer, buffer)
    assert.equal(spare.take(LONG / 2), null)
  })

  it('a copy has the length of its bytes, also in a longer buffer', () => {
    const spare = new SpareBuffers(10 * LONG)
    spare.keep(new ArrayBuffer(LONG))
    const bytes = new Uint8Array(LONG - 3).fill(7)
    assert.deepEqual(spare.copyOf(bytes), bytes)
  })

  it('short, shared and transferred buffers, and what is no buffer, are not kept', () => {
    const spare = new SpareBuffers(10 * LONG)
    const transferred = new ArrayBuffer(LONG)
    structuredClone(transferred, { transfer: [transferred] })
    for (const given of [transferred, new SharedArrayBuffer(LONG), new ArrayBuffer(8), 'text', null, { byteLength: LONG }])
      spare.keep(given)
    assert.equal(spare.take(LONG), null)
  })

  it('beyond the bound the oldest goes, and one that is longer is not kept', () => {
    const spare = new SpareBuffers(2 * LONG)
    const [first, second, third] = [new ArrayBuffer(LONG), new ArrayBuffer(LONG), new ArrayBuffer(LONG)]
    const longer = new ArrayBuffer(2 * LONG + 1)
    for (const buffer of [first, second, third, longer]) spare.keep(buffer)
    const taken = [spare.take(LONG)?.buffer, spare.take(LONG)?.buffer]
    assert.ok(taken.includes(second) && taken.includes(third))
    // The memory of both is free without a garbage collection.
    assert.deepEqual([first.byteLength, longer.byteLength], [0, 0])
    assert.equal(spare.take(LONG), null)
  })

  it('buffers that nobody wants are dropped after a while, counted from the last use', (test) => {
    test.mock.timers.enable({ apis: ['setTimeout'] })
    const spare = new SpareBuffers(10 * LONG)
    const unwanted = new ArrayBuffer(LONG)
    spare.keep(unwanted)
    spare.keep(new ArrayBuffer(LONG))
    test.mock.timers.tick(9_000)
    assert.notEqual(spare.take(LONG), null)
    assert.equal(unwanted.byteLength, LONG)
    test.mock.timers.tick(20_000)
    assert.equal(spare.take(LONG), null)
    assert.equal(unwanted.byteLength, 0)
  })
})
