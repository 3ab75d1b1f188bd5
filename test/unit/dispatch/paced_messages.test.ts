/**
 * Messages of a port come a bounded number in a turn of the event loop: src/surface/thread/paced_messages.ts.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { paceMessages, PORT_MESSAGES_OF_TURN_MAX } from '../../../src/surface/thread/paced_messages.js'

const SENT = 10 * PORT_MESSAGES_OF_TURN_MAX + 1
const nextTurn = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve))

describe('messages of a port', () => {
  it('a burst is handled in many turns, in its order, and none is lost', async (test) => {
    const { port1, port2 } = new MessageChannel()
    test.after(() => port1.close())
    const taken: number[] = []
    const stop = paceMessages<number>(port1, (message) => taken.push(message))
    for (let at = 0; at < SENT; at++) port2.postMessage(at)
    let before = 0
    while (taken.length < SENT) {
      await nextTurn()
      assert.ok(taken.length - before <= 2 * PORT_MESSAGES_OF_TURN_MAX, `${taken.length - before} in a turn`)
      before = taken.length
    }
    assert.deepEqual(
      taken,
      Array.from({ length: SENT }, (_, at) => at),
    )
    stop()
  })

  it('after the stop no message is taken, not even one that waits for the next turn', async (test) => {
    const { port1, port2 } = new MessageChannel()
    test.after(() => port1.close())
    let taken = 0
    const stop = paceMessages<number>(port1, () => {
      taken += 1
      if (taken === PORT_MESSAGES_OF_TURN_MAX) stop()
    })
    for (let at = 0; at < SENT; at++) port2.postMessage(at)
    while (taken < PORT_MESSAGES_OF_TURN_MAX) await nextTurn()
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    assert.equal(taken, PORT_MESSAGES_OF_TURN_MAX)
  })
})
