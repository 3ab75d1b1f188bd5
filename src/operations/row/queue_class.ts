/**
 * The queues in front of the lanes. Classes never share a batch, so that a point read does not wait for a
 * search. Each class has its own bound; above it, requests are immediately answered with 503. `prepare` is
 * the first half of a write (read lane), `commit` the second (write lane).
 */
import assert from 'node:assert/strict'
import type { AnyOperation } from './operation.js'

export const QUEUE_CLASSES = ['point', 'search', 'prepare', 'heavy', 'commit', 'long'] as const
export type QueueClass = (typeof QUEUE_CLASSES)[number]

/**
 * Returns the first queue of an operation's requests. Not for operations of cost `loop` and `thread`, which
 * no lane runs.
 */
export function queueClassOf(operation: AnyOperation): QueueClass {
  switch (operation.cost) {
    case 'point':
      return 'point'
    case 'search':
      return 'search'
    case 'write':
      return 'prepare'
    case 'heavy':
      return 'heavy'
    case 'long':
      return 'long'
    case 'loop':
    case 'thread':
      assert(false, `operation ${operation.name} runs on no lane and has no queue`)
  }
}
