/**
 * Runs the consumers of the binlog (src/consumers) on the write lane: a commit wakes them, each takes a slice
 * at a time, and what a slice changes is work in the commit queue that stores the consumer's position in the
 * same transaction.
 *
 * The binlog keeps the entries that a consumer with a stored position has not seen (`floor`). The bound is
 * CONSUMER_LAG_BYTES_MAX beyond the size that the binlog may have anyway: then those furthest behind are
 * lost, because the disk must not fill up for them. A lost consumer is logged and counted, its position is
 * dropped, and it goes on with the last entry.
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
  /** LSN of the last entry that it has looked at. */
  lsn: bigint
  /** The same as the store has it. */
  storedLsn: bigint
  /** When its next slice may begin. */
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
        // What lies below the binlog had been looked at before it was trimmed.
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
      log.error('a consumer of the binlog is lost: it begins anew with the last entry', {
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

  /** Those for which the binlog is kept: what may not run here keeps nothing. */
  #kept(): readonly Follower[] {
    return this.#followers.filter(({ consumer }) => consumer.position === 'stored' && this.#mayRun(consumer))
  }

  #mayRun({ writesUnasked }: BinlogConsumer): boolean {
    return !writesUnasked || mayWriteUnasked(this.#parts.tools.role)
  }

  /** One slice of each that is due. @returns milliseconds to the next one */
  async #round(): Promise<number | 'idle'> {
    for (const follower of this.#followers) {
      if (follower.dueAt > performance.now()) continue
      // A wake-up during the slice sets another time.
      follower.dueAt = Number.POSITIVE_INFINITY
      if (!this.#mayRun(follower.consumer)) continue
      try {
        if (await this.#slice(follower)) follower.dueAt = Math.min(follower.dueAt, performance.now() + follower.consumer.pauseMs)
      } catch (error) {
        // One that fails holds up no other.
        log.warn('a consumer of the binlog is behind', { consumer: follower.consumer.name, reason: error })
        follower.dueAt = performance.now() + CONSUMER_RETRY_MS
      }
    }
    const next = Math.min(...this.#followers.map(({ dueAt }) => dueAt))
    return Number.isFinite(next) ? Math.max(0, next - performance.now()) : 'idle'
  }

  /** @returns whether more entries are there */
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
    // One that was lost meanwhile is further already.
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
