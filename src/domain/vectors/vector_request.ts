/**
 * The common parameters of vector requests, with every default applied, or the error that says what is wrong.
 * Precedence: the request, the collection's retrieval profile, the default. Pure; any lane.
 */
import type { VectorAlgorithm, VectorMetric, VectorQuantization } from '../../engine/vectors/vector_types.js'
import { badRequest, serviceError } from '../../errors.js'
import { OVERSAMPLE_MAX } from '../../limits/documents.js'
import { EMBEDDING_DIMENSIONS_MAX } from '../../limits/embedding.js'
import { LIMIT_MAX, OVERSAMPLE_DEFAULT, QUERY_BYTES_MAX, VECTOR_ELEMENT_MAX } from '../../limits/search.js'
import type { RetrievalProfile } from '../settings/collection_config.js'

type Absent = null | undefined

export interface VectorInput {
  readonly queryVector?: readonly number[] | Absent
  readonly algorithm?: string | Absent
  readonly distanceMetric?: string | Absent
  readonly oversample?: number | Absent
  readonly threshold?: number | Absent
}

/** How vectors are searched. */
export interface VectorChoice {
  readonly algorithm: VectorAlgorithm
  readonly metric: VectorMetric
  readonly oversample: number
  readonly threshold: number
}

const ALGORITHMS: readonly string[] = [
  'flat',
  'hnsw',
  'ivf',
  'pq',
  'opq',
  'sq',
  'sq4',
  'bq',
  'quantized',
] satisfies readonly VectorAlgorithm[]
const METRICS: readonly string[] = ['cosine', 'dot_product', 'euclidean'] satisfies readonly VectorMetric[]

/**
 * @param algorithm used if the request names none: `algorithmOf`
 * @throws ServiceError 400, 422
 */
export function readChoice(input: VectorInput, algorithm: VectorAlgorithm, profile: RetrievalProfile = {}): VectorChoice {
  return {
    algorithm: readAlgorithm(input.algorithm) ?? algorithm,
    metric: readMetric(input.distanceMetric),
    oversample: readOversample(input.oversample ?? profile.oversample),
    threshold: readNumber('threshold', input.threshold, 0),
  }
}

function readAlgorithm(name: string | Absent): VectorAlgorithm | undefined {
  if (name === null || name === undefined || name === '') return undefined
  if (!ALGORITHMS.includes(name)) throw badRequest(`unknown algorithm: ${name}`)
  return name as VectorAlgorithm
}

export function readMetric(name: string | Absent): VectorMetric {
  if (name === null || name === undefined || name === '') return 'cosine'
  if (!METRICS.includes(name)) throw badRequest(`unknown distanceMetric: ${name}`)
  return name as VectorMetric
}

function readOversample(value: number | Absent): number {
  const wanted = value ?? OVERSAMPLE_DEFAULT
  if (!(wanted >= 1 && wanted <= OVERSAMPLE_MAX)) throw serviceError('invalidOversample')
  return wanted
}

export function readNumber(name: string, value: number | Absent, fallback: number): number {
  const wanted = value ?? fallback
  if (!Number.isFinite(wanted)) throw badRequest(`invalid ${name}`)
  return wanted
}

/**
 * Absent or 0: the profile's value, then the operation's. Negative or fractional: 400. Too large: clamped.
 */
export function readTopK(value: number | Absent, fallback: number, profile: RetrievalProfile = {}): number {
  const wanted = value ?? 0
  if (!Number.isInteger(wanted) || wanted < 0) throw badRequest('invalid topK')
  return wanted === 0 ? profile.topK || fallback : Math.min(wanted, LIMIT_MAX)
}

/** Undefined if none is given. @throws ServiceError 400 for an invalid vector */
export function readQueryVector(values: readonly number[] | Absent): Float32Array | undefined {
  if (values === null || values === undefined || values.length === 0) return undefined
  if (values.length > EMBEDDING_DIMENSIONS_MAX)
    throw badRequest(`invalid queryVector: ${values.length} dimensions, at most ${EMBEDDING_DIMENSIONS_MAX} are allowed`)
  const vector = Float32Array.from(values)
  // A plain loop: `every` takes ten times as long.
  for (let at = 0; at < vector.length; at++)
    if (!(Math.abs(vector[at] as number) <= VECTOR_ELEMENT_MAX))
      throw badRequest('invalid queryVector: a number is not finite, or too large')
  return vector
}

/** Empty counts as absent. @throws ServiceError 400 if it is too long */
export function readQueryText(text: string | Absent): string | undefined {
  if (text === null || text === undefined || text === '') return undefined
  const bytes = Buffer.byteLength(text)
  if (bytes > QUERY_BYTES_MAX) throw badRequest(`query too long: ${bytes} bytes, at most ${QUERY_BYTES_MAX}`)
  return text
}

/**
 * The algorithm of a search whose request names none: `quantized` for collections that store codes, else the
 * server's default.
 */
export function algorithmOf(config: { readonly quantization?: string } | undefined, server: VectorAlgorithm): VectorAlgorithm {
  return quantizationOf(config ?? {}) === 'float32' ? server : 'quantized'
}

/** The quantization of a collection. */
export function quantizationOf(config: { readonly quantization?: string }): VectorQuantization {
  const { quantization } = config
  return quantization === 'int8' || quantization === 'int4' ? quantization : 'float32'
}
