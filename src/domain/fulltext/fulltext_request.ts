/**
 * Reads a full-text request. The JSON form and the query-string form become one value with every default
 * applied, or a 400. Pure; any lane.
 */
import { resolveLanguage } from '../../engine/text/languages.js'
import { badRequest, serviceError } from '../../errors.js'
import {
  FACETS_MAX,
  FUZZY_EDITS_MAX,
  PAGE_DEPTH_MAX,
  PROXIMITY_DISTANCE_DEFAULT,
  PROXIMITY_DISTANCE_MAX,
  QUERY_BYTES_MAX,
} from '../../limits/search.js'
import type { RangesInput } from '../../operations/row/ranges.js'
import { type ParsedQuery, parseQuery } from '../query/query_mode.js'
import { readBoosts } from '../search/boosts.js'
import { type FilterInput, type Filters, parseFilters } from '../search/filters.js'
import { type HighlightInput, type HighlightRequest, readHighlight } from '../search/highlight_request.js'
import { readLimit, readOffset } from '../search/paging.js'
import { readRanges } from '../search/ranges.js'
import type { Refinement } from '../search/refinement.js'
import { readRetrieval, type Retrieval, type RetrievalInput } from '../search/retrieval.js'
import type { RetrievalProfile } from '../settings/collection_config.js'
import { resolveScoring, type Scoring } from './scoring.js'

/** Seconds. The maximum `cacheTtl`. Fixed by the contract. */
const CACHE_TTL_SECONDS_MAX = 3600

type Absent = null | undefined

/** The body or query string after validation against the operation's schema. */
export interface FulltextInput extends HighlightInput, RetrievalInput, FilterInput {
  readonly includeContent?: boolean | Absent
  readonly collection: string
  readonly query?: string | Absent
  /** `query` in the GET form. */
  readonly q?: string | Absent
  readonly mode?: string | Absent
  readonly algorithm?: string | Absent
  readonly limit?: number | Absent
  readonly lang?: string | Absent
  readonly disableStem?: boolean | Absent
  readonly disableSynonyms?: boolean | Absent
  readonly fieldWeights?: Readonly<Record<string, number>> | Absent
  readonly count?: boolean | Absent
  readonly rangeMeta?: RangesInput | Absent
  readonly boost?: Readonly<Record<string, number>> | Absent
  readonly facetBy?: readonly string[] | Absent
  readonly facetMaxValues?: number | Absent
  readonly spellCorrect?: boolean | Absent
  readonly fuzzy?: number | Absent
  readonly distance?: number | Absent
  readonly offset?: number | Absent
  readonly explain?: boolean | Absent
  readonly cacheTtl?: number | Absent
}

export interface FulltextDefaults {
  readonly ftsDefaultLang: string
  readonly ftsStemming: boolean
  readonly ftsSynonyms: boolean
}

export interface FulltextRequest {
  readonly collection: string
  /** The query as written. */
  readonly text: string
  readonly query: ParsedQuery
  /** Mode, edits and distance as requested: how a text becomes a query. */
  readonly syntax: string
  /** Parses another query text with the options of this request. */
  readonly parse: (text: string) => ParsedQuery
  /** The query before spelling correction. Undefined if it was not corrected. */
  readonly correctedFrom: string | undefined
  readonly scoring: Scoring
  readonly limit: number
  /** Number of results to skip. */
  readonly offset: number
  /** Each result includes an explanation of its score. */
  readonly explain: boolean
  /** Seconds for which the answer may be served from the cache. 0: not cached. */
  readonly cacheSeconds: number
  /** Base code of the language that the query is analysed in. */
  readonly language: string
  readonly stem: boolean
  /** The query is expanded with the synonyms of the collection. */
  readonly synonyms: boolean
  /** Misspelled words are corrected. Undefined: the collection's setting applies. */
  readonly spellCorrect: boolean | undefined
  readonly filters: Filters
  readonly refinement: Refinement
  /** The number of all matches is requested. This prevents early termination in the engine. */
  readonly count: boolean
  /** Names as requested. Undefined if no facets are requested. */
  readonly facetBy: readonly string[] | undefined
  /** Maximum number of values per facet. */
  readonly facetValuesMax: number
  /** The part of its document that a result shows. */
  readonly retrieval: Retrieval
  /** Results include the whole document in addition to the passage. */
  readonly withContent: boolean
  /** Undefined if no highlights are requested. */
  readonly highlight: HighlightRequest | undefined
  /** Token budget for the content of all results together. Undefined: no cap. */
  readonly contextTokensMax: number | undefined
}

const META_PREFIX = 'meta.'

/** @param profile of the collection: supplies the values that the request does not set */
export function readRequest(input: FulltextInput, defaults: FulltextDefaults, profile: RetrievalProfile = {}): FulltextRequest {
  const text = input.query ?? input.q ?? ''
  if (input.collection === '' || text === '') throw serviceError('missingFields')
  const bytes = Buffer.byteLength(text)
  if (bytes > QUERY_BYTES_MAX) throw badRequest(`query too long: ${bytes} bytes, at most ${QUERY_BYTES_MAX}`)
  const fuzzy = readWhole('fuzzy', input.fuzzy, FUZZY_EDITS_MAX)
  const distance = Math.min(readWhole('distance', input.distance) || PROXIMITY_DISTANCE_DEFAULT, PROXIMITY_DISTANCE_MAX)
  const limit = readLimit(input.limit, profile.topK)
  const mode = input.mode ?? undefined
  const parse = (other: string): ParsedQuery => parseQuery(other, mode, { fuzzy, distance })
  return {
    collection: input.collection,
    text,
    query: parse(text),
    syntax: `${mode} ${fuzzy} ${distance}`,
    parse,
    correctedFrom: undefined,
    scoring: resolveScoring(input.algorithm ?? undefined, input.fieldWeights ?? undefined),
    limit,
    offset: readDepth(input.offset, limit),
    explain: input.explain === true,
    cacheSeconds: Math.min(readWhole('cacheTtl', input.cacheTtl), CACHE_TTL_SECONDS_MAX),
    language: resolveLanguage(input.lang ?? defaults.ftsDefaultLang, defaults.ftsDefaultLang),
    stem: defaults.ftsStemming && input.disableStem !== true,
    synonyms: defaults.ftsSynonyms && input.disableSynonyms !== true,
    spellCorrect: input.spellCorrect ?? undefined,
    filters: readFilters(input),
    refinement: { ranges: readRanges(input.rangeMeta), boosts: readBoosts(input.boost) },
    count: input.count === true,
    facetBy: readFacets(input.facetBy),
    facetValuesMax: readFacetMax(input.facetMaxValues),
    retrieval: readRetrieval(input, profile),
    withContent: input.includeContent === true,
    highlight: readHighlight(input),
    contextTokensMax: profile.contextTokenBudget || undefined,
  }
}

/**
 * AND between keys, OR between the values of a key. `meta.<key>` parameters of the query string are added to
 * `filterMeta`.
 */
function readFilters(input: FulltextInput): Filters {
  const parameters = Object.entries(input).filter(([name]) => name.startsWith(META_PREFIX))
  if (parameters.length === 0) return parseFilters(input)
  const filters = new Map<string, string[]>()
  for (const [key, values] of Object.entries(input.filterMeta ?? {})) filters.set(key, [...values])
  for (const [name, value] of parameters) {
    if (value === null || value === undefined) continue
    const key = name.slice(META_PREFIX.length)
    const values: unknown[] = Array.isArray(value) ? value : [value]
    if (!values.every((item) => typeof item === 'string')) throw badRequest(`invalid ${name}`)
    filters.set(key, [...(filters.get(key) ?? []), ...values])
  }
  return parseFilters({ filterMeta: Object.fromEntries(filters), hasMeta: input.hasMeta })
}

function readFacets(names: readonly string[] | Absent): readonly string[] | undefined {
  if (!names || names.length === 0) return undefined
  if (names.length > FACETS_MAX) throw badRequest(`invalid facetBy: ${names.length} fields, at most ${FACETS_MAX} are allowed`)
  if (names.includes('')) throw badRequest('invalid facetBy: a name is empty')
  return [...new Set(names)]
}

function readFacetMax(values: number | Absent): number {
  const wanted = values ?? 0
  if (!Number.isInteger(wanted) || wanted < 0) throw badRequest('invalid facetMaxValues')
  return wanted === 0 ? Number.POSITIVE_INFINITY : wanted
}

function readDepth(offset: number | Absent, limit: number): number {
  const wanted = readOffset(offset)
  if (wanted + limit > PAGE_DEPTH_MAX) throw badRequest(`invalid offset: offset + limit is at most ${PAGE_DEPTH_MAX}`)
  return wanted
}

/** Reads a non-negative integer; absent: 0. @throws ServiceError 400 above `most` */
function readWhole(name: string, value: number | Absent, most = Number.MAX_SAFE_INTEGER): number {
  const number = value ?? 0
  if (!Number.isInteger(number) || number < 0) throw badRequest(`invalid ${name}`)
  if (number > most) throw badRequest(`invalid ${name}: at most ${most}`)
  return number
}
