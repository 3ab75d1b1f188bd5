/**
 * Lists of conversational memory: the sessions of users, and the messages of a session. Both are listings of
 * documents (src/domain/listing), shown in forms of their own. Read lanes.
 */
import type { SearchEngine } from '../../engine/types.js'
import { badRequest, serviceError } from '../../errors.js'
import { MEMORY_MESSAGES, MEMORY_SESSIONS } from '../../operations/memory/memory_collections.js'
import type { StoredDocument } from '../../store/documents/document_cache.js'
import type { ByteWriter } from '../../store/rows/byte_writer.js'
import type { TruthStore } from '../../store/truth_store.js'
import type { View } from '../../store/view.js'
import { listDocuments, type ListingRequest } from '../listing/listing.js'
import type { Stop } from '../search/context.js'
import { type Filters, parseFilters } from '../search/filters.js'
import { readLimit, readOffset } from '../search/paging.js'
import type { ShownDocument } from '../search/shown_passages.js'
import { firstOf, type ShownHead, showSession } from './memory_documents.js'
import { findSession, type HeldTo, requireOwn } from './ownership.js'

/** Both defaults are fixed by the contract. */
const SESSIONS_LIMIT_DEFAULT = 50
const HISTORY_LIMIT_DEFAULT = 100
/** Sessions of one list: the messages of each are counted by a query of 20 us. */
const SESSIONS_LISTED_MAX = 1000

export interface ListTools {
  readonly store: TruthStore
  readonly engine: SearchEngine
  readonly collections: { find(name: string): { readonly id: number } | undefined }
  readonly out: ByteWriter
}

type Absent = null | undefined

interface SessionsInput {
  readonly userId?: string | Absent
  readonly scenario?: string | Absent
  readonly limit?: number | Absent
  readonly offset?: number | Absent
  readonly sort?: string | Absent
  readonly asc?: boolean | Absent
}

/** @returns the answer's JSON */
export function listSessions(tools: ListTools, input: SessionsInput, held: HeldTo, stop: Stop): Uint8Array {
  if (input.userId) requireOwn(held, input.userId)
  const userId = input.userId || held
  const messages = tools.collections.find(MEMORY_MESSAGES)?.id
  const count = (sessionId: string): number => {
    if (stop.shouldStop()) throw serviceError('deadline')
    return messages === undefined ? 0 : countMessages(tools.engine, messages, sessionId)
  }
  return list(tools, stop, 'sessions', tools.collections.find(MEMORY_SESSIONS)?.id, {
    filters: parseFilters({
      filterMeta: {
        type: ['session'],
        ...(userId === undefined ? {} : { userId: [userId] }),
        ...(input.scenario ? { scenario: [input.scenario] } : {}),
      },
    }),
    ...readOrder(input),
    limit: Math.min(readLimit(input.limit, SESSIONS_LIMIT_DEFAULT), SESSIONS_LISTED_MAX),
    offset: readOffset(input.offset),
    show: (head) => showSession(head, count(head.key)),
  })
}

/** Sessions that were started in one second are in the order in which they were accepted. */
function readOrder({ sort, asc }: SessionsInput): Pick<ListingRequest, 'sort' | 'descending'> {
  const by = sort || 'updatedAt'
  if (by !== 'updatedAt' && by !== 'createdAt') throw badRequest(`invalid sort: ${by}`)
  return { sort: by === 'createdAt' ? 'docid' : 'updatedAt', descending: asc !== true }
}

export function countMessages(engine: SearchEngine, messages: number, sessionId: string): number {
  const all = { algorithm: 'bm25', k1: 1.2, b: 0.75, k: 0, skip: 0, sort: 'docid', descending: false, exactTotal: true } as const
  return engine.search({
    collection: messages,
    ...all,
    fields: [['content', 1]],
    filters: messagesOf(sessionId),
    terms: [],
    root: { kind: 'all' },
  }).total
}

export function messagesOf(sessionId: string): Filters {
  return [
    ['sessionId', [sessionId]],
    ['type', ['message']],
  ]
}

interface HistoryInput {
  readonly sessionId: string
  readonly limit?: number | Absent
  readonly offset?: number | Absent
}

/**
 * By docids, which are given in the order in which messages are accepted, whatever their second.
 * @returns the answer's JSON
 */
export function listMessages(tools: ListTools, input: HistoryInput, held: HeldTo, stop: Stop): Uint8Array {
  const { sessionId } = tools.store.read((view) => findSession(view, input.sessionId, held))
  return list(tools, stop, 'messages', tools.collections.find(MEMORY_MESSAGES)?.id, {
    filters: messagesOf(sessionId),
    sort: 'docid',
    descending: false,
    limit: readLimit(input.limit, HISTORY_LIMIT_DEFAULT),
    offset: readOffset(input.offset),
    show: showMessage,
  })
}

interface WholeDocument extends ShownHead {
  readonly contentMd: string
}

/** The fields of a message beside those of its document. */
function showMessage(document: WholeDocument, isEmbedded: boolean): object {
  const { id, meta, contentMd, addedAt } = document
  const fields = { messageId: id, sessionId: firstOf(meta, 'sessionId'), role: firstOf(meta, 'role'), content: contentMd }
  return { ...fields, createdAt: addedAt, embedded: isEmbedded, ...document }
}

interface MemoryList extends Omit<ListingRequest, 'collection' | 'passages' | 'contextTokensMax'> {
  readonly show: (document: WholeDocument, isEmbedded: boolean) => object
}

/** @param collection undefined if it does not exist */
function list(tools: ListTools, stop: Stop, name: string, collection: number | undefined, { show, ...asked }: MemoryList): Uint8Array {
  if (collection === undefined) return Buffer.from(JSON.stringify({ [name]: [], total: 0 }))
  const { store, engine, out } = tools
  let present: View | undefined
  const passages = {
    of: (document: StoredDocument): ShownDocument => {
      const isEmbedded = present !== undefined && isEmbeddedSoon(present, document)
      return shown(show(JSON.parse(document.json.toString('utf8')) as WholeDocument, isEmbedded))
    },
  }
  const { total } = listDocuments(
    engine,
    { collection, contextTokensMax: undefined, passages, ...asked },
    (run) =>
      store.read((view) => {
        present = view
        return run(view)
      }),
    out,
    stop.stopWord,
  )
  return Buffer.concat([Buffer.from(`{"${name}":`), out.view(), Buffer.from(`,"total":${total}}`)])
}

/** A listing writes the object without its brace, and then further fields. */
function shown(value: object): ShownDocument {
  return { json: Buffer.from(JSON.stringify(value)), fields: '', bytes: 0 }
}

/** Whether the document has vectors, or waits for them. */
function isEmbeddedSoon(view: View, { collection, docid, indexedLsn }: StoredDocument): boolean {
  return view.vectors.stamp(collection, docid) !== undefined || view.vectors.isQueued(indexedLsn)
}
