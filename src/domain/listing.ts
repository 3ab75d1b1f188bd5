/**
 * A page of documents by metadata: the engine finds and orders them, the truth store shows them. Two snapshots are in play, the engine's taken first: a document that has gone or moved on
 * since is left out, and the next ones fill the page.
 */
import type { SearchEngine, SortField } from '../engine/types.js'
import { badRequest } from '../errors.js'
import { DUE_COUNTED_MAX, PAGE_DEPTH_MAX } from '../limits.js'
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
export function listDocuments<T>(
  engine: SearchEngine,
  request: ListingRequest,
  openView: (run: (view: View) => T) => T,
  show: (view: View, listing: Listing) => T,
): T {
  const { limit, offset } = request
  if (offset + limit > PAGE_DEPTH_MAX) throw badRequest(`invalid offset: offset + limit is at most ${PAGE_DEPTH_MAX}`)
  // From the front: a document that has expired moves every later one up.
  const found = engine.search({
    collection: request.collection,
    algorithm: 'bm25',
    k1: 1.2,
    b: 0.75,
    k: offset + limit + SLACK,
    skip: 0,
    sort: request.sort,
    descending: request.descending,
    exactTotal: true,
    fields: [['content', 1]],
    filters: request.filters,
    terms: [],
    root: { kind: 'all' },
  })
  return openView((view) => {
    const heads: Head[] = []
    let passed = 0
    for (const { docid, lsn } of found.hits) {
      if (heads.length === limit) break
      const head = view.head(request.collection, docid)
      if (head === undefined) continue
      if (head.indexedLsn !== lsn && !passesFilter(textOfHead(head).metaValues, request.filters)) continue
      if (passed++ >= offset) heads.push(head)
    }
    return show(view, { heads, total: Math.max(0, found.total - countDue(view, request)) })
  })
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
