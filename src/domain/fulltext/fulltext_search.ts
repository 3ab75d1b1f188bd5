/**
 * Runs one full-text search. The query becomes a plan, the engine runs it, and the answer is assembled from
 * stored bytes, in rounds (`search/rounds.ts`). A hit whose document has changed since the engine's snapshot
 * is checked again in the store's snapshot. It is left out if the document is gone or no longer matches. Read
 * lanes.
 */
import { performance } from 'node:perf_hooks'
import { expandPlan } from '../../engine/search/expanded_plan.js'
import type { Hit, Hits, SearchEngine, SearchPlan } from '../../engine/types.js'
import { badRequest, serviceError } from '../../errors.js'
import { CURATION_APPLIED_MAX } from '../../limits/documents.js'
import { CACHED_PAGE_DOCUMENTS_MAX, FTS_POLL_RESULTS } from '../../limits/search.js'
import { MIB } from '../../limits/units.js'
import type { ByteWriter } from '../../store/rows/byte_writer.js'
import type { TruthStore } from '../../store/truth_store.js'
import type { View } from '../../store/view.js'
import type { CuttingTools } from '../embedding/chunks.js'
import type { SearchedCollection, Stop } from '../search/context.js'
import { type CuratedAnswer, CuratedResults } from '../search/curated_results.js'
import { Highlights, type HighlightTools } from '../search/highlights.js'
import { mayShow, movedFactor, type Refinement, withFactors } from '../search/refinement.js'
import { documentsOf, searchUntilFull } from '../search/rounds.js'
import { countSearch, type StatisticsTools } from '../search/search_stats.js'
import { Passages } from '../search/shown_passages.js'
import { type CollectionSettings, NO_SETTINGS } from '../settings/collection_settings.js'
import { type Curation, curationOf } from '../settings/curation.js'
import { type CorrectionTools, correctQuery } from '../spell/query_correction.js'
import { queryWords } from '../words/query_words.js'
import { AnswerWriter, type SearchFacts, type WrittenResult } from './fulltext_answer.js'
import type { FulltextRequest } from './fulltext_request.js'
import type { KnownPlans } from './known_plans.js'
import { planQuery, type QueryPlan } from './query_plan.js'
import { recheckHit } from './recheck.js'
import type { RelatedTerms } from './related_terms.js'
import { withSuggestions } from './related_terms.js'

/**
 * Words of the query times scored fields, equal to the engine's `kPlanCursorsMax`. Each is an open cursor of
 * 1.2 KB, 20 MB together.
 */
const PLAN_CURSORS_MAX = 16_384
/**
 * Hits requested beyond the limit, to replace documents that expired or changed between the snapshot of the
 * engine and that of the store. At 5 000 writes/s a 2 ms search meets 10.
 */
const FTS_SLACK_HITS = 16
/**
 * Maximum number of hits of one search that is repeated because too few hits still matched. Above the first
 * request of every search (PAGE_DEPTH_MAX and its surplus); 2 MB.
 */
const FTS_HITS_MAX = 131_072
/**
 * Bytes of content that one search analyses again, for hits that changed since the query of the index: 0.5 s
 * at 60 MB/s. Further such hits are left out.
 */
const FTS_RECHECK_BYTES_MAX = 32 * MIB

export interface FulltextTools extends HighlightTools, CorrectionTools, CuttingTools, StatisticsTools {
  readonly config: CorrectionTools['config'] & CuttingTools['config'] & StatisticsTools['config']
  readonly store: TruthStore
  readonly engine: SearchEngine
  readonly out: ByteWriter
  readonly related: RelatedTerms
  readonly plans: KnownPlans
}

const NOTHING_FOUND: SearchFacts = { documents: 0, matches: 0, expansionsCut: false }

/**
 * Returns the answer's JSON, a view of `tools.out`.
 * @param results also receives the results of the answer
 * @throws ServiceError `deadline` when stopped, 400 when the query exceeds the limits of the engine
 */
export function searchFulltext(
  tools: FulltextTools,
  asked: FulltextRequest,
  collection: SearchedCollection | undefined,
  stop: Stop,
  results?: WrittenResult[],
): Uint8Array {
  const startedMs = performance.now()
  const { request, query, settings } = readQuery(tools, asked, collection, stop)
  const highlights = request.highlight === undefined ? undefined : new Highlights(tools, request.highlight, () => stop.shouldStop())
  const answer = new AnswerWriter(request, query, tools.out, {
    results,
    highlights,
    passages: passagesOf(tools, request, stop),
    showsStats: tools.config.searchStats,
  })
  if (collection === undefined) return answer.finish(NOTHING_FOUND, performance.now() - startedMs)
  const plan = planSearch(request, query, collection.id)
  const found = findResults(
    tools,
    plan,
    { refinement: request.refinement, curation: curationOf(settings.rules, request.text), explain: request.explain },
    answer,
    stop,
  )
  if (request.offset === 0 && request.limit > 0)
    countSearch(tools, collection, { text: asked.text, startedMs, results: answer.count, isFiltered: isFiltered(request) })
  return answer.finish(found, performance.now() - startedMs)
}

/** Whether the request leaves out documents that its query matches. */
export function isFiltered({ filters, refinement }: FulltextRequest): boolean {
  return filters.length > 0 || refinement.ranges.length > 0
}

function passagesOf(tools: FulltextTools, { retrieval, withContent }: FulltextRequest, stop: Stop): Passages | undefined {
  if (retrieval.mode === 'parent') return undefined
  return new Passages(tools, retrieval, withContent, stop, tools)
}

/** A request with its spelling corrected, and the plan of its query. */
export interface ReadQuery {
  readonly request: FulltextRequest
  readonly query: QueryPlan
  readonly settings: CollectionSettings
}

/** @throws ServiceError 400 when the query exceeds the limits of the engine */
export function readQuery(tools: FulltextTools, asked: FulltextRequest, collection: SearchedCollection | undefined, stop: Stop): ReadQuery {
  const corrected = collection === undefined ? undefined : correctQuery(tools, asked, collection)
  const request: FulltextRequest = corrected === undefined ? asked : { ...asked, ...corrected, correctedFrom: asked.text }
  const settings = collection?.settings ?? NO_SETTINGS
  const plan = tools.plans.of(settings, request, () =>
    planQuery(request.query, queryWords(tools.analyzer, settings, request), request.scoring),
  )
  return { request, query: suggestTerms(tools, request, collection, plan, stop), settings }
}

/**
 * Adds related terms, to plain-word queries only. In a query with operators they would change the set of
 * matching documents.
 */
function suggestTerms(
  tools: FulltextTools,
  { scoring, query }: FulltextRequest,
  collection: SearchedCollection | undefined,
  plan: QueryPlan,
  stop: Stop,
): QueryPlan {
  if (scoring.algorithm !== 'pmisparse' || query.mode !== 'simple' || collection === undefined) return plan
  return withSuggestions(plan, (term) => tools.related.of(tools, collection.id, term, stop))
}

/**
 * The plan that the engine runs for a request. The benchmarks use it too, so that they measure the plans of
 * the service.
 * @throws ServiceError 400 when the query exceeds the limits of the engine
 */
export function planSearch(request: FulltextRequest, query: QueryPlan, collection: number): SearchPlan {
  const { algorithm, k1, b } = request.scoring
  const { fields } = query
  if (query.leaves * fields.length > PLAN_CURSORS_MAX) throw badRequest(`query too long: ${query.leaves} terms in ${fields.length} fields`)
  return {
    collection,
    algorithm: algorithm === 'pmisparse' ? 'bm25' : algorithm,
    k1,
    b,
    k: request.limit === 0 ? 0 : request.offset + request.limit + FTS_SLACK_HITS,
    skip: 0,
    sort: 'score',
    descending: true,
    exactTotal: request.count,
    fields,
    filters: request.filters,
    ranges: request.refinement.ranges,
    boosts: request.refinement.boosts,
    terms: query.terms,
    root: query.root,
  }
}

/** What the answer applies to the engine's hits. */
interface Arrangement {
  readonly refinement: Refinement
  readonly curation: Curation | undefined
  /** Each result includes an explanation of its score. */
  readonly explain: boolean
}

/** Fills the answer. The returned value describes the last snapshot searched. */
function findResults(tools: FulltextTools, first: SearchPlan, arrangement: Arrangement, answer: AnswerWriter, stop: Stop): SearchFacts {
  const { curation } = arrangement
  // Requests extra hits, so that pinned and hidden documents do not leave the page short.
  const apart = curation === undefined || first.k === 0 ? 0 : Math.min(curation.pins.length + curation.hides.length, CURATION_APPLIED_MAX)
  let dropped = 0
  const { hits } = searchUntilFull(tools.store, {
    first: first.k + apart,
    most: FTS_HITS_MAX,
    find: (k) => {
      const plan: SearchPlan = k === first.k ? first : { ...first, k }
      const found = tools.engine.search(plan, stop.stopWord)
      if (!found.complete || stop.shouldStop()) throw serviceError('deadline')
      return { plan, hits: found }
    },
    writeAtOnce: ({ hits: found }) => curation === undefined && answer.writeAll(tools.store, first.collection, found),
    documents: (found) => documentsOf(first.collection, found.hits.hits),
    write: (view, { plan, hits: found }, k) => {
      answer.restart(found.expansions)
      dropped = writeResults(tools, view, plan, found, arrangement, answer, stop)
      return answer.isFull || found.count < k
    },
  })
  return { documents: hits.docCount, matches: Math.max(answer.count, hits.total - dropped), expansionsCut: hits.expansionsCut }
}

/**
 * Writes results until the page is full.
 * @returns the number of hits left out because their documents are gone or no longer match
 */
function writeResults(
  tools: FulltextTools,
  view: View,
  plan: SearchPlan,
  hits: Hits,
  arrangement: Arrangement,
  answer: AnswerWriter,
  stop: Stop,
): number {
  const present = new PresentMatches(tools, view, plan, hits, arrangement.refinement)
  const dropped = writeHits(tools, view, plan, hits, arrangement, present, answer, stop)
  if (present.factors.size === 0) return dropped
  // A changed boost changes the order of the hits, so all results are written again.
  answer.restart(hits.expansions)
  return writeHits(tools, view, plan, withFactors(hits, present.factors), arrangement, present, answer, stop)
}

function writeHits(
  tools: FulltextTools,
  view: View,
  plan: SearchPlan,
  hits: Hits,
  { refinement, curation, explain }: Arrangement,
  present: PresentMatches,
  answer: AnswerWriter,
  stop: Stop,
): number {
  const curated =
    curation === undefined
      ? undefined
      : new CuratedResults(view, plan.collection, curation, (head) => mayShow(head, plan.filters, refinement), hits.hits)
  const pins = pinsIn(answer, view, plan.collection)
  const isKept = answer.limit <= CACHED_PAGE_DOCUMENTS_MAX
  let dropped = 0
  let looked = 0
  // A capped page may end after any document.
  if (!answer.isCapped) view.expect(plan.collection, hits.hits, answer.passesLeft, answer.passesLeft + answer.limit)
  for (const hit of hits.hits) {
    curated?.writeDue(pins)
    if (answer.isFull) break
    if (++looked % FTS_POLL_RESULTS === 0 && stop.shouldStop()) throw serviceError('deadline')
    if (curated?.leavesOut(hit.docid) === true) continue
    if (answer.isPassing) {
      if (present.of(hit, view.head(plan.collection, hit.docid)) === undefined) dropped++
      else answer.pass()
      continue
    }
    const document = view.document(plan.collection, hit.docid, isKept)
    const matched = present.of(hit, document)
    if (document === undefined || matched === undefined) dropped++
    else answer.result(document, hit.score, matched, explain ? { explanation: tools.engine.explain(plan, hit.docid, stop.stopWord) } : {})
  }
  curated?.writeRest(pins)
  return dropped
}

/** Writes pins into an answer. Their score is that of the search, or 0 if the query did not match them. */
function pinsIn(answer: AnswerWriter, view: View, collection: number): CuratedAnswer<Hit> {
  return {
    get isFull() {
      return answer.isFull
    },
    get count() {
      return answer.count
    },
    pinned: (docid, hit) => {
      if (answer.isPassing) return answer.pass()
      const document = view.document(collection, docid)
      if (document !== undefined) answer.result(document, hit?.score ?? 0, hit?.matched ?? [], { isPinned: true })
    },
  }
}

/** Checks the hits of one round against the store's snapshot. */
class PresentMatches {
  /** By docid: current factors of documents whose boosts have changed since the engine's snapshot. */
  readonly factors = new Map<number, number>()
  readonly #tools: FulltextTools
  readonly #view: View
  readonly #plan: SearchPlan
  readonly #refinement: Refinement
  readonly #expansions: Hits['expansions']
  #recheckBytes = 0

  constructor(tools: FulltextTools, view: View, plan: SearchPlan, { expansions }: Hits, refinement: Refinement) {
    this.#tools = tools
    this.#view = view
    this.#plan = plan
    this.#refinement = refinement
    this.#expansions = expansions
  }

  /**
   * Indexes of the terms that the document has. Undefined if the document is gone or no longer matches.
   * @param document as the snapshot shows it
   */
  of(hit: Hit, document: { readonly indexedLsn: bigint } | undefined): readonly number[] | undefined {
    if (document === undefined || document.indexedLsn === hit.lsn) return document && hit.matched
    const head = this.#view.head(this.#plan.collection, hit.docid)
    if (head === undefined) return undefined
    this.#recheckBytes += head.bodyRawBytes
    if (this.#recheckBytes > FTS_RECHECK_BYTES_MAX || !mayShow(head, this.#plan.filters, this.#refinement)) return undefined
    const factor = movedFactor(head, hit, this.#refinement)
    if (factor !== undefined) this.factors.set(hit.docid, factor)
    return recheckHit(this.#tools, this.#view, head, expandPlan(this.#plan, this.#expansions))
  }
}
