/**
 * A page of documents by metadata: the engine finds and orders them, the truth store shows them. Two snapshots are in play, the engine's taken first: a document that has gone or moved on
 * since is left out, and the next ones fill the page.
 */
import type { Hits, SearchEngine, SortField } from '../engine/types.js'
import { badRequest } from '../errors.js'
import { DUE_COUNTED_MAX, LISTING_ROUNDS_MAX, PAGE_DEPTH_MAX } from '../limits.js'
import { textOfHead } from '../store/head.js'
import type { Head } from '../store/head.js'
import type { View } from '../store/view.js'
import { passesFilter } from './metadata.js'

export interface ListingRequest {
  readonly collection: number
  readonly filters: readonly (readonly [key: string, values: readonly string[]])[]
  readonly sort: SortField
  readonly descending: boolean
  readonly limit: number
  readonly offset: number
}

export interface Listing {
  readonly heads: readonly Head[]
  /** Documents that pass the filter, before paging; without those that are due. */
  readonly total: number
}

/** Documents asked for beyond the page, for those that turn out to be gone. */
const SLACK = 16

/** @param openView opens the truth snapshot; called after the engine's has been taken */
export function listDocuments<T extends object>(
  engine: SearchEngine,
  request: ListingRequest,
  openView: (run: (view: View) => T | undefined) => T | undefined,
  show: (view: View, listing: Listing) => T,
): T {
  const { limit, offset } = request
  if (offset + limit > PAGE_DEPTH_MAX) throw badRequest(`invalid offset: offset + limit is at most ${PAGE_DEPTH_MAX}`)
  let slack = SLACK
  for (let round = 1; ; round++) {
    const found = findDocuments(engine, request, offset + limit + slack)
    const answer = openView((view) => {
      const page = readPage(view, request, found)
      if (page.again && round < LISTING_ROUNDS_MAX) {
        slack = 2 * slack + page.gone
        return undefined
      }
      return show(view, page)
    })
    if (answer !== undefined) return answer
  }
}

/** The first `k`, from the front: a document that has expired moves every later one up. */
function findDocuments(engine: SearchEngine, request: ListingRequest, k: number): Hits {
  return engine.search({
    collection: request.collection,
    algorithm: 'bm25',
    k1: 1.2,
    b: 0.75,
    k,
    skip: 0,
    sort: request.sort,
    descending: request.descending,
    exactTotal: true,
    fields: [['content', 1]],
    filters: request.filters,
    terms: [],
    root: { kind: 'all' },
  })
}

interface Page extends Listing {
  /** Documents that the engine counts and readers must not see, as far as they can be counted. */
  readonly gone: number
  /** The page is short although there is more, or deletes lie between the two snapshots. */
  readonly again: boolean
}

function readPage(view: View, request: ListingRequest, found: Hits): Page {
  const { collection, filters, limit, offset } = request
  const isWhole = found.hits.length === found.total
  const heads: Head[] = []
  let passed = 0
  for (const { docid, lsn } of found.hits) {
    if (heads.length === limit && !isWhole) break
    const head = view.head(collection, docid)
    if (head === undefined) continue
    if (head.indexedLsn !== lsn && !passesFilter(textOfHead(head).metaValues, filters)) continue
    if (passed++ >= offset && heads.length < limit) heads.push(head)
  }
  // Every match was looked at: what passed is the total.
  if (isWhole) return { heads, total: passed, gone: 0, again: false }
  const deleted = Math.max(0, found.docCount - view.collectionCounters(collection).documents)
  // Which of the deleted ones would pass a filter nobody can tell any more.
  const gone = countDue(view, request) + (filters.length === 0 ? deleted : 0)
  return {
    heads,
    total: Math.max(heads.length, found.total - gone),
    gone: gone + deleted,
    again: deleted > 0 || heads.length < limit,
  }
}

/** Documents that have expired but are not swept yet still count in the index: as many as pass the filter are taken off the total. */
function countDue(view: View, { collection, filters }: ListingRequest): number {
  let due = 0
  for (const row of view.due(DUE_COUNTED_MAX)) {
    if (row.collection !== collection) continue
    const head = view.headEvenExpired(collection, row.docid)
    if (head !== undefined && passesFilter(textOfHead(head).metaValues, filters)) due++
  }
  return due
}
