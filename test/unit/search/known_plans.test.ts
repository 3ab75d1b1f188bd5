/** Plans of queries that were analysed lately: which readings of a text share one. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type FulltextInput, readRequest } from '../../../src/domain/fulltext/fulltext_request.js'
import {
  KnownPlans,
  PLAN_CACHED_TERMS_MAX,
  PLAN_CACHED_TEXT_CHARS_MAX,
  PLANS_CACHED_MAX,
} from '../../../src/domain/fulltext/known_plans.js'
import type { QueryPlan } from '../../../src/domain/fulltext/query_plan.js'
import { NO_SETTINGS } from '../../../src/domain/settings/collection_settings.js'

const DEFAULTS = { ftsDefaultLang: 'en', ftsStemming: true, ftsSynonyms: true }

class Asked {
  readonly plans = new KnownPlans()
  made = 0
  /** Of the plans that are made. */
  leaves = 2

  of(input: Partial<FulltextInput>, settings = NO_SETTINGS): QueryPlan {
    const reading = readRequest({ collection: 'c', query: 'some words', ...input }, DEFAULTS)
    return this.plans.of(settings, reading, () => ({ made: ++this.made, leaves: this.leaves }) as unknown as QueryPlan)
  }
}

it('a query that is read the same way has the plan that was made for it', () => {
  const asked = new Asked()
  const plan = asked.of({})
  for (const input of [{}, { collection: 'other' }, { limit: 3, offset: 2 }, { filterMeta: { a: ['b'] } }, { mode: undefined }])
    assert.equal(asked.of(input), plan)
  assert.equal(asked.made, 1)
})

it('every difference that changes a plan has a plan of its own', () => {
  const asked = new Asked()
  const readings: readonly Partial<FulltextInput>[] = [
    {},
    { query: 'other words' },
    { mode: 'boolean' },
    { mode: 'simple' },
    { mode: 'simple', fuzzy: 1 },
    { mode: 'proximity', query: '"some words"', distance: 3 },
    { mode: 'proximity', query: '"some words"', distance: 4 },
    { algorithm: 'bm25' },
    { algorithm: 'bm25f' },
    { algorithm: 'bm25f', fieldWeights: { title: 2 } },
    { algorithm: 'bm25f', fieldWeights: { title: 3 } },
    { lang: 'de' },
    { disableStem: true },
    { disableSynonyms: true },
  ]
  const plans = new Set(readings.map((reading) => asked.of(reading)))
  assert.equal(plans.size, readings.length)
  assert.equal(asked.made, readings.length)
  assert.notEqual(asked.of({}, { ...NO_SETTINGS, lsn: 1n }), asked.of({}))
})

it('long queries and large plans are not kept, and others only up to the bound', () => {
  const asked = new Asked()
  const long = 'x'.repeat(PLAN_CACHED_TEXT_CHARS_MAX + 1)
  assert.notEqual(asked.of({ query: long }), asked.of({ query: long }))
  asked.leaves = PLAN_CACHED_TERMS_MAX + 1
  assert.notEqual(asked.of({ query: 'of many synonyms' }), asked.of({ query: 'of many synonyms' }))
  asked.leaves = PLAN_CACHED_TERMS_MAX
  const first = asked.of({ query: 'first' })
  assert.equal(asked.of({ query: 'first' }), first)
  for (let query = 0; query < 2 * PLANS_CACHED_MAX; query++) asked.of({ query: `q${query}` })
  assert.notEqual(asked.of({ query: 'first' }), first)
})
