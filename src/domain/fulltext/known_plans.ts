/**
 * The plans of queries that were analysed lately. A plan depends on nothing but the query's text, how it is
 * read and the settings of its collection, so it is valid as long as they are. One per lane. Lane threads
 * only.
 */
import { PLANS_CACHED_MAX, PLAN_CACHED_TEXT_CHARS_MAX } from '../../limits/fulltext.js'
import type { CollectionSettings } from '../settings/collection_settings.js'
import type { FulltextRequest } from './fulltext_request.js'
import type { QueryPlan } from './query_plan.js'

type Reading = Pick<FulltextRequest, 'text' | 'syntax' | 'scoring' | 'language' | 'stem' | 'synonyms'>

export class KnownPlans {
  // Two halves, as in the cache of documents: the old half is evicted when the young one is full.
  #young = new Map<string, readonly [CollectionSettings, QueryPlan]>()
  #old = new Map<string, readonly [CollectionSettings, QueryPlan]>()

  /** @param make reads the query; what it throws is not kept */
  of(settings: CollectionSettings, reading: Reading, make: () => QueryPlan): QueryPlan {
    if (reading.text.length > PLAN_CACHED_TEXT_CHARS_MAX) return make()
    const name = nameOf(reading)
    const known = this.#young.get(name) ?? this.#old.get(name)
    if (known?.[0] === settings) return known[1]
    const plan = make()
    this.#young.set(name, [settings, plan])
    if (this.#young.size > PLANS_CACHED_MAX / 2) {
      this.#old = this.#young
      this.#young = new Map()
    }
    return plan
  }
}

/** Distinct for distinct readings: only the text, which is last, may contain a separator. */
function nameOf({ text, syntax, scoring, language, stem, synonyms }: Reading): string {
  const fields = scoring.algorithm === 'bm25f' ? JSON.stringify(scoring.fields) : ''
  return `${syntax}\n${scoring.algorithm}\n${fields}\n${language}\n${stem}\n${synonyms}\n${text}`
}
