/**
 * One full-text search. Two snapshots take part: the engine's is taken first, the store's after it, so that every hit is at least as old as what is read here. A hit whose document
 * has another state since is looked at again; one that is gone or matches no more is left out, and where that leaves a gap the search is repeated on newer snapshots, a bounded number of times.
 * Read lanes.
 */
import { performance } from 'node:perf_hooks'
import { expandPlan } from '../../engine/expanded_plan.js'
import type { Hits, SearchEngine, SearchPlan, StopWord } from '../../engine/types.js'
import { badRequest, serviceError } from '../../errors.js'
import {
  CACHED_PAGE_DOCUMENTS_MAX,
  CURATION_APPLIED_MAX,
  FTS_POLL_RESULTS,
  FTS_RECHECK_BYTES_MAX,
  FTS_SEARCH_ROUNDS_MAX,
  FTS_SLACK_HITS,
  PLAN_CURSORS_MAX,
} from '../../limits.js'
import type { ByteWriter } from '../../store/byte_writer.js'
import type { TruthStore } from '../../store/truth_store.js'
import type { View } from '../../store/view.js'
import { AnswerWriter } from './answer.js'
import { NO_SETTINGS, type CollectionSettings } from '../collection_settings.js'
import { type Curation, curationOf } from '../curation.js'
import type { PreparationTools } from '../preparation.js'
import { CuratedResults } from './curated_results.js'
import { Highlights } from './highlights.js'
import { planQuery, type QueryPlan } from './query_plan.js'
import { queryWords } from './query_words.js'
import { recheckHit } from './recheck.js'
import { mayShow, type Refinement, searchRefined } from './refined_search.js'
import type { FulltextRequest } from './request.js'

export interface FulltextTools extends PreparationTools {
  readonly store: TruthStore
  readonly engine: SearchEngine
  readonly out: ByteWriter
}

export interface Stop {
  shouldStop(): boolean
  readonly stopWord?: StopWord
}

/** What the last snapshot held. */
interface Found {
  readonly documents: number
  readonly matches: number
}

/** Where a request searches: undefined where the collection is not there. */
export interface SearchedCollection {
  readonly id: number
  readonly settings: CollectionSettings
}

/** Returns the answer's JSON, a view of `tools.out`. Throws `deadline` when it was stopped, a 400 when the query is more than the engine takes. */
export function searchFulltext(
  tools: FulltextTools,
  request: FulltextRequest,
  collection: SearchedCollection | undefined,
  stop: Stop,
): Uint8Array {
  const startedMs = performance.now()
  const settings = collection?.settings ?? NO_SETTINGS
  const words = queryWords(tools.analyzer, settings, request)
  const query = planQuery(request.query, words.tokenize, words.alternatives, words.identifiers)
  const highlights = request.highlight === undefined ? undefined : new Highlights(tools, request.highlight, () => stop.shouldStop())
  const answer = new AnswerWriter(request, query, tools.out, highlights)
  if (collection === undefined) return answer.finish({ documents: 0, matches: 0, durationMs: performance.now() - startedMs })
  const plan = planSearch(request, query, collection.id)
  const found = findResults(
    tools,
    plan,
    { refinement: request.refinement, curation: curationOf(settings.rules, request.text) },
    answer,
    stop,
  )
  return answer.finish({ ...found, durationMs: performance.now() - startedMs })
}

/** What the engine is asked for a request. Also how the benches ask it, so that they ask what the service asks. Throws a 400 when the query is more than the engine takes. */
export function planSearch(request: FulltextRequest, query: QueryPlan, collection: number): SearchPlan {
  const { algorithm, k1, b, fields } = request.scoring
  if (query.leaves * fields.length > PLAN_CURSORS_MAX) throw badRequest(`query too long: ${query.leaves} terms in ${fields.length} fields`)
  // Without a field that counts there is nothing to match in.
  const root: SearchPlan['root'] = fields.length === 0 ? { kind: 'none' } : query.root
  return {
    collection,
    algorithm,
    k1,
    b,
    k: request.limit === 0 ? 0 : request.limit + FTS_SLACK_HITS,
    skip: 0,
    sort: 'score',
    descending: true,
    exactTotal: request.count,
    fields: fields.length === 0 ? [['content', 1]] : fields,
    filters: request.filters,
    terms: query.terms,
    root,
  }
}

/** What is done to hits beyond what the engine does. */
interface Arrangement {
  readonly refinement: Refinement
  readonly curation: Curation | undefined
}

/** Fills the answer. What it returns describes the last snapshot searched. */
function findResults(tools: FulltextTools, first: SearchPlan, arrangement: Arrangement, answer: AnswerWriter, stop: Stop): Found {
  const { refinement, curation } = arrangement
  const isRefined = refinement.ranges.length > 0 || refinement.boosts.length > 0
  // What curation takes out of the organic results must not leave the page short.
  const apart = curation === undefined || first.k === 0 ? 0 : Math.min(curation.pins.length + curation.hides.length, CURATION_APPLIED_MAX)
  let plan: SearchPlan = { ...first, k: first.k + apart }
  for (let round = 1; ; round++) {
    const hits = isRefined ? searchRefined(tools, plan, refinement, stop) : tools.engine.search(plan, stop.stopWord)
    if (!hits.complete || stop.shouldStop()) throw serviceError('deadline')
    const dropped = tools.store.read((view) => writeResults(tools, view, plan, hits, arrangement, answer, stop))
    const exhausted = answer.isFull || hits.hits.length < plan.k
    if (exhausted || round === FTS_SEARCH_ROUNDS_MAX)
      return { documents: hits.docCount, matches: Math.max(answer.count, hits.total - dropped) }
    answer.restart()
    plan = { ...plan, k: plan.k * 2 }
  }
}

/** Writes results until there are enough. Returns how many hits were left out because they are gone or match no more. */
function writeResults(
  tools: FulltextTools,
  view: View,
  plan: SearchPlan,
  hits: Hits,
  { refinement, curation }: Arrangement,
  answer: AnswerWriter,
  stop: Stop,
): number {
  const curated =
    curation === undefined
      ? undefined
      : new CuratedResults(view, plan.collection, curation, (head) => mayShow(head, plan.filters, refinement), hits.hits)
  const isKept = answer.limit <= CACHED_PAGE_DOCUMENTS_MAX
  let dropped = 0
  let looked = 0
  let recheckBytes = 0
  for (const hit of hits.hits) {
    curated?.writeDue(answer)
    if (answer.isFull) break
    if (++looked % FTS_POLL_RESULTS === 0 && stop.shouldStop()) throw serviceError('deadline')
    if (curated?.leavesOut(hit.docid) === true) continue
    const document = view.document(plan.collection, hit.docid, isKept)
    let matched: readonly number[] | undefined = document === undefined ? undefined : hit.matched
    if (document !== undefined && document.indexedLsn !== hit.lsn) {
      recheckBytes += document.json.length
      const head = view.head(plan.collection, hit.docid)
      const isLost = head === undefined || recheckBytes > FTS_RECHECK_BYTES_MAX || !mayShow(head, plan.filters, refinement)
      matched = isLost ? undefined : recheckHit(tools, view, head, expandPlan(plan, hits.expansions))
    }
    if (document === undefined || matched === undefined) dropped++
    else answer.result(document, hit.score, matched)
  }
  curated?.writeRest(answer)
  return dropped
}
