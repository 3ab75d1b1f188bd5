/**
 * Several searches in one request. The answer contains each search's own answer or error, or one list merged
 * by reciprocal rank fusion in which each document occurs once. The searches run one after the other under
 * one deadline, each on the snapshot current at its start. Read lanes.
 */
import { performance } from 'node:perf_hooks'
import { badRequest, entryOf, ServiceError, serviceError } from '../../errors.js'
import { ANSWER_BYTES_MAX } from '../../limits/documents.js'
import type { SearchedCollection, Stop } from '../search/context.js'
import { readLimit } from '../search/paging.js'
import type { WrittenResult } from './fulltext_answer.js'
import type { FulltextRequest } from './fulltext_request.js'
import { type FulltextTools, searchFulltext } from './fulltext_search.js'

/** Searches of one multi-search. Each has limits of its own, and all share one deadline. */
const MULTI_SEARCHES_MAX = 16

type Absent = null | undefined

interface MultiSearchInput<Search> {
  readonly searches: readonly Search[]
  readonly merge?: boolean | Absent
  readonly limit?: number | Absent
  readonly rrfK?: number | Absent
}

/** One of the searches, ready to run. */
export interface PreparedSearch {
  readonly request: FulltextRequest
  readonly collection: SearchedCollection | undefined
}

interface Found {
  readonly collection: string
  readonly document: Buffer
  /** From the first search that found the document. */
  readonly highlights: Buffer | undefined
  readonly terms: Set<string>
  readonly ranks: { readonly search: number; readonly rank: number; readonly score: number }[]
  score: number
}

/** The contract's constant of reciprocal rank fusion: score = sum of 1 / (k + rank). */
const RRF_K = 60

/** @param prepare reads one search; throws a 400 */
export function searchMany<Search>(
  tools: FulltextTools,
  input: MultiSearchInput<Search>,
  prepare: (search: Search) => PreparedSearch,
  stop: Stop,
): Buffer {
  const startedMs = performance.now()
  if (input.searches.length === 0) throw serviceError('missingFields')
  if (input.searches.length > MULTI_SEARCHES_MAX) throw badRequest(`invalid searches: at most ${MULTI_SEARCHES_MAX}`)
  const pieces = input.merge === true ? merged(tools, input, prepare, stop) : sideBySide(tools, input.searches, prepare, stop)
  const took = Math.round((performance.now() - startedMs) * 1000) / 1000
  return Buffer.concat([...pieces, Buffer.from(`,"took":${took}}`)])
}

function sideBySide<Search>(
  tools: FulltextTools,
  searches: readonly Search[],
  prepare: (search: Search) => PreparedSearch,
  stop: Stop,
): Buffer[] {
  const pieces: Buffer[] = [Buffer.from('{"responses":[')]
  let bytes = 0
  for (const [index, search] of searches.entries()) {
    const answer = attempt(() => {
      const { request, collection } = prepare(search)
      return Buffer.from(searchFulltext(tools, request, collection, stop))
    })
    bytes += answer.length
    if (bytes > ANSWER_BYTES_MAX) throw badRequest(`answer larger than ${ANSWER_BYTES_MAX} bytes, please lower the limits`)
    pieces.push(Buffer.from(index === 0 ? '' : ','), answer)
  }
  return [...pieces, Buffer.from(`],"total":${searches.length}`)]
}

/**
 * An invalid search has its error as its answer. An error that affects all searches (the deadline, a fault)
 * ends the request.
 */
function attempt(run: () => Buffer): Buffer {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof ServiceError) || !error.isInvalidInput) throw error
    return Buffer.from(JSON.stringify({ error: error.message, status: entryOf(error.code).http }))
  }
}

function merged<Search>(
  tools: FulltextTools,
  input: MultiSearchInput<Search>,
  prepare: (search: Search) => PreparedSearch,
  stop: Stop,
): Buffer[] {
  const limit = readLimit(input.limit)
  const k = input.rrfK ?? RRF_K
  if (!Number.isInteger(k) || k < 1) throw badRequest('invalid rrfK')
  const found = new Map<string, Found>()
  let bytes = 0
  for (const [search, asked] of input.searches.entries()) {
    const { request, collection } = numbered(search, () => prepare(asked))
    const results: WrittenResult[] = []
    searchFulltext(tools, request, collection, stop, results)
    bytes += results.reduce((sum, { document, highlights }) => sum + document.length + (highlights?.length ?? 0), 0)
    if (bytes > ANSWER_BYTES_MAX) throw badRequest(`answer larger than ${ANSWER_BYTES_MAX} bytes, please lower the limits`)
    for (const [index, result] of results.entries())
      add(found, `${collection?.id} ${result.docid}`, request.collection, search, index + 1, k, result)
  }
  // Ties are broken by the order in which documents were found. The sort is stable.
  const best = [...found.values()].sort((one, other) => other.score - one.score).slice(0, limit)
  const pieces = best.flatMap(({ collection, document, highlights, score, terms, ranks }, index): Buffer[] => [
    Buffer.from(`${index === 0 ? '' : ','}{"collection":${JSON.stringify(collection)},"document":`),
    document,
    Buffer.from(`,"score":${score},"rank":${index + 1},"matchedTerms":${JSON.stringify([...terms])},"searches":${JSON.stringify(ranks)}`),
    ...(highlights === undefined ? [] : [Buffer.from(',"highlights":'), highlights]),
    Buffer.from('}'),
  ])
  return [Buffer.from('{"results":['), ...pieces, Buffer.from(`],"total":${best.length}`)]
}

function add(
  found: Map<string, Found>,
  name: string,
  collection: string,
  search: number,
  rank: number,
  k: number,
  result: WrittenResult,
): void {
  const { document, highlights, score, matchedTerms } = result
  let entry = found.get(name)
  if (entry === undefined) found.set(name, (entry = { collection, document, highlights, terms: new Set(), ranks: [], score: 0 }))
  entry.score += 1 / (k + rank)
  entry.ranks.push({ search, rank, score })
  for (const term of matchedTerms) entry.terms.add(term)
}

/** Prefixes the 400 of a search with its index. */
function numbered<Result>(search: number, run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof ServiceError) || !error.isInvalidInput) throw error
    throw badRequest(`searches[${search}]: ${error.message}`)
  }
}
