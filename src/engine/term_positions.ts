/**
 * Reads from packed tokens where certain terms stand. The records come from this thread's own analyzer, so they are not checked as those that cross into the engine are.
 * Format: docs/formats/packed-tokens.md.
 */
import { viewOf } from './byte_layout.js'

const AT_LENGTH = 8
const AT_TERM_COUNT = 12
const HEADER_BYTES = 20

/** Positions, ascending, of those of the `wanted` terms that occur; keyed by what `wanted` maps the term to. */
export function readTermPositions(packedTokens: Uint8Array, wanted: ReadonlyMap<string, number>): Map<number, number[]> {
  const bytes = viewOf(packedTokens)
  const termCount = bytes.readUInt32LE(AT_TERM_COUNT)
  const termsAt = HEADER_BYTES + 8 * termCount + 4 * bytes.readUInt32LE(AT_LENGTH)
  const found = new Map<number, number[]>()
  let begin = 0
  let positionsAt = HEADER_BYTES + 8 * termCount
  for (let index = 0; index < termCount; index++) {
    const end = bytes.readUInt32LE(HEADER_BYTES + 4 * index)
    const tf = bytes.readUInt32LE(HEADER_BYTES + 4 * (termCount + index))
    const term = wanted.get(bytes.toString('utf8', termsAt + begin, termsAt + end))
    if (term !== undefined)
      found.set(
        term,
        Array.from({ length: tf }, (_, at) => bytes.readUInt32LE(positionsAt + 4 * at)),
      )
    begin = end
    positionsAt += 4 * tf
  }
  return found
}
