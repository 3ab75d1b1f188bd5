/**
 * One vector search. The vector engine finds the nearest documents and applies the filter during its search.
 * The answer is assembled from stored bytes, in rounds (`search/rounds.ts`). Read lanes.
 */
import { performance } from 'node:perf_hooks'
import type { VectorEngine, VectorHit, VectorSearchRequest } from '../../engine/vectors/vector_types.js'
import { badRequest, serviceError } from '../../errors.js'
import { VECTOR_HITS_MAX, VECTOR_SLACK_HITS } from '../../limits/search.js'
import { type Head, textOfHead } from '../../store/head.js'
import type { ByteWriter } from '../../store/rows/byte_writer.js'
import type { TruthStore } from '../../store/truth_store.js'
import type { View } from '../../store/view.js'
import { passesFilter } from '../documents/metadata.js'
import type { CuttingTools } from '../embedding/chunks.js'
import { type TextVectorTools, vectorsOfTexts } from '../embedding/text_vectors.js'
import type { SearchedCollection, Stop } from '../search/context.js'
import type { Filters } from '../search/filters.js'
import { ResultWriter } from '../search/result_writer.js'
import type { Retrieval } from '../search/retrieval.js'
import { documentsOf, searchUntilFull } from '../search/rounds.js'
import { type StatisticsTools, statsOf } from '../search/search_stats.js'
import { quantizationOf, type VectorChoice } from './vector_request.js'

export interface VectorTools extends TextVectorTools, CuttingTools {
  readonly config: CuttingTools['config'] & StatisticsTools['config']
  readonly store: TruthStore
  readonly vectorEngine: VectorEngine
  readonly out: ByteWriter
}

interface VectorSearch {
  readonly choice: VectorChoice
  readonly query: Float32Array
  readonly model: string
  readonly limit: number
  readonly filters: Filters
  readonly withContent: boolean
  readonly retrieval: Retrieval
  readonly mmrLambda: number | undefined
  readonly contextTokensMax: number | undefined
  /** Further fields of the answer. */
  readonly notes?: object
}

/** The query vector and its model. @throws ServiceError, EmbeddingsWanted */
export function queryOf(
  tools: TextVectorTools,
  text: string | undefined,
  vector: Float32Array | undefined,
): Pick<VectorSearch, 'query' | 'model'> {
  if (vector !== undefined) return { query: vector, model: tools.embedding.current?.model ?? '' }
  if (text === undefined) throw serviceError('missingFields', '`query` or `queryVector` is expected; neither came.')
  const { identity, vectors } = vectorsOfTexts(tools, [text], 'query')
  return { query: vectors[0] as Float32Array, model: identity.model }
}

/**
 * A query vector must have the dimensions of the vectors that are searched or that the provider produces.
 * Other dimensions mean another model. If there are neither vectors nor a provider, any dimensions are
 * accepted, and nothing is found.
 * @throws ServiceError 400
 */
export function requireDimensions(tools: VectorTools, vector: Float32Array | undefined, collections: readonly number[]): void {
  if (vector === undefined) return
  const present = tools.store.read((view) => collections.flatMap((id) => view.vectors.variants(id).map(({ dimensions }) => dimensions)))
  const made = tools.embedding.current?.dimensions
  const known = [...new Set(made === undefined ? present : [made, ...present])].sort((one, other) => one - other)
  if (known.length > 0 && !known.includes(vector.length))
    throw badRequest(`invalid queryVector: ${vector.length} dimensions, ${known.join(' or ')} are expected`)
}

/**
 * @param collection undefined if it does not exist
 * @returns the answer's JSON, a view of `tools.out`
 * @throws ServiceError, BodiesWanted
 */
export function searchVectors(
  tools: VectorTools,
  search: VectorSearch,
  collection: SearchedCollection | undefined,
  stop: Stop,
): Uint8Array {
  const startedMs = performance.now()
  const writer = new ResultWriter(tools.out, tools, search, stop)
  if (collection !== undefined) findResults(tools, search, collection, writer, stop)
  return writer.finish({
    model: search.model,
    dimensions: search.query.length,
    algorithm: search.choice.algorithm,
    distanceMetric: search.choice.metric,
    ...search.notes,
    searchStats: statsOf(tools.config.searchStats, { durationMs: shownMs(startedMs) }),
  })
}

function findResults(tools: VectorTools, search: VectorSearch, collection: SearchedCollection, writer: ResultWriter, stop: Stop): void {
  searchUntilFull(tools.store, {
    first: search.limit + VECTOR_SLACK_HITS,
    most: VECTOR_HITS_MAX,
    find: (k) => nearest(tools, { ...search, k }, collection, stop),
    documents: (hits) => documentsOf(collection.id, hits.slice(0, search.limit)),
    write: (view, hits, k) => {
      writer.restart()
      for (const hit of hits) {
        if (writer.isFull) break
        const head = shownHead(view, collection.id, hit.docid, search.filters)
        if (head !== undefined) writer.add(view, head, hit, { score: hit.score })
      }
      return writer.isFull || hits.length < k
    },
  })
}

/** The parts of a search that are passed to the engine. */
type NearestWanted = Pick<VectorSearch, 'choice' | 'query' | 'filters'> & {
  readonly k: number
  readonly mmrLambda?: number | undefined
}

/** @throws ServiceError `deadline` when the search was stopped */
export function nearest(tools: VectorTools, wanted: NearestWanted, { id, settings }: SearchedCollection, stop: Stop): readonly VectorHit[] {
  const { choice, query, filters, k, mmrLambda } = wanted
  const request: VectorSearchRequest = {
    ...{ collection: id, query, k, ...choice, quantization: quantizationOf(settings.config) },
    ...(filters.length === 0 ? {} : { filter: { filters } }),
    ...(mmrLambda === undefined ? {} : { mmrLambda }),
  }
  const found = tools.vectorEngine.search(request, stop.stopWord)
  if (!found.complete || stop.shouldStop()) throw serviceError('deadline')
  return found.hits
}

/** The current state of the document. Undefined if the document is gone or excluded by the filter. */
export function shownHead(view: View, collection: number, docid: number, filters: Filters): Head | undefined {
  const head = view.head(collection, docid)
  return head !== undefined && (filters.length === 0 || passesFilter(textOfHead(head).metaValues, filters)) ? head : undefined
}

export function shownMs(startedMs: number): number {
  return Math.round((performance.now() - startedMs) * 1000) / 1000
}
