/**
 * Bulk ingest jobs on the lanes. A submitted request is checked and cut into chunks. The front end keeps the
 * chunks and sends them back one by one (src/background/bulk_ingests.ts). Each chunk is then prepared like an
 * add-batch.
 */
import { randomBytes } from 'node:crypto'
import type { IngestError } from '../../../domain/bulk_ingest.js'
import { findIngest, ingestsOf, showIngest } from '../../../domain/bulk_ingest.js'
import type { PreparedDocument } from '../../../domain/commands.js'
import { type Command, encodeCommand } from '../../../domain/commands.js'
import { badRequest, ServiceError, serviceError } from '../../../errors.js'
import {
  cancelBulkIngest as cancelRow,
  getBulkIngest as getRow,
  ingestChunk as chunkRow,
  listBulkIngests as listRow,
  submitBulkIngest as submitRow,
} from '../../../operations/documents/bulk_ingest.js'
import type { InputOf } from '../../../operations/row/operation.js'
import { checkUrl, OutboundRefused, policyOf } from '../../../outbound/destination.js'
import type { Answer } from '../../../wire/answer.js'
import {
  decodeIngestDocuments,
  encodeIngestDocuments,
  type IngestChunk,
  type IngestDocuments,
  type SubmittedIngest,
} from '../../../wire/messages/ingest_messages.js'
import type { StoreFirst } from '../../../wire/messages/messages.js'
import { type BoundHandler, io, type LaneContext, prepare, read, type RequestContext } from '../../request/handler.js'
import { commandOf } from '../../request/storage.js'
import { prepareItem, rulesOf } from '../documents.js'

/** Documents of a bulk ingest that are prepared and committed together. Fixed by the contract. */
const INGEST_CHUNK_DOCUMENTS_MAX = 500
/**
 * JSON characters at which a chunk ends early. They bound the memory of the bulk lane and the time that
 * others wait for it, 0.3 s. A larger document is sent alone.
 */
const INGEST_CHUNK_BYTES_WANTED = 8 * 1024 * 1024

function submit(
  lane: LaneContext,
  { collection, documents, callbackUrl = '', keepTimes }: InputOf<typeof submitRow>,
  { access: { principal } }: RequestContext,
): SubmittedIngest {
  if (documents.length === 0) throw serviceError('noDocuments')
  if (callbackUrl !== '') checkCallback(lane, callbackUrl)
  const id = newId()
  const submitter = principal.kind === 'user' ? principal.name : ''
  const command = encodeCommand({ kind: 'submitIngest', id, collection, total: documents.length, callbackUrl, submitter })
  return { id, collection, callbackUrl, command, chunks: cut(documents, keepTimes === true) }
}

/** Checks that need no request. The callback request itself finds the rest. */
function checkCallback({ config }: LaneContext, callbackUrl: string): void {
  try {
    checkUrl(callbackUrl, policyOf(config))
  } catch (error) {
    if (!(error instanceof OutboundRefused)) throw error
    throw badRequest(`invalid callbackUrl: ${error.message}`)
  }
}

/** Nanoseconds, so that ids increase with time, and 24 random bits. */
function newId(): string {
  const microseconds = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000))
  return `bulk_${microseconds * 1000n}_${randomBytes(3).toString('hex')}`
}

/**
 * Serializes each document again: other JSON writers may format the request in any way, and each chunk is
 * parsed separately.
 */
function cut(documents: readonly unknown[], keepTimes: boolean): IngestChunk[] {
  const chunks: IngestChunk[] = []
  let texts: string[] = []
  let length = 0
  const close = (): void => {
    chunks.push({ documents: texts.length, body: encodeIngestDocuments(texts, keepTimes) })
    texts = []
    length = 0
  }
  for (const document of documents) {
    const text = JSON.stringify(document)
    if (texts.length === INGEST_CHUNK_DOCUMENTS_MAX || (texts.length > 0 && length + text.length > INGEST_CHUNK_BYTES_WANTED)) close()
    texts.push(text)
    length += text.length
  }
  close()
  return chunks
}

const NO_DOCUMENTS: IngestDocuments = { keepTimes: false, documents: [] }

function prepareChunk(lane: LaneContext, input: InputOf<typeof chunkRow>, request: RequestContext): Command | StoreFirst {
  const { id, collection, first, last, lost = 0 } = input
  const rules = rulesOf(lane, collection)
  const documents: PreparedDocument[] = []
  const errors: IngestError[] = []
  const chunk = input.chunk === undefined ? NO_DOCUMENTS : decodeIngestDocuments(input.chunk)
  chunk.documents.forEach((item, index) => {
    if (request.shouldStop()) throw serviceError('deadline')
    try {
      documents.push(prepareItem(lane, rules, item, chunk.keepTimes))
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      errors.push({ subject: `documents[${first + index}]`, text: error.message })
    }
  })
  const failed = errors.length + lost
  if (lost > 0) errors.push({ subject: `documents[${first}] to documents[${first + lost - 1}]`, text: serviceError('internal').message })
  return commandOf(lane, { kind: 'ingestChunk', id, collection, documents, failed, errors, isLast: last })
}

function get(lane: LaneContext, { id }: InputOf<typeof getRow>): Answer {
  return json(lane.store.read((view) => showIngest(findIngest(view, id))))
}

function list(lane: LaneContext, { collection }: InputOf<typeof listRow>, { access }: RequestContext): Answer {
  const found = lane.store.read((view) => ingestsOf(view, collection))
  const jobs = found.filter(({ fields }) => access.mayRead(String(fields.collection))).map(showIngest)
  return json({ jobs, total: jobs.length })
}

function cancel(_lane: LaneContext, { id }: InputOf<typeof cancelRow>): Uint8Array {
  return encodeCommand({ kind: 'cancelIngest', id })
}

function json(value: unknown): Answer {
  return { body: JSON.stringify(value) }
}

export const bulkIngestHandlers: readonly BoundHandler[] = [
  io(submitRow, submit),
  read(getRow, get),
  read(listRow, list),
  io(cancelRow, cancel),
  prepare(chunkRow, prepareChunk),
]
