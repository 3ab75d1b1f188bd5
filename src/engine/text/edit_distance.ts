/**
 * The number of edits between two words: insertions, deletions, substitutions and transpositions of adjacent
 * characters, where no character is edited twice (optimal string alignment, as in the engine). Counts UTF-16
 * units, which makes a difference only for rare scripts. Pure; O(length x length), for words of a few dozen
 * characters.
 */
export function editDistance(one: string, other: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    const unit = one.charCodeAt(row - 1)
    for (let column = 1; column <= other.length; column++) {
      const target = other.charCodeAt(column - 1)
      let best = Math.min((last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + (unit === target ? 0 : 1))
      if (row > 1 && column > 1 && unit === other.charCodeAt(column - 2) && one.charCodeAt(row - 2) === target)
        best = Math.min(best, (beforeLast[column - 2] ?? 0) + 1)
      current.push(best)
    }
    beforeLast = last
    last = current
  }
  return last[other.length] ?? 0
}
