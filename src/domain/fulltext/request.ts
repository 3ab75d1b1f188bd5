/**
 * Reads a full-text request: the JSON form and the query-string form become one value with every default applied, or a 400. Pure; any lane.
 */
import { resolveLanguage } from '../../engine/languages.js'
import { badRequest, serviceError } from '../../errors.js'
import { QUERY_BYTES_MAX } from '../../limits.js'
import { type Filters, parseFilters } from '../filters.js'
import { readLimit } from '../paging.js'
import { type ParsedQuery, parseQuery } from './query_mode.js'
import { resolveScoring, type Scoring } from './scoring.js'

type Absent = null | undefined

/** The body or query string after validation by the operation's schema; fields of later versions are looked at in `refuseLaterFeatures`. */
export interface FulltextInput {
  readonly collection: string
  readonly query?: string | Absent
  /** `query` in the GET form. */
  readonly q?: string | Absent
  readonly mode?: string | Absent
  readonly algorithm?: string | Absent
  readonly limit?: number | Absent
  readonly lang?: string | Absent
  readonly disableStem?: boolean | Absent
  readonly fieldWeights?: Readonly<Record<string, number>> | Absent
  readonly filterMeta?: Readonly<Record<string, readonly string[]>> | Absent
  readonly count?: boolean | Absent
}

export interface FulltextDefaults {
  readonly ftsDefaultLang: string
  readonly ftsStemming: boolean
}

export interface FulltextRequest {
  readonly collection: string
  readonly query: ParsedQuery
  readonly scoring: Scoring
  readonly limit: number
  /** Base code of the language that the query is analysed in. */
  readonly language: string
  readonly stem: boolean
  readonly filters: Filters
  /** The number of all matches is wanted, which keeps the engine from stopping early. */
  readonly count: boolean
}

const META_PREFIX = 'meta.'

export function readRequest(input: FulltextInput, defaults: FulltextDefaults): FulltextRequest {
  const text = input.query ?? input.q ?? ''
  if (input.collection === '' || text === '') throw serviceError('missingFields')
  const bytes = Buffer.byteLength(text)
  if (bytes > QUERY_BYTES_MAX) throw badRequest(`query too long: ${bytes} bytes, at most ${QUERY_BYTES_MAX}`)
  refuseLaterFeatures(input)
  return {
    collection: input.collection,
    query: parseQuery(text, input.mode ?? undefined),
    scoring: resolveScoring(input.algorithm ?? undefined, input.fieldWeights ?? undefined),
    limit: readLimit(input.limit),
    language: resolveLanguage(input.lang ?? defaults.ftsDefaultLang, defaults.ftsDefaultLang),
    stem: defaults.ftsStemming && input.disableStem !== true,
    filters: readFilters(input),
    count: input.count === true,
  }
}

/** AND between keys, OR between the values of a key. `meta.<key>` parameters of the query string say the same as `filterMeta` and come on top of it. */
function readFilters(input: FulltextInput): Filters {
  const filters = new Map<string, string[]>()
  for (const [key, values] of Object.entries(input.filterMeta ?? {})) filters.set(key, [...values])
  for (const [name, value] of Object.entries(input)) {
    if (!name.startsWith(META_PREFIX) || value === null || value === undefined) continue
    const key = name.slice(META_PREFIX.length)
    const values: unknown[] = Array.isArray(value) ? value : [value]
    if (!values.every((item) => typeof item === 'string')) throw badRequest(`invalid ${name}`)
    filters.set(key, [...(filters.get(key) ?? []), ...values])
  }
  return parseFilters(Object.fromEntries(filters))
}

/** What this version can't do and would change the answer is refused, never passed over: an ignored range would find too much, an ignored boost would order wrongly. */
function refuseLaterFeatures(input: FulltextInput): void {
  const asked = input as unknown as Readonly<Record<string, unknown>>
  for (const name of ['rangeMeta', 'boost', 'facetBy', 'highlight', 'fuzzy']) {
    if (isAsked(asked[name])) throw badRequest(`not available yet: ${name}`)
  }
}

function isAsked(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0
  return value !== undefined && value !== null && value !== false && value !== 0 && value !== ''
}
