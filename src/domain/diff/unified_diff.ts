/**
 * Two texts as a unified diff with three lines of context, as `patch` and `git apply` take it. Lines end at LF; a CR before it belongs to its line. Pure.
 */
import { DIFF_TEXT_COMPARED_MAX } from '../../limits.js'
import { diffLines, type Change, type LineDiff } from './line_diff.js'

export interface UnifiedDiff {
  /** Empty where the texts are the same. */
  readonly text: string
  /** Lines. */
  readonly added: number
  readonly removed: number
  /** False where a shorter one may exist: too much differs to look for it. */
  readonly isMinimal: boolean
}

const CONTEXT_LINES = 3
const NO_NEWLINE = '\n\\ No newline at end of file\n'

/** @param from, to what the two texts are called in the header */
export function unifiedDiff(from: string, a: string, to: string, b: string): UnifiedDiff {
  if (a === b) return { text: '', added: 0, removed: 0, isMinimal: true }
  const [aLines, bLines] = [linesOf(a), linesOf(b)]
  const { changes, isMinimal } = compare(aLines, bLines)
  const hunks = hunksOf(changes).map((hunk) => formatHunk(hunk, aLines, bLines))
  return {
    text: `--- ${from}\n+++ ${to}\n${hunks.join('')}`,
    added: changes.reduce((sum, { bBegin, bEnd }) => sum + bEnd - bBegin, 0),
    removed: changes.reduce((sum, { aBegin, aEnd }) => sum + aEnd - aBegin, 0),
    isMinimal,
  }
}

/** With their ends, so that a last line without one differs from the same with one. */
function linesOf(text: string): string[] {
  const lines: string[] = []
  for (let begin = 0; begin < text.length;) {
    const end = text.indexOf('\n', begin)
    const next = end < 0 ? text.length : end + 1
    lines.push(text.slice(begin, next))
    begin = next
  }
  return lines
}

/** What both have in front and behind is left out before lines are numbered; of what is between, only so much is compared. */
function compare(a: readonly string[], b: readonly string[]): LineDiff {
  let front = 0
  while (front < a.length && front < b.length && a[front] === b[front]) front++
  let behind = 0
  while (behind < a.length - front && behind < b.length - front && a[a.length - 1 - behind] === b[b.length - 1 - behind]) behind++
  const [aRest, bRest] = [a.slice(front, a.length - behind), b.slice(front, b.length - behind)]
  const size = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + line.length, 0)
  if (size(aRest) + size(bRest) > DIFF_TEXT_COMPARED_MAX) {
    const whole = { aBegin: front, aEnd: a.length - behind, bBegin: front, bEnd: b.length - behind }
    return { changes: [whole], isMinimal: aRest.length === 0 || bRest.length === 0 }
  }
  const numbers = new Map<string, number>()
  const numbered = (lines: readonly string[]): Int32Array => Int32Array.from(lines, (line) => numberOf(numbers, line))
  const { changes, isMinimal } = diffLines(numbered(aRest), numbered(bRest))
  return {
    changes: changes.map(({ aBegin, aEnd, bBegin, bEnd }) => ({
      aBegin: aBegin + front,
      aEnd: aEnd + front,
      bBegin: bBegin + front,
      bEnd: bEnd + front,
    })),
    isMinimal,
  }
}

function numberOf(numbers: Map<string, number>, line: string): number {
  const known = numbers.get(line)
  if (known !== undefined) return known
  numbers.set(line, numbers.size)
  return numbers.size - 1
}

/** Changes whose context touches share a hunk. */
function hunksOf(changes: readonly Change[]): Change[][] {
  const hunks: Change[][] = []
  for (const change of changes) {
    const last = hunks.at(-1)
    if (last !== undefined && change.aBegin - (last.at(-1) as Change).aEnd <= 2 * CONTEXT_LINES) last.push(change)
    else hunks.push([change])
  }
  return hunks
}

function formatHunk(changes: readonly Change[], a: readonly string[], b: readonly string[]): string {
  const [first, last] = [changes[0] as Change, changes.at(-1) as Change]
  const lead = Math.min(CONTEXT_LINES, first.aBegin)
  const tail = Math.min(CONTEXT_LINES, a.length - last.aEnd)
  const [aBegin, aEnd] = [first.aBegin - lead, last.aEnd + tail]
  const [bBegin, bEnd] = [first.bBegin - lead, last.bEnd + tail]
  const parts = [`@@ -${rangeOf(aBegin, aEnd)} +${rangeOf(bBegin, bEnd)} @@\n`]
  let at = aBegin
  for (const change of changes) {
    for (; at < change.aBegin; at++) parts.push(formatLine(' ', a[at]))
    for (; at < change.aEnd; at++) parts.push(formatLine('-', a[at]))
    for (let line = change.bBegin; line < change.bEnd; line++) parts.push(formatLine('+', b[line]))
  }
  for (; at < aEnd; at++) parts.push(formatLine(' ', a[at]))
  return parts.join('')
}

/** Lines count from 1; an empty range names the line before it. */
function rangeOf(begin: number, end: number): string {
  const count = end - begin
  return count === 1 ? String(begin + 1) : `${count === 0 ? begin : begin + 1},${count}`
}

function formatLine(mark: string, line = ''): string {
  return line.endsWith('\n') ? mark + line : mark + line + NO_NEWLINE
}
