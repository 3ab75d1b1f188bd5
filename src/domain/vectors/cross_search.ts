/**
 * Vector search in several collections at once: the nearest documents of all collections, in one list. The
 * query is a text, a vector, or a document with vectors. That document is excluded from the results.
 * Retrieval profiles do not apply. Of all collections, at most a bounded number is searched, and the answer
 * says how many of how many. Read lanes.
 */
import { performance } from 'node:perf_hooks'
import type { VectorHit } from '../../engine/vectors/vector_types.js'
import { badRequest, serviceError } from '../../errors.js'
import { VECTOR_HITS_MAX, VECTOR_SLACK_HITS } from '../../limits/search.js'
import { lowerCase } from '../../operations/row/lower_case.js'
import type { View } from '../../store/view.js'
import { checkNames } from '../documents/identity.js'
import type { SearchedCollection, Stop } from '../search/context.js'
import type { Filters } from '../search/filters.js'
import { ResultWriter } from '../search/result_writer.js'
import type { Retrieval } from '../search/retrieval.js'
import { searchUntilFull } from '../search/rounds.js'
import { statsOf } from '../search/search_stats.js'
import type { SettingsCache } from '../settings/collection_settings.js'
import { direction } from './geometry.js'
import type { VectorChoice } from './vector_request.js'
import { nearest, queryOf, requireDimensions, shownHead, shownMs, type VectorTools } from './vector_search.js'

interface CrossTools extends VectorTools {
  readonly config: VectorTools['config'] & { readonly limits: { readonly CROSS_COLLECTIONS_MAX: number } }
  readonly settings: SettingsCache
}

interface CrossSearch {
  readonly text: string | undefined
  readonly vector: Float32Array | undefined
  readonly source: { readonly collection: string; readonly id: string } | undefined
  readonly retrieval: Retrieval
  /** Names; empty: all collections. */
  readonly targets: readonly string[]
  readonly choice: VectorChoice
  readonly limit: number
  readonly filters: Filters
  readonly withContent: boolean
  /** Without targets, every collection for which this returns true is searched. */
  readonly mayRead: (collection: string) => boolean
}

interface Target extends SearchedCollection {
  readonly name: string
}

interface Targets {
  readonly searched: readonly Target[]
  /** Number of those that the search is about. */
  readonly total: number
}

interface Source {
  readonly collection: number
  readonly docid: number
  readonly vector: Float32Array
}

/** The hits of one target in its most recent search. */
interface TargetHits {
  readonly target: Target
  /** Number of hits requested. */
  k: number
  hits: readonly VectorHit[]
}

interface Candidate {
  readonly target: Target
  readonly docid: number
  readonly chunk: number
  readonly score: number
}

/**
 * @returns the answer's JSON, a view of `tools.out`
 * @throws ServiceError, EmbeddingsWanted, BodiesWanted
 */
export function searchAcross(tools: CrossTools, search: CrossSearch, stop: Stop): Uint8Array {
  const startedMs = performance.now()
  const source = search.source === undefined ? undefined : tools.store.read((view) => sourceOf(view, search))
  const { searched: targets, total } = tools.store.read((view) => targetsOf(tools, view, search))
  requireDimensions(
    tools,
    source === undefined ? search.vector : undefined,
    targets.map(({ id }) => id),
  )
  const { query } = queryOf(tools, search.text, source?.vector ?? search.vector)
  const options = { limit: search.limit, withContent: search.withContent, retrieval: search.retrieval, contextTokensMax: undefined }
  const writer = new ResultWriter(tools.out, tools, options, stop)
  const asked = targets.map((target): TargetHits => ({ target, k: 0, hits: [] }))
  findNearest(tools, search, query, asked, source, writer, stop)
  return writer.finish({
    targetCollections: targets.map(({ name }) => name),
    collectionsSearched: targets.length,
    collectionsTotal: total,
    algorithm: search.choice.algorithm,
    distanceMetric: search.choice.metric,
    ...(search.source === undefined ? {} : { sourceCollection: search.source.collection, sourceDocID: search.source.id }),
    searchStats: statsOf(tools.config.searchStats, { durationMs: shownMs(startedMs), collectionsSearched: targets.length }),
  })
}

/** Each round searches again those targets that may have documents nearer than the last one shown. */
function findNearest(
  tools: CrossTools,
  { choice, limit, filters }: CrossSearch,
  query: Float32Array,
  asked: readonly TargetHits[],
  source: Source | undefined,
  writer: ResultWriter,
  stop: Stop,
): void {
  let due = asked
  searchUntilFull(tools.store, {
    first: limit + VECTOR_SLACK_HITS,
    most: VECTOR_HITS_MAX,
    find: (k) => {
      for (const each of due) {
        each.hits = nearest(tools, { choice, query, filters, k }, each.target, stop)
        each.k = k
      }
      return candidatesOf(asked, source)
    },
    *documents(candidates) {
      for (const { target, docid } of candidates.slice(0, limit)) yield [target.id, docid] as const
    },
    write: (view, candidates) => {
      writer.restart()
      const floor = write(view, candidates, filters, writer)
      due = asked.filter(({ k, hits }) => hits.length === k && (hits.at(-1)?.score ?? floor) > floor)
      return due.length === 0
    },
  })
}

/** Nearest first. Equal scores keep the order of collections, and within a collection that of its hits. */
function candidatesOf(asked: readonly TargetHits[], source: Source | undefined): readonly Candidate[] {
  const candidates = asked.flatMap(({ target, hits }) =>
    hits
      .filter(({ docid }) => source?.collection !== target.id || source.docid !== docid)
      .map(({ docid, chunk, score }): Candidate => ({ target, docid, chunk, score })),
  )
  return candidates.sort((one, other) => other.score - one.score)
}

/** @returns the score of the last result of a full page; negative infinity while more results fit */
function write(view: View, candidates: readonly Candidate[], filters: Filters, writer: ResultWriter): number {
  let last = Number.NEGATIVE_INFINITY
  for (const { target, docid, chunk, score } of candidates) {
    if (writer.isFull) return last
    const head = shownHead(view, target.id, docid, filters)
    if (head === undefined) continue
    writer.add(view, head, { chunk }, { score }, `"collection":${JSON.stringify(target.name)},`)
    last = score
  }
  return writer.isFull ? last : Number.NEGATIVE_INFINITY
}

/** An id is collection, key and lang, separated by `|`, case-insensitive. Keys may contain `|`. */
function sourceOf(view: View, { source }: CrossSearch): Source {
  const { collection: name, id } = source as { collection: string; id: string }
  const [begin, end] = [id.indexOf('|'), id.lastIndexOf('|')]
  if (begin === end) throw badRequest('invalid sourceDocID')
  const [key, lang] = [id.slice(begin + 1, end), id.slice(end + 1)]
  checkNames({ collection: name, key, lang })
  const collection = lowerCase(id.slice(0, begin)) === lowerCase(name) ? view.collection(name) : undefined
  const identity = collection === undefined ? undefined : view.identity(collection.id, key, lang)
  const head = collection === undefined || identity === undefined ? undefined : view.head(collection.id, identity.docid)
  if (head === undefined) throw serviceError('notFound')
  const record = view.vectors.record(head.collection, head.docid)
  if (record === undefined || record.vectors.length === 0) throw badRequest('the source document has no vectors')
  return { collection: head.collection, docid: head.docid, vector: direction(record.vectors, record.dimensions) }
}

/**
 * Collections that do not exist have no documents. Of more than one request searches, those with vectors
 * come first: only they have results.
 * @throws ServiceError 400 for an invalid collection name, and for too many names
 */
function targetsOf(tools: CrossTools, view: View, { targets: names, mayRead }: CrossSearch): Targets {
  const max = tools.config.limits.CROSS_COLLECTIONS_MAX
  for (const collection of names) checkNames({ collection })
  const wanted =
    names.length === 0
      ? view.collections().filter(({ name }) => mayRead(name))
      : [...new Set(names)].flatMap((name) => view.collection(name) ?? [])
  if (names.length > 0 && wanted.length > max) throw badRequest(`invalid targetCollections: at most ${max} are searched at once`)
  const searched = wanted.length > max ? vectorsFirst(view, wanted).slice(0, max) : wanted
  return { searched: searched.map(({ id, name }) => ({ id, name, settings: tools.settings.of(view, id) })), total: wanted.length }
}

function vectorsFirst<Known extends { readonly id: number }>(view: View, collections: readonly Known[]): readonly Known[] {
  const withVectors = new Set(collections.filter(({ id }) => view.vectors.variants(id).length > 0))
  return [...withVectors, ...collections.filter((each) => !withVectors.has(each))]
}
