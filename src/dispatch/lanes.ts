/**
 * The pools of a running server. The read and write pools start at once, the others on first use. This class
 * reports when all lanes are ready and decides how to react to the death of a lane. A dead worker is
 * replaced, unless workers die in quick succession. The death of the write lane ends the process. Front-end
 * thread only.
 */
import type { MessagePort } from 'node:worker_threads'
import type { Config } from '../config/config.js'
import { AccessRings } from '../telemetry/access_rings.js'
import { log, logMemory } from '../telemetry/log.js'
import type { Telemetry } from '../telemetry/registry.js'
import { SearchCounts } from '../telemetry/search_counts.js'
import type { LaneAnswer } from '../wire/answer_codec.js'
import type { ControlBlock } from '../wire/control_block.js'
import { EmbeddingBlock } from '../wire/embedding_block.js'
import type { LaneKind } from '../wire/messages/lane_start.js'
import type { FetchObjects } from '../wire/messages/object_messages.js'
import type { Dispatcher } from './dispatcher.js'
import { type Generations, GenerationSwitch } from './generation_switch.js'
import { isLazy, type LaneEvents, LanePool, type LazyLane } from './pools/lane_pool.js'
import type { LanePools } from './pools/lane_pools.js'

/** A commit that has not returned within this time may never return: the server stops acknowledging. */
const COMMIT_SILENCE_MS_MAX = 10_000
/**
 * Interval at which the front end checks for such a commit: while one runs, and while none does. The latter
 * is shorter than the silence, so that no commit is found later for it.
 */
const COMMIT_WATCH_MS = 500
const COMMIT_IDLE_WATCH_MS = 5000
/**
 * Batches in one read worker: one runs, one waits in its port, so that the worker is never idle in between.
 */
const TASKS_PER_READ_WORKER = 2
/** Batches in the point lane, as in a read worker. */
const TASKS_PER_POINT_WORKER = 2
/**
 * Tasks of the write lane. While one task is processed in slices, a second one brings single writes, which
 * enter between the slices.
 */
const TASKS_PER_WRITE_WORKER = 2
/** Heavy work runs one at a time. */
const TASKS_PER_BULK_WORKER = 1
/** Backups and restores run one at a time. */
const TASKS_PER_LONG_WORKER = 1
/**
 * Workers of lanes other than the write lane that may die within LANE_DEATHS_WINDOW_MS before the server
 * stops. One bad request must not stop it; a broken build must.
 */
const LANE_DEATHS_MAX = 10
const LANE_DEATHS_WINDOW_MS = 60_000
/**
 * A lane that could not be opened on its first use is tried again by the first request after this time.
 * Those before are answered 503.
 */
const LANE_RETRY_MS = 1_000

export interface LanesListener {
  /** All lanes are open and the index covers the whole store. */
  onReady(): void
  /** A lane could not be opened. */
  onFailed(reason: string): void
  /** The server must not acknowledge anything any more. */
  onFatal(reason: string): void
  /** The store has changed: notices.ts. */
  onNoticed?(topics: readonly string[]): void
}

const TASKS_PER_WORKER: Readonly<Record<LaneKind, number>> = {
  read: TASKS_PER_READ_WORKER,
  point: TASKS_PER_POINT_WORKER,
  write: TASKS_PER_WRITE_WORKER,
  bulk: TASKS_PER_BULK_WORKER,
  long: TASKS_PER_LONG_WORKER,
}

export class Lanes implements LanePools, LaneEvents {
  readonly write: LanePool
  readonly read: LanePool
  readonly #lazy = new Map<LazyLane, LanePool>()
  /** When those that could not be opened are tried again. */
  readonly #retryAt = new Map<LazyLane, number>()
  readonly #switch: GenerationSwitch
  #readyToCome: number
  #deaths: number[] = []
  #commitWatch: NodeJS.Timeout | undefined
  readonly #accesses: SharedArrayBuffer | null
  readonly #searches: SharedArrayBuffer | null

  constructor(
    readonly config: Config,
    readonly control: ControlBlock,
    readonly telemetry: Telemetry,
    readonly dispatcher: Dispatcher,
    readonly listener: LanesListener,
    generations: Generations,
    readonly embedding = EmbeddingBlock.create().buffer,
    /** Whether the data directory can't be written. */
    readonly isReadOnly = false,
  ) {
    this.#switch = new GenerationSwitch(generations, control, dispatcher, this, (reason) => listener.onFatal(reason))
    this.#readyToCome = 1 + config.readLanes
    this.#accesses = config.temporal && !isReadOnly ? AccessRings.create() : null
    this.#searches = config.searchStats ? SearchCounts.create() : null
    // The pools start concurrently, which saves the time that a thread needs to load its code. Read lanes
    // wait until the write lane has opened the store.
    this.write = this.#start('write', 1)
    this.read = this.#start('read', this.config.readLanes)
    this.#watchCommit()
  }

  point(): LanePool | null {
    const pool = this.#onUse('point')
    return pool?.isReady === true ? pool : null
  }

  bulk(): LanePool | null {
    return this.#onUse('bulk')
  }

  long(): LanePool | null {
    return this.#onUse('long')
  }

  /** Returns every pool that has been started. */
  pools(): readonly LanePool[] {
    return [this.write, this.read, ...this.#lazy.values()]
  }

  switchTo(generation: string, keepsAccounts: boolean): Promise<void> {
    return this.#switch.switchTo(generation, keepsAccounts)
  }

  /**
   * Closes all lanes. To be called when no request is in progress. The other lanes close before the write
   * lane, because closing the write lane flushes the store.
   */
  async close(): Promise<void> {
    await Promise.all([this.read, ...this.#lazy.values()].map((pool) => pool.close()))
    await this.write.close()
    clearTimeout(this.#commitWatch)
  }

  onAnswer(answer: LaneAnswer): void {
    this.dispatcher.onAnswer(answer)
  }

  onNoticed(topics: readonly string[]): void {
    this.listener.onNoticed?.(topics)
  }

  onProfiles(kind: LaneKind, port: MessagePort): void {
    this.dispatcher.profiled.add(kind, port)
  }

  readonly onFetch: FetchObjects = (objects) => this.dispatcher.objects.bringEach(objects)

  onReady(kind: LaneKind): void {
    if (this.#readyToCome === 0 || isLazy(kind)) return
    this.#readyToCome -= 1
    if (kind === 'write') this.dispatcher.attach(this)
    if (this.#readyToCome === 0) this.listener.onReady()
  }

  onFailed(kind: LaneKind, reason: string): void {
    if (isLazy(kind)) return this.#giveUp(kind, reason)
    // Other threads may still be loading.
    void Promise.all([this.write.loaded, this.read.loaded]).then(() =>
      this.listener.onFailed(`the ${kind} lane can't be opened: ${reason}`),
    )
  }

  onFatal(kind: LaneKind, reason: string): void {
    this.listener.onFatal(`${kind} lane: ${reason}`)
  }

  onDeath(kind: LaneKind, row: number, reason: string): void {
    this.telemetry.add('lane_deaths', 1)
    if (row >= 0) this.telemetry.releaseRow(row)
    log.error(`a ${kind} lane died`, { reason })
    if (kind === 'write') {
      this.listener.onFatal(`the write lane died: ${reason}`)
      return
    }
    const now = performance.now()
    this.#deaths = [...this.#deaths.filter((at) => now - at < LANE_DEATHS_WINDOW_MS), now]
    if (this.#deaths.length > LANE_DEATHS_MAX) this.listener.onFatal('lanes die one after the other')
  }

  onUnopened(row: number): void {
    this.telemetry.releaseRow(row)
  }

  #onUse(kind: LazyLane): LanePool | null {
    const started = this.#lazy.get(kind)
    if (started !== undefined) return started
    if (performance.now() < (this.#retryAt.get(kind) ?? 0)) return null
    try {
      const pool = this.#start(kind, 1)
      this.#lazy.set(kind, pool)
      return pool
    } catch (error) {
      this.#giveUp(kind, (error as Error).message)
      return null
    }
  }

  /**
   * The next use of the lane starts it anew. Its requests are answered 503; point reads share the read lanes.
   */
  #giveUp(kind: LazyLane, reason: string): void {
    log.error(`the ${kind} lane can't be opened, and is tried again`, { reason })
    this.#retryAt.set(kind, performance.now() + LANE_RETRY_MS)
    const pool = this.#lazy.get(kind)
    this.#lazy.delete(kind)
    void pool?.destroy()
  }

  /**
   * Detects a commit that does not return. The write lane blocks on its flushes, so another thread must
   * detect a disk that does not respond.
   */
  #watchCommit(): void {
    const ageMs = this.control.commitAgeMs
    if (ageMs >= COMMIT_SILENCE_MS_MAX) {
      this.listener.onFatal(`storage failure: a commit has not returned after ${COMMIT_SILENCE_MS_MAX} ms`)
      return
    }
    this.#commitWatch = setTimeout(() => this.#watchCommit(), ageMs === 0 ? COMMIT_IDLE_WATCH_MS : COMMIT_WATCH_MS).unref()
  }

  #start(kind: LaneKind, threads: number): LanePool {
    const { config, control, telemetry, embedding } = this
    const start = {
      kind,
      config,
      control: control.buffer,
      telemetry: telemetry.buffer,
      log: logMemory(),
      accesses: this.#accesses,
      searches: this.#searches,
      isReadOnly: this.isReadOnly,
      embedding,
    }
    return new LanePool(start, threads, TASKS_PER_WORKER[kind], this)
  }
}
