/**
 * One request in a lane, from bytes to answer: input, validation, authorization, handler. Every error becomes
 * an answer here; no request can end its batch. Lane threads only.
 */
import type { Authorized } from '../../access/authorize.js'
import { authorize, collectionsOf } from '../../access/authorize.js'
import type { Principal } from '../../access/principal.js'
import { newFaultId } from '../../base/fault_id.js'
import { collectionOfIngest } from '../../domain/bulk_ingest.js'
import { checkNames } from '../../domain/documents/identity.js'
import type { EmbeddingsWanted } from '../../domain/embedding/text_vectors.js'
import { collectionOfWebhook } from '../../domain/webhooks/webhook.js'
import type { ErrorCode } from '../../errors.js'
import { ServiceError, serviceError } from '../../errors.js'
import type { AnyOperation, Operation } from '../../operations/row/operation.js'
import { isInternal } from '../../operations/row/operation.js'
import { CorruptRecord } from '../../store/rows/record.js'
import type { View } from '../../store/view.js'
import type { Answer } from '../../wire/answer.js'
import type { LaneAnswer } from '../../wire/answer_codec.js'
import type { ControlBlock } from '../../wire/control_block.js'
import type { Form } from '../../wire/form.js'
import type { RequestMessage } from '../../wire/messages/messages.js'
import { encodeMessage } from '../../wire/messages/messages.js'
import type { AuditedNames, LaneRequest } from '../../wire/request_codec.js'
import type { FormReader } from './form_reader.js'
import type { LaneContext, RequestContext } from './handler.js'
import { withHint } from './hints.js'
import type { Input } from './input.js'
import { validate } from './validation.js'

/** Collections of one request that its audit event names. Four long names fill the field (event_line.ts). */
const AUDIT_COLLECTIONS_MAX = 8

export type FormReaders = Readonly<Record<Form, FormReader>>

/** The validated input of a request and the outcome of its authorization. */
interface ReadRequest {
  readonly input: Input
  readonly access: Authorized
}

/** @throws ServiceError 400, 403, or 503 if nobody waits for the answer any more */
export function readInput(
  readers: FormReaders,
  operation: AnyOperation,
  request: LaneRequest,
  context: LaneContext,
  stopWord: RequestContext['stopWord'],
): ReadRequest {
  const { store, config } = context
  const input = readers[request.form].read(operation, request, stopWord)
  hinted(operation, input, () => {
    validate(operation, input)
    if (!isInternal(operation) && operation.collections.kind !== 'server') checkNames(input)
  })
  const collections = collectionsOf(operation, input, (kind, id) =>
    store.read((view) => (kind === 'job' ? collectionOfIngest(view, id) : collectionOfWebhook(view, id))),
  )
  if (config.auditEnabled && !isInternal(operation) && operation.audit !== null)
    request.audited = auditedNames(operation, input, collections, context)
  const access = authorize(operation, principalOf(request, context), collections, 'lane')
  return { input, access }
}

/**
 * What the audit event of a request names of its input: collections, and the document. The log is plaintext
 * and leaves the machine by its exporters, so it has no key of an encrypted collection, but a keyed hash of
 * it: equal for the events of one document, and to be computed again by those who have the master key (`key`
 * of `GET /v1/audit`).
 * @param collections that the input names
 */
function auditedNames(operation: Operation, input: Input, collections: readonly string[], { store, config }: LaneContext): AuditedNames {
  const named = collections.slice(0, AUDIT_COLLECTIONS_MAX)
  const { key } = input
  if (operation.collections.kind === 'server' || typeof key !== 'string' || key === '') return { collections: named, key: '' }
  return { collections: named, key: config.encryption === null ? key : store.read((view) => shownKey(view, named, key)) }
}

/** A key that may be that of an encrypted collection, but whose row can't be read, is not shown. */
function shownKey(view: View, collections: readonly string[], key: string): string {
  try {
    for (const name of collections) {
      const collection = view.collection(name)
      const hash = collection === undefined ? undefined : view.hashOfKey(collection.id, key)
      if (hash !== undefined) return hash
    }
    return key
  } catch (error) {
    if (error instanceof CorruptRecord) return ''
    throw error
  }
}

/** The principal of the request with the rights that it has now. */
export function principalOf({ principal }: LaneRequest, { store, rights }: LaneContext): Principal {
  const { kind, name } = principal
  const ofUser = kind === 'user' ? rights.rightsOf(name, (run) => store.read(run)) : undefined
  return ofUser === undefined ? principal : { kind, name, rights: ofUser }
}

/** Runs `run` and adds a hint about the expected input to its refusals. */
export function hinted<Result>(operation: AnyOperation, input: Input, run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    throw withHint(error, operation.input, input)
  }
}

export function stopWordOf(request: LaneRequest, control: ControlBlock): NonNullable<RequestContext['stopWord']> {
  return { control: control.words, byteOffset: control.stopByteOffset(request.slot) }
}

export function requestContext(operation: AnyOperation, access: Authorized, request: LaneRequest, control: ControlBlock): RequestContext {
  return { operation, access, shouldStop: () => control.isStopped(request.slot), stopWord: stopWordOf(request, control) }
}

const NO_TEXTS: readonly string[] = []

interface AnswerFrameOptions {
  /** Not 0: the answer is a part, and more parts can be requested under this number. */
  readonly stream?: number
  /** The collections that were authorized, for an answer that may be cached. */
  readonly collections?: readonly string[]
}

export function answerFrame(
  readers: FormReaders,
  request: LaneRequest,
  answer: Answer,
  { stream = 0, collections = request.audited.collections }: AnswerFrameOptions = {},
): LaneAnswer {
  const plain = bytesOf(answer.body)
  const compressed = request.mayCompress ? readers[request.form].compress(answer, plain) : null
  return {
    slot: request.slot,
    generation: request.generation,
    kind: 'answer',
    code: answer.code ?? null,
    contentType: answer.contentType ?? null,
    facts: answer.facts === undefined ? NO_TEXTS : answer.facts.flat(),
    isCompressed: compressed !== null,
    stream,
    collections,
    key: request.audited.key,
    body: compressed ?? plain,
  }
}

export function bytesOf(body: string | Uint8Array): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : body
}

export function forwardFrame(request: LaneRequest, command: Uint8Array): LaneAnswer {
  return frameOf(request, 'forward', command)
}

/** A message: the front end does what it asks before the request continues. */
export function messageFrame(request: LaneRequest, message: RequestMessage): LaneAnswer {
  return frameOf(request, 'message', encodeMessage(message))
}

/** The request runs again once the vectors of these texts are cached. */
export function textsFrame(request: LaneRequest, { texts, role, isOptional }: EmbeddingsWanted): LaneAnswer {
  return messageFrame(request, { kind: 'embed', texts, role, isOptional, body: request.body })
}

/** For a request that was not run because nobody waits for it any more. */
export function droppedFrame(request: LaneRequest): LaneAnswer {
  return frameOf(request, 'dropped', new Uint8Array(0))
}

/** @param report receives errors that are no operating errors: bugs of the server */
export function errorAnswer(error: unknown, report: (error: unknown, requestId: string) => void): Answer {
  if (error instanceof ServiceError) return errorBody(error.code, error.message, { hint: error.hint })
  const requestId = newFaultId()
  report(error, requestId)
  // Operators must learn which record is damaged. The name is a position and contains no content.
  if (error instanceof CorruptRecord) return errorBody('damaged', error.message, { requestId })
  return errorBody('internal', serviceError('internal').message, { requestId })
}

function errorBody(code: ErrorCode, text: string, beside: { readonly hint?: string | undefined; readonly requestId?: string }): Answer {
  return { code, body: JSON.stringify({ error: text, ...beside }) }
}

function frameOf(request: LaneRequest, kind: LaneAnswer['kind'], body: Uint8Array): LaneAnswer {
  const { slot, generation } = request
  return {
    slot, generation, kind, code: null, contentType: null, facts: NO_TEXTS, isCompressed: false, stream: 0, ...request.audited, body,
  } // prettier-ignore
}
