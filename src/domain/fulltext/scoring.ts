/**
 * Reads how a request is scored: algorithm, constants and fields. The native engine evaluates the formulas.
 * Constants and default weights are those of the contract (service-1, "Full-text search").
 */
import type { ScoringAlgorithm } from '../../engine/types.js'
import { badRequest } from '../../errors.js'
import { META_KEY_BYTES_MAX } from '../../limits/documents.js'
import { FIELD_WEIGHTS_MAX } from '../../limits/search.js'

/**
 * Highest field weight. Weights are ratios, and a float32 must hold weight x tf without losing the small ones
 * (2^24 / 16).
 */
const FTS_FIELD_WEIGHT_MAX = 1e6

/** As the contract names them. `pmisparse` is bm25 with additional terms that the collection suggests. */
type Algorithm = ScoringAlgorithm | 'pmisparse'

export interface Scoring {
  readonly algorithm: Algorithm
  readonly k1: number
  readonly b: number
  /** Names as the index has them: `content` or `meta.<key>`. */
  readonly fields: readonly (readonly [name: string, weight: number])[]
}

const K1 = 1.2
const PMISPARSE_K1 = 1.5
const B = 0.75
const CONTENT_ONLY: Scoring['fields'] = [['content', 1]]

const BM25F_FIELDS: Scoring['fields'] = [
  ['content', 1],
  ['meta.title', 3],
  ['meta.tags', 2],
  ['meta.category', 2],
  ['meta.description', 1.5],
]

/** Names of the fields that are scored by default. */
export const STANDARD_FIELDS: readonly string[] = BM25F_FIELDS.map(([name]) => name)

/** @param fieldWeights bm25f only; replaces all default weights, unless it is empty */
export function resolveScoring(algorithm: string | undefined, fieldWeights: Readonly<Record<string, number>> | undefined): Scoring {
  switch (algorithm) {
    case undefined:
    case 'tfidf':
      return { algorithm: 'tfidf', k1: K1, b: B, fields: CONTENT_ONLY }
    case 'bm25':
      return { algorithm, k1: K1, b: B, fields: CONTENT_ONLY }
    case 'pmisparse':
      return { algorithm, k1: PMISPARSE_K1, b: B, fields: CONTENT_ONLY }
    case 'bm25f':
      return {
        algorithm,
        k1: K1,
        b: B,
        fields: Object.keys(fieldWeights ?? {}).length === 0 ? BM25F_FIELDS : readWeights(fieldWeights ?? {}),
      }
    default:
      throw badRequest(`unknown algorithm: ${algorithm}`)
  }
}

/**
 * A weight of 0 or less disables its field. `title` is an alias of `meta.title`. If both are given, the last
 * one applies.
 */
function readWeights(weights: Readonly<Record<string, number>>): [string, number][] {
  const fields = new Map<string, number>()
  for (const [name, weight] of Object.entries(weights)) {
    if (!(weight <= FTS_FIELD_WEIGHT_MAX)) throw badRequest(`invalid fieldWeights: ${name} must be a number up to ${FTS_FIELD_WEIGHT_MAX}`)
    if (Buffer.byteLength(name) > META_KEY_BYTES_MAX)
      throw badRequest(`invalid fieldWeights: a name of more than ${META_KEY_BYTES_MAX} bytes`)
    if (weight > 0) fields.set(fieldName(name), weight)
  }
  if (fields.size > FIELD_WEIGHTS_MAX) throw badRequest(`invalid fieldWeights: more than ${FIELD_WEIGHTS_MAX} fields`)
  return [...fields]
}

/** Default weight of a field that the query names. */
export function usualWeight(algorithm: Algorithm, field: string): number {
  return algorithm === 'bm25f' ? (BM25F_FIELDS.find(([name]) => name === field)?.[1] ?? 1) : 1
}

/** `title` is an alias of `meta.title`. */
export function fieldName(name: string): string {
  return name === 'content' || name.startsWith('meta.') ? name : `meta.${name}`
}
