/**
 * Two contents as a unified diff with three lines of context, as accepted by `patch` and `git apply`. Lines
 * end at LF; a CR before it belongs to its line. Read and written as JSON-escaped bytes, as contents are
 * stored: outside the JavaScript heap, regardless of their size. Pure.
 */
import { badRequest } from '../../errors.js'
import { ANSWER_BYTES_MAX } from '../../limits/documents.js'
import type { ByteWriter } from '../../store/rows/byte_writer.js'
import { commonEnds } from './common_ends.js'
import { EscapedLines } from './escaped_lines.js'
import { type Change, diffLines } from './line_diff.js'

export interface UnifiedDiff {
  /** Number of lines. */
  readonly added: number
  readonly removed: number
  /** False if a shorter diff may exist: the contents differ too much to search for it. */
  readonly isMinimal: boolean
}

const CONTEXT_LINES = 3
const SPACE = 0x20
const PLUS = 0x2b
const MINUS = 0x2d
const LINE_END = '\\n'
const NO_NEWLINE = '\\n\\\\ No newline at end of file\\n'

/**
 * Appends the diff, escaped. Appends nothing if the contents are equal.
 * @param from, to names of the contents in the header: ASCII without quotes
 * @param a, b escaped contents
 * @param poll throws if the client is no longer waiting
 */
export function writeUnifiedDiff(out: ByteWriter, from: string, a: Buffer, to: string, b: Buffer, poll: () => void): UnifiedDiff {
  if (a.equals(b)) return { added: 0, removed: 0, isMinimal: true }
  const ends = commonEnds(a, b, CONTEXT_LINES, poll)
  const { changes, isMinimal } = diffLines(a, ends.a, b, ends.b, poll)
  out.ascii(`--- ${from}${LINE_END}+++ ${to}${LINE_END}`)
  const windowBegin = ends.tail[0] ?? ends.a.begin
  const writer = new HunkWriter(
    out,
    ends.frontLines - ends.tail.length,
    new EscapedLines(a, windowBegin, poll),
    new EscapedLines(b, windowBegin, poll),
  )
  const moved = changes.map((change) => movedBy(change, ends.tail.length))
  for (const hunk of hunksOf(moved)) writer.write(hunk)
  return {
    added: changes.reduce((sum, { bBegin, bEnd }) => sum + bEnd - bBegin, 0),
    removed: changes.reduce((sum, { aBegin, aEnd }) => sum + aEnd - aBegin, 0),
    isMinimal,
  }
}

function movedBy({ aBegin, aEnd, bBegin, bEnd }: Change, lines: number): Change {
  return { aBegin: aBegin + lines, aEnd: aEnd + lines, bBegin: bBegin + lines, bEnd: bEnd + lines }
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

/**
 * Reads both contents once, from the first line that may be shown. The number of a line is the number of
 * lines read.
 */
class HunkWriter {
  /**
   * @param linesBefore number of lines before the start of `a` and `b`, which are equal up to the first
   * change
   */
  constructor(
    readonly out: ByteWriter,
    readonly linesBefore: number,
    readonly a: EscapedLines,
    readonly b: EscapedLines,
  ) {}

  write(changes: readonly Change[]): void {
    const { a, b, out } = this
    const [first, last] = [changes[0] as Change, changes.at(-1) as Change]
    const lead = Math.min(CONTEXT_LINES, first.aBegin - a.count)
    while (a.count < first.aBegin - lead) a.next()
    while (b.count < first.bBegin - lead) b.next()
    const [aBegin, bBegin] = [a.count, b.count]
    const tail = linesFrom(this.#after(last), CONTEXT_LINES)
    const ranges = `-${this.#range(aBegin, last.aEnd + tail)} +${this.#range(bBegin, last.bEnd + tail)}`
    out.ascii(`@@ ${ranges} @@${LINE_END}`)
    for (const change of changes) {
      while (a.count < change.aBegin) this.#context()
      while (a.count < change.aEnd) this.#line(MINUS, a)
      while (b.count < change.bEnd) this.#line(PLUS, b)
    }
    for (let line = 0; line < tail; line++) this.#context()
  }

  /** A second reader, positioned after the last change of the hunk. */
  #after({ aEnd }: Change): EscapedLines {
    const ahead = new EscapedLines(this.a.text, this.a.end, this.a.poll)
    while (this.a.count + ahead.count < aEnd) ahead.next()
    return ahead
  }

  /** Lines count from 1. An empty range names the line before it. */
  #range(begin: number, end: number): string {
    const count = end - begin
    const line = this.linesBefore + begin
    return count === 1 ? String(line + 1) : `${count === 0 ? line : line + 1},${count}`
  }

  #context(): void {
    this.#line(SPACE, this.a)
    this.b.next()
  }

  #line(mark: number, lines: EscapedLines): void {
    const { out } = this
    lines.next()
    out.byte(mark)
    out.part(lines.text, lines.begin, lines.end)
    if (!lines.isEnded) out.ascii(NO_NEWLINE)
    if (out.length > ANSWER_BYTES_MAX) throw badRequest(`answer too large: a diff of more than ${ANSWER_BYTES_MAX} bytes`)
  }
}

/** Number of remaining lines, up to `most`. */
function linesFrom(lines: EscapedLines, most: number): number {
  const before = lines.count
  while (lines.count - before < most && lines.next());
  return lines.count - before
}
