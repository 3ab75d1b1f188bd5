/**
 * Counts over a whole collection: values of metadata keys, and documents by day, week, month or year of a time. Days are UTC, weeks begin on Monday and are numbered as ISO 8601 does.
 * Shapes: service-1, `/v1/aggregate`; rules: algorithms.md, section 10. One per request; any lane.
 */
import { badRequest } from '../errors.js'
import {
  FACET_SIZE_DEFAULT,
  FACETS_MAX,
  FACET_VALUES_COUNTED_MAX,
  HISTOGRAM_BUCKETS_MAX,
  LIMIT_MAX,
  META_KEY_BYTES_MAX,
} from '../limits.js'
import { textOfHead } from '../store/head.js'
import type { Head } from '../store/head.js'
import type { Filters } from './filters.js'
import { parseFilters } from './filters.js'
import { bucketsOf, type FacetBucket } from './fulltext/facets.js'
import { passesFilter } from './metadata.js'

const INTERVALS = ['day', 'week', 'month', 'year'] as const
type Interval = (typeof INTERVALS)[number]
type TimeField = 'addedAt' | 'updatedAt'

export interface AggregationInput {
  readonly filterMeta?: Readonly<Record<string, readonly string[]>>
  readonly facets?: readonly { readonly field?: string; readonly orderBy?: string }[]
  readonly histograms?: readonly { readonly field?: string; readonly interval?: string }[]
  readonly maxFacetSize?: number
}

interface Facet {
  /** As asked. */
  readonly field: string
  readonly key: string
  readonly byValue: boolean
  readonly counts: Map<string, number>
}

interface Histogram {
  readonly field: TimeField
  readonly interval: Interval
  /** By the first second of the bucket. */
  readonly counts: Map<number, number>
}

export interface HistogramBucket {
  readonly key: string
  /** Unix seconds; `to` is the first second behind. */
  readonly from: number
  readonly to: number
  readonly count: number
}

export interface AggregationResult {
  readonly totalDocs: number
  readonly facets: Readonly<Record<string, readonly FacetBucket[]>>
  readonly histograms: Readonly<Record<string, readonly HistogramBucket[]>>
}

const META_PREFIX = 'meta.'
const DAY_SECONDS = 86_400

export class Aggregation {
  readonly #filters: Filters
  readonly #facets: readonly Facet[]
  readonly #histograms: readonly Histogram[]
  readonly #facetSizeMax: number
  #documents = 0
  #values = 0

  /** @throws ServiceError 400 */
  constructor(input: AggregationInput) {
    this.#filters = parseFilters(input.filterMeta)
    this.#facets = distinct('facets', (input.facets ?? []).map(readFacet))
    this.#histograms = distinct('histograms', (input.histograms ?? []).map(readHistogram))
    this.#facetSizeMax = readFacetSize(input.maxFacetSize)
  }

  /** Counts a document unless the filter forbids it. @throws ServiceError 400 where there are too many values to count */
  add(head: Head): void {
    if (this.#facets.length > 0 || this.#filters.length > 0) {
      const { metaValues } = textOfHead(head)
      if (!passesFilter(metaValues, this.#filters)) return
      for (const facet of this.#facets) this.#count(facet, Object.hasOwn(metaValues, facet.key) ? (metaValues[facet.key] ?? []) : [])
    }
    this.#documents++
    for (const { field, interval, counts } of this.#histograms) {
      const from = bucketStart(head[field], interval)
      counts.set(from, (counts.get(from) ?? 0) + 1)
    }
  }

  #count({ counts }: Facet, values: readonly string[]): void {
    for (const value of new Set(values)) {
      const known = counts.get(value)
      if (known === undefined && ++this.#values > FACET_VALUES_COUNTED_MAX)
        throw badRequest(`too many values to count: more than ${FACET_VALUES_COUNTED_MAX}, please use filterMeta`)
      counts.set(value, (known ?? 0) + 1)
    }
  }

  result(): AggregationResult {
    const facets = this.#facets.map(({ field, byValue, counts }) => {
      const buckets = bucketsOf(counts)
      if (byValue) buckets.sort((one, other) => (one.value < other.value ? -1 : 1))
      return [field, buckets.slice(0, this.#facetSizeMax)] as const
    })
    const histograms = this.#histograms.map(({ field, interval, counts }) => [field, timeBuckets(counts, interval)] as const)
    return { totalDocs: this.#documents, facets: Object.fromEntries(facets), histograms: Object.fromEntries(histograms) }
  }
}

function readFacet({ field = '', orderBy = 'count' }: NonNullable<AggregationInput['facets']>[number]): Facet {
  const key = field.startsWith(META_PREFIX) ? field.slice(META_PREFIX.length) : field
  if (key === '') throw badRequest('invalid facets: a field is empty')
  if (Buffer.byteLength(key) > META_KEY_BYTES_MAX) throw badRequest(`invalid facets: a field of more than ${META_KEY_BYTES_MAX} bytes`)
  if (orderBy !== 'count' && orderBy !== 'value') throw badRequest('invalid orderBy: must be count or value')
  return { field, key, byValue: orderBy === 'value', counts: new Map() }
}

function readHistogram({ field = '', interval = 'month' }: NonNullable<AggregationInput['histograms']>[number]): Histogram {
  if (field !== 'addedAt' && field !== 'updatedAt') throw badRequest('invalid histograms: field must be addedAt or updatedAt')
  const known = INTERVALS.find((name) => name === interval)
  if (known === undefined) throw badRequest('invalid interval: must be day, week, month, or year')
  return { field, interval: known, counts: new Map() }
}

/** The answer has one list a field. */
function distinct<Of extends { readonly field: string }>(name: string, asked: readonly Of[]): readonly Of[] {
  if (asked.length > FACETS_MAX) throw badRequest(`invalid ${name}: ${asked.length}, at most ${FACETS_MAX} are allowed`)
  const twice = asked.find(({ field }, index) => asked.findIndex((other) => other.field === field) !== index)
  if (twice !== undefined) throw badRequest(`invalid ${name}: ${twice.field} is asked for twice`)
  return asked
}

function readFacetSize(size = 0): number {
  if (!Number.isInteger(size) || size < 0) throw badRequest('invalid maxFacetSize')
  return size === 0 ? FACET_SIZE_DEFAULT : Math.min(size, LIMIT_MAX)
}

/** In time order, empty ones left out; of more than the bound the newest. */
function timeBuckets(counts: ReadonlyMap<number, number>, interval: Interval): HistogramBucket[] {
  return [...counts]
    .sort(([one], [other]) => one - other)
    .slice(-HISTOGRAM_BUCKETS_MAX)
    .map(([from, count]) => ({ key: bucketKey(from, interval), from, to: bucketEnd(from, interval), count }))
}

function bucketStart(seconds: number, interval: Interval): number {
  const day = Math.floor(seconds / DAY_SECONDS)
  if (interval === 'day') return day * DAY_SECONDS
  // Day 0 was a Thursday.
  if (interval === 'week') return (day - ((((day + 3) % 7) + 7) % 7)) * DAY_SECONDS
  const date = new Date(day * DAY_SECONDS * 1000)
  return utcSeconds(date.getUTCFullYear(), interval === 'year' ? 0 : date.getUTCMonth())
}

function bucketEnd(from: number, interval: Interval): number {
  if (interval === 'day') return from + DAY_SECONDS
  if (interval === 'week') return from + 7 * DAY_SECONDS
  const date = new Date(from * 1000)
  return interval === 'year' ? utcSeconds(date.getUTCFullYear() + 1, 0) : utcSeconds(date.getUTCFullYear(), date.getUTCMonth() + 1)
}

function utcSeconds(year: number, month: number): number {
  return Date.UTC(year, month) / 1000
}

/** `2024-01-31`, `2024-W05`, `2024-01`, `2024`. */
function bucketKey(from: number, interval: Interval): string {
  const date = new Date(from * 1000)
  if (interval === 'day') return date.toISOString().slice(0, 10)
  if (interval === 'month') return date.toISOString().slice(0, 7)
  if (interval === 'year') return date.toISOString().slice(0, 4)
  // A week belongs to the year of its Thursday.
  const thursday = from + 3 * DAY_SECONDS
  const year = new Date(thursday * 1000).getUTCFullYear()
  const week = Math.floor((thursday - utcSeconds(year, 0)) / (7 * DAY_SECONDS)) + 1
  return `${year}-W${String(week).padStart(2, '0')}`
}
