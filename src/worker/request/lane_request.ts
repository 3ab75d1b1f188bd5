/**
 * One request in a lane, from bytes to answer: input, validation, authorisation, handler. Everything that goes wrong becomes an answer here; nothing of a request's making
 * can end its batch. Lane threads only.
 */
import { gzipSync } from 'node:zlib'
import type { LaneAnswer } from '../../wire/answer_codec.js'
import type { ControlBlock } from '../../wire/control_block.js'
import { encodeEmbedding, type NamedDocuments } from '../../wire/embedding_codec.js'
import type { LaneRequest } from '../../wire/request_codec.js'
import { encodeTextsFirst } from '../../wire/text_vectors_codec.js'
import type { EmbeddingsWanted } from '../../domain/embedding/text_vectors.js'
import { collectionOfIngest } from '../../domain/bulk_ingest.js'
import { checkNames } from '../../domain/documents/identity.js'
import type { JsonScanner } from '../../engine/json_scan.js'
import { CATALOGUE, ServiceError } from '../../errors.js'
import { GZIP_BYTES_MAX, GZIP_BYTES_MIN } from '../../limits.js'
import type { Operation } from '../../operations/operation.js'
import { CorruptRecord } from '../../store/record.js'
import { ANONYMOUS, authorize, collectionsOf } from './authorize.js'
import type { Answer, LaneContext, PreparedSwitch, RequestContext } from './handler.js'
import { withHint } from './hints.js'
import { addParams, addQuery, bodyScanner, parseBody, type Input } from './request_input.js'
import { fieldsOf, validate } from './validation.js'

const scanners = new Map<Operation, JsonScanner>()

function scannerOf(operation: Operation): JsonScanner {
  const known = scanners.get(operation)
  if (known !== undefined) return known
  const made = bodyScanner(operation.input)
  scanners.set(operation, made)
  return made
}

/** @throws ServiceError 400, 403, or 503 where nobody waits any more */
export function readInput(operation: Operation, request: LaneRequest, { store }: LaneContext, { stopWord }: RequestContext): Input {
  const input = operation.isBinary === true ? { message: request.body } : parseBody(request.body, scannerOf(operation), stopWord)
  addQuery(input, request.query, fieldsOf(operation))
  addParams(input, request.params)
  hinted(operation, input, () => {
    validate(operation, input)
    if (operation.collection !== 'server') checkNames(input)
  })
  const collectionOfJob = (id: string): string | undefined => store.read((view) => collectionOfIngest(view, id))
  authorize(operation, ANONYMOUS, collectionsOf(operation, input, collectionOfJob))
  return input
}

/** Runs it; what it refuses of the input says what was expected. */
export function hinted<Result>(operation: Operation, input: Input, run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    throw withHint(error, operation.input, input)
  }
}

export function requestContext(operation: Operation, request: LaneRequest, control: ControlBlock): RequestContext {
  return {
    operation,
    shouldStop: () => control.isStopped(request.slot),
    stopWord: { control: control.words, byteOffset: control.stopByteOffset(request.slot) },
  }
}

/** @param stream not 0: `answer` is a part, and more can be asked for under this number */
export function answerFrame(request: LaneRequest, answer: Answer, stream = 0): LaneAnswer {
  const plain = bytesOf(answer.body)
  const contentType = answer.contentType ?? null
  const isWorthIt = plain.length >= GZIP_BYTES_MIN && plain.length <= GZIP_BYTES_MAX
  const gzip = !answer.isPart && request.acceptsGzip && isWorthIt && isText(contentType)
  return {
    slot: request.slot,
    generation: request.generation,
    kind: 'answer',
    status: answer.status,
    contentType,
    headers: answer.headers === undefined ? [] : answer.headers.flat(),
    gzip,
    stream,
    // Level 1: half of the size of level 6's saving for a quarter of its time, and the lane is what is scarce.
    body: gzip ? gzipSync(plain, { level: 1 }) : plain,
  }
}

export function switchFrame(request: LaneRequest, { generation, answer }: PreparedSwitch): LaneAnswer {
  return { ...answerFrame(request, answer), kind: 'switch', headers: ['generation', generation], gzip: false, body: bytesOf(answer.body) }
}

function bytesOf(body: string | Uint8Array): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : body
}

export function forwardFrame(request: LaneRequest, command: Uint8Array): LaneAnswer {
  return frameOf(request, 'forward', 0, command)
}

/** What has to be done for the command before it may be committed. */
export function storeFrame(request: LaneRequest, message: Uint8Array): LaneAnswer {
  return frameOf(request, 'store', 0, message)
}

/** The request runs again once it has what it needs. */
export function fetchFrame(request: LaneRequest, message: Uint8Array): LaneAnswer {
  return frameOf(request, 'fetch', 0, message)
}

/** What the front end has to do before there is an answer. */
export function ioFrame(request: LaneRequest, message: Uint8Array): LaneAnswer {
  return frameOf(request, 'io', 0, message)
}

/** The answer of a write, for when its documents have room among those that wait for vectors. */
export function roomFrame(request: LaneRequest, { status, body }: Answer, named: NamedDocuments): LaneAnswer {
  return frameOf(request, 'room', 0, encodeEmbedding({ status, body: bytesOf(body), named }))
}

/** The request runs again once the vectors of these texts are at hand. */
export function textsFrame(request: LaneRequest, { texts, role, isOptional }: EmbeddingsWanted): LaneAnswer {
  return frameOf(request, 'embed', 0, encodeTextsFirst({ texts, role, isOptional, body: request.body }))
}

/** For a request that was not run because nobody waits for it any more. */
export function droppedFrame(request: LaneRequest): LaneAnswer {
  return frameOf(request, 'dropped', 0, new Uint8Array(0))
}

/** @param report is told of what is not an operating error: a fault of ours. */
export function errorAnswer(error: unknown, report: (error: unknown) => void): Answer {
  if (error instanceof ServiceError) {
    const body = JSON.stringify({ error: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) })
    if (error.retryAfterSeconds === undefined) return { status: error.http, body }
    return { status: error.http, body, headers: [['Retry-After', String(error.retryAfterSeconds)]] }
  }
  report(error)
  // Who runs the service must learn which record is damaged; the name is a position, no content.
  if (error instanceof CorruptRecord) return { status: CATALOGUE.internal.http, body: JSON.stringify({ error: error.message }) }
  return { status: CATALOGUE.internal.http, body: JSON.stringify({ error: CATALOGUE.internal.text }) }
}

function frameOf(request: LaneRequest, kind: LaneAnswer['kind'], status: number, body: Uint8Array): LaneAnswer {
  return { slot: request.slot, generation: request.generation, kind, status, contentType: null, headers: [], gzip: false, stream: 0, body }
}

/** Null is JSON. What is packed already (zip, gzip) is not worth a second time. */
function isText(contentType: string | null): boolean {
  return contentType === null || contentType.startsWith('text/') || contentType.includes('json') || contentType.includes('javascript')
}
