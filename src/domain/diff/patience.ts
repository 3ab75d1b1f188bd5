/**
 * Lines that two parts have exactly once each, in the order that keeps most of them: where a part is cut in which too much differs. Pure.
 */
import type { Change } from './line_diff.js'

const TWICE = -1

/** Places (in a, in b), both ascending. */
export function anchorsBetween(a: Int32Array, b: Int32Array, { aBegin, aEnd, bBegin, bEnd }: Change): (readonly [number, number])[] {
  const [inA, inB] = [onceIn(a, aBegin, aEnd), onceIn(b, bBegin, bEnd)]
  const pairs: (readonly [number, number])[] = []
  for (const [line, aAt] of inA) {
    const bAt = inB.get(line)
    if (aAt !== TWICE && bAt !== undefined && bAt !== TWICE) pairs.push([aAt, bAt])
  }
  return longestAscending(pairs.sort(([one], [other]) => one - other))
}

/** Line to its place, or TWICE. */
function onceIn(lines: Int32Array, begin: number, end: number): Map<number, number> {
  const places = new Map<number, number>()
  for (let at = begin; at < end; at++) {
    const line = lines[at] as number
    places.set(line, places.has(line) ? TWICE : at)
  }
  return places
}

/** The longest chain whose second places ascend, too: piles, each with the smallest last place of a chain of its length. O(n log n). */
function longestAscending(pairs: readonly (readonly [number, number])[]): (readonly [number, number])[] {
  const piles: number[] = []
  const before = new Int32Array(pairs.length)
  pairs.forEach(([, bAt], index) => {
    let [low, high] = [0, piles.length]
    while (low < high) {
      const half = (low + high) >> 1
      if ((pairs[piles[half] as number] as readonly [number, number])[1] < bAt) low = half + 1
      else high = half
    }
    before[index] = low === 0 ? -1 : (piles[low - 1] as number)
    piles[low] = index
  })
  const chain: (readonly [number, number])[] = []
  for (let at = piles.at(-1) ?? -1; at >= 0; at = before[at] as number) chain.push(pairs[at] as readonly [number, number])
  return chain.reverse()
}
