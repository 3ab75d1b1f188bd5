/**
 * One hybrid search. The best candidates of the full-text engine and those of the vector engine are fused,
 * boosted and curated, in rounds (`search/rounds.ts`). Each round takes the snapshots of both engines before
 * that of the store. Read lanes.
 */
import { performance } from 'node:perf_hooks'
import type { HighlightTerm, Hits } from '../../engine/types.js'
import type { VectorHit } from '../../engine/vectors/vector_types.js'
import { serviceError } from '../../errors.js'
import { VECTOR_HITS_MAX } from '../../limits/search.js'
import { type Head, textOfHead } from '../../store/head.js'
import type { View } from '../../store/view.js'
import { type FulltextTools, isFiltered, planSearch, type ReadQuery, readQuery } from '../fulltext/fulltext_search.js'
import { BestMatch } from '../search/best_match.js'
import { factorOf } from '../search/boosts.js'
import type { SearchedCollection, Stop } from '../search/context.js'
import { type CuratedAnswer, CuratedResults } from '../search/curated_results.js'
import type { PassagePosition } from '../search/passages.js'
import { mayShow } from '../search/refinement.js'
import { ResultWriter } from '../search/result_writer.js'
import { documentsOf, searchUntilFull } from '../search/rounds.js'
import { countSearch, statsOf } from '../search/search_stats.js'
import { type Curation, curationOf } from '../settings/curation.js'
import { nearest, shownMs, type VectorTools } from '../vectors/vector_search.js'
import { bestFirst, fuse, type Fused } from './fusion.js'
import type { HybridRequest } from './hybrid_request.js'

/** Minimum number of candidates of a hybrid search, by words and by meaning. The values of the reference. */
const HYBRID_WORD_CANDIDATES_MIN = 50
const HYBRID_MEANING_CANDIDATES_MIN = 20
/** Maximum number of candidates of a hybrid search, of each kind. */
const HYBRID_CANDIDATES_MAX = VECTOR_HITS_MAX

type HybridTools = FulltextTools & VectorTools

/** What one round of a search has found. */
interface Candidates {
  readonly fused: readonly Fused[]
  readonly words: ReadonlyMap<number, Hits['hits'][number]>
  readonly expansions: Hits['expansions']
  readonly chunks: ReadonlyMap<number, number>
  /** Number of results requested in the round. */
  readonly wanted: number
  /** Neither engine has more candidates, or the maximum per round is reached. */
  readonly isAll: boolean
}

/**
 * @param vector of the query; undefined: full-text only
 * @returns the answer's JSON, a view of `tools.out`
 * @throws ServiceError, BodiesWanted
 */
export function searchHybrid(
  tools: HybridTools,
  request: HybridRequest,
  vector: Float32Array | undefined,
  collection: SearchedCollection | undefined,
  stop: Stop,
): Uint8Array {
  const startedMs = performance.now()
  const { words, choice, strategy } = request
  const { facetBy, facetValuesMax, contextTokensMax } = words
  const options = {
    ...{ limit: request.topK, withContent: request.withContent, retrieval: request.retrieval, contextTokensMax },
    ...{ facetBy, facetValuesMax },
  }
  const writer = new ResultWriter(tools.out, tools, options, stop)
  const vectorsUsed = collection !== undefined && findResults(tools, request, vector, collection, writer, stop)
  countSearch(tools, collection, { text: words.text, startedMs, results: writer.count, isFiltered: isFiltered(words) })
  return writer.finish({
    strategy: strategy.kind,
    ...(strategy.kind === 'alpha' ? { alpha: strategy.alpha } : { rrfK: strategy.k }),
    ftsAlgorithm: words.scoring.algorithm,
    vectorAlgorithm: choice.algorithm,
    distanceMetric: choice.metric,
    vectorsUsed,
    searchStats: statsOf(tools.config.searchStats, { durationMs: shownMs(startedMs) }),
  })
}

/** @returns whether the vector search found anything */
function findResults(
  tools: HybridTools,
  request: HybridRequest,
  vector: Float32Array | undefined,
  collection: SearchedCollection,
  writer: ResultWriter,
  stop: Stop,
): boolean {
  const read = readQuery(tools, request.words, collection, stop)
  const curation = curationOf(collection.settings.rules, request.words.text)
  const match = request.retrieval.mode === 'parent' ? undefined : new BestMatch(tools, stop)
  const apart = curation === undefined ? 0 : curation.pins.length + curation.hides.length
  const found = searchUntilFull(tools.store, {
    first: request.topK + apart,
    most: HYBRID_CANDIDATES_MAX,
    find: (wanted) => candidates(tools, request, read, vector, collection, wanted, stop),
    documents: ({ fused, wanted }) => documentsOf(collection.id, fused.slice(0, wanted)),
    write: (view, found) => {
      writer.restart()
      match?.lookFor(termsOf(read, found), read.query.root)
      new HybridPage({ view, collection: collection.id, request, read, found, curation, writer, match }).write()
      return writer.isFull || found.isAll
    },
  })
  return found.chunks.size > 0
}

function candidates(
  tools: HybridTools,
  request: HybridRequest,
  { request: words, query }: ReadQuery,
  vector: Float32Array | undefined,
  collection: SearchedCollection,
  wanted: number,
  stop: Stop,
): Candidates {
  const { choice, strategy } = request
  const many = Math.min(Math.ceil(wanted * choice.oversample), HYBRID_CANDIDATES_MAX)
  const wordsWanted = Math.max(many, HYBRID_WORD_CANDIDATES_MIN)
  const meaningsWanted = Math.max(many, HYBRID_MEANING_CANDIDATES_MIN)
  const refined = { ...words, refinement: { ...words.refinement, boosts: [] } }
  const byWords = tools.engine.search({ ...planSearch(refined, query, collection.id), k: wordsWanted }, stop.stopWord)
  if (!byWords.complete || stop.shouldStop()) throw serviceError('deadline')
  const byMeaning: readonly VectorHit[] =
    vector === undefined ? [] : nearest(tools, { choice, query: vector, filters: words.filters, k: meaningsWanted }, collection, stop)
  const chunks = new Map(byMeaning.map(({ docid, chunk }) => [docid, chunk]))
  const fused = fuse(strategy, byWords.hits, byMeaning)
  const isByMeaning = vector !== undefined && strategy.kind === 'alpha' && strategy.alpha === 1
  return {
    fused: isByMeaning ? fused.filter(({ docid }) => chunks.has(docid)) : fused,
    words: new Map(byWords.hits.map((hit) => [hit.docid, hit])),
    expansions: byWords.expansions,
    chunks,
    wanted,
    isAll: many === HYBRID_CANDIDATES_MAX || (byWords.hits.length < wordsWanted && byMeaning.length < meaningsWanted),
  }
}

interface Boosted extends Fused {
  readonly head: Head
}

/**
 * The terms to highlight: the words of the query and their expansions, by the index that hits refer to them
 * by.
 */
function termsOf({ query }: ReadQuery, { expansions }: Candidates): HighlightTerm[] {
  return [...query.terms.map(([term]) => term), ...expansions.map(({ term }) => term)].map((indexed) => ({ indexed, shown: '""' }))
}

interface PageParts {
  readonly view: View
  readonly collection: number
  readonly request: HybridRequest
  readonly read: ReadQuery
  readonly found: Candidates
  readonly curation: Curation | undefined
  readonly writer: ResultWriter
  /** Undefined if no passages are shown. */
  readonly match: BestMatch | undefined
}

/** The results of one round, as the store's snapshot shows them. */
class HybridPage implements CuratedAnswer<Fused> {
  readonly #parts: PageParts

  constructor(parts: PageParts) {
    this.#parts = parts
  }

  get isFull(): boolean {
    return this.#parts.writer.isFull
  }

  get count(): number {
    return this.#parts.writer.count
  }

  write(): void {
    const { view, collection, curation, found } = this.#parts
    const curated =
      curation === undefined ? undefined : new CuratedResults(view, collection, curation, (head) => this.#mayShow(head), found.fused)
    for (const result of this.#boosted()) {
      curated?.writeDue(this)
      if (this.isFull) return
      if (curated?.leavesOut(result.docid) !== true) this.#add(result.head, result, {})
    }
    curated?.writeRest(this)
  }

  pinned(docid: number, hit: Fused | undefined): void {
    const head = this.#parts.view.head(this.#parts.collection, docid)
    if (head !== undefined) this.#add(head, hit ?? { docid, combined: 0, words: 0, meaning: 0 }, { pinned: true })
  }

  /** Best first. Without boosts, documents are looked up only as far as they are shown. */
  *#boosted(): Generator<Boosted> {
    const { boosts } = this.#parts.request.words.refinement
    if (boosts.length === 0) {
      yield* this.#present()
      return
    }
    const boosted = [...this.#present()].map((result) => ({
      ...result,
      combined: result.combined * factorOf(boosts, textOfHead(result.head).metaValues),
    }))
    yield* boosted.sort(bestFirst)
  }

  *#present(): Generator<Boosted> {
    for (const result of this.#parts.found.fused) {
      const head = this.#parts.view.head(this.#parts.collection, result.docid)
      if (head !== undefined && this.#mayShow(head)) yield { ...result, head }
    }
  }

  #mayShow(head: Head): boolean {
    const { filters, refinement } = this.#parts.request.words
    return filters.length === 0 || mayShow(head, filters, refinement)
  }

  #add(head: Head, { docid, combined, words, meaning }: Fused, notes: object): void {
    const fields = { combinedScore: combined, ftsScore: words, vectorScore: meaning, matchedTerms: this.#matchedTerms(docid), ...notes }
    this.#parts.writer.add(this.#parts.view, head, this.#positionOf(docid), fields)
  }

  /** The passage of the vector match, else that of the full-text match. */
  #positionOf(docid: number): PassagePosition {
    const { view, collection, found, match } = this.#parts
    const chunk = found.chunks.get(docid)
    const matched = found.words.get(docid)?.matched
    if (chunk !== undefined || match === undefined || matched === undefined) return { chunk: chunk ?? 0 }
    const document = view.document(collection, docid)
    return document === undefined ? { chunk: 0 } : { byte: match.byteIn(document, matched) }
  }

  /** In the order of the query, each once. `asked~found` if the document has a similar word. */
  #matchedTerms(docid: number): string[] {
    const { terms } = this.#parts.read.query
    const shown = new Set<string>()
    for (const index of this.#parts.found.words.get(docid)?.matched ?? []) {
      const expansion = this.#parts.found.expansions[index - terms.length]
      const asked = terms[expansion?.leaf ?? index]?.[0]
      if (asked !== undefined)
        shown.add(expansion === undefined || expansion.edits === 0 ? (expansion?.term ?? asked) : `${asked}~${expansion.term}`)
    }
    return [...shown]
  }
}
