/**
 * Search by vector in several collections at once: the nearest of all, in one list. Looked for is a text, a vector, or a document that has vectors, which is not among its own results. Retrieval profiles do not apply.
 * Read lanes.
 */
import { performance } from 'node:perf_hooks'
import { badRequest, serviceError } from '../../errors.js'
import { CROSS_COLLECTIONS_MAX, VECTOR_SLACK_HITS } from '../../limits.js'
import type { View } from '../../store/view.js'
import type { Filters } from '../filters.js'
import type { SearchedCollection, Stop } from '../fulltext/search.js'
import type { SettingsCache } from '../collection_settings.js'
import { checkNames } from '../identity.js'
import { readingOf } from '../wanted_bodies.js'
import { direction } from './geometry.js'
import type { Retrieval, VectorChoice } from './request.js'
import { ResultWriter } from './result_writer.js'
import { nearest, queryOf, shownHead, shownMs, type VectorTools } from './search.js'

export interface CrossTools extends VectorTools {
  readonly settings: SettingsCache
}

export interface CrossSearch {
  readonly text: string | undefined
  readonly vector: Float32Array | undefined
  readonly source: { readonly collection: string; readonly id: string } | undefined
  /** Names; empty: all collections. */
  readonly targets: readonly string[]
  readonly choice: VectorChoice
  readonly limit: number
  readonly filters: Filters
  readonly withContent: boolean
}

interface Target extends SearchedCollection {
  readonly name: string
}

interface Source {
  readonly collection: number
  readonly docid: number
  readonly vector: Float32Array
}

interface Candidate {
  readonly target: Target
  readonly docid: number
  readonly chunk: number
  readonly score: number
}

const WHOLE: Retrieval = { mode: 'parent', windowSize: 0 }

/** @returns the answer's JSON, a view of `tools.out` @throws ServiceError, EmbeddingsWanted, BodiesWanted */
export function searchAcross(tools: CrossTools, search: CrossSearch, stop: Stop): Uint8Array {
  const startedMs = performance.now()
  const source = search.source === undefined ? undefined : tools.store.read((view) => sourceOf(view, search))
  const { query } = queryOf(tools, search.text, source?.vector ?? search.vector)
  const targets = tools.store.read((view) => targetsOf(tools, view, search.targets))
  const k = search.limit + VECTOR_SLACK_HITS
  const candidates = targets.flatMap((target) =>
    nearest(tools, { choice: search.choice, query, filters: search.filters, k }, target, stop)
      .filter(({ docid }) => source?.collection !== target.id || source.docid !== docid)
      .map(({ docid, chunk, score }): Candidate => ({ target, docid, chunk, score })),
  )
  // Collections have an order, and so have the hits of one.
  candidates.sort((one, other) => other.score - one.score)
  const options = { limit: search.limit, withContent: search.withContent, retrieval: WHOLE, contextTokensMax: undefined }
  const writer = new ResultWriter(tools.out, tools, options, stop)
  const shown = candidates.slice(0, search.limit).map(({ target, docid }) => [target.id, docid] as const)
  tools.store.read((view) =>
    readingOf(
      view,
      () => shown,
      () => write(view, candidates, search.filters, writer),
    ),
  )
  return writer.finish({
    targetCollections: targets.map(({ name }) => name),
    algorithm: search.choice.algorithm,
    distanceMetric: search.choice.metric,
    ...(search.source === undefined ? {} : { sourceCollection: search.source.collection, sourceDocID: search.source.id }),
    searchStats: { durationMs: shownMs(startedMs), collectionsSearched: targets.length },
  })
}

function write(view: View, candidates: readonly Candidate[], filters: Filters, writer: ResultWriter): void {
  for (const { target, docid, chunk, score } of candidates) {
    if (writer.isFull) return
    const head = shownHead(view, target.id, docid, filters)
    if (head !== undefined) writer.add(view, head, { chunk }, { score }, `"collection":${JSON.stringify(target.name)},`)
  }
}

/** An id is collection, key and lang, lower-cased, with `|` between them; keys may hold one, languages and collections don't. */
function sourceOf(view: View, { source }: CrossSearch): Source {
  const { collection: name, id } = source as { collection: string; id: string }
  const [first, last] = [id.indexOf('|'), id.lastIndexOf('|')]
  if (first < 0 || last <= first) throw badRequest('invalid sourceDocID')
  const [key, lang] = [id.slice(first + 1, last), id.slice(last + 1)]
  checkNames({ collection: name, key, lang })
  const collection = view.collection(name)
  const isOfCollection = id.slice(0, first).toLowerCase() === name.toLowerCase()
  const identity = collection === undefined || !isOfCollection ? undefined : view.identity(collection.id, key, lang)
  const head = collection === undefined || identity === undefined ? undefined : view.head(collection.id, identity.docid)
  if (head === undefined) throw serviceError('notFound')
  const record = view.vectors.record(head.collection, head.docid)
  if (record === undefined || record.vectors.length === 0) throw badRequest('the source document has no vectors')
  return { collection: head.collection, docid: head.docid, vector: direction(record.vectors, record.dimensions) }
}

/** Collections that are not there have no documents. @throws ServiceError 400 for what can't be the name of one */
function targetsOf(tools: CrossTools, view: View, names: readonly string[]): readonly Target[] {
  for (const collection of names) checkNames({ collection })
  const wanted = names.length === 0 ? view.collections() : [...new Set(names)].flatMap((name) => view.collection(name) ?? [])
  if (wanted.length > CROSS_COLLECTIONS_MAX)
    throw badRequest(`invalid targetCollections: at most ${CROSS_COLLECTIONS_MAX} are searched at once`)
  return wanted.map(({ id, name }) => ({ id, name, settings: tools.settings.of(view, id) }))
}
