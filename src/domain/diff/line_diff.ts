/**
 * Which lines differ between two texts, in bounded time and memory. What both have in front and behind is set aside; the rest is compared as Myers does (fewest lines changed); a part in which too much differs is cut at
 * the lines that both have exactly once, in the order that keeps most of them (patience), and its pieces are compared. Where the steps run out, a piece counts as replaced: the result is always right, and says
 * when it may be longer than it needs to be.
 * Source: Myers, "An O(ND) Difference Algorithm and Its Variations", Algorithmica 1986. Pure.
 */
import { DIFF_EDITS_MAX, DIFF_STEPS_MAX } from '../../limits.js'
import { anchorsBetween } from './patience.js'

/** Lines `aBegin` to `aEnd` of the first text (end exclusive) became lines `bBegin` to `bEnd` of the second. */
export interface Change {
  readonly aBegin: number
  readonly aEnd: number
  readonly bBegin: number
  readonly bEnd: number
}

export interface LineDiff {
  /** Ascending, none next to another. */
  readonly changes: readonly Change[]
  /** False where a shorter one may exist. */
  readonly isMinimal: boolean
}

/** @param a, b lines as numbers: equal lines have equal ones */
export function diffLines(a: Int32Array, b: Int32Array): LineDiff {
  return new Comparison(a, b).run()
}

class Comparison {
  readonly #changes: Change[] = []
  #stepsLeft = DIFF_STEPS_MAX
  #isMinimal = true

  constructor(
    readonly a: Int32Array,
    readonly b: Int32Array,
  ) {}

  run(): LineDiff {
    // Parts still to be compared, the first on top: a stack of our own, because a part may be cut as often as it has lines.
    const parts: Change[] = [{ aBegin: 0, aEnd: this.a.length, bBegin: 0, bEnd: this.b.length }]
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      const rest = this.#trim(part)
      if (rest.aBegin === rest.aEnd || rest.bBegin === rest.bEnd) {
        this.#add(rest)
        continue
      }
      const changes = this.#shortest(rest)
      if (changes !== undefined) for (const change of changes) this.#add(change)
      else parts.push(...this.#cut(rest))
    }
    return { changes: this.#changes, isMinimal: this.#isMinimal }
  }

  #trim({ aBegin, aEnd, bBegin, bEnd }: Change): Change {
    const { a, b } = this
    while (aBegin < aEnd && bBegin < bEnd && a[aBegin] === b[bBegin]) {
      aBegin++
      bBegin++
    }
    while (aBegin < aEnd && bBegin < bEnd && a[aEnd - 1] === b[bEnd - 1]) {
      aEnd--
      bEnd--
    }
    return { aBegin, aEnd, bBegin, bEnd }
  }

  #add(change: Change): void {
    if (change.aBegin === change.aEnd && change.bBegin === change.bEnd) return
    const last = this.#changes.at(-1)
    if (last !== undefined && last.aEnd === change.aBegin && last.bEnd === change.bBegin)
      this.#changes[this.#changes.length - 1] = { ...last, aEnd: change.aEnd, bEnd: change.bEnd }
    else this.#changes.push(change)
  }

  /** Pieces between anchors, the first last; nothing more to compare where there are none, or no steps left. */
  #cut(part: Change): Change[] {
    this.#isMinimal = false
    const lines = part.aEnd - part.aBegin + part.bEnd - part.bBegin
    const anchors = this.#stepsLeft < lines ? [] : anchorsBetween(this.a, this.b, part)
    this.#stepsLeft -= lines
    if (anchors.length === 0) {
      this.#add(part)
      return []
    }
    const pieces: Change[] = []
    let [aBegin, bBegin] = [part.aBegin, part.bBegin]
    for (const [aAt, bAt] of [...anchors, [part.aEnd, part.bEnd] as const]) {
      pieces.push({ aBegin, aEnd: aAt, bBegin, bEnd: bAt })
      aBegin = aAt + 1
      bBegin = bAt + 1
    }
    return pieces.reverse()
  }

  /**
   * Myers' greedy search. `reach` holds for each diagonal k = x - y the furthest x with so many edits; what it was before each round is kept for the way back.
   * @returns undefined where more than DIFF_EDITS_MAX lines differ, or the steps run out
   */
  #shortest({ aBegin, aEnd, bBegin, bEnd }: Change): Change[] | undefined {
    const { a, b } = this
    const [n, m] = [aEnd - aBegin, bEnd - bBegin]
    const editsMax = Math.min(n + m, DIFF_EDITS_MAX)
    const reach = new Int32Array(2 * editsMax + 3)
    const middle = editsMax + 1
    const rounds: Int32Array[] = []
    for (let edits = 0; edits <= editsMax; edits++) {
      rounds.push(reach.slice(middle - edits, middle + edits + 1))
      for (let k = -edits; k <= edits; k += 2) {
        let x = startOn(reach, middle, k, edits)
        let y = x - k
        const from = x
        while (x < n && y < m && a[aBegin + x] === b[bBegin + y]) {
          x++
          y++
        }
        reach[middle + k] = x
        this.#stepsLeft -= 1 + x - from
        if (x >= n && y >= m) return wayBack(rounds, n, m, aBegin, bBegin)
      }
      if (this.#stepsLeft < 0) return undefined
    }
    return undefined
  }
}

/** Where the way on diagonal k begins with one edit more: a line of `b` added to the way on k + 1, or one of `a` taken from that on k - 1. */
function startOn(reach: Int32Array, middle: number, k: number, edits: number): number {
  if (edits === 0) return 0
  const below = reach[middle + k + 1] as number
  const beside = reach[middle + k - 1] as number
  return k === -edits || (k !== edits && beside < below) ? below : beside + 1
}

/** @param rounds before each round, the reach of the diagonals -edits to edits */
function wayBack(rounds: readonly Int32Array[], n: number, m: number, aBegin: number, bBegin: number): Change[] {
  const changes: Change[] = []
  let [x, y] = [n, m]
  for (let edits = rounds.length - 1; edits > 0; edits--) {
    const reach = rounds[edits] as Int32Array
    const k = x - y
    const isAdded = k === -edits || (k !== edits && (reach[k - 1 + edits] as number) < (reach[k + 1 + edits] as number))
    const before = reach[(isAdded ? k + 1 : k - 1) + edits] as number
    x = isAdded ? before : before + 1
    y = x - k
    changes.push(
      isAdded
        ? { aBegin: aBegin + x, aEnd: aBegin + x, bBegin: bBegin + y - 1, bEnd: bBegin + y }
        : { aBegin: aBegin + x - 1, aEnd: aBegin + x, bBegin: bBegin + y, bEnd: bBegin + y },
    )
    if (isAdded) y--
    else x--
  }
  return changes.reverse()
}
