/**
 * Searches with ranges and boosts, of which the engine knows nothing: hits are taken in the engine's order, those outside the ranges left out, the others scored anew, and ever more asked for until
 * no further one can reach the page. Exact: what is returned is what scoring all matches would give. Read lanes.
 */
import type { Hit, Hits, SearchEngine, SearchPlan } from '../../engine/types.js'
import { badRequest, serviceError } from '../../errors.js'
import { FTS_POLL_RESULTS, FTS_REFINED_HITS_FIRST, FTS_REFINED_HITS_MAX } from '../../limits.js'
import { textOfHead } from '../../store/head.js'
import type { Head } from '../../store/head.js'
import type { TruthStore } from '../../store/truth_store.js'
import type { View } from '../../store/view.js'
import type { Filters } from '../filters.js'
import { passesFilter } from '../metadata.js'
import { factorMaxOf, factorOf, type Boost } from './boosts.js'
import { passesRanges, type Range } from './ranges.js'
import type { Stop } from './search.js'

export interface Refinement {
  readonly ranges: readonly Range[]
  readonly boosts: readonly Boost[]
}

/** What was read of a hit's document. */
interface Looked {
  /** Undefined: outside the ranges, or gone. */
  readonly factor: number | undefined
  readonly key: string
  readonly lang: string
}

interface Ranked {
  readonly hit: Hit
  readonly looked: Looked
}

/** How many times more hits are asked for when those at hand do not decide. */
const GROWTH = 4

/** The best `plan.k` hits, or fewer where there are no more. `total` is exact where the plan asks for it. */
export function searchRefined(
  tools: { readonly engine: SearchEngine; readonly store: TruthStore },
  plan: SearchPlan,
  refinement: Refinement,
  stop: Stop,
): Hits {
  const seen = new Map<number, Looked>()
  const factorMax = factorMaxOf(refinement.boosts)
  for (let k = Math.max(FTS_REFINED_HITS_FIRST, plan.k * GROWTH); ; k *= GROWTH) {
    const found = tools.engine.search({ ...plan, k: Math.min(k, FTS_REFINED_HITS_MAX) }, stop.stopWord)
    if (!found.complete || stop.shouldStop()) throw serviceError('deadline')
    const isAll = found.hits.length < Math.min(k, FTS_REFINED_HITS_MAX)
    const ranked = tools.store.read((view) => rank(view, plan.collection, found.hits, refinement, seen, stop))
    // What was not asked for scores at most this.
    const ceiling = isAll ? -1 : (found.hits.at(-1)?.score ?? 0) * factorMax
    // Without boosts the order is the engine's, which nothing behind it can change.
    const decided = refinement.boosts.length === 0 ? ranked.length : ranked.filter(({ score }) => score > ceiling).length
    if (isAll || (decided >= plan.k && !plan.exactTotal)) return { ...found, hits: ranked.slice(0, plan.k), total: ranked.length }
    if (k >= FTS_REFINED_HITS_MAX) throw badRequest(`query too broad: more than ${FTS_REFINED_HITS_MAX} matches for rangeMeta or boost`)
  }
}

/** Hits within the ranges by their boosted scores; ties as the engine breaks them. */
function rank(
  view: View,
  collection: number,
  hits: readonly Hit[],
  { ranges, boosts }: Refinement,
  seen: Map<number, Looked>,
  stop: Stop,
): Hit[] {
  const ranked: Ranked[] = []
  hits.forEach((hit, index) => {
    if (index % FTS_POLL_RESULTS === 0 && stop.shouldStop()) throw serviceError('deadline')
    let looked = seen.get(hit.docid)
    if (looked === undefined) seen.set(hit.docid, (looked = look(view.head(collection, hit.docid), ranges, boosts)))
    if (looked.factor !== undefined) ranked.push({ hit: { ...hit, score: hit.score * looked.factor }, looked })
  })
  if (boosts.length > 0) ranked.sort(compare)
  return ranked.map(({ hit }) => hit)
}

function look(head: Head | undefined, ranges: readonly Range[], boosts: readonly Boost[]): Looked {
  if (head === undefined) return { factor: undefined, key: '', lang: '' }
  const { key, lang, metaValues: meta } = textOfHead(head)
  const isWithin = passesRanges(ranges, { addedAt: head.addedAt, updatedAt: head.updatedAt, meta })
  return { factor: isWithin ? factorOf(boosts, meta) : undefined, key, lang }
}

function compare(one: Ranked, other: Ranked): number {
  return (
    other.hit.score - one.hit.score ||
    Buffer.compare(Buffer.from(one.looked.key), Buffer.from(other.looked.key)) ||
    Buffer.compare(Buffer.from(one.looked.lang), Buffer.from(other.looked.lang)) ||
    one.hit.docid - other.hit.docid
  )
}

/** Whether a document may be shown for a request at all, whatever brought it there. */
export function mayShow(head: Head, filters: Filters, { ranges }: Refinement): boolean {
  const { metaValues: meta } = textOfHead(head)
  return passesFilter(meta, filters) && passesRanges(ranges, { addedAt: head.addedAt, updatedAt: head.updatedAt, meta })
}
