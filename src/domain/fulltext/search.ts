/**
 * One full-text search. Two snapshots take part: the engine's is taken first, the store's after it, so that every hit is at least as old as what is read here. A hit whose document
 * has another state since is looked at again; one that is gone or matches no more is left out, and where that leaves a gap the search is repeated on newer snapshots, a bounded number of times.
 * Read lanes.
 */
import { performance } from 'node:perf_hooks'
import type { Hits, SearchEngine, SearchPlan, StopWord } from '../../engine/types.js'
import { badRequest, serviceError } from '../../errors.js'
import {
  CACHED_PAGE_DOCUMENTS_MAX,
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
import { expandPlan } from '../../engine/expanded_plan.js'
import type { PreparationTools } from '../preparation.js'
import { planQuery, type QueryPlan } from './query_plan.js'
import { recheckHit } from './recheck.js'
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

/** Returns the answer's JSON, a view of `tools.out`. Throws `deadline` when it was stopped, a 400 when the query is more than the engine takes. */
export function searchFulltext(tools: FulltextTools, request: FulltextRequest, stop: Stop): Uint8Array {
  const startedMs = performance.now()
  const options = { language: request.language, stem: request.stem, markdown: false }
  const query = planQuery(request.query, (text) => tools.analyzer.tokenize(text, options))
  const collection = tools.store.read((view) => view.collection(request.collection))
  const answer = new AnswerWriter(request, query, tools.out)
  if (collection === undefined) return answer.finish({ documents: 0, matches: 0, durationMs: performance.now() - startedMs })
  const found = findResults(tools, planSearch(request, query, collection.id), request.limit, answer, stop)
  return answer.finish({ ...found, durationMs: performance.now() - startedMs })
}

/** What the engine is asked for a request. Also how the benches ask it, so that they ask what the service asks. Throws a 400 when the query is more than the engine takes. */
export function planSearch(request: FulltextRequest, query: QueryPlan, collection: number): SearchPlan {
  const { algorithm, k1, b, fields } = request.scoring
  if (query.tokens * fields.length > PLAN_CURSORS_MAX) throw badRequest(`query too long: ${query.tokens} terms in ${fields.length} fields`)
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

/** Fills the answer. What it returns describes the last snapshot searched. */
function findResults(tools: FulltextTools, first: SearchPlan, limit: number, answer: AnswerWriter, stop: Stop): Found {
  let plan = first
  for (let round = 1; ; round++) {
    const hits = tools.engine.search(plan, stop.stopWord)
    if (!hits.complete || stop.shouldStop()) throw serviceError('deadline')
    const dropped = tools.store.read((view) => writeResults(tools, view, plan, hits, limit, answer, stop))
    const exhausted = answer.count === limit || hits.hits.length < plan.k
    if (exhausted || round === FTS_SEARCH_ROUNDS_MAX)
      return { documents: hits.docCount, matches: Math.max(answer.count, hits.total - dropped) }
    answer.restart()
    plan = { ...plan, k: plan.k * 2 }
  }
}

/** Writes results until there are enough. Returns how many hits were left out. */
function writeResults(
  tools: FulltextTools,
  view: View,
  plan: SearchPlan,
  hits: Hits,
  limit: number,
  answer: AnswerWriter,
  stop: Stop,
): number {
  let dropped = 0
  let looked = 0
  let recheckBytes = 0
  for (const hit of hits.hits) {
    if (answer.count === limit) break
    if (++looked % FTS_POLL_RESULTS === 0 && stop.shouldStop()) throw serviceError('deadline')
    const document = view.document(plan.collection, hit.docid, limit <= CACHED_PAGE_DOCUMENTS_MAX)
    let matched: readonly number[] | undefined = document === undefined ? undefined : hit.matched
    if (document !== undefined && document.indexedLsn !== hit.lsn) {
      recheckBytes += document.json.length
      const head = view.head(plan.collection, hit.docid)
      matched =
        head === undefined || recheckBytes > FTS_RECHECK_BYTES_MAX
          ? undefined
          : recheckHit(tools, view, head, expandPlan(plan, hits.expansions))
    }
    if (document === undefined || matched === undefined) dropped++
    else answer.result(document, hit.score, matched)
  }
  return dropped
}
