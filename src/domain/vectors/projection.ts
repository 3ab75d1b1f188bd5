/**
 * Projects vectors onto a plane: their two principal components, found by power iteration on the sample
 * itself, without a covariance matrix. A query is projected onto the same two axes. Bulk lane.
 */
import { serviceError } from '../../errors.js'
import { textOfHead } from '../../store/head.js'
import type { View } from '../../store/view.js'
import type { Stop } from '../search/context.js'
import { dot, norm } from './geometry.js'

/** Steps of the power iteration for each axis. 2 000 vectors of 1 536 dimensions take 0.3 s. */
const PROJECTION_ITERATIONS = 40

/** A vector of the sample, with its document and chunk. */
interface Sampled {
  readonly docid: number
  readonly chunkIndex: number
  readonly vector: Float32Array
}

interface Projection {
  readonly points: readonly {
    readonly id: string
    readonly key: string
    readonly docId: string
    readonly chunkIndex: number
    readonly x: number
    readonly y: number
  }[]
  readonly query?: { readonly x: number; readonly y: number }
  /** Number of vectors of these dimensions in the collection. */
  readonly total: number
  readonly sampled: number
  readonly dimensions: number
}

interface Axes {
  readonly mean: Float32Array
  readonly x: Float32Array
  readonly y: Float32Array
}

/**
 * @param most maximum number of points
 * @param query of `dimensions` numbers
 */
export function projectVectors(
  view: View,
  collection: number,
  dimensions: number,
  most: number,
  query: Float32Array | undefined,
  stop: Stop,
): Projection {
  const { sample, total } = sampleOf(view, collection, dimensions, most, stop)
  const axes = axesOf(
    sample.map(({ vector }) => vector),
    dimensions,
    stop,
  )
  const points = sample.flatMap(({ docid, chunkIndex, vector }) => {
    const head = view.head(collection, docid)
    if (head === undefined) return []
    const { id, key } = textOfHead(head)
    return [{ id: `${id}#${chunkIndex}`, key, docId: id, chunkIndex, ...project(axes, vector) }]
  })
  return { points, ...(query === undefined ? {} : { query: project(axes, query) }), total, sampled: points.length, dimensions }
}

/**
 * Samples evenly over the collection and deterministically: the n-th vector is the one at fraction n / `most`
 * of the collection.
 */
function sampleOf(
  view: View,
  collection: number,
  dimensions: number,
  most: number,
  stop: Stop,
): { readonly sample: Sampled[]; readonly total: number } {
  const stamps = [...view.vectors.stampsOf(collection)].filter(({ stamp }) => stamp.dimensions === dimensions)
  const total = stamps.reduce((sum, { stamp }) => sum + stamp.chunks, 0)
  const shown = Math.min(most, total)
  const sample: Sampled[] = []
  let passed = 0
  let taken = 0
  for (const { docid, stamp } of stamps) {
    if (stop.shouldStop()) throw serviceError('deadline')
    const chunks: number[] = []
    for (let position; taken < shown && (position = Math.floor((taken * total) / shown) - passed) < stamp.chunks; taken++)
      chunks.push(position)
    passed += stamp.chunks
    const record = chunks.length === 0 ? undefined : view.vectors.record(collection, docid)
    if (record?.dimensions !== dimensions) continue
    for (const chunkIndex of chunks.filter((chunk) => chunk < record.hashes.length))
      sample.push({ docid, chunkIndex, vector: record.vectors.slice(chunkIndex * dimensions, (chunkIndex + 1) * dimensions) })
  }
  return { sample, total }
}

function axesOf(vectors: readonly Float32Array[], dimensions: number, stop: Stop): Axes {
  const mean = new Float32Array(dimensions)
  for (const vector of vectors) addTo(mean, vector, 1 / vectors.length)
  const centred = vectors.map((vector) => vector.map((value, at) => value - (mean[at] as number)))
  const x = component(centred, dimensions, undefined, stop)
  return { mean, x, y: component(centred, dimensions, x, stop) }
}

/** The direction of greatest variance, orthogonal to `other`. Zero if there is none. */
function component(centred: readonly Float32Array[], dimensions: number, other: Float32Array | undefined, stop: Stop): Float32Array {
  // The start may be any vector that is not orthogonal to the result. The longest vector is orthogonal to it
  // only by coincidence.
  let axis = Float32Array.from(
    centred.reduce((longest, vector) => (dot(vector, vector) > dot(longest, longest) ? vector : longest), new Float32Array(dimensions)),
  )
  for (let round = 0; round < PROJECTION_ITERATIONS; round++) {
    if (stop.shouldStop()) throw serviceError('deadline')
    if (other !== undefined) addTo(axis, other, -dot(axis, other))
    const length = norm(axis)
    if (length < Number.EPSILON) return new Float32Array(dimensions)
    const next = new Float32Array(dimensions)
    for (const vector of centred) addTo(next, vector, dot(vector, axis) / length)
    axis = next
  }
  if (other !== undefined) addTo(axis, other, -dot(axis, other))
  const length = norm(axis)
  return length < Number.EPSILON ? new Float32Array(dimensions) : axis.map((value) => value / length)
}

function addTo(sum: Float32Array, vector: Float32Array, factor: number): void {
  for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] as number) + (vector[at] as number) * factor
}

function project({ mean, x, y }: Axes, vector: Float32Array): { readonly x: number; readonly y: number } {
  const centred = vector.map((value, at) => value - (mean[at] as number))
  return { x: dot(centred, x), y: dot(centred, y) }
}
