/**
 * The common prefix and suffix of two contents, in whole lines. Most versions differ in one place, so only
 * the lines in between are compared. Nothing is copied. Pure.
 */
import { EscapedLines } from './escaped_lines.js'

/** Bytes compared in one native call. */
const COMPARED_BYTES = 64 * 1024

/** A range of a content in whole lines. */
export interface Stretch {
  readonly begin: number
  readonly end: number
  readonly lines: number
}

interface CommonEnds {
  /** Number of common lines at the beginning. */
  readonly frontLines: number
  /** Start offsets of the last of these lines, at most the requested number. */
  readonly tail: readonly number[]
  /** The ranges in between. */
  readonly a: Stretch
  readonly b: Stretch
}

/** @param tailLines number of common leading lines whose start offsets are returned */
export function commonEnds(a: Buffer, b: Buffer, tailLines: number, poll: () => void): CommonEnds {
  const same = commonBytesInFront(a, b)
  const front = new EscapedLines(a, 0, poll)
  const tail: number[] = []
  let begin = 0
  // A last line without a line end is a different line if the other content continues.
  while (front.next() && front.end <= same && front.isEnded) {
    begin = front.end
    tail.push(front.begin)
    if (tail.length > tailLines) tail.shift()
  }
  const frontLines = begin === front.end ? front.count : front.count - 1
  const behind = commonBytesBehind(a, b, begin)
  // The common suffix begins where a line of each content begins at the same distance from the end. The
  // common bytes may begin in the middle of an escape in one content and not in the other.
  const [aLines, bLines] = [new EscapedLines(a, begin, poll), new EscapedLines(b, begin, poll)]
  const distances = (): readonly [number, number] => [a.length - aLines.end, b.length - bLines.end]
  for (let [ofA, ofB] = distances(); ofA > behind || ofB > behind || ofA !== ofB; [ofA, ofB] = distances()) {
    if (ofA >= ofB) aLines.next()
    else bLines.next()
  }
  return {
    frontLines,
    tail,
    a: { begin, end: aLines.end, lines: aLines.count },
    b: { begin, end: bLines.end, lines: bLines.count },
  }
}

function commonBytesInFront(a: Buffer, b: Buffer): number {
  const most = Math.min(a.length, b.length)
  let at = 0
  while (at + COMPARED_BYTES <= most && a.compare(b, at, at + COMPARED_BYTES, at, at + COMPARED_BYTES) === 0) at += COMPARED_BYTES
  while (at < most && a[at] === b[at]) at += 1
  return at
}

/** Excludes the common prefix. */
function commonBytesBehind(a: Buffer, b: Buffer, front: number): number {
  const most = Math.min(a.length, b.length) - front
  const isSame = (from: number, to: number): boolean => a.compare(b, b.length - to, b.length - from, a.length - to, a.length - from) === 0
  let count = 0
  while (count + COMPARED_BYTES <= most && isSame(count, count + COMPARED_BYTES)) count += COMPARED_BYTES
  while (count < most && a[a.length - 1 - count] === b[b.length - 1 - count]) count += 1
  return count
}
