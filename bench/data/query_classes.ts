/**
 * The query classes of queries/md.json as requests of this service and as plans of its planner. All benches
 * use the same meaning: words are OR, phrases are one phrase, operators mean what they say; BM25 over the
 * content, as the peers score.
 */
import { readFileSync } from 'node:fs'
import { readRequest } from '../../src/domain/fulltext/fulltext_request.js'
import { planSearch } from '../../src/domain/fulltext/fulltext_search.js'
import { planQuery } from '../../src/domain/fulltext/query_plan.js'
import { NO_SETTINGS } from '../../src/domain/settings/collection_settings.js'
import { queryWords } from '../../src/domain/words/query_words.js'
import type { Analyzer, SearchPlan } from '../../src/engine/types.js'
import { sharedPath } from './corpora.js'
import type { SearchRequest } from './fulltext_client.js'

/** The classes that this version supports, in the order of the tables. */
export const CLASSES = [
  'term_high',
  'term_mid',
  'term_low',
  'title',
  'nl',
  'or2',
  'or2_high',
  'and2',
  'bool3',
  'phrase2',
  'phrase3',
  'fuzzy1',
  'fuzzy2',
  'wild',
] as const

export type QueryClass = (typeof CLASSES)[number]
export type QueriesByClass = Readonly<Record<QueryClass, readonly string[]>>

/** Number of edits of the misspelt-word classes; every character of a word may be edited. */
const EDITS: Partial<Readonly<Record<QueryClass, number>>> = { fuzzy1: 1, fuzzy2: 2 }

const LIMIT = 10
const DEFAULTS = { ftsDefaultLang: 'en', ftsStemming: true, ftsSynonyms: true }

export function queriesPath(): string {
  return sharedPath('corpora/queries/md.json')
}

/** The class `fuzzy2` uses the words of `fuzzy1`. */
export function readQueries(): QueriesByClass {
  const read = JSON.parse(readFileSync(queriesPath(), 'utf8')) as QueriesByClass
  return { ...read, fuzzy2: read.fuzzy1 }
}

/** The body of `/v1/fts` for a query of the class. */
export function requestOf(collection: string, kind: QueryClass, query: string): SearchRequest & { readonly collection: string } {
  const base = { collection, limit: LIMIT, algorithm: 'bm25' }
  if (kind === 'phrase2' || kind === 'phrase3') return { ...base, mode: 'phrase', query: `"${query}"` }
  if (kind === 'and2' || kind === 'bool3') return { ...base, mode: 'boolean', query }
  if (kind === 'wild') return { ...base, mode: 'wildcard', query }
  return { ...base, mode: 'simple', fuzzy: EDITS[kind] ?? 0, query: query.replace(/[^\p{L}\p{N}\s]+/gu, ' ') }
}

/**
 * The service's plan, but for exactly ten hits. The service requests some more, to replace documents that are
 * deleted meanwhile.
 */
export function planOf(analyzer: Analyzer, collection: number, kind: QueryClass, query: string, count: boolean): SearchPlan {
  const request = readRequest({ ...requestOf('bench', kind, query), count }, DEFAULTS)
  return {
    ...planSearch(request, planQuery(request.query, queryWords(analyzer, NO_SETTINGS, request), request.scoring), collection),
    k: LIMIT,
  }
}
