/**
 * What a search says and notes about itself: the member `searchStats` of its answer, and its count for the
 * search advisor. Neither exists with `SVC_SEARCH_STATS=false`. Read lanes.
 */
import { performance } from 'node:perf_hooks'
import type { SearchedCollection } from './context.js'

/** How often a query was asked in a collection, and what came of it. */
export interface QueryCounts {
  /** Lower case, single spaces; a long one is cut. */
  readonly query: string
  readonly count: number
  /** The number by which `count` may be too high. */
  readonly surplus: number
  /** Searches that found nothing. */
  readonly empty: number
  readonly meanMs: number
  readonly slowestMs: number
}

/** Counts searches by query: telemetry/search_counts.ts. */
export interface SearchCounter {
  /** @param isEmpty it found nothing, and no filter of the request can be the reason */
  record(collection: number, search: { readonly text: string; readonly ms: number; readonly isEmpty: boolean }): void
  /** The most frequent query first. */
  read(collection: number): readonly QueryCounts[]
}

export interface StatisticsTools {
  readonly config: { readonly searchStats: boolean }
  /** Undefined: searches are not counted. */
  readonly searches?: SearchCounter | undefined
}

/** The member `searchStats` of an answer: undefined, and so left out, if it is not shown. */
export function statsOf<Stats extends object>(isShown: boolean, stats: Stats): Stats | undefined {
  return isShown ? stats : undefined
}

/** Of a search that was answered. */
interface AnsweredSearch {
  readonly text: string
  /** By `performance.now()`. */
  readonly startedMs: number
  readonly results: number
  /** The request has filters, which may be the reason why it found nothing. */
  readonly isFiltered: boolean
}

/** Further pages are not counted: their caller shows the same search again. */
export function countSearch({ searches }: StatisticsTools, collection: SearchedCollection | undefined, search: AnsweredSearch): void {
  if (searches === undefined || collection === undefined) return
  const { text, startedMs, results, isFiltered } = search
  searches.record(collection.id, { text, ms: performance.now() - startedMs, isEmpty: results === 0 && !isFiltered })
}
