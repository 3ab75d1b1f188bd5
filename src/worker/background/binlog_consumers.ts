/**
 * Runs the binlog consumers (src/consumers) on the write lane. A commit wakes them. Each consumer processes
 * one slice at a time. The changes of a slice are work in the commit queue, which stores the consumer's
 * position in the same transaction.
 *
 * The binlog keeps the entries that a consumer with a stored position has not seen (`floor`). It may exceed
 * its normal size limit by CONSUMER_LAG_BYTES_MAX at most. Beyond that, the consumers furthest behind are
 * lost, so that the disk does not fill up for them. A lost consumer is logged and counted, its position is
 * dropped, and it continues with the last entry.
 */
import { Chore } from '../../chore.js'
import type { BinlogConsumer, ConsumerMaker, ConsumerSlice } from '../../consumers/consumer.js'
import { CONSUMERS } from '../../consumers/registry.js'
import { CONSUMER_POSITION_ENTRIES, CONSUMER_RETRY_MS } from '../../limits/consumers.js'
import { mayWriteUnasked } from '../../role.js'
import type { Service } from '../../services.js'
import type { WriteTransaction } from '../../store/apply.js'
import { log } from '../../telemetry/log.js'
import { threadTelemetry } from '../../telemetry/registry.js'
import type { Work } from '../commit/commit_work.js'
import type { BinlogReaders } from '../commit/write_lane.js'
import { DONE, type LaneWork } from './lane_work.js'

interface Follower {
  readonly consumer: BinlogConsumer
  /** LSN of the last entry that it has processed. */
  lsn: bigint
  /** Its position in the store. */
  storedLsn: bigint
  /** Earliest time of its next slice. */
  dueAt: number
}

export class BinlogConsumers implements Service, BinlogReaders {
  readonly name = 'binlog-consumers'
  readonly #parts: LaneWork
  readonly #chore: Chore
  readonly #followers: readonly Follower[]

  constructor(parts: LaneWork, makers: readonly ConsumerMaker[] = CONSUMERS) {
    this.#parts = parts
    const { lane, tools } = parts
    this.#followers = lane.store.read((view) => {
      const { lastLsn, trimmedLsn } = view.storeCounters()
      return makers.map((make): Follower => {
        const consumer = make({ notify: lane.notify })
        const stored = consumer.position === 'stored' ? (view.binlog.positionOf(consumer.name) ?? 0n) : lastLsn
        // Entries below the start of the binlog had been processed before they were trimmed.
        const lsn = stored > trimmedLsn ? stored : trimmedLsn
        return { consumer, lsn, storedLsn: stored, dueAt: performance.now() + consumer.delayMs }
      })
    })
    this.#chore = new Chore(tools, {
      name: 'binlog-consumers',
      failure: 'consumers of the binlog are behind',
      round: () => this.#round(),
    })
  }

  start(): void {
    this.#chore.start()
  }

  stop(): Promise<void> {
    return this.#chore.stop()
  }

  wake(): void {
    const now = performance.now()
    for (const follower of this.#followers) follower.dueAt = Math.min(follower.dueAt, now + follower.consumer.delayMs)
    const delayMs = Math.min(...this.#followers.map(({ dueAt }) => dueAt)) - now
    if (Number.isFinite(delayMs)) this.#chore.wake(Math.max(0, delayMs))
  }

  get floor(): bigint | undefined {
    return this.#kept().reduce<bigint | undefined>((least, { lsn }) => (least === undefined || lsn < least ? lsn : least), undefined)
  }

  get lagBytesMax(): number {
    return this.#parts.lane.config.limits.CONSUMER_LAG_BYTES_MAX
  }

  loseBelow(transaction: WriteTransaction, lsn: bigint): void {
    for (const follower of this.#kept()) {
      if (follower.lsn >= lsn) continue
      const { consumer } = follower
      const lastLsn = transaction.nextLsn - 1n
      log.error('a consumer of the binlog is lost: it continues with the last entry', {
        consumer: consumer.name,
        entries: lastLsn - follower.lsn,
      })
      threadTelemetry().add('binlog_consumers_lost', 1)
      transaction.dropPosition(consumer.name)
      follower.lsn = lastLsn
      follower.storedLsn = lastLsn
      consumer.onLost?.()
    }
  }

  /** Consumers for which the binlog is kept. A consumer that may not run in this role retains nothing. */
  #kept(): readonly Follower[] {
    return this.#followers.filter(({ consumer }) => consumer.position === 'stored' && this.#mayRun(consumer))
  }

  #mayRun({ writesUnasked }: BinlogConsumer): boolean {
    return !writesUnasked || mayWriteUnasked(this.#parts.tools.role)
  }

  /** Runs one slice of each consumer that is due. @returns milliseconds to the next one */
  async #round(): Promise<number | 'idle'> {
    for (const follower of this.#followers) {
      if (follower.dueAt > performance.now()) continue
      // A wake-up during the slice overwrites this value.
      follower.dueAt = Number.POSITIVE_INFINITY
      if (!this.#mayRun(follower.consumer)) continue
      try {
        if (await this.#slice(follower)) follower.dueAt = Math.min(follower.dueAt, performance.now() + follower.consumer.pauseMs)
      } catch (error) {
        // A failing consumer does not delay the others.
        log.warn('a consumer of the binlog is behind', { consumer: follower.consumer.name, reason: error })
        follower.dueAt = performance.now() + CONSUMER_RETRY_MS
      }
    }
    const next = Math.min(...this.#followers.map(({ dueAt }) => dueAt))
    return Number.isFinite(next) ? Math.max(0, next - performance.now()) : 'idle'
  }

  /** @returns whether there are more entries */
  async #slice(follower: Follower): Promise<boolean> {
    const { lane, enqueue } = this.#parts
    const { consumer, lsn: after } = follower
    const slice = lane.store.read((view) => consumer.next(view, after))
    const isStored = consumer.position === 'stored'
    const isFar = isStored && slice.lsn - follower.storedLsn >= CONSUMER_POSITION_ENTRIES
    if (slice.change !== undefined || isFar) {
      await enqueue(workOf(consumer, slice))
      follower.storedLsn = slice.lsn
    }
    // A consumer that was lost meanwhile has already advanced further.
    if (slice.lsn > follower.lsn) follower.lsn = slice.lsn
    return slice.isMore
  }
}

function workOf({ name, position }: BinlogConsumer, { change, lsn, weight = 1 }: ConsumerSlice): Work {
  return {
    onFullDisk: 'waits',
    origin: 'upkeep',
    weight,
    run(transaction) {
      change?.(transaction)
      if (position === 'stored') transaction.setPosition(name, lsn)
      return false
    },
    answer: () => DONE,
  }
}
