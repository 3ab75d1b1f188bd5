/**
 * Runs the binlog consumers (src/consumers) on the write lane. A commit wakes them. Each consumer processes
 * one slice at a time. The changes of a slice are work in the commit queue, which stores the consumer's
 * position in the same transaction. No consumer waits for another one: neither for its work, which a full
 * disk may keep in the queue, nor for the back-off after its failure.
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
import { Chore, type Rest } from '../../chore.js'
import type { BinlogConsumer, ConsumerMaker, ConsumerSlice } from '../../consumers/consumer.js'
import { CONSUMERS } from '../../consumers/registry.js'
import { CHORE_RETRY_MS_FIRST, CHORE_RETRY_MS_MAX, CHORE_STANDBY_MS } from '../../limits/lanes.js'
import { mayWriteUnasked } from '../../role.js'
import type { Service } from '../../services.js'
import type { WriteTransaction } from '../../store/apply.js'
import type { View } from '../../store/view.js'
import { log } from '../../telemetry/log.js'
import { threadTelemetry } from '../../telemetry/registry.js'
import type { Work } from '../commit/commit_work.js'
import type { BinlogReaders } from '../commit/write_lane.js'
import { DONE, type LaneWork } from './lane_work.js'

/**
 * A consumer of the binlog stores its position at least every this many entries, even if none concerned it.
 */
const CONSUMER_POSITION_ENTRIES = 4096n
/** What may wait for all webhooks together, in backlogs of one. */
const BACKLOGS_OF_ALL = 10

interface Follower {
  readonly consumer: BinlogConsumer
  /** Its number in the list. */
  readonly index: number
  /** LSN of the last entry that it has processed. */
  lsn: bigint
  /** Its position in the store. */
  storedLsn: bigint
  /** Its next slice stores its position: it is lost until then, or begins with the last entry. */
  isStoringNext: boolean
  /** Earliest time of its next slice. */
  dueAt: number
  /** A commit does not wake it before this time: it has failed. */
  retryAt: number
  failuresInRow: number
  /** The work of its slice, until it is stored. There is no other slice meanwhile. Never rejects. */
  pending: Promise<void> | undefined
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
    const { notify, isFeedWatched, config } = lane
    const { webhookBacklogMax } = config
    const backlogMax = { ofHook: webhookBacklogMax, ofAll: BACKLOGS_OF_ALL * webhookBacklogMax }
    this.#followers = lane.store.read((view) =>
      makers.map((make, index) => followerOf(make({ notify, isFeedWatched, backlogMax }), index, view)),
    )
    this.#chore = new Chore(tools, {
      name: 'binlog-consumers',
      failure: 'consumers of the binlog are behind',
      round: () => this.#round(),
    })
  }

  start(): void {
    this.#chore.start()
  }

  async stop(): Promise<void> {
    await this.#chore.stop()
    for (const { pending } of this.#followers) await pending
  }

  wake(): void {
    const now = performance.now()
    for (const follower of this.#followers) {
      if (follower.consumer.isWanted?.() === false) continue
      follower.dueAt = Math.min(follower.dueAt, Math.max(now + follower.consumer.delayMs, follower.retryAt))
    }
    const rest = this.#rest()
    if (rest !== 'idle') this.#chore.wake(rest)
  }

  /** Milliseconds to the next slice. */
  #rest(): Rest {
    const dueAt = Math.min(...this.#followers.map((follower) => (follower.pending === undefined ? follower.dueAt : Infinity)))
    return dueAt === Infinity ? 'idle' : Math.max(0, dueAt - performance.now())
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
        // Without a row it would be a new consumer after a crash.
        transaction.setPosition(name, storedLsn)
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

  /** Begins one slice of each consumer that is due. @returns milliseconds to the next one */
  #round(): Rest {
    for (const follower of this.#followers) {
      if (follower.pending !== undefined || follower.dueAt > performance.now()) continue
      // A wake-up during the slice overwrites this value.
      follower.dueAt = Infinity
      if (this.#mayRun(follower.consumer)) this.#begin(follower)
      else follower.dueAt = performance.now() + CHORE_STANDBY_MS
    }
    return this.#rest()
  }

  #begin(follower: Follower): void {
    const { consumer } = follower
    const begunAt = performance.now()
    try {
      const { slice, after } = this.#parts.lane.store.read((view) => {
        const { trimmedLsn, lastLsn } = view.storeCounters()
        if (consumer.position === 'stored' && follower.lsn < trimmedLsn) lose(follower, lastLsn)
        return { slice: consumer.next(view, follower.lsn), after: follower.lsn }
      })
      const isFar = slice.lsn - follower.storedLsn >= CONSUMER_POSITION_ENTRIES || follower.isStoringNext
      const isStored = slice.change !== undefined || (isFar && consumer.position === 'stored')
      if (isStored) follower.pending = this.#store(follower, slice, after, begunAt)
      else this.#goOn(follower, slice)
    } catch (error) {
      this.#backOff(follower, error, begunAt)
    }
  }

  /** Never rejects. */
  async #store(follower: Follower, slice: ConsumerSlice, after: bigint, begunAt: number): Promise<void> {
    const { consumer } = follower
    let isApplied = false
    const work = workOf(consumer, slice, () => (isApplied = this.#isAt(follower, after) && this.#mayRun(consumer)))
    try {
      const { code } = await this.#parts.enqueue(work)
      if (code !== undefined) throw new Error(code)
      if (isApplied) {
        follower.storedLsn = slice.lsn
        follower.isStoringNext = false
        this.#goOn(follower, slice)
      } else follower.dueAt = performance.now()
    } catch (error) {
      this.#backOff(follower, error, begunAt)
    }
    follower.pending = undefined
    const rest = this.#rest()
    if (rest !== 'idle') this.#chore.wake(rest)
  }

  #goOn(follower: Follower, { lsn, isMore }: ConsumerSlice): void {
    moveTo(follower, lsn)
    follower.failuresInRow = 0
    follower.retryAt = 0
    if (isMore) follower.dueAt = Math.min(follower.dueAt, performance.now() + follower.consumer.pauseMs)
  }

  /** A failed slice counts as a failed round of the chore. */
  #backOff(follower: Follower, error: unknown, begunAt: number): void {
    const now = performance.now()
    log.warn('a consumer of the binlog is behind', { consumer: follower.consumer.name, reason: error })
    this.#parts.tools.telemetry.countRound('binlog-consumers', (now - begunAt) / 1000, true)
    follower.retryAt = now + Math.min(CHORE_RETRY_MS_FIRST * 2 ** follower.failuresInRow, CHORE_RETRY_MS_MAX)
    follower.dueAt = follower.retryAt
    follower.failuresInRow++
  }

  /** Whether it stands there still: it may have been lost since, also in the group that is being written. */
  #isAt(follower: Follower, lsn: bigint): boolean {
    return follower.lsn === lsn && !this.#noted.some((noted) => noted.isLost && noted.follower === follower)
  }
}

/** A consumer without a stored position is new: it has missed nothing. */
function followerOf(consumer: BinlogConsumer, index: number, view: View): Follower {
  const { lastLsn, trimmedLsn } = view.storeCounters()
  const { name, position, begins = 'oldest', delayMs } = consumer
  const stored = position === 'stored' ? view.binlog.positionOf(name) : undefined
  const isAtEnd = position === 'present' || begins === 'last'
  const lsn = stored ?? (isAtEnd ? lastLsn : trimmedLsn)
  const isStoringNext = stored === undefined && isAtEnd
  const dueAt = performance.now() + delayMs
  const waiting = { isStoringNext, dueAt, retryAt: 0, failuresInRow: 0, pending: undefined }
  const follower: Follower = { consumer, index, lsn, storedLsn: lsn, ...waiting }
  moveTo(follower, lsn)
  return follower
}

function moveTo(follower: Follower, lsn: bigint): void {
  follower.lsn = lsn
  threadTelemetry().setConsumerPosition(follower.index, lsn)
}

function lose(follower: Follower, lastLsn: bigint): void {
  const { consumer } = follower
  log.error('a consumer of the binlog is lost: it continues with the last entry', {
    consumer: consumer.name,
    entries: lastLsn - follower.lsn,
  })
  threadTelemetry().add('binlog_consumers_lost', 1)
  moveTo(follower, lastLsn)
  follower.storedLsn = lastLsn
  follower.isStoringNext = true
  consumer.onLost?.()
}

/** @param isValid whether the slice is still the consumer's next one, and may be written */
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
