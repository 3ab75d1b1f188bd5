/**
 * Recall: the messages that match a query by words, by meaning, or by both. Both engines are asked for twice
 * as many messages as are wanted, and their ranks are fused. Every message is shown only if its session is
 * there, and is that of the user who was asked for: the store decides that, not the index. In rounds
 * (`search/rounds.ts`); read lanes.
 */
import { serviceError } from '../../errors.js'
import { VECTOR_HITS_MAX } from '../../limits/search.js'
import { type Head, textOfHead } from '../../store/head.js'
import type { View } from '../../store/view.js'
import { type FulltextTools, planSearch, type ReadQuery, readQuery } from '../fulltext/fulltext_search.js'
import { fuse, type Fused } from '../hybrid/fusion.js'
import type { SearchedCollection, Stop } from '../search/context.js'
import { mayShow } from '../search/refinement.js'
import { ResultWriter } from '../search/result_writer.js'
import { documentsOf, searchUntilFull } from '../search/rounds.js'
import { nearest, type VectorTools } from '../vectors/vector_search.js'
import { firstOf, type MetaLists } from './memory_documents.js'
import { type FoundSession, presentSession } from './ownership.js'
import type { RecallRequest } from './recall_request.js'

/** Candidates of each side for one message that is wanted. The value of the reference. */
const CANDIDATES_PER_RESULT = 2
/** Maximum number of candidates of one side. */
const RECALL_CANDIDATES_MAX = VECTOR_HITS_MAX

type RecallTools = FulltextTools & VectorTools

/** What one round has found. */
interface Candidates {
  readonly fused: readonly Fused[]
  readonly chunks: ReadonlyMap<number, number>
  readonly wanted: number
  /** Neither engine has more, or the maximum is reached. */
  readonly isAll: boolean
}

/**
 * @param vector of the query; undefined: words alone
 * @param messages undefined: there is no message
 * @returns the answer's JSON, a view of `tools.out`
 * @throws ServiceError, BodiesWanted
 */
export function recall(
  tools: RecallTools,
  request: RecallRequest,
  vector: Float32Array | undefined,
  messages: SearchedCollection | undefined,
  stop: Stop,
): Uint8Array {
  const { topK: limit, withContent, retrieval, words } = request
  const writer = new ResultWriter(tools.out, tools, { limit, withContent, retrieval, contextTokensMax: words.contextTokensMax }, stop)
  if (messages !== undefined) findMessages(tools, request, vector, messages, writer, stop)
  return writer.finish({ strategy: request.strategy, query: words.text })
}

function findMessages(
  tools: RecallTools,
  request: RecallRequest,
  vector: Float32Array | undefined,
  messages: SearchedCollection,
  writer: ResultWriter,
  stop: Stop,
): void {
  const read = request.strategy === 'semantic' ? undefined : readQuery(tools, request.words, messages, stop)
  searchUntilFull(tools.store, {
    first: request.topK,
    most: RECALL_CANDIDATES_MAX,
    find: (wanted) => candidates(tools, request, read, vector, messages, wanted, stop),
    documents: ({ fused, wanted }) => documentsOf(messages.id, fused.slice(0, wanted)),
    write: (view, found) => {
      writer.restart()
      writeMessages(view, request, messages.id, found, writer)
      return writer.isFull || found.isAll
    },
  })
}

/** @param read the query of words; undefined: none is asked */
function candidates(
  tools: RecallTools,
  { words, choice, fusion, threshold }: RecallRequest,
  read: ReadQuery | undefined,
  vector: Float32Array | undefined,
  messages: SearchedCollection,
  wanted: number,
  stop: Stop,
): Candidates {
  const k = Math.min(Math.ceil(wanted * CANDIDATES_PER_RESULT * choice.oversample), RECALL_CANDIDATES_MAX)
  const plan = read === undefined ? undefined : { ...planSearch(read.request, read.query, messages.id), k }
  const byWords = plan === undefined ? undefined : tools.engine.search(plan, stop.stopWord)
  if (byWords?.complete === false || stop.shouldStop()) throw serviceError('deadline')
  const byMeaning = vector === undefined ? [] : nearest(tools, { choice, query: vector, filters: words.filters, k }, messages, stop)
  // A threshold of words is for words alone: their scores and cosines have nothing in common.
  const hits = (byWords?.hits ?? []).filter(({ score }) => vector !== undefined || score >= threshold)
  return {
    // A side without any weight finds nothing.
    fused: fuse(fusion, hits, byMeaning).filter(({ combined }) => combined > 0),
    chunks: new Map(byMeaning.map(({ docid, chunk }) => [docid, chunk])),
    wanted,
    isAll: k === RECALL_CANDIDATES_MAX || ((byWords?.hits.length ?? 0) < k && byMeaning.length < k),
  }
}

function writeMessages(view: View, request: RecallRequest, collection: number, found: Candidates, writer: ResultWriter): void {
  const sessions = new Map<string, FoundSession | undefined>()
  for (const { docid, combined, words, meaning } of found.fused) {
    if (writer.isFull) return
    const head = view.head(collection, docid)
    const meta = head === undefined ? undefined : shownMeta(view, head, request, sessions)
    if (head === undefined || meta === undefined) continue
    const matchStrategy = words > 0 && found.chunks.has(docid) ? 'hybrid' : found.chunks.has(docid) ? 'semantic' : 'keyword'
    const score = request.strategy === 'hybrid' ? combined : request.strategy === 'keyword' ? words : meaning
    const fields = { score, sessionId: firstOf(meta, 'sessionId'), role: firstOf(meta, 'role'), matchStrategy }
    writer.add(view, head, { chunk: found.chunks.get(docid) ?? 0 }, fields)
  }
}

/** The metadata of a message that may be shown. Undefined: it may not. */
function shownMeta(
  view: View,
  head: Head,
  { words, userId }: RecallRequest,
  sessions: Map<string, FoundSession | undefined>,
): MetaLists | undefined {
  if (!mayShow(head, words.filters, words.refinement)) return undefined
  const { metaValues: meta } = textOfHead(head)
  const sessionId = firstOf(meta, 'sessionId')
  if (!sessions.has(sessionId)) sessions.set(sessionId, presentSession(view, sessionId))
  const session = sessions.get(sessionId)
  return session === undefined || (userId !== undefined && session.userId !== userId) ? undefined : meta
}
