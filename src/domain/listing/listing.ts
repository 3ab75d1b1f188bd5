/**
 * A page of documents by metadata. The engine finds and orders them, and the answer is written from the truth
 * store. Two snapshots are used, the engine's first. A document that is gone or no longer passes the filter
 * is left out, and the next ones fill the page. Unlike the rounds of searches (`search/rounds.ts`), a listing
 * skips earlier pages, and counts.
 */
import type { Hits, SearchEngine, SearchPlan, SortField, StopWord } from '../../engine/types.js'
import { badRequest, serviceError } from '../../errors.js'
import { ANSWER_BYTES_MAX } from '../../limits/documents.js'
import { CACHED_PAGE_DOCUMENTS_MAX, PAGE_DEPTH_MAX } from '../../limits/search.js'
import type { StoredDocument } from '../../store/documents/document_cache.js'
import { textOfHead } from '../../store/head.js'
import type { ByteWriter } from '../../store/rows/byte_writer.js'
import type { View } from '../../store/view.js'
import { contentBytesOf } from '../documents/document_json.js'
import { passesFilter } from '../documents/metadata.js'
import { readingAll } from '../documents/wanted_bodies.js'
import type { Filters } from '../search/filters.js'
import type { Passages, ShownDocument } from '../search/shown_passages.js'

/**
 * Queries of the index for one listing. A query is repeated, with an increasing surplus, while expired
 * documents leave the page short or deletes have not reached the index.
 */
const LISTING_ROUNDS_MAX = 4
/**
 * Due but not yet swept documents that a listing subtracts from its total. A sweep removes 256 at a time
 * without a pause, so that a larger number does not persist for long.
 */
const DUE_COUNTED_MAX = 10_000

export interface ListingRequest {
  readonly collection: number
  readonly filters: Filters
  readonly sort: SortField
  readonly descending: boolean
  readonly limit: number
  readonly offset: number
  /** Token budget for the content of the page. Undefined: no cap. */
  readonly contextTokensMax: number | undefined
  /** What is shown instead of the whole documents. Undefined: whole documents are shown. */
  readonly passages: Pick<Passages, 'of'> | undefined
}

interface Listing {
  /** Number of documents on the page. */
  readonly count: number
  /** Number of documents that pass the filter, before paging, excluding expired ones. */
  readonly total: number
  /** The cap on content left documents out. */
  readonly isTruncated: boolean
}

/**
 * Extra documents requested after one was missing. The first round requests none, because documents are
 * rarely missing.
 */
const SLACK = 16

/**
 * @param openView opens the truth snapshot; called after the engine's has been taken
 * @param out receives the page as a JSON array
 * @throws ServiceError `deadline` when stopped
 */
export function listDocuments(
  engine: SearchEngine,
  request: ListingRequest,
  openView: (run: (view: View) => Page) => Page,
  out: ByteWriter,
  stop?: StopWord,
): Listing {
  const { limit, offset } = request
  if (offset + limit > PAGE_DEPTH_MAX) throw badRequest(`invalid offset: offset + limit is at most ${PAGE_DEPTH_MAX}`)
  let slack = 0
  let skip = offset
  for (let round = 1; ; round++) {
    const found = findDocuments(engine, request, skip, offset - skip + limit + slack, stop)
    const docids = (): number[] => found.hits.map(({ docid }) => docid)
    const page = openView((view) => readingAll(view, request.collection, docids, () => readPage(view, request, skip, found, out)))
    if (!page.again || round === LISTING_ROUNDS_MAX) return page
    // Starts from the front: a missing document there shifts all later ones.
    skip = 0
    slack = SLACK + 2 * slack + page.gone
  }
}

function findDocuments(engine: SearchEngine, request: ListingRequest, skip: number, k: number, stop: StopWord | undefined): Hits {
  const plan: SearchPlan = {
    collection: request.collection,
    algorithm: 'bm25',
    k1: 1.2,
    b: 0.75,
    k,
    skip,
    sort: request.sort,
    descending: request.descending,
    exactTotal: true,
    fields: [['content', 1]],
    filters: request.filters,
    terms: [],
    root: { kind: 'all' },
  }
  const hits = engine.search(plan, stop)
  if (!hits.complete) throw serviceError('deadline')
  return hits
}

interface Page extends Listing {
  /** Documents that the engine counts but readers must not see, as far as they can be counted. */
  readonly gone: number
  /**
   * The page is short although there are more documents, or documents before it are gone, or documents were
   * deleted between the two snapshots.
   */
  readonly again: boolean
}

/** @param skip number of matches that the engine skipped before the first of `found` */
function readPage(view: View, request: ListingRequest, skip: number, found: Hits, out: ByteWriter): Page {
  const { collection, filters, limit, offset, contextTokensMax, passages } = request
  const isWhole = skip === 0 && found.hits.length === found.total
  const isKept = limit <= CACHED_PAGE_DOCUMENTS_MAX
  let passed = skip
  let count = 0
  let contextBytes = 0
  let isTruncated = false
  out.begin().ascii('[')
  // A capped page may end after any document.
  if (contextTokensMax === undefined) view.expect(collection, found.hits)
  for (const { docid, lsn } of found.hits) {
    const isFull = count === limit || isTruncated
    if (isFull && !isWhole) break
    const document = view.document(collection, docid, isKept)
    if (document === undefined) continue
    if (document.indexedLsn !== lsn && !stillPasses(view, document, filters)) continue
    if (passed++ < offset || isFull) continue
    const passage = passages?.of(document, [])
    if (contextTokensMax !== undefined) {
      contextBytes += passage?.bytes ?? contentBytesOf(document.json)
      isTruncated = count > 0 && contextBytes / 4 > contextTokensMax
      if (isTruncated) continue
    }
    if (count++ > 0) out.ascii(',')
    writeShown(out, document, passage)
    if (out.length > ANSWER_BYTES_MAX) throw badRequest('answer too large: ask for fewer documents')
  }
  out.ascii(']')
  // Every match was examined, so the number that passed is the total.
  if (isWhole) return { count, total: passed, isTruncated, gone: 0, again: false }
  // If both snapshots have the same LSN, nothing was deleted between them.
  const deleted = found.lsn === view.lastLsn() ? 0 : Math.max(0, found.docCount - view.collectionCounters(collection).documents)
  const due = countDue(view, request)
  // It is unknown which of the deleted documents would have passed a filter.
  const gone = due + (filters.length === 0 ? deleted : 0)
  const isAtEnd = skip + found.hits.length >= found.total
  return {
    count,
    total: Math.max(count, found.total - gone),
    isTruncated,
    gone: gone + deleted,
    again: deleted > 0 || (count < limit && !isTruncated && !isAtEnd) || (due > 0 && skip > 0),
  }
}

/** Further fields are written into the document itself, because nothing surrounds it. */
function writeShown(out: ByteWriter, document: StoredDocument, passage: ShownDocument | undefined): void {
  const json = passage?.json ?? document.json
  out.bytes(json)
  if (passage === undefined) return
  out.cut(out.length - 1)
  out.utf8(`${passage.fields}}`)
}

function stillPasses(view: View, { collection, docid }: StoredDocument, filters: Filters): boolean {
  const head = view.head(collection, docid)
  return head !== undefined && passesFilter(textOfHead(head).metaValues, filters)
}

/**
 * Counts documents that have expired but are not yet swept. They are still in the index; those that pass the
 * filter are subtracted from the total.
 */
function countDue(view: View, { collection, filters }: ListingRequest): number {
  let due = 0
  for (const row of view.due(DUE_COUNTED_MAX)) {
    if (row.collection !== collection) continue
    const head = view.headEvenExpired(collection, row.docid)
    if (head !== undefined && passesFilter(textOfHead(head).metaValues, filters)) due++
  }
  return due
}
