/**
 * Finds the lines that differ between two ranges, in bounded time and memory: the fewest changed lines
 * (jsdiff's Myers). If the ranges are too large, too many lines differ, or it takes too long, all lines count
 * as replaced. That result is always correct, and is reported as possibly not minimal. Pure.
 */
import { diffArrays } from 'diff'
import { MIB } from '../../limits/units.js'
import type { Stretch } from './common_ends.js'
import { EscapedLines } from './escaped_lines.js'

/**
 * Differing lines up to which the shortest diff is searched. Time and memory grow with the square,
 * 2 000 x 2 000 / 2 x 50 B at worst.
 */
export const DIFF_EDITS_MAX = 2000
/** Time for that search: a tenth of the deadline. */
const DIFF_MS_MAX = 1000
/**
 * Bytes of both texts, escaped, that are compared line by line, without their common prefix and suffix.
 * Further text counts as replaced.
 */
const DIFF_TEXT_COMPARED_MAX = 8 * MIB
/**
 * Lines of both texts that are compared. Each takes a string and a number in the JavaScript heap, some 100 B.
 */
const DIFF_LINES_MAX = 262_144

/**
 * Lines `aBegin` to `aEnd` of the first range (end exclusive) became lines `bBegin` to `bEnd` of the second.
 */
export interface Change {
  readonly aBegin: number
  readonly aEnd: number
  readonly bBegin: number
  readonly bEnd: number
}

interface LineDiff {
  /** Ascending and not adjacent. */
  readonly changes: readonly Change[]
  /** False if a shorter diff may exist. */
  readonly isMinimal: boolean
}

/** Comparisons between two polls of the deadline: 0.3 ms. */
const COMPARISONS_POLLED = 0xffff

/** @param poll throws when the request was stopped */
export function diffLines(a: Buffer, aPart: Stretch, b: Buffer, bPart: Stretch, poll: () => void): LineDiff {
  const whole = { aBegin: 0, aEnd: aPart.lines, bBegin: 0, bEnd: bPart.lines }
  if (aPart.lines === 0 && bPart.lines === 0) return { changes: [], isMinimal: true }
  if (aPart.lines === 0 || bPart.lines === 0) return { changes: [whole], isMinimal: true }
  const replaced = { changes: [whole], isMinimal: false }
  const bytes = aPart.end - aPart.begin + bPart.end - bPart.begin
  if (bytes > DIFF_TEXT_COMPARED_MAX || aPart.lines + bPart.lines > DIFF_LINES_MAX) return replaced
  const numbers = new Map<string, number>()
  const [aLines, bLines] = [numbered(a, aPart, numbers, poll), numbered(b, bPart, numbers, poll)]
  let comparisons = 0
  const components = diffArrays(aLines, bLines, {
    maxEditLength: DIFF_EDITS_MAX,
    timeout: DIFF_MS_MAX,
    comparator: (one, other) => {
      if ((++comparisons & COMPARISONS_POLLED) === 0) poll()
      return one === other
    },
  })
  return components === undefined ? replaced : { changes: changesOf(components), isMinimal: true }
}

/** Equal lines have equal numbers. */
function numbered(text: Buffer, { begin, end }: Stretch, numbers: Map<string, number>, poll: () => void): number[] {
  const of: number[] = []
  const lines = new EscapedLines(text, begin, poll)
  while (lines.end < end && lines.next()) {
    const line = text.toString('latin1', lines.begin, lines.end)
    const number = numbers.get(line) ?? numbers.size
    if (number === numbers.size) numbers.set(line, number)
    of.push(number)
  }
  return of
}

function changesOf(components: readonly { readonly count: number; readonly added: boolean; readonly removed: boolean }[]): Change[] {
  const changes: Change[] = []
  let [aAt, bAt] = [0, 0]
  let isOpen = false
  for (const { count, added, removed } of components) {
    if (!added && !removed) {
      aAt += count
      bAt += count
      isOpen = false
      continue
    }
    const [aEnd, bEnd] = [removed ? aAt + count : aAt, added ? bAt + count : bAt]
    const last = changes.at(-1)
    if (isOpen && last !== undefined) changes[changes.length - 1] = { ...last, aEnd, bEnd }
    else changes.push({ aBegin: aAt, aEnd, bBegin: bAt, bEnd })
    aAt = aEnd
    bAt = bEnd
    isOpen = true
  }
  return changes
}
