/**
 * Queues requests and dispatches them to the lanes. It is independent of any protocol: a request is an
 * operation, an encoded input, a principal, a deadline and a sink for its answer. Front-end thread only;
 * every call is synchronous and short.
 *
 * A request gets a slot and an entry in the queue of its class, or 503 at once. Once per turn of the event
 * loop, the queued requests are dispatched in batches to the free task slots of the pools (drain batching:
 * one hand-over carries many requests). A frame from a lane ends a request, carries its prepared command to
 * the write lane, or suspends it. Every accepted ticket is answered exactly once: by its frame, by the
 * deadline sweep, or when its batch is lost. The exception is a ticket whose client has disconnected.
 */
import assert from 'node:assert/strict'
import type { Config } from '../config/config.js'
import { BATCH_COMMANDS_MAX, DIRECT_WRITE_BYTES_MAX, LONG_COMMIT_BYTES_MIN } from '../limits/lanes.js'
import { isInternal } from '../operations/row/operation.js'
import { type QueueClass, queueClassOf } from '../operations/row/queue_class.js'
import { metrics } from '../operations/server/health.js'
import type { Telemetry } from '../telemetry/registry.js'
import { type AnswerSink, type OutgoingAnswer, releaseAnswer } from '../wire/answer.js'
import type { LaneAnswer } from '../wire/answer_codec.js'
import type { ControlBlock } from '../wire/control_block.js'
import { Admission } from './admission.js'
import { nextPartOf, OpenAnswers, restOf } from './answers/answer_parts.js'
import { refusal } from './answers/answers.js'
import { CachedAnswers } from './answers/cached_answers.js'
import { emitOutcome, noteNames } from './audit_trail.js'
import { type Held, Hold } from './hold.js'
import type { LoopOperations } from './loop_operations.js'
import { ServedStore } from './loop_reads.js'
import { Notices } from './notices.js'
import type { LanePool } from './pools/lane_pool.js'
import type { LanePools } from './pools/lane_pools.js'
import { ProfiledThreads } from './profiled_threads.js'
import { DeadlineWatch } from './queue/deadline_watch.js'
import { type ReadClass, ReadScheduler, type WaitingReads } from './queue/read_scheduler.js'
import { RequestQueues } from './queue/request_queues.js'
import { SlotTable } from './queue/slot_table.js'
import { type ObjectTransfers, Suspensions } from './suspensions.js'
import { ThreadOperations, ThreadTicket } from './thread_operations.js'
import { type DispatchRequest, type Ticket, ticketOf } from './ticket.js'

export class Dispatcher {
  readonly #slots: SlotTable
  readonly #queues: RequestQueues
  readonly #inFlight: Record<QueueClass, number> = { point: 0, search: 0, prepare: 0, heavy: 0, commit: 0, long: 0 }
  readonly admission: Admission
  readonly #suspensions: Suspensions
  readonly #openAnswers: OpenAnswers
  readonly #cached: CachedAnswers
  /** Change notices of the store, independent of what made the changes. */
  readonly notices = new Notices()
  /** The generation that event loops read. */
  readonly served = new ServedStore()
  /** The threads of which profiles can be made. */
  readonly profiled = new ProfiledThreads()
  /** Operations that threads of surfaces run. */
  readonly threads: ThreadOperations
  readonly #deadlines: DeadlineWatch
  #pools: LanePools | undefined
  #drainScheduled = false
  readonly #reads: ReadScheduler
  /** Bytes of the commands that are in the write lane. */
  #commitBytes = 0
  #lastBatch = 0
  readonly #idleWaiters: (() => void)[] = []
  readonly #hold = new Hold((held) => this.#isQuiet(held))
  #isSwitching = false
  readonly #waiting: WaitingReads = {
    lengthOf: (queue) => this.#queues.of[queue].length,
    headOf: (queue, rankOf) => this.#heldHead(queue, rankOf),
  }

  constructor(
    readonly config: Config,
    readonly control: ControlBlock,
    readonly telemetry: Telemetry,
    readonly objects: ObjectTransfers,
    readonly loop: LoopOperations,
    /** The number of surfaces that clients can reach. */
    surfaces = 1,
  ) {
    this.admission = new Admission(control)
    this.threads = new ThreadOperations(telemetry)
    this.#cached = new CachedAnswers(config.searchCacheSize, () => control.published)
    this.#suspensions = new Suspensions(objects, {
      commit: (ticket, command) => this.#commit(ticket, command),
      finish: (ticket, answer) => this.#finish(ticket, answer),
      again: (ticket) => this.#again(ticket),
      abandon: (ticket) => this.abandon(ticket),
      settled: () => this.#scheduleDrain(),
      switchTo: (generation, keepsAccounts) => this.#switchTo(generation, keepsAccounts),
    })
    this.#slots = new SlotTable(control, surfaces)
    this.#openAnswers = new OpenAnswers(surfaces)
    this.#reads = new ReadScheduler(config.searchesMax, surfaces)
    this.#deadlines = new DeadlineWatch(this.#slots, config.searchQueueMsMax, telemetry, {
      refuse: (ticket, code) => this.#answer(ticket, code),
      looked: () => this.#scheduleDrain(),
    })
    this.#queues = new RequestQueues(config.limits, surfaces, (ticket) => this.#drop(ticket))
  }

  /** Sets the pools. Earlier requests wait in their queues. */
  attach(pools: LanePools): void {
    this.#pools = pools
  }

  /** Registers what the front end does for an operation whose lane answers with a message of kind `io`. */
  readonly onIo: Suspensions['onIo'] = (operation, io, options) => this.#suspensions.onIo(operation, io, options)
  readonly onVectors: Suspensions['onVectors'] = (vectors) => this.#suspensions.onVectors(vectors)
  readonly overdueMs = (): number => this.#slots.overdueMs(performance.now())

  get slotsUsed(): number {
    return this.#slots.used
  }

  /** @returns the ticket, by which the request can be abandoned; null if the request is already answered */
  submit(request: DispatchRequest): Ticket | ThreadTicket | null {
    const { operation, surface } = request.admitted
    if (operation.cost === 'loop' && !isInternal(operation)) return this.loop.respond(operation, request)
    if (operation.cost === 'thread') return this.threads.submit(request)
    const sink = this.#cached.sinkFor(request)
    if (sink === null) return null
    const queue = queueClassOf(operation)
    const ticket = ticketOf(request, queue, sink)
    const isBarred = operation.notDuringRestore === true && this.#slots.has('restore')
    if (isBarred || this.#queues.of[queue].isFullFor(surface) || !this.#slots.take(ticket)) {
      this.telemetry.add('refused_busy', 1)
      emitOutcome(ticket, null)
      sink.answer(refusal(isBarred ? 'restoring' : 'overloaded'))
      return null
    }
    if (queue === 'prepare' && this.#canGoDirect(ticket)) {
      ticket.queue = 'commit'
      ticket.direct = true
    }
    // Before the scrape itself waits.
    if (operation === metrics) this.#queues.setGauges(this.telemetry, this.#inFlight, this.#slots.used)
    this.#queues.push(ticket)
    this.#deadlines.begin()
    this.#scheduleDrain()
    return ticket
  }

  /** Called when the client has disconnected: no answer is sent, and the lane is told to stop. */
  abandon(ticket: Ticket | ThreadTicket): void {
    if (ticket instanceof ThreadTicket) return this.threads.abandon(ticket)
    if (ticket.sink === null) return
    ticket.sink = null
    this.telemetry.add('aborted_requests', 1)
    this.control.setStopped(ticket.slot, true)
    if (ticket.batch !== 0) return
    // Still queued: the ticket is dropped when it reaches the head of its queue. Its body is released now,
    // because its bytes are no longer counted.
    ticket.body = null
    this.#scheduleDrain()
  }

  /** Settles when no request is queued or in a lane. */
  async idle(): Promise<void> {
    if (this.#slots.used === 0) return
    await new Promise<void>((resolve) => this.#idleWaiters.push(resolve))
  }

  stop(): void {
    this.#deadlines.end()
  }

  /** For a process that must not continue: what may be committed is `outcome unknown`, all else a 503. */
  failEverything(): void {
    this.threads.failEverything()
    this.#slots.forEach((one) => {
      emitOutcome(one, null)
      this.#answer(one, one.batch !== 0 && one.queue === 'commit' ? 'outcomeUnknown' : 'shuttingDown')
    })
  }

  onAnswer(answer: LaneAnswer): void {
    const ticket = this.#slots.find(answer.slot, answer.generation)
    if (ticket === null) {
      this.telemetry.add('late_frames', 1)
      return releaseAnswer(answer)
    }
    ticket.batch = 0
    noteNames(ticket, answer)
    if (answer.kind === 'forward') return this.#forward(ticket, answer.body)
    if (answer.kind === 'message') return this.#suspensions.begin(ticket, answer)
    if (ticket.onCommitted !== null) {
      // The body is valid during this call only.
      this.#committed(ticket, answer.kind === 'dropped' ? null : { ...answer, body: Buffer.from(answer.body) })
      return
    }
    if (answer.stream === 0) return this.#finish(ticket, answer.kind === 'dropped' ? refusal('deadline') : answer)
    const sink = ticket.sink
    ticket.sink = null
    this.#endPart(ticket, answer)
    const rest = restOf(
      (next) => this.#goOn(ticket, answer.stream, next),
      (last) => this.abandon(last),
    )
    if (sink === null) rest.end()
    else sink.answer({ ...answer, rest })
  }

  #finish(ticket: Ticket, answer: OutgoingAnswer): void {
    const sink = ticket.sink
    ticket.sink = null
    this.#end(ticket, answer)
    if (sink !== null) return sink.answer(answer)
    answer.push?.detach('clientGone')
    releaseAnswer(answer)
  }

  /** No other request of the long lane runs during the switch. */
  async #switchTo(generation: string, keepsAccounts: boolean): Promise<void> {
    this.#isSwitching = true
    try {
      await this.#pools?.switchTo(generation, keepsAccounts)
    } finally {
      this.#isSwitching = false
      this.#scheduleDrain()
    }
  }

  /** Keeps requests in their queues. Resolves when none of the requests held back is in a lane. */
  async hold(what: 'writes' | 'everything'): Promise<void> {
    await this.#hold.begin(what)
  }

  /** Ends every hold. */
  release(): void {
    this.#hold.end()
    this.#scheduleDrain()
  }

  #isQuiet(held: Held): boolean {
    const { point, search, prepare, heavy, commit } = this.#inFlight
    const writes = prepare + heavy + commit + (this.#queues.head('commit') === undefined ? 0 : 1)
    return writes === 0 && this.#suspensions.isQuiet && (held !== 'everything' || point + search === 0)
  }

  /**
   * Not refused when the queue is full: the parts of one answer are requested one at a time, and the lane
   * bounds the number of answers in parts.
   */
  #goOn(before: Ticket, stream: number, sink: AnswerSink): Ticket | null {
    const ticket = nextPartOf(before, stream, sink)
    if (!this.#slots.take(ticket)) {
      sink.answer(refusal('overloaded'))
      return null
    }
    this.#queues.push(ticket)
    this.#deadlines.begin()
    this.#scheduleDrain()
    return ticket
  }

  /** Resolves to null without writing if no client waits for the answer any more. */
  #commit(ticket: Ticket, command: Uint8Array): Promise<OutgoingAnswer | null> {
    return new Promise((resolve) => {
      if (ticket.sink === null) {
        resolve(null)
        return
      }
      ticket.onCommitted = resolve
      this.#queueCommit(ticket, command)
    })
  }

  #again(ticket: Ticket): void {
    ticket.queuedAt = performance.now()
    this.#queues.push(ticket)
    this.#scheduleDrain()
  }

  #committed(ticket: Ticket, answer: OutgoingAnswer | null): void {
    ticket.onCommitted?.(answer)
    ticket.onCommitted = null
  }

  /**
   * Answers the open requests of a batch whose worker died or whose task failed. Tickets that have moved on
   * to another batch are not touched.
   */
  #onBatchLost(tickets: readonly Ticket[], batch: number): void {
    for (const ticket of tickets) {
      if (ticket.batch !== batch) continue
      const code = ticket.queue === 'commit' ? 'outcomeUnknown' : 'laneLost'
      ticket.batch = 0
      this.#answer(ticket, code)
      if (ticket.onCommitted !== null) this.#committed(ticket, refusal(code))
      else this.#end(ticket, null)
    }
  }

  /**
   * A write goes to the write lane unprepared if no other write is on its way there. This saves a single
   * client one hop, and costs nothing without contention.
   */
  #canGoDirect(ticket: Ticket): boolean {
    return (
      this.#hold.held === 'nothing' &&
      this.#pools?.write.inFlight === 0 &&
      this.#queues.of.commit.length === 0 &&
      this.#queues.of.prepare.length === 0 &&
      this.#inFlight.prepare === 0 &&
      ticket.bodyBytes <= DIRECT_WRITE_BYTES_MAX
    )
  }

  #forward(ticket: Ticket, command: Uint8Array): void {
    if (ticket.sink === null) {
      // Nothing has been written: a request whose client has disconnected needs no commit.
      this.#end(ticket, null)
      return
    }
    this.#queueCommit(ticket, command)
  }

  #queueCommit(ticket: Ticket, command: Uint8Array): void {
    ticket.queue = 'commit'
    ticket.direct = false
    ticket.body = command
    ticket.bodyBytes = command.length
    ticket.queuedAt = performance.now()
    this.#queues.push(ticket)
    this.#scheduleDrain()
  }

  #scheduleDrain(): void {
    if (this.#drainScheduled) return
    this.#drainScheduled = true
    // After the sockets of this turn have been read, so that requests that arrive together share a batch.
    setImmediate(() => this.#drain())
  }

  #drain(): void {
    this.#drainScheduled = false
    const pools = this.#pools
    if (pools === undefined) return
    if (!this.#queues.isEmpty) this.#dispatch(pools)
    this.#hold.notify()
  }

  #dispatch(pools: LanePools): void {
    this.#drainCommits(pools.write)
    this.#drainReads(pools)
    if (this.#hold.held === 'nothing') this.#drainOnUse('heavy', () => pools.bulk())
    if (!this.#isSwitching) this.#drainOnUse('long', () => pools.long())
  }

  #drainReads(pools: LanePools): void {
    while (this.#queues.hasReads) {
      const next = this.#reads.next(this.#waiting, pools)
      if (next === null) return
      const batch = this.#queues.takeBatch(next.queue, next.requestsMax)
      this.#reads.served(batch, next.pool, pools)
      this.#run(next.pool, next.queue, batch)
    }
  }

  /** The head of the queue; none while requests of the class are held back. */
  #heldHead(queue: ReadClass, rankOf: (surface: number) => number): Ticket | undefined {
    const { held } = this.#hold
    return held === 'everything' || (held === 'writes' && queue === 'prepare') ? undefined : this.#queues.head(queue, rankOf)
  }

  #drainCommits(pool: LanePool): void {
    while (
      pool.freeTasks > 0 &&
      (pool.inFlight === 0 || this.#commitBytes >= LONG_COMMIT_BYTES_MIN) &&
      this.#queues.head('commit') !== undefined
    ) {
      this.#run(pool, 'commit', this.#queues.takeBatch('commit', BATCH_COMMANDS_MAX))
    }
  }

  #drainOnUse(queue: 'heavy' | 'long', poolOf: () => LanePool | null): void {
    while (this.#queues.head(queue) !== undefined) {
      const pool = poolOf()
      if (pool?.freeTasks === 0) return
      const [ticket] = this.#queues.takeBatch(queue, 1) as [Ticket]
      if (pool === null) this.#finish(ticket, refusal('laneLost'))
      else if (this.#openAnswers.mayBegin(ticket)) this.#run(pool, queue, [ticket])
      else {
        this.telemetry.add('refused_busy', 1)
        this.#finish(ticket, refusal('overloaded'))
      }
    }
  }

  /** A request that was abandoned in its queue. */
  #drop(ticket: Ticket): void {
    if (ticket.onCommitted !== null) this.#committed(ticket, null)
    else this.#end(ticket, null)
  }

  #run(pool: LanePool, queue: QueueClass, batch: readonly Ticket[]): void {
    assert(batch.length > 0, 'a batch carries at least one request')
    this.#inFlight[queue] += batch.length
    if (queue === 'search') this.#reads.begin(batch.length)
    const bytes = batch.reduce((sum, ticket) => sum + ticket.bodyBytes, 0)
    if (queue === 'commit') this.#commitBytes += bytes
    this.telemetry.observeBatch(queue, batch.length)
    this.#lastBatch += 1
    const id = this.#lastBatch
    for (const ticket of batch) ticket.batch = id
    pool.run(batch, (lost) => {
      if (lost) this.#onBatchLost(batch, id)
      this.#inFlight[queue] -= batch.length
      if (queue === 'search') this.#reads.end(batch.length)
      if (queue === 'commit') this.#commitBytes -= bytes
      this.#scheduleDrain()
    })
  }

  /** Sends the refusal and tells the lane to stop. The ticket keeps its slot until its frame comes. */
  #answer(ticket: Ticket, code: Parameters<typeof refusal>[0]): void {
    const sink = ticket.sink
    if (sink === null) return
    ticket.sink = null
    if (ticket.batch === 0) ticket.body = null
    this.control.setStopped(ticket.slot, true)
    sink.answer(refusal(code))
  }

  /** @param outcome null if the request has had no effect, or an unknown one */
  #end(ticket: Ticket, outcome: OutgoingAnswer | null): void {
    this.#openAnswers.end(ticket)
    this.#endPart(ticket, outcome)
  }

  /** As `#end`, but the lane keeps the rest of the answer. */
  #endPart(ticket: Ticket, outcome: OutgoingAnswer | null): void {
    emitOutcome(ticket, outcome)
    this.#slots.release(ticket)
    ticket.batch = 0
    ticket.body = null
    if (this.#slots.used > 0) return
    for (const resolve of this.#idleWaiters.splice(0)) resolve()
  }
}
