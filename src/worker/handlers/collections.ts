/** Operations on a whole collection: listing by metadata, metadata keys, checksum, deletion, re-indexing. */
import { isServerAdmin } from '../../access/authorize.js'
import { rebuildPages } from '../../consumers/rebuild.js'
import type { Command } from '../../domain/commands.js'
import type { ListingRequest } from '../../domain/listing/listing.js'
import { listDocuments } from '../../domain/listing/listing.js'
import { parseFilters } from '../../domain/search/filters.js'
import { readLimit, readOffset } from '../../domain/search/paging.js'
import { readRetrieval } from '../../domain/search/retrieval.js'
import { Passages } from '../../domain/search/shown_passages.js'
import type { RetrievalProfile } from '../../domain/settings/collection_config.js'
import type { SortField } from '../../engine/types.js'
import { serviceError } from '../../errors.js'
import { S3_MS_MAX } from '../../limits/store.js'
import {
  checksum as checksumRow,
  deleteCollection as deleteCollectionRow,
  metaKeys as metaKeysRow,
} from '../../operations/documents/collections.js'
import { search as searchRow } from '../../operations/documents/documents.js'
import type { InputOf } from '../../operations/row/operation.js'
import { ftsReindex as ftsReindexRow } from '../../operations/search/fulltext.js'
import { checksum64Of, checksumOf } from '../../store/document_hash.js'
import { BodiesWanted } from '../../store/objects.js'
import { nothingCounted } from '../../store/tally.js'
import type { Answer } from '../../wire/answer.js'
import { type BoundHandler, type LaneContext, prepare, read, type RequestContext } from '../request/handler.js'
import { promptFacts } from './response_prompt.js'

type SearchInput = InputOf<typeof searchRow>

const SORTS: ReadonlyMap<unknown, SortField> = new Map([
  ['addedAt', 'addedAt'],
  ['updatedAt', 'updatedAt'],
  ['key', 'key'],
])

function search(lane: LaneContext, input: SearchInput, stop: RequestContext): Answer {
  const collection = lane.collections.find(input.collection)
  const profile = collection?.settings.config.retrieval ?? {}
  const request = parseSearch(input, profile)
  const passages = passagesOf(lane, input, profile, stop)
  if (collection === undefined) return page(0, '[]')
  const listing = { ...request, collection: collection.id, passages }
  const { total, isTruncated } = listDocuments(lane.engine, listing, (run) => lane.store.read(run), lane.out, stop.stopWord)
  return page(total, lane.out.view(), [...(isTruncated ? TRUNCATED : []), ...promptFacts(collection.settings.config)])
}

function parseSearch(input: SearchInput, profile: RetrievalProfile): Omit<ListingRequest, 'collection' | 'passages'> {
  const sort = SORTS.get(input.sort)
  return {
    filters: parseFilters(input),
    sort: sort ?? 'docid',
    descending: sort !== undefined && input.asc !== true,
    limit: readLimit(input.limit, profile.topK),
    offset: readOffset(input.offset),
    contextTokensMax: profile.contextTokenBudget || undefined,
  }
}

/** Passages of a listing, which has no query words, show the beginning of each document. */
function passagesOf(lane: LaneContext, input: SearchInput, profile: RetrievalProfile, stop: RequestContext): Passages | undefined {
  const retrieval = readRetrieval(input, profile)
  return retrieval.mode === 'parent' ? undefined : new Passages(lane, retrieval, input.includeContent === true, stop)
}

const TRUNCATED: NonNullable<Answer['facts']> = [['truncated', '1']]

function page(total: number, body: string | Uint8Array, facts: NonNullable<Answer['facts']> = []): Answer {
  return { body, facts: [['total', String(total)], ...facts] }
}

function metaKeys(lane: LaneContext, input: InputOf<typeof metaKeysRow>): Answer {
  const collection = lane.store.read((view) => view.collection(input.collection))
  return { body: JSON.stringify({ meta: collection === undefined ? {} : lane.engine.metaKeys(collection.id) }) }
}

function checksum(lane: LaneContext, input: InputOf<typeof checksumRow>): Answer {
  const counters = lane.store.read((view) => {
    const collection = view.collection(input.collection)
    return collection === undefined ? undefined : view.collectionCounters(collection.id)
  })
  const { documents, ...sums } = counters ?? nothingCounted()
  const checksums = { checksum: checksumOf(sums), checksum64: checksum64Of(sums) }
  return { body: JSON.stringify({ collection: input.collection, ...checksums, documentCount: documents }) }
}

function deleteCollection(_lane: LaneContext, { collection }: InputOf<typeof deleteCollectionRow>, { access }: RequestContext): Command {
  return { kind: 'deleteCollection', collection, endsGrants: isServerAdmin(access) }
}

/**
 * Analyses every document again, each in its stored language, and replaces its index entry. Documents written
 * meanwhile are newer and are kept.
 */
function ftsReindex(lane: LaneContext, input: InputOf<typeof ftsReindexRow>, request: RequestContext): Answer {
  const collection = lane.store.read((view) => view.collection(input.collection))
  const answer = (reindexed: number): Answer => ({
    body: JSON.stringify({ status: 'ok', reindexed, collection: input.collection }),
  })
  if (collection === undefined) return answer(0)
  const { pages, ...before } = resumed(lane, collection.id)
  let { reindexed } = before
  for (let step = pages.next(true); step.done !== true; step = pages.next(false)) {
    const { documents, lacking } = step.value
    reindexed += documents
    if (request.shouldStop()) throw serviceError('deadline')
    if (lacking.length === 0) continue
    interrupted = { lane, collection: collection.id, pages, reindexed, at: performance.now() }
    throw new BodiesWanted(lacking)
  }
  return answer(reindexed)
}

/**
 * A reindex that is suspended until its missing objects are fetched. Only one at a time: if two reindexes of
 * one collection meet, either continues for both.
 */
let interrupted:
  | {
      readonly lane: LaneContext
      readonly collection: number
      readonly pages: ReturnType<typeof rebuildPages>
      readonly reindexed: number
      readonly at: number
    }
  | undefined

function resumed(lane: LaneContext, collection: number): { readonly pages: ReturnType<typeof rebuildPages>; readonly reindexed: number } {
  const before = interrupted
  interrupted = undefined
  // A restore replaces the lane's context and its store.
  if (before?.lane === lane && before.collection === collection && performance.now() - before.at < S3_MS_MAX * 2) return before
  return { pages: rebuildPages(lane, WHOLE, { collections: [collection], replaceEqual: true }), reindexed: 0 }
}
const WHOLE = { share: 0, shares: 1 } as const

export const collectionHandlers: readonly BoundHandler[] = [
  read(searchRow, search),
  read(metaKeysRow, metaKeys),
  read(checksumRow, checksum),
  prepare(deleteCollectionRow, deleteCollection),
  read(ftsReindexRow, ftsReindex),
]
