/** How a body is collected in spare buffers: src/surface/http/body/body_collector.ts. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { SpareBuffers } from '../../../src/dispatch/port/spare_buffers.js'
import { BodyCollector } from '../../../src/surface/http/body/body_collector.js'
import { ByteBudget } from '../../../src/surface/http/bounds/byte_budget.js'

const MIB = 2 ** 20
const PIECE = 128 * 1024

describe('collected bodies', () => {
  it('a client that declares a long body and sends a little of it holds no long buffer', () => {
    const loop = { bodies: new ByteBudget(8 * MIB), spare: new SpareBuffers(8 * MIB) }
    loop.spare.keep(new ArrayBuffer(4 * MIB))
    const collector = new BodyCollector(loop, 8 * MIB, 4 * MIB)
    for (let at = 0; at < 3; at++) assert.equal(collector.take(new Uint8Array(PIECE), false), 'more')
    assert.notEqual(loop.spare.take(4 * MIB), null)
  })

  it('a body in used buffers has its own bytes and no others, and its buffer is not kept once it is given away', () => {
    const loop = { bodies: new ByteBudget(8 * MIB), spare: new SpareBuffers(8 * MIB) }
    for (const bytes of [3 * PIECE, 6 * PIECE]) loop.spare.keep(new Uint8Array(bytes).fill(9).buffer)
    const collector = new BodyCollector(loop, 8 * MIB, -1)
    for (let at = 1; at <= 5; at++) collector.take(new Uint8Array(PIECE).fill(at), at === 5)
    const body = collector.giveAway()!
    assert.ok(Buffer.from(body).equals(Buffer.concat([1, 2, 3, 4, 5].map((value) => Buffer.alloc(PIECE, value)))))
    collector.release('answered')
    assert.equal(loop.bodies.used, 0)
    const kept = [6, 5, 4, 3, 2, 1].map((pieces) => loop.spare.take(pieces * PIECE)?.buffer)
    assert.ok(!kept.includes(body.buffer as ArrayBuffer))
  })
})
