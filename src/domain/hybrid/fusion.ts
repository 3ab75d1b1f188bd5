/**
 * Fuses two lists of candidates, one by words and one by meaning, into one. Formulas: service-1, "Hybrid",
 * and algorithms.md section 6. Pure.
 */

export interface Scored {
  readonly docid: number
  readonly score: number
}

export interface Fused {
  readonly docid: number
  readonly combined: number
  /** As it was scored; 0: not among the candidates. */
  readonly words: number
  readonly meaning: number
}

export type Strategy = { readonly kind: 'alpha'; readonly alpha: number } | { readonly kind: 'rrf'; readonly k: number }

/**
 * Equal scores are ordered by words, then by meaning, then by age, the older document first. Where one side
 * has all the weight, all candidates of the other are equal.
 */
export function bestFirst(one: Fused, other: Fused): number {
  return other.combined - one.combined || other.words - one.words || other.meaning - one.meaning || one.docid - other.docid
}

/** Best first. Both lists: score descending, each document once. */
export function fuse(strategy: Strategy, words: readonly Scored[], meanings: readonly Scored[]): Fused[] {
  const found = new Map<number, { docid: number; combined: number; words: number; meaning: number }>()
  const entry = (docid: number): { combined: number; words: number; meaning: number } => {
    const known = found.get(docid)
    if (known !== undefined) return known
    const made = { docid, combined: 0, words: 0, meaning: 0 }
    found.set(docid, made)
    return made
  }
  const shares = strategy.kind === 'alpha' ? alphaShares(strategy.alpha, words) : rankShares(strategy.k)
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
  /** What a candidate adds: by its score, or by its rank in its list, from 0. */
  word(score: number, at: number): number
  meaning(score: number, at: number): number
}

/** Scores of words are brought to 0 to 1 over the candidates; where all are equal, each counts 1. */
function alphaShares(alpha: number, words: readonly Scored[]): Shares {
  const most = words[0]?.score ?? 0
  const least = words.at(-1)?.score ?? 0
  const normalised = (score: number): number => (most > least ? (score - least) / (most - least) : score > 0 ? 1 : 0)
  return { word: (score) => (1 - alpha) * normalised(score), meaning: (score) => alpha * score }
}

function rankShares(k: number): Shares {
  const share = (_: number, at: number): number => 1 / (k + at + 1)
  return { word: share, meaning: share }
}
