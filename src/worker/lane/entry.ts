/**
 * Where a lane's thread begins, and what Piscina calls with each batch. The lane opens its context once (top level, so that no batch can come before), tells the front
 * end on its own port, and then runs batches: reads one request after the other, synchronously; writes as one group. An error of a request is that request's answer; an
 * error of the lane ends the server, because a lane that can't be trusted must not acknowledge anything.
 */
import assert from 'node:assert/strict'
import { MessageChannel, parentPort, workerData } from 'node:worker_threads'
import type { LaneAnswer } from '../../wire/answer_codec.js'
import { ControlBlock } from '../../wire/control_block.js'
import type { LaneHello } from '../../dispatch/lane_pool.js'
import { queueClassOf } from '../../wire/queue_class.js'
import type { Envelope } from '../../wire/envelope.js'
import { EnvelopeBlocks } from '../../wire/envelope_blocks.js'
import { decodeRequests, type LaneRequest } from '../../wire/request_codec.js'
import { EmbeddingsWanted } from '../../domain/embedding/text_vectors.js'
import { laneOperations } from '../../operations/index.js'
import { serviceError } from '../../errors.js'
import { ENVELOPE_BLOCKS_PER_LANE, LARGE_BLOCKS_PER_LANE } from '../../limits.js'
import type { Operation } from '../../operations/operation.js'
import { BodiesWanted } from '../../store/objects.js'
import { installTelemetry, Telemetry } from '../../telemetry/registry.js'
import { openEngine } from '../../engine/native_engine.js'
import { adoptNextGeneration, dropNextGeneration, openLane, openNextGeneration } from './context.js'
import { StoreFirst, type Answer, type Handler, type LaneContext, type RequestContext, type WriteLane } from '../request/handler.js'
import { handlers } from '../handlers/index.js'
import { AnswerStreams } from '../request/answer_streams.js'
import {
  answerFrame,
  droppedFrame,
  errorAnswer,
  fetchFrame,
  forwardFrame,
  hinted,
  ioFrame,
  readInput,
  requestContext,
  roomFrame,
  storeFrame,
  switchFrame,
  textsFrame,
} from '../request/lane_request.js'
import { LanePort } from './lane_port.js'
import { fetchMessage } from '../request/storage.js'
import type { LaneOrder, LaneStart, NextGeneration, OpenLane } from './lane_start.js'
import { joinLog, log } from '../../telemetry/log.js'

const start = workerData as LaneStart
joinLog(start.log, `${start.kind} lane`)
const control = new ControlBlock(start.control)
const telemetry = new Telemetry(
  start.telemetry,
  laneOperations.map((operation) => operation.name),
)
const telemetryRow = telemetry.claimRow()
installTelemetry(telemetry)
const requestBlocks = start.requests === null ? null : new EnvelopeBlocks(start.requests)
const port = greet()
const streams = new AnswerStreams()
let lane = await open()
let next: NextGeneration | undefined
// One after the other: each waits for the one before.
let orders = Promise.resolve()
port.onOrder((order) => {
  orders = orders.then(() => obey(order))
})

function greet(): LanePort {
  const { port1, port2 } = new MessageChannel()
  const answers = EnvelopeBlocks.create(ENVELOPE_BLOCKS_PER_LANE, LARGE_BLOCKS_PER_LANE)
  const hello: LaneHello = { hello: true, port: port2, answers: answers.memory }
  parentPort?.postMessage(hello, [port2])
  return new LanePort(port1, answers)
}

async function open(): Promise<OpenLane | undefined> {
  try {
    const opened = await openLane(start, (reason) => port.send({ kind: 'fatal', reason }), port)
    opened.indexed.then(() => port.send({ kind: 'ready', row: telemetryRow }), fail)
    return opened
  } catch (error) {
    fail(error)
    return undefined
  }
}

function fail(error: unknown): void {
  port.send({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) })
}

/** The task that Piscina runs: a batch, or the word that the lane is to close. */
export async function runBatch(task: Envelope | 'close'): Promise<void> {
  if (lane === undefined) throw new Error('the lane did not open')
  if (task === 'close') {
    await lane.close()
    return
  }
  const requests = decodeRequests(task, requestBlocks)
  const takenAt = performance.timeOrigin + performance.now()
  for (const request of requests) {
    const queue = start.kind === 'write' ? 'commit' : queueClassOf(operationOf(request))
    telemetry.observeWait(queue, Math.max(0, takenAt - request.queuedAt) / 1000)
  }
  const { context } = lane
  // A batch holds one class only: point reads share a snapshot, others take theirs when they need it.
  if (start.kind === 'long') await runTasks(context, requests)
  else if (lane.writeLane === undefined) {
    if (requests.every((request) => operationOf(request).cost === 'point')) context.store.sharing(() => runReads(context, requests))
    else runReads(context, requests)
  } else await runWrites(context, lane.writeLane, requests)
  sampleMemory(context, takenAt)
}

function runReads(context: LaneContext, requests: readonly LaneRequest[]): void {
  for (const request of requests) {
    if (control.isStopped(request.slot)) {
      if (request.stream !== 0) streams.end(request.stream)
      port.answer(droppedFrame(request))
      continue
    }
    const { cost } = operationOf(request)
    if (cost === 'search' || cost === 'heavy') port.flush()
    else port.flushIfDue()
    port.answer(runRequest(context, request))
  }
  port.flush()
}

/** Never throws: what goes wrong is the answer. */
function runRequest(context: LaneContext, request: LaneRequest): LaneAnswer {
  const operation = operationOf(request)
  try {
    const about = requestContext(operation, request, control)
    if (request.stream !== 0) return partFrame(request, about, request.stream)
    const input = readInput(operation, request, context, about)
    // An index that does not equal the store gives wrong answers: better none until it is rebuilt.
    if (operation.cost === 'search' && control.indexStale) throw serviceError('warmingUp')
    if (operation.searchesVectors === true && control.vectorsLoading) throw serviceError('vectorsLoading')
    return hinted(operation, input, () => runHandler(context, request, about, input as never))
  } catch (error) {
    if (error instanceof EmbeddingsWanted) return textsFrame(request, error)
    if (error instanceof BodiesWanted)
      return fetchOrError(context, request, { objects: error.objects, body: request.body, isCommand: false })
    return answerFrame(request, errorAnswer(error, report))
  }
}

function runHandler(context: LaneContext, request: LaneRequest, about: RequestContext, input: never): LaneAnswer {
  const handler = handlerOf(about.operation)
  if (handler.kind === 'stream') return partFrame(request, about, streams.begin(handler.run(context, input, about)))
  assert(handler.kind !== 'task' && handler.kind !== 'switch', `operation ${about.operation.name} is for the long lane`)
  if (handler.kind === 'prepare') {
    const command = handler.run(context, input, about)
    return command instanceof StoreFirst ? storeFrame(request, command.message) : forwardFrame(request, command)
  }
  if (handler.kind === 'io') return ioFrame(request, handler.run(context, input, about))
  const frame = answerFrame(request, handler.run(context, input, about))
  // A large answer is not copied a second time.
  return context.out.giveAway(frame.body) ? { ...frame, isOwned: true } : frame
}

/** Never throws: where what is wanted can't be asked for, that is the request's answer. */
function fetchOrError(context: LaneContext, request: LaneRequest, message: Parameters<typeof fetchMessage>[1]): LaneAnswer {
  try {
    return fetchFrame(request, fetchMessage(context, message))
  } catch (error) {
    return answerFrame(request, errorAnswer(error, report))
  }
}

/** What may wait. Never throws, as `runRequest`. */
async function runTasks(context: LaneContext, requests: readonly LaneRequest[]): Promise<void> {
  for (const request of requests) {
    port.answer(control.isStopped(request.slot) ? droppedFrame(request) : await runTask(context, request))
    port.flush()
  }
}

async function runTask(context: LaneContext, request: LaneRequest): Promise<LaneAnswer> {
  const operation = operationOf(request)
  try {
    const about = requestContext(operation, request, control)
    const input = readInput(operation, request, context, about)
    const handler = handlerOf(operation)
    assert(handler.kind === 'task' || handler.kind === 'switch', `operation ${operation.name} has no handler for the long lane`)
    if (handler.kind === 'task')
      return answerFrame(request, await hinted(operation, input, () => handler.run(context, input as never, about)))
    return switchFrame(request, await hinted(operation, input, () => handler.run(context, input as never, about)))
  } catch (error) {
    return answerFrame(request, errorAnswer(error, report))
  }
}

/** Opens, adopts or drops another generation, between two batches, and says so. */
async function obey({ number, kind, generation }: LaneOrder): Promise<void> {
  let error: string | null = null
  try {
    if (lane === undefined) throw new Error('the lane did not open')
    if (kind === 'drop') await drop()
    else if (lane.generation !== generation) {
      if (next?.generation !== generation) next = await openNextGeneration(start, generation)
      if (kind === 'adopt') {
        streams.endAll()
        lane = await adoptNextGeneration(start, lane, next, (reason) => port.send({ kind: 'fatal', reason }))
        next = undefined
      }
    }
  } catch (cause) {
    error = cause instanceof Error ? cause.message : String(cause)
  }
  port.send({ kind: 'obeyed', number, error })
}

async function drop(): Promise<void> {
  const dropped = next
  next = undefined
  if (dropped !== undefined) await dropNextGeneration(start, dropped)
  // Its index may have been opened before its opening failed.
  else if (start.kind === 'write') openEngine().dropNext()
}

function partFrame(request: LaneRequest, about: RequestContext, stream: number): LaneAnswer {
  const { answer, isLast } = streams.next(stream, about)
  return answerFrame(request, answer, isLast ? 0 : stream)
}

/** One group. A direct write is prepared here first; what is refused is answered without holding up the others. */
async function runWrites(context: LaneContext, writeLane: WriteLane, requests: readonly LaneRequest[]): Promise<void> {
  const commands: Parameters<WriteLane['commit']>[0][number][] = []
  for (const request of requests) {
    if (control.isStopped(request.slot)) {
      port.answerSoon(droppedFrame(request))
      continue
    }
    const frame = request.isDirect ? runRequest(context, request) : forwardFrame(request, request.body)
    if (frame.kind === 'forward')
      commands.push({ bytes: frame.body, reply: (answer) => port.answerSoon(committedFrame(context, request, frame.body, answer)) })
    else port.answerSoon(frame)
  }
  if (commands.length === 0) return
  try {
    await writeLane.commit(commands)
  } catch (error) {
    // What of the group is on disk is unknown: nobody may be told anything by this process any more.
    port.send({ kind: 'fatal', reason: `commit failed: ${error instanceof Error ? error.message : String(error)}` })
    throw error
  }
}

/** A command that lacks objects comes back as what it is by then: a command. */
function committedFrame(context: LaneContext, request: LaneRequest, command: Uint8Array, answer: Answer): LaneAnswer {
  if (answer.queued !== undefined)
    return roomFrame(request, answer, { epoch: context.store.presentEpoch().toString('hex'), documents: answer.queued })
  if (answer.wanted === undefined) return answerFrame(request, answer)
  return fetchOrError(context, request, { objects: answer.wanted, body: command, isCommand: true })
}

function operationOf(request: LaneRequest): Operation {
  const operation = laneOperations[request.operationIndex]
  assert(operation !== undefined, `no operation ${request.operationIndex}: both sides load the same table`)
  return operation
}

function handlerOf(operation: Operation): Handler {
  const handler = handlers.get(operation.name)
  assert(handler !== undefined, `operation ${operation.name} has no handler`)
  return handler
}

function report(error: unknown): void {
  telemetry.add('lane_internal_errors', 1)
  log.error(`lane ${start.kind}`, { fault: error })
}

let memorySampledAt = 0

/** At most once a second: asking costs more than a point read. */
function sampleMemory(context: LaneContext, now: number): void {
  if (now - memorySampledAt < 1000) return
  memorySampledAt = now
  const memory = process.memoryUsage()
  telemetry.set('heap_bytes', memory.heapUsed)
  telemetry.set('external_bytes', memory.external)
  telemetry.set('wasm_memory_bytes', context.analyzer.memoryBytes())
}
