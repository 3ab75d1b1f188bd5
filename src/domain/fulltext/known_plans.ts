/**
 * The plans of queries that were analysed lately. A plan depends on nothing but the query's text, how it is
 * read and the settings of its collection, so it is valid as long as they are. One per lane and store. Lane
 * threads only.
 */
import type { FulltextRequest } from './fulltext_request.js'
import type { QueryPlan } from './query_plan.js'

/** Queries whose plan a lane keeps. A plan of three words takes 1 KB, one of sixty 10 KB. */
export const PLANS_CACHED_MAX = 1024
/** The plans of longer queries are not kept: they are larger, and hardly ever asked twice. */
export const PLAN_CACHED_TEXT_CHARS_MAX = 256
/** The plans of more terms are not kept either: synonyms make plans of hundreds of KB from short queries. */
export const PLAN_CACHED_TERMS_MAX = 64

type Reading = Pick<FulltextRequest, 'text' | 'syntax' | 'scoring' | 'language' | 'stem' | 'synonyms'>

export class KnownPlans {
  // Two halves, as in the cache of documents: the old half is evicted when the young one is full.
  #young = new Map<string, QueryPlan>()
  #old = new Map<string, QueryPlan>()

  /**
   * @param settings of the collection. The LSN of their last change names them: 0 those of every collection
   * that has none. They are not kept themselves, because old ones may be large
   * @param make reads the query; what it throws is not kept
   */
  of(settings: { readonly lsn: bigint }, reading: Reading, make: () => QueryPlan): QueryPlan {
    if (reading.text.length > PLAN_CACHED_TEXT_CHARS_MAX) return make()
    const name = nameOf(settings.lsn, reading)
    const known = this.#young.get(name) ?? this.#old.get(name)
    if (known !== undefined) return known
    const plan = make()
    if (plan.leaves <= PLAN_CACHED_TERMS_MAX) this.#keep(name, plan)
    return plan
  }

  #keep(name: string, plan: QueryPlan): void {
    this.#young.set(name, plan)
    if (this.#young.size <= PLANS_CACHED_MAX / 2) return
    this.#old = this.#young
    this.#young = new Map()
  }
}

/** Distinct for distinct readings: only the text, which is last, may contain a separator. */
function nameOf(lsn: bigint, { text, syntax, scoring, language, stem, synonyms }: Reading): string {
  const fields = scoring.algorithm === 'bm25f' ? JSON.stringify(scoring.fields) : ''
  return `${lsn}\n${syntax}\n${scoring.algorithm}\n${fields}\n${language}\n${stem}\n${synonyms}\n${text}`
}
