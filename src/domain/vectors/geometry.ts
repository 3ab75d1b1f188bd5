/** The few vector operations outside the engine, on the vectors of one request. Pure. */

export function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0
  for (let at = 0; at < one.length; at++) sum += (one[at] as number) * (other[at] as number)
  return sum
}

export function norm(vector: Float32Array): number {
  return Math.sqrt(dot(vector, vector))
}

/** 0 if one of them is the zero vector. */
export function cosine(one: Float32Array, other: Float32Array): number {
  const norms = norm(one) * norm(other)
  return norms === 0 ? 0 : dot(one, other) / norms
}

/**
 * The mean direction of some vectors, normalised to length 1: the vector of a whole document.
 * @param vectors concatenated, at least one
 */
export function direction(vectors: Float32Array, dimensions: number): Float32Array {
  const sum = new Float32Array(dimensions)
  for (let first = 0; first < vectors.length; first += dimensions) {
    const vector = vectors.subarray(first, first + dimensions)
    const length = norm(vector)
    if (length === 0) continue
    for (let at = 0; at < dimensions; at++) sum[at] = (sum[at] as number) + (vector[at] as number) / length
  }
  const length = norm(sum)
  return length === 0 ? sum : sum.map((value) => value / length)
}
