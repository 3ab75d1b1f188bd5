/**
 * Reads a full-text request: the JSON form and the query-string form become one value with every default
 * applied, or a 400. Pure; any lane.
 */
import { resolveLanguage } from '../../engine/languages.js'
import { badRequest, serviceError } from '../../errors.js'
import { CACHE_TTL_SECONDS_MAX } from '../../limits/answers.js'
import { FACETS_MAX, FUZZY_EDITS_MAX, PROXIMITY_DISTANCE_DEFAULT, PROXIMITY_DISTANCE_MAX } from '../../limits/fulltext.js'
import { PAGE_DEPTH_MAX, QUERY_BYTES_MAX } from '../../limits/search.js'
import type { RetrievalProfile } from '../settings/collection_config.js'
import { type Filters, parseFilters } from '../search/filters.js'
import { readLimit, readOffset } from '../search/paging.js'
import { readBoosts } from '../search/boosts.js'
import { readRetrieval, type Retrieval, type RetrievalInput } from '../search/retrieval.js'
import { type HighlightInput, type HighlightRequest, readHighlight } from '../search/highlight_request.js'
import { type ParsedQuery, parseQuery } from '../query/query_mode.js'
import { readRanges } from '../search/ranges.js'
import type { RangesInput } from '../../operations/ranges.js'
import type { Refinement } from '../search/refinement.js'
import { resolveScoring, type Scoring } from './scoring.js'

type Absent = null | undefined

/** The body or query string after validation by the operation's schema. */
export interface FulltextInput extends HighlightInput, RetrievalInput {
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
  readonly filterMeta?: Readonly<Record<string, readonly string[]>> | Absent
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
  /** Reads another text as this one was read. */
  readonly parse: (text: string) => ParsedQuery
  /** The query before its spelling was corrected; undefined where it is as it was asked. */
  readonly correctedFrom: string | undefined
  readonly scoring: Scoring
  readonly limit: number
  /** Results that the answer begins behind. */
  readonly offset: number
  /** Each result says what its score is made of. */
  readonly explain: boolean
  /** Seconds for which the answer may be given again; 0: it is made anew. */
  readonly cacheSeconds: number
  /** Base code of the language that the query is analysed in. */
  readonly language: string
  readonly stem: boolean
  /** The synonyms of the collection are looked for, too. */
  readonly synonyms: boolean
  /** Misspelled words are corrected; undefined: as the collection says. */
  readonly spellCorrect: boolean | undefined
  readonly filters: Filters
  readonly refinement: Refinement
  /** The number of all matches is wanted, which keeps the engine from stopping early. */
  readonly count: boolean
  /** Names as asked; undefined where no facets are wanted. */
  readonly facetBy: readonly string[] | undefined
  /** Values shown of each facet. */
  readonly facetValuesMax: number
  /** What of its document a result shows. */
  readonly retrieval: Retrieval
  /** The whole document beside the passage. */
  readonly withContent: boolean
  /** Undefined where no highlights are wanted. */
  readonly highlight: HighlightRequest | undefined
  /** Tokens of content that the results may have together; undefined for no cap. */
  readonly contextTokensMax: number | undefined
}

const META_PREFIX = 'meta.'

/** @param profile of the collection: what the request does not say, it says */
export function readRequest(input: FulltextInput, defaults: FulltextDefaults, profile: RetrievalProfile = {}): FulltextRequest {
  const text = input.query ?? input.q ?? ''
  if (input.collection === '' || text === '') throw serviceError('missingFields')
  const bytes = Buffer.byteLength(text)
  if (bytes > QUERY_BYTES_MAX) throw badRequest(`query too long: ${bytes} bytes, at most ${QUERY_BYTES_MAX}`)
  const fuzzy = readWhole('fuzzy', input.fuzzy, FUZZY_EDITS_MAX)
  const distance = Math.min(readWhole('distance', input.distance) || PROXIMITY_DISTANCE_DEFAULT, PROXIMITY_DISTANCE_MAX)
  const limit = readLimit(input.limit, profile.topK)
  const parse = (other: string): ParsedQuery => parseQuery(other, input.mode ?? undefined, { fuzzy, distance })
  return {
    collection: input.collection,
    text,
    query: parse(text),
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
 * AND between keys, OR between the values of a key. `meta.<key>` parameters of the query string say the same
 * as `filterMeta` and come on top of it.
 */
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

/** A whole number from 0 on, which is what it is where the request says nothing. Above `most`: 400. */
function readWhole(name: string, value: number | Absent, most = Number.MAX_SAFE_INTEGER): number {
  const number = value ?? 0
  if (!Number.isInteger(number) || number < 0) throw badRequest(`invalid ${name}`)
  if (number > most) throw badRequest(`invalid ${name}: at most ${most}`)
  return number
}
