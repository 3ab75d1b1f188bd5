/**
 * A fixed set of worker threads of one kind, on top of Piscina. A batch is sent as one Piscina task. Its
 * answers come back over one MessagePort per worker before the task settles, the last ones as the result of
 * the task. Front-end thread only.
 *
 * `atomics: 'disabled'`: by default Piscina parks an idle worker in Atomics.wait. Its event loop then stands
 * still, and lmdb-js, which resets the read snapshot in a timer, keeps old pages in use. The pool neither
 * grows nor shrinks, and a worker is never terminated to cancel a request. Piscina replaces a worker that
 * dies; the `settled` callback of the batch handles its unanswered requests.
 */
import { createRequire } from 'node:module'
import type { MessagePort } from 'node:worker_threads'
import type { Piscina as Pool } from 'piscina'
import { programPath } from '../../base/installation.js'
import type { Config } from '../../config/config.js'
import { LANE_DEATH_REASON_MS, SWITCH_LANE_MS_MAX } from '../../limits/lanes.js'
import { passAuditLines } from '../../telemetry/audit.js'
import { decodeAnswers, type LaneAnswer } from '../../wire/answer_codec.js'
import { type Envelope, releaseEnvelope, transferListOf } from '../../wire/envelope.js'
import { EnvelopeBlocks } from '../../wire/envelope_blocks.js'
import type { BatchResult, LaneHello, LaneMessage, LaneOrder } from '../../wire/messages/lane_messages.js'
import type { LaneKind, LaneStart } from '../../wire/messages/lane_start.js'
import type { FetchObjects, ObjectsFetched, ObjectsWanted } from '../../wire/messages/object_messages.js'
import { encodeRequests } from '../../wire/request_codec.js'
import type { Ticket } from '../ticket.js'
import { DeathReasons } from './death_reasons.js'

/** A body as text of two bytes a character, and its strings again after parsing. */
const LANE_HEAP_BODIES = 4
/** V8 heap of one lane, young space. Answers are short-lived, and 16 MB keeps scavenges under 1 ms. */
const LANE_YOUNG_HEAP_MB = 16
/**
 * LANE_DEATH_REASON_MS of the write lane, whose death ends the process: a new write lane would need more time
 * than this to open the store.
 */
const WRITE_LANE_DEATH_REASON_MS = 100
/**
 * Opening takes milliseconds. Vectors of encrypted collections have no files, however, and are read from the
 * store during that time: 20 million at 30 us. Requests are not held back by it.
 */
const SWITCH_OPEN_MS_MAX = 600_000

export interface LaneEvents {
  onAnswer(answer: LaneAnswer): void
  /** A lane that builds an index lacks objects. */
  readonly onFetch: FetchObjects
  /** The store has changed: notices.ts. */
  onNoticed(topics: readonly string[]): void
  /** A lane can be profiled by the port. */
  onProfiles?(kind: LaneKind, port: MessagePort): void
  onReady(kind: LaneKind): void
  onFailed(kind: LaneKind, reason: string): void
  onFatal(kind: LaneKind, reason: string): void
  onDeath(kind: LaneKind, row: number, reason: string): void
  /** A worker has ended whose lane could not be opened. @param row of its counters */
  onUnopened?(row: number): void
}

/** Lanes that start on first use. */
export type LazyLane = Exclude<LaneKind, 'read' | 'write'>

export function isLazy(kind: LaneKind): kind is LazyLane {
  return kind !== 'read' && kind !== 'write'
}

// Loaded by `require`, as in store/rows/packages.ts: the lanes start 10 ms earlier.
const { Piscina } = createRequire(import.meta.url)('piscina') as typeof import('piscina')

const CLOSE_TASK = 'close'
const ENTRY = programPath('lane')

interface PendingOrder {
  readonly port: MessagePort
  readonly settle: (error: string | null) => void
}

function heapMb({ bodyBytesMax, limits }: Config): number {
  return limits.LANE_HEAP_MB_MAX + Math.ceil((LANE_HEAP_BODIES * bodyBytesMax) / (1024 * 1024))
}

export class LanePool {
  readonly #pool: Pool<Envelope | typeof CLOSE_TASK, BatchResult>
  /** Memory of the answers of each worker, by the number of its thread. */
  readonly #answerBlocks = new Map<number, EnvelopeBlocks>()
  readonly #ports = new Set<MessagePort>()
  readonly #blocks: EnvelopeBlocks | null
  readonly #epochOffset = performance.timeOrigin
  #inFlight = 0
  readonly #reasons: DeathReasons
  #toLoad: number
  #allLoaded: () => void = () => undefined
  /**
   * Resolves when every thread has loaded its code, or one has failed to. The process may end only after
   * that: an exit while a thread loads an addon crashes in the addon.
   */
  readonly loaded: Promise<void>
  #wasReady = false
  /** Orders that lanes have not acknowledged yet, by number. */
  readonly #orders = new Map<number, PendingOrder>()
  #lastOrder = 0
  readonly #readyWaiters: (() => void)[] = []
  /**
   * The generation for workers that start later: such a worker may have opened the store before the switch.
   */
  #generation: string | undefined
  #ready = 0
  #closing = false

  constructor(
    readonly start: Omit<LaneStart, 'requests'>,
    readonly threads: number,
    readonly tasksPerThread: number,
    readonly events: LaneEvents,
  ) {
    this.#toLoad = threads
    this.#reasons = new DeathReasons(start.kind === 'write' ? WRITE_LANE_DEATH_REASON_MS : LANE_DEATH_REASON_MS)
    this.loaded = new Promise((resolve) => (this.#allLoaded = resolve))
    // Only read and point lanes use blocks: the buffers of commands outlive their batch.
    this.#blocks = start.kind === 'read' || start.kind === 'point' ? EnvelopeBlocks.create(threads * tasksPerThread) : null
    const laneStart: LaneStart = { ...start, requests: this.#blocks?.memory ?? null }
    this.#pool = new Piscina<Envelope | typeof CLOSE_TASK, BatchResult>({
      filename: ENTRY,
      name: 'runBatch',
      minThreads: threads,
      maxThreads: threads,
      concurrentTasksPerWorker: tasksPerThread,
      // The dispatcher never hands out more tasks than there are task slots. Tasks wait here only while a
      // worker is being replaced.
      maxQueue: threads * tasksPerThread,
      atomics: 'disabled',
      recordTiming: false,
      workerHistogram: false,
      resourceLimits: { maxOldGenerationSizeMb: heapMb(start.config), maxYoungGenerationSizeMb: LANE_YOUNG_HEAP_MB },
      workerData: laneStart,
    })
    this.#pool.on('message', (message: LaneHello) => this.#greet(message))
    // A worker that died between two tasks, or before it could open its port. If the port was open, the port
    // reports the death.
    this.#pool.on('error', (error: Error) => {
      this.#reasons.say(error.message)
      this.#allLoaded()
      this.#failedToStart(error.message)
    })
  }

  get kind(): LaneKind {
    return this.start.kind
  }

  /** Number of task slots that are free now. */
  get freeTasks(): number {
    return this.threads * this.tasksPerThread - this.#inFlight
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** Whether some worker is idle. It would get the next batch. */
  get hasIdleWorker(): boolean {
    return this.#inFlight < this.threads
  }

  /** Whether some worker has opened its lane and is alive. */
  get isReady(): boolean {
    return this.#ready > 0
  }

  /** Resolves once some worker has opened its lane. */
  async whenReady(): Promise<void> {
    if (!this.isReady) await new Promise<void>((resolve) => this.#readyWaiters.push(resolve))
  }

  /**
   * Hands a batch to the least busy worker. Ownership of the tickets' bodies passes to the lane.
   * @param settled called when the task slot is free again; `lost` means that the worker died or the task
   * failed, and unanswered requests will get no answer from it
   */
  run(tickets: readonly Ticket[], settled: (lost: boolean) => void): void {
    this.#inFlight += 1
    const envelope = encodeRequests(tickets, this.#epochOffset, this.#blocks)
    for (const ticket of tickets) ticket.body = null
    this.#pool.run(envelope, { transferList: transferListOf(envelope) }).then(
      (result) => {
        releaseEnvelope(envelope, this.#blocks)
        this.#inFlight -= 1
        // None: the worker has died since, and its memory of answers is gone.
        const blocks = result === undefined ? undefined : this.#answerBlocks.get(result.thread)
        if (result !== undefined && blocks !== undefined) this.#answer(result.answers, blocks)
        settled(result !== undefined && blocks === undefined)
      },
      (error: Error) => {
        this.#reasons.say(error.message)
        // Answers that the worker sent before it died are delivered first. They are in its port already,
        // which one turn of the event loop reads.
        setImmediate(() => {
          releaseEnvelope(envelope, this.#blocks)
          this.#inFlight -= 1
          settled(true)
          if (isLazy(this.kind)) this.#failedToStart(error.message)
        })
      },
    )
  }

  #answer(envelope: Envelope, blocks: EnvelopeBlocks | null): void {
    for (const answer of decodeAnswers(envelope, blocks)) this.events.onAnswer(answer)
    releaseEnvelope(envelope, blocks)
  }

  /**
   * Sends an order to every worker, which executes it between two batches.
   * @throws Error if a worker refuses, dies or does not respond in time
   */
  async order(kind: LaneOrder['kind'], generation: string): Promise<void> {
    if (kind === 'adopt') this.#generation = generation
    await Promise.all([...this.#ports].map((port) => this.#orderOne(port, kind, generation)))
  }

  #orderOne(port: MessagePort, kind: LaneOrder['kind'], generation: string): Promise<void> {
    const number = ++this.#lastOrder
    return new Promise((resolve, reject) => {
      const settle = (error: string | null): void => {
        clearTimeout(timer)
        this.#orders.delete(number)
        if (error === null) resolve()
        else reject(new Error(`a ${this.kind} lane: ${error}`))
      }
      const msMax = kind === 'open' ? SWITCH_OPEN_MS_MAX : SWITCH_LANE_MS_MAX
      const timer = setTimeout(() => settle(`silent for ${msMax} ms`), msMax)
      this.#orders.set(number, { port, settle })
      port.postMessage({ number, kind, generation } satisfies LaneOrder)
    })
  }

  /** Lets every worker finish and close its resources. The pool accepts no batch afterwards. */
  async close(): Promise<void> {
    this.#closing = true
    // One close task per worker. Each occupies its task slot until all have closed, because a closing worker
    // settles its task only after its own work.
    await Promise.all(Array.from({ length: this.threads }, () => this.#pool.run(CLOSE_TASK)))
    for (const port of this.#ports) port.close()
    await this.#pool.destroy()
  }

  /** Ends it at once. Its requests are lost. For a pool that has failed to start. */
  async destroy(): Promise<void> {
    this.#closing = true
    await this.#pool.destroy()
  }

  /** Piscina does not replace a worker that ends before it has loaded. */
  #failedToStart(reason: string): void {
    const isMissed = isLazy(this.kind) ? this.#ready === 0 : !this.#wasReady
    if (isMissed && !this.#closing) this.events.onFailed(this.kind, reason)
  }

  /** A port that was closed in the meantime accepts the message and drops it. */
  async #fetchFor(port: MessagePort, { number, objects }: ObjectsWanted): Promise<void> {
    const failures = await this.events.onFetch(objects)
    port.postMessage({ kind: 'fetched', number, failures } satisfies ObjectsFetched)
  }

  #greet({ thread, port, answers, profiles }: LaneHello): void {
    const blocks = new EnvelopeBlocks(answers)
    this.#answerBlocks.set(thread, blocks)
    if (profiles !== null) this.events.onProfiles?.(this.kind, profiles)
    let row = -1
    let isReady = false
    this.#ports.add(port)
    if (this.#generation !== undefined)
      this.#orderOne(port, 'adopt', this.#generation).catch((error: Error) => this.events.onFatal(this.kind, error.message))
    this.#toLoad -= 1
    if (this.#toLoad === 0) this.#allLoaded()
    port.on('message', (message: LaneMessage) => {
      switch (message.kind) {
        case 'answers':
          this.#answer(message.envelope, blocks)
          break
        case 'fetch':
          void this.#fetchFor(port, message)
          break
        case 'ready':
          row = message.row
          isReady = true
          this.#wasReady = true
          this.#ready += 1
          for (const resolve of this.#readyWaiters.splice(0)) resolve()
          this.events.onReady(this.kind)
          break
        case 'obeyed':
          this.#orders.get(message.number)?.settle(message.error)
          break
        case 'noticed':
          this.events.onNoticed(message.topics)
          break
        case 'audit':
          passAuditLines(message.lines)
          break
        case 'failed':
          row = message.row
          this.events.onFailed(this.kind, message.reason)
          break
        case 'fatal':
          this.events.onFatal(this.kind, message.reason)
          break
      }
    })
    port.on('close', () => {
      this.#ports.delete(port)
      this.#answerBlocks.delete(thread)
      for (const order of [...this.#orders.values()]) if (order.port === port) order.settle('died')
      if (isReady) this.#ready -= 1
      if (this.#closing && !isReady && row >= 0) this.events.onUnopened?.(row)
      if (!this.#closing) this.#reasons.ask((reason) => this.events.onDeath(this.kind, row, reason))
    })
  }
}
