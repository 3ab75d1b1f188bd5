/** Creates the queues of the dispatcher, one for each class, with their bounds. */
import { QUEUE_LONG_REQUESTS_MAX, SLOTS_MAX } from '../limits/dispatch.js'
import type { OverridableLimits } from '../limits/overridable.js'
import type { QueueClass } from '../operations/queue_class.js'
import { RequestQueue } from './request_queue.js'

/** @param surfaces number of surfaces that clients can reach */
export function requestQueues(limits: OverridableLimits, surfaces: number): Readonly<Record<QueueClass, RequestQueue>> {
  return {
    point: new RequestQueue(limits.QUEUE_POINT_REQUESTS_MAX, surfaces),
    search: new RequestQueue(limits.QUEUE_SEARCH_REQUESTS_MAX, surfaces),
    prepare: new RequestQueue(limits.QUEUE_WRITE_REQUESTS_MAX, surfaces),
    heavy: new RequestQueue(limits.QUEUE_HEAVY_REQUESTS_MAX, surfaces),
    // Requests here were accepted by another queue and have a slot, so the number of slots is the bound.
    commit: new RequestQueue(SLOTS_MAX),
    long: new RequestQueue(QUEUE_LONG_REQUESTS_MAX, surfaces),
  }
}
