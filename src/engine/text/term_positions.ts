/**
 * Reads the positions of terms from packed tokens. The records come from this thread's own analyzer, so they
 * are not checked like records that are passed to the engine. Format: docs/formats/packed-tokens.md.
 */
import { viewOf } from '../byte_layout.js'
import type { SearchPlan } from '../types.js'

const AT_POSITION_COUNT = 4
const AT_LENGTH = 8
const AT_TERM_COUNT = 12
const HEADER_BYTES = 20

/**
 * Returns the positions, ascending, of the `wanted` terms that occur. The keys are the numbers to which
 * `wanted` maps the terms.
 */
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

/**
 * Returns the positions, by term index, of the plan's terms in one of its fields. The plan must be expanded.
 * One term may be in the plan under several indexes.
 */
export function readPlanTerms(packedTokens: Uint8Array, { algorithm, terms }: SearchPlan, field: number): Map<number, number[]> {
  const indexes = new Map<string, number[]>()
  for (const [index, [term, , termFields]] of terms.entries()) {
    const isWanted = termFields === undefined ? algorithm === 'bm25f' || field === 0 : termFields.includes(field)
    if (isWanted) indexes.set(term, [...(indexes.get(term) ?? []), index])
  }
  const found = readTermPositions(packedTokens, new Map([...indexes].map(([term, [first = 0]]) => [term, first])))
  for (const [first = 0, ...others] of indexes.values()) {
    const positions = found.get(first)
    if (positions !== undefined) for (const index of others) found.set(index, positions)
  }
  return found
}

/** Returns the terms at most `window` positions from `term`, each once, without `term` itself. */
export function neighbours(packedTokens: Uint8Array, term: string, window: number): string[] {
  const bytes = viewOf(packedTokens)
  const termCount = bytes.readUInt32LE(AT_TERM_COUNT)
  // Records of the analyzer begin at a multiple of four.
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2)
  const [firstEnd, firstTf] = [HEADER_BYTES / 4, HEADER_BYTES / 4 + termCount]
  const firstPosition = firstTf + termCount
  const termsAt = 4 * (firstPosition + (words[AT_LENGTH / 4] ?? 0))
  const wanted = Buffer.from(term)
  const beginOf = (index: number): number => termsAt + (index === 0 ? 0 : (words[firstEnd + index - 1] ?? 0))
  const endOf = (index: number): number => termsAt + (words[firstEnd + index] ?? 0)

  let own = 0
  let at = firstPosition
  const isOwn = (): boolean =>
    endOf(own) - beginOf(own) === wanted.length && bytes.compare(wanted, 0, wanted.length, beginOf(own), endOf(own)) === 0
  while (own < termCount && !isOwn()) at += words[firstTf + own++] ?? 0
  if (own === termCount) return []
  const near = new Uint8Array((words[AT_POSITION_COUNT / 4] ?? 0) + window)
  for (const end = at + (words[firstTf + own] ?? 0); at < end; at++) {
    const position = words[at] ?? 0
    near.fill(1, Math.max(0, position - window), position + window + 1)
  }

  const found: string[] = []
  at = firstPosition
  for (let index = 0; index < termCount; index++) {
    const end = at + (words[firstTf + index] ?? 0)
    while (at < end && near[words[at] ?? 0] === 0) at++
    if (at < end && index !== own) found.push(bytes.toString('utf8', beginOf(index), endOf(index)))
    at = end
  }
  return found
}
