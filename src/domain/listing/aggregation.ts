/**
 * Counts over a whole collection: values of metadata keys, and documents by day, week, month or year of a
 * time. The engine counts. This class reads the request and names the buckets: days are UTC, weeks begin on
 * Monday and are numbered as in ISO 8601. Shapes: service-1, `/v1/aggregate`; rules: algorithms.md, section
 * 10. One per request; any lane.
 */
import type { Aggregated, AggregationRequest, TimeInterval } from '../../engine/types.js'
import { badRequest } from '../../errors.js'
import { META_KEY_BYTES_MAX } from '../../limits/documents.js'
import { FACETS_MAX, LIMIT_MAX } from '../../limits/search.js'
import type { FacetBucket } from '../search/facets.js'
import { type FilterInput, type Filters, parseFilters } from '../search/filters.js'
import { bucketEnd, bucketKey } from '../temporal/time_buckets.js'

/** Default `maxFacetSize`. */
const FACET_SIZE_DEFAULT = 50
/** Distinct values that one aggregation counts, over all its facets: 0.1 s. */
const FACET_VALUES_COUNTED_MAX = 1_000_000

const INTERVALS: readonly TimeInterval[] = ['day', 'week', 'month', 'year']
type TimeField = 'addedAt' | 'updatedAt'

interface AggregationInput extends FilterInput {
  readonly facets?: readonly { readonly field?: string; readonly orderBy?: string }[]
  readonly histograms?: readonly { readonly field?: string; readonly interval?: string }[]
  readonly maxFacetSize?: number
}

interface Facet {
  /** As requested. */
  readonly field: string
  readonly key: string
  readonly byValue: boolean
}

interface Histogram {
  readonly field: TimeField
  readonly interval: TimeInterval
}

export interface HistogramBucket {
  readonly key: string
  /** Unix seconds. `to` is the first second after the bucket. */
  readonly from: number
  readonly to: number
  readonly count: number
}

interface AggregationResult {
  readonly totalDocs: number
  readonly facets: Readonly<Record<string, readonly FacetBucket[]>>
  readonly histograms: Readonly<Record<string, readonly HistogramBucket[]>>
}

const META_PREFIX = 'meta.'

export class Aggregation {
  readonly #filters: Filters
  readonly #facets: readonly Facet[]
  readonly #histograms: readonly Histogram[]
  readonly #facetSizeMax: number

  /** @throws ServiceError 400 */
  constructor(input: AggregationInput) {
    this.#filters = parseFilters(input)
    this.#facets = distinct('facets', (input.facets ?? []).map(readFacet))
    this.#histograms = distinct('histograms', (input.histograms ?? []).map(readHistogram))
    this.#facetSizeMax = readFacetSize(input.maxFacetSize)
  }

  /** @param absent docids that are no longer counted */
  request(collection: number, absent: readonly number[]): AggregationRequest {
    return {
      collection,
      filters: this.#filters,
      facets: this.#facets,
      histograms: this.#histograms,
      facetSizeMax: this.#facetSizeMax,
      valuesMax: FACET_VALUES_COUNTED_MAX,
      absent,
    }
  }

  /**
   * @param counted undefined if the collection does not exist
   * @throws ServiceError 400 if there are too many values to count
   */
  result(counted: Aggregated | undefined): AggregationResult {
    if (counted?.isCut === true) throw badRequest(`too many values to count: more than ${FACET_VALUES_COUNTED_MAX}, please use filterMeta`)
    const facets = this.#facets.map(({ field }, index) => {
      return [field, (counted?.facets[index] ?? []).map(([value, count]) => ({ value, count }))] as const
    })
    const histograms = this.#histograms.map(({ field, interval }, index) => {
      return [field, (counted?.histograms[index] ?? []).map(([from, count]) => bucketOf(from, count, interval))] as const
    })
    return { totalDocs: counted?.documents ?? 0, facets: Object.fromEntries(facets), histograms: Object.fromEntries(histograms) }
  }
}

function readFacet({ field = '', orderBy = 'count' }: NonNullable<AggregationInput['facets']>[number]): Facet {
  const key = field.startsWith(META_PREFIX) ? field.slice(META_PREFIX.length) : field
  if (key === '') throw badRequest('invalid facets: a field is empty')
  if (Buffer.byteLength(key) > META_KEY_BYTES_MAX) throw badRequest(`invalid facets: a field of more than ${META_KEY_BYTES_MAX} bytes`)
  if (orderBy !== 'count' && orderBy !== 'value') throw badRequest('invalid orderBy: must be count or value')
  return { field, key, byValue: orderBy === 'value' }
}

function readHistogram({ field = '', interval = 'month' }: NonNullable<AggregationInput['histograms']>[number]): Histogram {
  if (field !== 'addedAt' && field !== 'updatedAt') throw badRequest('invalid histograms: field must be addedAt or updatedAt')
  const known = INTERVALS.find((name) => name === interval)
  if (known === undefined) throw badRequest('invalid interval: must be day, week, month, or year')
  return { field, interval: known }
}

/** Fields must be distinct, because the answer has one list per field. */
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

function bucketOf(from: number, count: number, interval: TimeInterval): HistogramBucket {
  return { key: bucketKey(from, interval), from, to: bucketEnd(from, interval), count }
}
