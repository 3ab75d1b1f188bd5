/**
 * Reads a hybrid search: full-text query, vector query, and how they are fused, with every default applied,
 * or the error that says what is wrong. Precedence: request, retrieval profile, default. Pure; any lane.
 */
import type { VectorAlgorithm } from '../../engine/vectors/vector_types.js'
import { badRequest } from '../../errors.js'
import { type FulltextDefaults, type FulltextInput, type FulltextRequest, readRequest } from '../fulltext/fulltext_request.js'
import type { FilterInput } from '../search/filters.js'
import { readRetrieval, type Retrieval, type RetrievalInput } from '../search/retrieval.js'
import type { RetrievalProfile } from '../settings/collection_config.js'
import { readChoice, readNumber, readTopK, type VectorChoice, type VectorInput } from '../vectors/vector_request.js'
import type { Strategy } from './fusion.js'

/** Default number of results of a hybrid search. */
const HYBRID_TOP_K_DEFAULT = 10

type Absent = null | undefined

interface HybridInput extends VectorInput, RetrievalInput, FilterInput {
  readonly collection: string
  readonly query: string
  readonly topK?: number | Absent
  readonly algorithm?: string | Absent
  readonly fieldWeights?: Readonly<Record<string, number>> | Absent
  readonly lang?: string | Absent
  readonly vectorAlgorithm?: string | Absent
  readonly strategy?: string | Absent
  readonly alpha?: number | Absent
  readonly rrfK?: number | Absent
  readonly fuzzy?: number | Absent
  readonly boost?: FulltextInput['boost']
  readonly includeContent?: boolean | Absent
  readonly disableStem?: boolean | Absent
  readonly disableSynonyms?: boolean | Absent
  readonly geo?: object | Absent
  readonly sort?: string | Absent
  readonly facetBy?: readonly string[] | Absent
  readonly facetMaxValues?: number | Absent
}

export interface HybridRequest {
  readonly words: FulltextRequest
  readonly choice: VectorChoice
  readonly strategy: Strategy
  readonly topK: number
  readonly withContent: boolean
  readonly retrieval: Retrieval
}

/** The contract's constant of reciprocal rank fusion, and its default weight of the vector score. */
const RRF_K = 60
const ALPHA = 0.5

/** @throws ServiceError 400, 422 */
export function readHybrid(
  input: HybridInput,
  defaults: FulltextDefaults,
  vectorAlgorithm: VectorAlgorithm,
  profile: RetrievalProfile = {},
): HybridRequest {
  const algorithm = input.algorithm || 'bm25'
  if (algorithm !== 'bm25' && algorithm !== 'bm25f') throw badRequest(`unknown algorithm: ${algorithm}`)
  readSort(input)
  const {
    collection,
    query,
    fieldWeights,
    lang,
    fuzzy,
    filterMeta,
    hasMeta,
    boost,
    disableStem,
    disableSynonyms,
    facetBy,
    facetMaxValues,
  } = input
  const words = readRequest(
    {
      collection,
      query,
      algorithm,
      fieldWeights,
      lang,
      fuzzy,
      filterMeta,
      hasMeta,
      boost,
      disableStem,
      disableSynonyms,
      facetBy,
      facetMaxValues,
      mode: 'simple',
    },
    defaults,
    profile,
  )
  return {
    words,
    choice: readChoice({ ...input, algorithm: input.vectorAlgorithm }, vectorAlgorithm, profile),
    strategy: readStrategy(input, profile),
    topK: readTopK(input.topK, HYBRID_TOP_K_DEFAULT, profile),
    withContent: input.includeContent === true,
    retrieval: readRetrieval(input, profile),
  }
}

function readStrategy(input: HybridInput, profile: RetrievalProfile): Strategy {
  const strategy = input.strategy || profile.hybridStrategy || 'alpha'
  if (strategy === 'rrf') {
    const k = input.rrfK || RRF_K
    if (!Number.isInteger(k) || k < 1) throw badRequest('invalid rrfK')
    return { kind: 'rrf', k }
  }
  if (strategy !== 'alpha') throw badRequest(`unknown strategy: ${strategy}`)
  const alpha = readNumber('alpha', input.alpha ?? (profile.hybridAlphaSet === true ? profile.hybridAlpha : undefined), ALPHA)
  if (alpha < 0 || alpha > 1) throw badRequest('invalid alpha: must be from 0 to 1')
  return { kind: 'alpha', alpha }
}

/** There is no geo index. */
function readSort({ geo, sort }: HybridInput): void {
  if (sort === 'distance' && !geo) throw badRequest('sort=distance requires a geo filter')
  if (sort && sort !== 'combined' && sort !== 'distance') throw badRequest(`unknown sort: ${sort}`)
  if (geo) throw badRequest('geo index not ready')
}
