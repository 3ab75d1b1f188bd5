/**
 * Runs the binlog consumers (src/consumers) on the write lane. A commit wakes them. Each consumer processes
 * one slice at a time. The changes of a slice are work in the commit queue, which stores the consumer's
 * position in the same transaction.
 *
 * The binlog keeps the entries that a consumer with a stored position has not seen (`floor`). It may exceed
 * its normal size limit by CONSUMER_LAG_BYTES_MAX at most. Beyond that, the consumers furthest behind are
 * lost, so that the disk does not fill up for them. A lost consumer is logged and counted and continues with
 * the last entry.
 *
 * Invariant: a stored position below the start of the binlog means that entries were trimmed unseen. The
 * transaction that trims above the position of a consumer that has seen the entries stores its position, and
 * a lost consumer keeps its old one until its next slice is stored. So a loss is noticed again after a crash.
 */
import { Chore } from '../../chore.js'
import type { BinlogConsumer, ConsumerMaker, ConsumerSlice } from '../../consumers/consumer.js'
import { CONSUMERS } from '../../consumers/registry.js'
import { CONSUMER_POSITION_ENTRIES, CONSUMER_RETRY_MS } from '../../limits/consumers.js'
import { mayWriteUnasked } from '../../role.js'
import type { Service } from '../../services.js'
import type { WriteTransaction } from '../../store/apply.js'
import type { View } from '../../store/view.js'
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
  /** Its next slice stores its position: it is lost until then, or begins with the last entry. */
  isStoringNext: boolean
  /** Earliest time of its next slice. */
  dueAt: number
}

/** A change of a follower in the group that is being written. It takes effect once the group is stored. */
interface Noted {
  readonly follower: Follower
  readonly lsn: bigint
  /** False: its position was stored. */
  readonly isLost: boolean
}

export class BinlogConsumers implements Service, BinlogReaders {
  readonly name = 'binlog-consumers'
  readonly #parts: LaneWork
  readonly #chore: Chore
  readonly #followers: readonly Follower[]
  #noted: Noted[] = []

  constructor(parts: LaneWork, makers: readonly ConsumerMaker[] = CONSUMERS) {
    this.#parts = parts
    const { lane, tools } = parts
    this.#followers = lane.store.read((view) => makers.map((make) => followerOf(make({ notify: lane.notify }), view)))
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

  afterTrim(transaction: WriteTransaction, lostBelow: bigint): void {
    const { trimmedLsn } = transaction
    for (const follower of this.#kept()) {
      if (follower.lsn >= lostBelow && follower.storedLsn >= trimmedLsn) continue
      const { name } = follower.consumer
      // A slice of the same group may have stored a later position.
      const storedLsn = transaction.view.binlog.positionOf(name) ?? 0n
      if (follower.lsn < lostBelow && storedLsn < lostBelow) {
        this.#noted.push({ follower, lsn: transaction.nextLsn - 1n, isLost: true })
      } else if (storedLsn < trimmedLsn && !follower.isStoringNext) {
        transaction.setPosition(name, follower.lsn)
        this.#noted.push({ follower, lsn: follower.lsn, isLost: false })
      }
    }
  }

  onStored(): void {
    const noted = this.#noted
    this.#noted = []
    for (const { follower, lsn, isLost } of noted) {
      if (isLost) lose(follower, lsn)
      else follower.storedLsn = lsn
    }
    if (noted.some(({ isLost }) => isLost)) this.wake()
  }

  onUndone(): void {
    this.#noted = []
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
    const { consumer } = follower
    const { slice, after } = lane.store.read((view) => {
      const { trimmedLsn, lastLsn } = view.storeCounters()
      if (consumer.position === 'stored' && follower.lsn < trimmedLsn) lose(follower, lastLsn)
      return { slice: consumer.next(view, follower.lsn), after: follower.lsn }
    })
    const isFar = slice.lsn - follower.storedLsn >= CONSUMER_POSITION_ENTRIES || follower.isStoringNext
    if (slice.change !== undefined || (isFar && consumer.position === 'stored')) {
      await enqueue(workOf(consumer, slice, () => this.#isAt(follower, after)))
      // A consumer that was lost meanwhile stores its position with the next slice.
      if (follower.lsn !== after) return true
      follower.storedLsn = slice.lsn
      follower.isStoringNext = false
    }
    follower.lsn = slice.lsn
    return slice.isMore
  }

  /** Whether it stands there still: it may have been lost since, also in the group that is being written. */
  #isAt(follower: Follower, lsn: bigint): boolean {
    return follower.lsn === lsn && !this.#noted.some((noted) => noted.isLost && noted.follower === follower)
  }
}

/** A consumer without a stored position is new: it has missed nothing. */
function followerOf(consumer: BinlogConsumer, view: View): Follower {
  const { lastLsn, trimmedLsn } = view.storeCounters()
  const { name, position, begins = 'oldest', delayMs } = consumer
  const stored = position === 'stored' ? view.binlog.positionOf(name) : undefined
  const isAtEnd = position === 'present' || begins === 'last'
  const lsn = stored ?? (isAtEnd ? lastLsn : trimmedLsn)
  const isStoringNext = stored === undefined && isAtEnd
  return { consumer, lsn, storedLsn: lsn, isStoringNext, dueAt: performance.now() + delayMs }
}

function lose(follower: Follower, lastLsn: bigint): void {
  const { consumer } = follower
  log.error('a consumer of the binlog is lost: it begins anew with the last entry', {
    consumer: consumer.name,
    entries: lastLsn - follower.lsn,
  })
  threadTelemetry().add('binlog_consumers_lost', 1)
  follower.lsn = lastLsn
  follower.storedLsn = lastLsn
  follower.isStoringNext = true
  consumer.onLost?.()
}

/** @param isValid whether the slice is still the consumer's next one */
function workOf({ name, position }: BinlogConsumer, { change, lsn, weight = 1 }: ConsumerSlice, isValid: () => boolean): Work {
  return {
    onFullDisk: 'waits',
    origin: 'upkeep',
    weight,
    run(transaction) {
      if (!isValid()) return false
      change?.(transaction)
      if (position === 'stored') transaction.setPosition(name, lsn)
      return false
    },
    answer: () => DONE,
  }
}
