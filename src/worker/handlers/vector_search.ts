/**
 * Handlers of the vector search operations. The rules are in src/domain/vectors and src/domain/hybrid. They
 * run on read lanes, except duplicates and projections, which run on the bulk lane.
 */
import { vectorsOfTextsIfAny } from '../../domain/embedding/text_vectors.js'
import { readHybrid } from '../../domain/hybrid/hybrid_request.js'
import { searchHybrid } from '../../domain/hybrid/hybrid_search.js'
import { parseFilters } from '../../domain/search/filters.js'
import { readRetrieval } from '../../domain/search/retrieval.js'
import { classifyText } from '../../domain/vectors/classify.js'
import { searchAcross } from '../../domain/vectors/cross_search.js'
import { findDuplicates, readDuplicates } from '../../domain/vectors/duplicates.js'
import { projectVectors } from '../../domain/vectors/projection.js'
import { algorithmOf, readChoice, readNumber, readQueryText, readQueryVector, readTopK } from '../../domain/vectors/vector_request.js'
import { queryOf, requireDimensions, searchVectors } from '../../domain/vectors/vector_search.js'
import { badRequest, serviceError } from '../../errors.js'
import type { InputOf } from '../../operations/row/operation.js'
import { hybridSearch as hybridRow } from '../../operations/search/hybrid_search.js'
import {
  classify as classifyRow,
  crossSearch as crossRow,
  findDuplicates as duplicatesRow,
  vectorProjection as projectionRow,
  vectorSearch as searchRow,
} from '../../operations/search/vector_search.js'
import type { Answer } from '../../wire/answer.js'
import { type BoundHandler, type LaneContext, read, type RequestContext } from '../request/handler.js'
import { promptFacts } from './response_prompt.js'

/** Default number of results of a vector search, and of a search across collections. */
const VECTOR_TOP_K_DEFAULT = 5
const CROSS_TOP_K_DEFAULT = 10
/** Points of a projection. The values of the reference. */
const PROJECTION_POINTS_DEFAULT = 1000
const PROJECTION_POINTS_MAX = 2000

export const vectorSearchHandlers: readonly BoundHandler[] = [
  read(searchRow, answerSearch),
  read(hybridRow, answerHybrid),
  read(crossRow, answerAcross),
  read(classifyRow, answerClassify),
  read(duplicatesRow, answerDuplicates),
  read(projectionRow, answerProjection),
]

function answerSearch(lane: LaneContext, input: InputOf<typeof searchRow>, stop: RequestContext): Answer {
  const collection = lane.collections.find(input.collection)
  const config = collection?.settings.config
  const profile = config?.retrieval
  const search = {
    choice: readChoice(input, algorithmOf(config, lane.config.vectorDefaultAlgorithm), profile),
    limit: readTopK(input.topK, VECTOR_TOP_K_DEFAULT, profile),
    filters: parseFilters(input),
    withContent: input.includeContent === true,
    retrieval: readRetrieval(input, profile),
    mmrLambda: readMmr(input),
    contextTokensMax: profile?.contextTokenBudget || undefined,
  }
  const vector = readQueryVector(input.queryVector)
  requireDimensions(lane, vector, collection === undefined ? [] : [collection.id])
  const query = queryOf(lane, readQueryText(input.query), vector)
  const notes = collection === undefined ? {} : noteOfEmbedding(lane, collection.id, input.collection)
  return { body: searchVectors(lane, { ...search, ...query, notes }, collection, stop), facts: promptFacts(config) }
}

/**
 * Documents written before there was a provider have no vectors. The answer reports this and how to fix it.
 */
function noteOfEmbedding({ store }: LaneContext, id: number, name: string): object {
  const { documents, embedded } = store.read((view) => ({
    documents: view.collectionCounters(id).documents,
    embedded: view.vectors.variants(id).reduce((sum, variant) => sum + variant.documents, 0),
  }))
  if (embedded > 0 || documents === 0) return {}
  const call = `POST /v1/vector-reindex ${JSON.stringify({ collection: name })}`
  return {
    embedded: `0 of ${documents}`,
    hint: `No document of the collection has vectors yet. Those written before there was an embedding provider get theirs by ${call}`,
  }
}

function readMmr({ mmr, mmrLambda }: InputOf<typeof searchRow>): number | undefined {
  const lambda = readNumber('mmrLambda', mmrLambda, 0.5)
  if (lambda < 0 || lambda > 1) throw badRequest('invalid mmrLambda: must be from 0 to 1')
  return mmr === true ? lambda : undefined
}

/** Searches by words only if there is no provider, while it is unavailable, and if alpha requests it. */
function answerHybrid(lane: LaneContext, input: InputOf<typeof hybridRow>, stop: RequestContext): Answer {
  const collection = lane.collections.find(input.collection)
  const config = collection?.settings.config
  const request = readHybrid(input, lane.config, algorithmOf(config, lane.config.vectorDefaultAlgorithm), config?.retrieval)
  const isByWords = request.strategy.kind === 'alpha' && request.strategy.alpha === 0
  const vector = isByWords ? undefined : vectorsOfTextsIfAny(lane, [request.words.text], 'query')?.vectors[0]
  return { body: searchHybrid(lane, request, vector, collection, stop), facts: promptFacts(config) }
}

function answerAcross(lane: LaneContext, input: InputOf<typeof crossRow>, stop: RequestContext): Answer {
  const { sourceCollection, sourceDocID } = input
  const search = {
    text: readQueryText(input.query),
    vector: readQueryVector(input.queryVector),
    source: sourceCollection && sourceDocID ? { collection: sourceCollection, id: sourceDocID } : undefined,
    targets: input.targetCollections ?? [],
    mayRead: (collection: string) => stop.access.mayRead(collection),
    choice: readChoice(input, lane.config.vectorDefaultAlgorithm),
    limit: readTopK(input.topK, CROSS_TOP_K_DEFAULT),
    filters: parseFilters(input),
    withContent: input.includeContent === true,
    // No profile applies to a search of several collections.
    retrieval: readRetrieval(input),
  }
  if (search.text === undefined && search.vector === undefined && search.source === undefined)
    throw serviceError('missingFields', '`query`, `queryVector`, or `sourceCollection` with `sourceDocID` is expected; none of them came.')
  return { body: searchAcross(lane, search, stop) }
}

function answerClassify(lane: LaneContext, input: InputOf<typeof classifyRow>): Answer {
  return json(classifyText(lane, input))
}

function answerDuplicates(lane: LaneContext, input: InputOf<typeof duplicatesRow>, stop: RequestContext): Answer {
  const request = readDuplicates(input)
  return json(findDuplicates(lane, request, lane.collections.find(input.collection), stop))
}

function answerProjection(lane: LaneContext, input: InputOf<typeof projectionRow>, stop: RequestContext): Answer {
  const points = input.sample ?? 0
  if (!Number.isInteger(points) || points < 0) throw badRequest('invalid sample')
  const [text, vector] = [readQueryText(input.query), readQueryVector(input.queryVector)]
  const collection = lane.collections.find(input.collection)
  requireDimensions(lane, vector, collection === undefined ? [] : [collection.id])
  const query = text === undefined && vector === undefined ? undefined : queryOf(lane, text, vector).query
  const answer = lane.store.read((view) => {
    const id = collection?.id ?? 0
    const dimensions = query?.length ?? (mostUsed(view.vectors.variants(id)) || (lane.embedding.current?.dimensions ?? 0))
    return projectVectors(view, id, dimensions, Math.min(points || PROJECTION_POINTS_DEFAULT, PROJECTION_POINTS_MAX), query, stop)
  })
  return json(answer)
}

/** The dimensions used by most documents of a collection. */
function mostUsed(variants: readonly { readonly dimensions: number; readonly documents: number }[]): number {
  return variants.reduce((most, variant) => (variant.documents > most.documents ? variant : most), { dimensions: 0, documents: 0 })
    .dimensions
}

function json(value: object): Answer {
  return { body: JSON.stringify(value) }
}
