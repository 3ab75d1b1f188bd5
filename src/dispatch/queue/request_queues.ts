/**
 * The queues of the dispatcher, one for each class, with their bounds, and what is taken from them: requests
 * that are still wanted, one by one or in batches. Front-end thread only.
 */
import { SLOTS_MAX } from '../../limits/lanes.js'
import type { OverridableLimits } from '../../limits/overridable.js'
import { MIB } from '../../limits/units.js'
import { QUEUE_CLASSES, type QueueClass } from '../../operations/row/queue_class.js'
import type { Telemetry } from '../../telemetry/registry.js'
import type { Ticket } from '../ticket.js'
import { RequestQueue } from './request_queue.js'

/** Requests that wait for the long lane: a backup each, at most a few. */
const QUEUE_LONG_REQUESTS_MAX = 16
/**
 * Bytes of commands in one task of the write lane: about the amount that a slow disk writes in 20 ms of
 * flush. A larger command is sent alone.
 */
const BATCH_COMMAND_BYTES_MAX = 4 * MIB

/** One bit for each queue. */
const BIT: Readonly<Record<QueueClass, number>> = { point: 1, search: 2, prepare: 4, heavy: 8, commit: 16, long: 32 }

const READS = BIT.point | BIT.search | BIT.prepare

export class RequestQueues {
  readonly of: Readonly<Record<QueueClass, RequestQueue>>
  /** The bits of the queues that have requests, wanted or not. */
  #mask = 0

  /**
   * @param surfaces number of surfaces that clients can reach
   * @param drop receives abandoned requests as they leave their queue
   */
  constructor(
    limits: OverridableLimits,
    surfaces: number,
    readonly drop: (ticket: Ticket) => void,
  ) {
    this.of = {
      point: new RequestQueue(limits.QUEUE_POINT_REQUESTS_MAX, surfaces),
      search: new RequestQueue(limits.QUEUE_SEARCH_REQUESTS_MAX, surfaces),
      prepare: new RequestQueue(limits.QUEUE_WRITE_REQUESTS_MAX, surfaces),
      heavy: new RequestQueue(limits.QUEUE_HEAVY_REQUESTS_MAX, surfaces),
      // Requests here were accepted by another queue and have a slot, so the number of slots is the bound.
      commit: new RequestQueue(SLOTS_MAX),
      long: new RequestQueue(QUEUE_LONG_REQUESTS_MAX, surfaces),
    }
  }

  /** Whether no queue has a request. */
  get isEmpty(): boolean {
    return this.#mask === 0
  }

  get hasReads(): boolean {
    return (this.#mask & READS) !== 0
  }

  /** For a scrape: gauges are not set with every request. */
  setGauges(telemetry: Telemetry, inFlight: Readonly<Record<QueueClass, number>>, slotsUsed: number): void {
    for (const queue of QUEUE_CLASSES) telemetry.setQueue(queue, this.of[queue].length, inFlight[queue])
    telemetry.set('slots_used', slotsUsed)
  }

  push(ticket: Ticket): void {
    this.of[ticket.queue].push(ticket)
    this.#mask |= BIT[ticket.queue]
  }

  /**
   * Returns the first request of a queue that is still wanted. Abandoned requests before it are dropped.
   * @param rankOf of a surface: the turn goes to the lowest. Default: it stays where it is
   */
  head(queue: QueueClass, rankOf?: (surface: number) => number): Ticket | undefined {
    if ((this.#mask & BIT[queue]) === 0) return undefined
    const items = this.of[queue]
    if (rankOf !== undefined) items.prefer(rankOf)
    for (let head = items.peek(); head !== undefined; head = items.peek()) {
      // An abandoned request for a further part still goes to the lane, which then discards the rest.
      if (head.sink !== null || head.stream !== 0) return head
      items.shift()
      this.drop(head)
    }
    this.#mask &= ~BIT[queue]
    return undefined
  }

  /** Returns at least one request if the queue has a head. */
  takeBatch(queue: QueueClass, requestsMax: number): Ticket[] {
    const batch: Ticket[] = []
    let bytes = 0
    for (let head = this.head(queue); head !== undefined && batch.length < requestsMax; head = this.head(queue)) {
      bytes += head.bodyBytes
      if (batch.length > 0 && queue === 'commit' && bytes > BATCH_COMMAND_BYTES_MAX) break
      this.of[queue].shift()
      batch.push(head)
      if (this.of[queue].length > 0) continue
      this.#mask &= ~BIT[queue]
      break
    }
    return batch
  }
}
