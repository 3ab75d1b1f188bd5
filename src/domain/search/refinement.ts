/**
 * What ranges and boosts say of documents as they are now. The engine has applied both to what it had
 * indexed; a hit whose document has moved on in between, or one that curation brings, is judged here. Read
 * lanes.
 */
import type { Hit, Hits } from '../../engine/types.js'
import { type Head, textOfHead } from '../../store/head.js'
import type { Filters } from './filters.js'
import { passesFilter } from '../documents/metadata.js'
import { type Boost, factorOf } from './boosts.js'
import { passesRanges, type Range } from './ranges.js'

export interface Refinement {
  readonly ranges: readonly Range[]
  readonly boosts: readonly Boost[]
}

/** Whether a document may be shown for a request at all, whatever brought it there. */
export function mayShow(head: Head, filters: Filters, { ranges }: Refinement): boolean {
  const { metaValues: meta } = textOfHead(head)
  return passesFilter(meta, filters) && passesRanges(ranges, { addedAt: head.addedAt, updatedAt: head.updatedAt, meta })
}

/** The factor that a hit's document has by now, where it is another than the one in its score. */
export function movedFactor(head: Head, hit: Hit, { boosts }: Refinement): number | undefined {
  if (hit.factor === undefined) return undefined
  const factor = factorOf(boosts, textOfHead(head).metaValues)
  return factor === hit.factor ? undefined : factor
}

/** The hits with other factors, by docid, in the order of their new scores. */
export function withFactors(hits: Hits, factors: ReadonlyMap<number, number>): Hits {
  const rescored = hits.hits.map((hit) => {
    const factor = factors.get(hit.docid)
    return factor === undefined ? hit : { ...hit, factor, score: (hit.score / (hit.factor ?? 1)) * factor }
  })
  return { ...hits, hits: rescored.sort((one, other) => other.score - one.score) }
}
