/**
 * Fuses two lists of candidates, full-text and vector, into one. Formulas: service-1, "Hybrid", and
 * algorithms.md section 6. Pure.
 */

export interface Scored {
  readonly docid: number
  readonly score: number
}

export interface Fused {
  readonly docid: number
  readonly combined: number
  /** The candidate's original score in each list. 0: not in the list. */
  readonly words: number
  readonly meaning: number
}

/** `alpha`: weight of the vector list, the other one has the rest. `rrf` without it: both count fully. */
export type Strategy =
  { readonly kind: 'alpha'; readonly alpha: number } | { readonly kind: 'rrf'; readonly k: number; readonly alpha?: number | undefined }

/**
 * Equal scores are ordered by full-text score, then by vector score, then by age, the older document first.
 * This matters if one side has all the weight: all candidates of the other side are then equal.
 */
export function bestFirst(one: Fused, other: Fused): number {
  return other.combined - one.combined || other.words - one.words || other.meaning - one.meaning || one.docid - other.docid
}

/**
 * Best first. Both input lists must be sorted by score in descending order and contain each document once.
 */
export function fuse(strategy: Strategy, words: readonly Scored[], meanings: readonly Scored[]): Fused[] {
  const found = new Map<number, { docid: number; combined: number; words: number; meaning: number }>()
  const entry = (docid: number): { combined: number; words: number; meaning: number } => {
    const known = found.get(docid)
    if (known !== undefined) return known
    const made = { docid, combined: 0, words: 0, meaning: 0 }
    found.set(docid, made)
    return made
  }
  const shares = strategy.kind === 'alpha' ? alphaShares(strategy.alpha, words) : rankShares(strategy)
  words.forEach(({ docid, score }, at) => {
    const of = entry(docid)
    of.words = score
    of.combined += shares.word(score, at)
  })
  meanings.forEach(({ docid, score }, at) => {
    const of = entry(docid)
    of.meaning = score
    of.combined += shares.meaning(score, at)
  })
  return [...found.values()].sort(bestFirst)
}

interface Shares {
  /** A candidate's contribution, from its score or from its rank in its list, counted from 0. */
  word(score: number, at: number): number
  meaning(score: number, at: number): number
}

/** Full-text scores are normalised to 0 to 1 over the candidates. If all scores are equal, each counts 1. */
function alphaShares(alpha: number, words: readonly Scored[]): Shares {
  const most = words[0]?.score ?? 0
  const least = words.at(-1)?.score ?? 0
  const normalised = (score: number): number => (most > least ? (score - least) / (most - least) : score > 0 ? 1 : 0)
  return { word: (score) => (1 - alpha) * normalised(score), meaning: (score) => alpha * score }
}

function rankShares({ k, alpha }: Extract<Strategy, { readonly kind: 'rrf' }>): Shares {
  const share = (at: number): number => 1 / (k + at + 1)
  return { word: (_, at) => (alpha === undefined ? 1 : 1 - alpha) * share(at), meaning: (_, at) => (alpha ?? 1) * share(at) }
}
