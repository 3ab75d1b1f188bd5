/** Shares of the surfaces in anything bounded, for every capacity and number of surfaces. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { RequestQueue } from '../../../src/dispatch/queue/request_queue.js'
import { shareOf, Shares } from '../../../src/dispatch/queue/shares.js'
import { OWN, type Surface } from '../../../src/dispatch/surface.js'
import type { Ticket } from '../../../src/dispatch/ticket.js'
import { holds } from '../../harness/property.js'

const SURFACES_MAX = 16
const surfaceOf = (index: number): Surface => (index === 0 ? OWN : { name: `s${index}`, mode: 'wr', index })

/** A capacity of at least one place a surface. */
const sizes = fc.integer({ min: 1, max: SURFACES_MAX }).chain((surfaces) =>
  fc.record({
    surfaces: fc.constant(surfaces),
    capacity: fc.oneof(fc.integer({ min: surfaces, max: 64 }), fc.integer({ min: surfaces, max: 5000 })),
  }),
)

function takeAll(shares: Shares, surface: Surface): number {
  let taken = 0
  for (; !shares.isFullFor(surface); taken++) shares.take(surface)
  return taken
}

describe('shares', () => {
  it('every surface gets a place whatever the others and the server itself have taken before', () => {
    holds(
      fc.property(sizes, fc.array(fc.integer({ min: 0, max: SURFACES_MAX }), { maxLength: 40 }), ({ surfaces, capacity }, floods) => {
        if (surfaces === 1) return
        for (let late = 1; late <= surfaces; late++) {
          const shares = new Shares(capacity, surfaces)
          for (const index of [...floods, ...Array(SURFACES_MAX).keys()])
            if (index <= surfaces && index !== late) takeAll(shares, surfaceOf(index))
          assert.ok(takeAll(shares, surfaceOf(late)) >= Math.max(1, shareOf(capacity, surfaces)), `surface ${late}`)
          assert.ok(shares.used <= capacity)
        }
      }),
    )
  })

  it('one surface alone gets all but the shares of the others, which is at least half of two places a surface', () => {
    holds(
      fc.property(sizes, ({ surfaces, capacity }) => {
        const taken = takeAll(new Shares(capacity, surfaces), surfaceOf(1))
        assert.equal(taken, capacity - (surfaces - 1) * shareOf(capacity, surfaces))
        if (capacity >= 2 * surfaces) assert.ok(taken >= capacity / 2)
        if (surfaces === 1) assert.equal(taken, capacity)
        if (surfaces === 2 && capacity >= 8) assert.ok(taken >= (capacity * 7) / 8)
      }),
    )
  })

  it('what is given back can be taken again, in any order', () => {
    const steps = fc.array(fc.record({ index: fc.integer({ min: 0, max: SURFACES_MAX }), takes: fc.boolean() }), { maxLength: 300 })
    holds(
      fc.property(sizes, steps, ({ surfaces, capacity }, all) => {
        const shares = new Shares(capacity, surfaces)
        const taken = new Map<number, number>()
        for (const { index, takes } of all) {
          const count = taken.get(index) ?? 0
          if (index > surfaces || (!takes && count === 0) || (takes && shares.isFullFor(surfaceOf(index)))) continue
          if (takes) shares.take(surfaceOf(index))
          else shares.give(surfaceOf(index))
          taken.set(index, count + (takes ? 1 : -1))
        }
        for (const [index, count] of taken) for (let at = 0; at < count; at++) shares.give(surfaceOf(index))
        assert.equal(shares.used, 0)
        assert.equal(takeAll(shares, surfaceOf(1)), capacity - (surfaces - 1) * shareOf(capacity, surfaces))
      }),
    )
  })

  it('a queue takes a ticket of every surface, whatever its capacity', () => {
    holds(
      fc.property(sizes, ({ surfaces, capacity }) => {
        const queue = new RequestQueue(capacity, surfaces)
        for (let at = 0; at < capacity && !queue.isFullFor(surfaceOf(1)); at++) queue.push({ surface: surfaceOf(1) } as Ticket)
        for (let index = 2; index <= surfaces; index++) {
          assert.equal(queue.isFullFor(surfaceOf(index)), false, `surface ${index}`)
          queue.push({ surface: surfaceOf(index) } as Ticket)
        }
      }),
    )
  })
})
