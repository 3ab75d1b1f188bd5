/**
 * Converts the rows of a response to vectors and checks them: each has the configured length, and each value
 * is accepted by the vector engine. Pure.
 */
import { endianness } from 'node:os'
import { VECTOR_ELEMENT_MAX } from '../../limits/search.js'
import { BadAnswer } from './protocol.js'

const VALUE_BYTES = Float32Array.BYTES_PER_ELEMENT
const IS_LITTLE_ENDIAN = endianness() === 'LE'

/**
 * @returns the rows, concatenated
 * @throws BadAnswer
 */
export function vectorsOf(rows: readonly unknown[], dimensions: number): Float32Array {
  const vectors = new Float32Array(rows.length * dimensions)
  for (const [index, row] of rows.entries()) {
    const vector = vectors.subarray(index * dimensions, (index + 1) * dimensions)
    if (typeof row === 'string') decode(row, vector)
    else if (Array.isArray(row)) copy(row, vector)
    else throw new BadAnswer('a vector is no list of numbers')
  }
  if (!areUsable(vectors)) throw new BadAnswer('a value is no finite number, or too large')
  return vectors
}

/**
 * A number beyond float32 has become infinite. The negated comparison also refuses NaN. A plain loop, because
 * `every` and iterators take ten times as long, on the front-end thread.
 */
function areUsable(vectors: Float32Array): boolean {
  for (let at = 0; at < vectors.length; at++) if (!(Math.abs(vectors[at] as number) <= VECTOR_ELEMENT_MAX)) return false
  return true
}

function decode(text: string, vector: Float32Array): void {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length !== vector.length * VALUE_BYTES) throw wrongLength(bytes.length / VALUE_BYTES, vector.length)
  if (!IS_LITTLE_ENDIAN) bytes.swap32()
  new Uint8Array(vector.buffer, vector.byteOffset, bytes.length).set(bytes)
}

function copy(row: readonly unknown[], vector: Float32Array): void {
  if (row.length !== vector.length) throw wrongLength(row.length, vector.length)
  for (let at = 0; at < row.length; at++) {
    const value = row[at]
    if (typeof value !== 'number') throw new BadAnswer('a value is no number')
    vector[at] = value
  }
}

function wrongLength(found: number, wanted: number): BadAnswer {
  return new BadAnswer(`a vector of ${found} dimensions, ${wanted} are configured`)
}
