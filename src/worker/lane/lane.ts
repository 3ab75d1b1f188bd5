/**
 * A lane's thread. It opens its context, reports this on its own port, and runs the batches that Piscina
 * assigns: reads one after another, synchronously; writes as one group. An error of the lane ends the server,
 * because a lane in an unknown state must not acknowledge anything.
 */
import { MessageChannel, parentPort, threadId, workerData } from 'node:worker_threads'
import { ForwardedEvents } from '../../audit/forwarded_events.js'
import { endedTokens } from '../../domain/access/restored_accounts.js'
import { bytesOfDocuments, decodeCommand } from '../../domain/commands.js'
import { openEngine } from '../../engine/search/native_engine.js'
import { laneOperations } from '../../operations/index.js'
import { queueClassOf } from '../../operations/row/queue_class.js'
import { receiveAuditEvents } from '../../telemetry/audit.js'
import { joinLog, log } from '../../telemetry/log.js'
import { openProfilePort } from '../../telemetry/profile_port.js'
import { installTelemetry, Telemetry } from '../../telemetry/registry.js'
import { ControlBlock } from '../../wire/control_block.js'
import type { Envelope } from '../../wire/envelope.js'
import { EnvelopeBlocks } from '../../wire/envelope_blocks.js'
import type { BatchResult, LaneHello, LaneOrder } from '../../wire/messages/lane_messages.js'
import type { LaneStart } from '../../wire/messages/lane_start.js'
import { decodeRequests, type LaneRequest } from '../../wire/request_codec.js'
import { handlers } from '../handlers/index.js'
import type { LaneContext, WriteLane } from '../request/handler.js'
import { droppedFrame, type FormReaders } from '../request/lane_request.js'
import { operationOf, RequestRunner } from '../request/request_runner.js'
import { adoptNextGeneration, dropNextGeneration, openLane, openNextGeneration } from './context.js'
import { LanePort } from './lane_port.js'
import type { NextGeneration, OpenLane } from './open_lane.js'

/**
 * Blocks for the answers of one lane. Its two tasks make eight pages of one block each before the event loop
 * has read the first, and their envelopes take as many. 12 MiB, of which untouched pages cost nothing.
 */
const ENVELOPE_BLOCKS_PER_LANE = 16
/**
 * Large blocks of one lane: the event loop reads one while the lane fills the other. 16 MiB, of which
 * untouched pages cost nothing.
 */
const LARGE_BLOCKS_PER_LANE = 2

/** The task that Piscina runs: a batch, or the order to close the lane. */
type RunBatch = (task: Envelope | 'close') => Promise<BatchResult>

/** Must be called once, when the thread starts. */
export async function startLane(readers: FormReaders): Promise<RunBatch> {
  const lane = new Lane(workerData as LaneStart, readers)
  await lane.open()
  return (task) => lane.run(task)
}

class Lane {
  readonly #start: LaneStart
  readonly #control: ControlBlock
  readonly #telemetry: Telemetry
  readonly #telemetryRow: number
  readonly #requestBlocks: EnvelopeBlocks | null
  readonly #port: LanePort
  readonly #runner: RequestRunner
  #opened: OpenLane | undefined
  #next: NextGeneration | undefined
  /** Orders run one after another: each waits for the previous one. */
  #orders = Promise.resolve()
  #memorySampledAt = 0

  constructor(start: LaneStart, readers: FormReaders) {
    joinLog(start.log, `${start.kind} lane`)
    this.#start = start
    this.#control = new ControlBlock(start.control)
    this.#telemetry = new Telemetry(
      start.telemetry,
      laneOperations.map((operation) => operation.name),
    )
    this.#telemetryRow = this.#telemetry.claimRow()
    installTelemetry(this.#telemetry)
    this.#requestBlocks = start.requests === null ? null : new EnvelopeBlocks(start.requests)
    this.#port = greet(start.config.pprofEnabled)
    if (start.config.auditEnabled) receiveAuditEvents(new ForwardedEvents((lines) => this.#port.send({ kind: 'audit', lines })))
    this.#runner = new RequestRunner({
      control: this.#control,
      readers,
      handlers,
      report: (error, requestId) => this.#report(error, requestId),
    })
  }

  async open(): Promise<void> {
    try {
      const opened = await openLane(this.#start, (reason) => this.#port.send({ kind: 'fatal', reason }), this.#port)
      opened.indexed.then(
        () => this.#port.send({ kind: 'ready', row: this.#telemetryRow }),
        (error: unknown) => this.#fail(error),
      )
      this.#opened = opened
    } catch (error) {
      this.#fail(error)
    }
    this.#port.onOrder((order) => {
      this.#orders = this.#orders.then(() => this.#obey(order))
    })
  }

  async run(task: Envelope | 'close'): Promise<BatchResult> {
    if (this.#opened === undefined) throw new Error('the lane did not open')
    if (task === 'close') {
      await this.#opened.close()
      return undefined
    }
    this.#opened.context.rights.beginBatch()
    this.#port.beginBatch()
    const requests = decodeRequests(task, this.#requestBlocks)
    const takenAt = performance.timeOrigin + performance.now()
    this.#observeWaits(requests, takenAt)
    const { context, writeLane } = this.#opened
    if (this.#start.kind === 'long') await this.#runTasks(context, requests)
    else if (writeLane !== undefined) await this.#runWrites(context, writeLane, requests)
    // A batch contains requests of one class only. Point reads share a snapshot; others open theirs when they
    // need it.
    else if (requests.every((request) => operationOf(request).cost === 'point'))
      context.store.sharing(() => this.#runReads(context, requests))
    else this.#runReads(context, requests)
    const answers = this.#port.takeRest()
    this.#sampleMemory(context, takenAt)
    return answers === undefined ? undefined : { thread: threadId, answers }
  }

  #observeWaits(requests: readonly LaneRequest[], takenAt: number): void {
    for (const request of requests) {
      const queue = this.#start.kind === 'write' ? 'commit' : queueClassOf(operationOf(request))
      this.#telemetry.observeWait(queue, Math.max(0, takenAt - request.queuedAt) / 1000)
    }
  }

  #runReads(context: LaneContext, requests: readonly LaneRequest[]): void {
    for (const request of requests) {
      if (this.#control.isStopped(request.slot)) {
        if (request.stream !== 0) this.#runner.streams.end(request.stream)
        this.#port.answer(droppedFrame(request))
        continue
      }
      const { cost } = operationOf(request)
      if (cost === 'search' || cost === 'heavy') this.#port.flush()
      else this.#port.flushIfDue()
      this.#port.answer(this.#runner.run(context, request))
    }
  }

  async #runTasks(context: LaneContext, requests: readonly LaneRequest[]): Promise<void> {
    for (const request of requests) {
      const isDropped = this.#control.isStopped(request.slot)
      this.#port.answer(isDropped ? droppedFrame(request) : await this.#runner.runTask(context, request))
      this.#port.flush()
    }
  }

  /**
   * Runs one group. A direct write is prepared here first. A refused one is answered without delaying the
   * others.
   */
  async #runWrites(context: LaneContext, writeLane: WriteLane, requests: readonly LaneRequest[]): Promise<void> {
    const commands: Parameters<WriteLane['commit']>[0][number][] = []
    let unanswered = 0
    try {
      for (const request of requests) {
        if (this.#control.isStopped(request.slot)) {
          this.#port.answerSoon(droppedFrame(request))
          continue
        }
        const prepared = request.isDirect ? this.#runner.prepare(context, request) : { command: decodeCommand(request.body) }
        if ('frame' in prepared) {
          this.#port.answerSoon(prepared.frame)
          continue
        }
        const { command } = prepared
        // Above 0, by which a request is told from background work.
        const bytes = Math.max(1, request.body.length, bytesOfDocuments(command))
        const reply: (typeof commands)[number]['reply'] = (answer) => {
          const committed = this.#runner.committed(context, request, command, answer)
          if (--unanswered === 0) this.#port.answerLast(committed)
          else this.#port.answerSoon(committed)
        }
        unanswered++
        commands.push({ command, bytes, actor: request.principal.name, reply })
      }
      if (commands.length > 0) await writeLane.commit(commands)
    } catch (error) {
      // It is unknown which part of the group is on disk. This process must not answer any request
      // afterwards.
      this.#port.send({ kind: 'fatal', reason: `commit failed: ${reasonOf(error)}` })
      throw error
    }
  }

  /** Opens, adopts or drops another generation between two batches, and reports the result. */
  async #obey({ number, kind, generation }: LaneOrder): Promise<void> {
    let error: string | null = null
    try {
      const opened = this.#opened
      if (opened === undefined) throw new Error('the lane did not open')
      if (kind === 'drop') await this.#drop()
      else if (kind === 'takeAccounts' || kind === 'endTokens') await this.#settleAccounts(opened, kind)
      else if (opened.generation !== generation) {
        if (this.#next?.generation !== generation) this.#next = await openNextGeneration(this.#start, generation)
        if (kind === 'adopt') await this.#adopt(opened, this.#next)
      }
    } catch (cause) {
      error = reasonOf(cause)
    }
    this.#port.send({ kind: 'obeyed', number, error })
  }

  async #adopt(opened: OpenLane, next: NextGeneration): Promise<void> {
    this.#runner.streams.endAll()
    this.#opened = await adoptNextGeneration(this.#start, opened, next, (reason) => this.#port.send({ kind: 'fatal', reason }))
    this.#next = undefined
  }

  async #settleAccounts(opened: OpenLane, kind: 'takeAccounts' | 'endTokens'): Promise<void> {
    if (this.#start.kind !== 'write') return
    if (this.#next === undefined) throw new Error('no generation is open beside the one that is served')
    const [present, next] = [opened.context.store, this.#next.store]
    if (kind === 'takeAccounts') await next.takeAccounts(present)
    else await next.putAccounts(present.read((before) => next.read((after) => endedTokens(before, after))))
  }

  async #drop(): Promise<void> {
    const dropped = this.#next
    this.#next = undefined
    if (dropped !== undefined) await dropNextGeneration(this.#start, dropped)
    // Its index may have been opened before the opening of the generation failed.
    else if (this.#start.kind === 'write') openEngine().dropNext()
  }

  #fail(error: unknown): void {
    this.#port.send({ kind: 'failed', reason: reasonOf(error), row: this.#telemetryRow })
  }

  #report(error: unknown, requestId: string): void {
    this.#telemetry.add('lane_internal_errors', 1)
    log.error(`lane ${this.#start.kind}`, { fault: error, requestId })
  }

  /** At most once a second: sampling costs more than a point read. */
  #sampleMemory(context: LaneContext, now: number): void {
    if (now - this.#memorySampledAt < 1000) return
    this.#memorySampledAt = now
    const memory = process.memoryUsage()
    this.#telemetry.set('heap_bytes', memory.heapUsed)
    this.#telemetry.set('external_bytes', memory.external)
    this.#telemetry.set('wasm_memory_bytes', context.analyzer.memoryBytes())
  }
}

function greet(isProfiled: boolean): LanePort {
  const { port1, port2 } = new MessageChannel()
  const answers = EnvelopeBlocks.create(ENVELOPE_BLOCKS_PER_LANE, LARGE_BLOCKS_PER_LANE)
  const profiles = isProfiled ? openProfilePort() : null
  const hello: LaneHello = { hello: true, thread: threadId, port: port2, answers: answers.memory, profiles }
  parentPort?.postMessage(hello, profiles === null ? [port2] : [port2, profiles])
  return new LanePort(port1, answers)
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
