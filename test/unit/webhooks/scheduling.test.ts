/** When deliveries are tried again, when a receiver is left alone, and the order that a queue keeps. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { nextAttemptAt } from '../../../src/background/webhooks/attempts.js'
import { Circuits } from '../../../src/background/webhooks/circuit.js'
import { HELD_OF_HOOK_MAX, HookQueue } from '../../../src/background/webhooks/hook_queue.js'
import type { DueDelivery } from '../../../src/domain/webhooks/due_deliveries.js'
import { holds } from '../../harness/property.js'

const MINUTE_MS = 60_000
const target = { hook: '0'.repeat(16), url: 'https://example.com/h', secrets: [], headers: {} }

const delivery = (lsn: number, document: string, collection = 1): DueDelivery => ({
  ...{ hook: target.hook, lsn, event: 'doc.updated', document, collection, attempts: 0, dueAt: 0 },
  body: new Uint8Array(1),
})

describe('attempts of a delivery', () => {
  it('attempts: at 0, 1, 5 and 15 s from the first, then at growing waits to six hours, and the twelfth is the last', () => {
    const first = [1, 2, 3].map((attempts) => nextAttemptAt(attempts, 1000, 1100, 0.5))
    assert.deepEqual(first, [2000, 6000, 16_000])
    const later = [4, 5, 6, 7, 8, 9, 10, 11].map((attempts) => ((nextAttemptAt(attempts, 1000, 5000, 0.5) ?? 0) - 5000) / MINUTE_MS)
    assert.deepEqual(later, [1, 5, 15, 60, 120, 240, 360, 360])
    assert.equal(nextAttemptAt(12, 1000, 5000, 0.5), undefined)
  })

  it('attempts: without the time of the first they count from the last, one that took long is not waited for twice, and later waits vary by a tenth', () => {
    assert.deepEqual([1, 2, 3].map((attempts) => nextAttemptAt(attempts, undefined, 0, 0)), [1000, 4000, 10_000]) // prettier-ignore
    assert.equal(nextAttemptAt(1, 0, 10_000, 0), 10_000)
    assert.deepEqual([0, 1].map((random) => nextAttemptAt(4, 0, 0, random)), [0.9 * MINUTE_MS, 1.1 * MINUTE_MS]) // prettier-ignore
  })
})

describe('circuits of receivers', () => {
  it('circuits: five failures in a row open one, then a single delivery is tried after a pause that doubles up to a minute', () => {
    const circuits = new Circuits(100)
    for (let failures = 0; failures < 4; failures++) circuits.failed('a', 0)
    assert.deepEqual([circuits.allowed('a', 8, 0), circuits.pausedUntil('a'), circuits.open], [8, 0, 0])
    circuits.failed('a', 0)
    assert.deepEqual([circuits.allowed('a', 8, 999), circuits.allowed('a', 8, 1000), circuits.allowed('b', 8, 0)], [0, 1, 8])
    const pauses = Array.from({ length: 8 }, () => {
      circuits.failed('a', 0)
      return circuits.pausedUntil('a')
    })
    assert.deepEqual(pauses, [2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
    assert.equal(circuits.open, 1)
    circuits.accepted('a')
    assert.deepEqual([circuits.allowed('a', 8, 0), circuits.open], [8, 0])
  })
})

describe('queues of webhooks', () => {
  it('queue: a later delivery about a document waits, those about others pass, and what is not due waits', () => {
    const queue = new HookQueue(target)
    for (const each of [delivery(1, '1/1'), delivery(2, '1/1'), delivery(3, '1/2'), { ...delivery(4, '1/3'), dueAt: 50 }]) queue.add(each)
    const lsns = (count: number, now: number): number[] => queue.sendable(count, now).map(({ delivery: { lsn } }) => lsn)
    assert.deepEqual([lsns(8, 0), lsns(1, 0), lsns(8, 50), lsns(0, 50)], [[1, 3], [1], [1, 3, 4], []])
    assert.deepEqual([queue.nextDueAt(0), queue.nextDueAt(50)], [50, Infinity])
    queue.remove(1)
    assert.deepEqual([lsns(8, 0), queue.space, queue.after], [[2, 3], HELD_OF_HOOK_MAX - 3, 4])
  })

  it('queue: the deletion of a collection waits for what was before it there, and what follows waits for it', () => {
    const queue = new HookQueue(target)
    for (const each of [delivery(1, '1/1'), delivery(2, ''), delivery(3, '1/5'), delivery(4, '2/1', 2)]) queue.add(each)
    const lsns = (): number[] => queue.sendable(8, 0).map(({ delivery: { lsn } }) => lsn)
    const seen = [lsns()]
    for (const lsn of [1, 2]) {
      queue.remove(lsn)
      seen.push(lsns())
    }
    assert.deepEqual(seen, [[1, 4], [2, 4], [3, 4]]) // prettier-ignore
  })

  it('queue: whatever is accepted, refused and put back, each document sees its changes in their order', () => {
    const changes = fc.array(fc.record({ document: fc.integer({ min: 0, max: 4 }), collection: fc.integer({ min: 1, max: 2 }) }), {
      maxLength: 60,
    })
    holds(
      fc.property(changes, fc.array(fc.boolean(), { minLength: 200, maxLength: 200 }), (all, accepts) => {
        const queue = new HookQueue(target)
        const given = all.map(({ document, collection }, at) =>
          delivery(at + 1, document === 0 ? '' : `${collection}/${document}`, collection),
        )
        for (const each of given) queue.add(each)
        const accepted: number[] = []
        for (let step = 0; queue.size > 0; step++) {
          for (const { delivery: each } of queue.sendable(3, 0)) {
            if (accepts[(step + each.lsn) % accepts.length] !== true && step < 100) continue
            accepted.push(each.lsn)
            queue.remove(each.lsn)
          }
          if (step === 5) queue.rewind()
          if (step === 5) for (const each of given.filter(({ lsn }) => !accepted.includes(lsn))) queue.add(each)
        }
        const ofKey = (key: (each: DueDelivery) => boolean): number[] => accepted.filter((lsn) => key(given[lsn - 1] as DueDelivery))
        for (const { document, collection } of given) {
          const order = ofKey((each) =>
            document === '' ? each.collection === collection && each.document === '' : each.document === document,
          )
          assert.deepEqual(
            order,
            order.toSorted((one, other) => one - other),
          )
        }
        for (const barrier of given.filter(({ document }) => document === '')) {
          const at = accepted.indexOf(barrier.lsn)
          for (const [place, lsn] of accepted.entries()) {
            if (given[lsn - 1]?.collection === barrier.collection && lsn !== barrier.lsn) assert.equal(place < at, lsn < barrier.lsn)
          }
        }
      }),
    )
  })
})
