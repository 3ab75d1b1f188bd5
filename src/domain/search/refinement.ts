/**
 * Applies ranges and boosts to documents as the store's view shows them. The engine applies both to the
 * documents that it has indexed. Hits whose document has changed since, and pinned documents, are checked
 * here. Read lanes.
 */
import type { Hit, Hits } from '../../engine/types.js'
import { type Head, textOfHead } from '../../store/head.js'
import { passesFilter } from '../documents/metadata.js'
import { type Boost, factorOf } from './boosts.js'
import type { Filters } from './filters.js'
import { passesRanges, type Range } from './ranges.js'

export interface Refinement {
  readonly ranges: readonly Range[]
  readonly boosts: readonly Boost[]
}

/** Whether a request's filters and ranges admit a document. Also applied to pinned documents. */
export function mayShow(head: Head, filters: Filters, { ranges }: Refinement): boolean {
  const { metaValues: meta } = textOfHead(head)
  return passesFilter(meta, filters) && passesRanges(ranges, { addedAt: head.addedAt, updatedAt: head.updatedAt, meta })
}

/** The current boost factor of a hit's document. Undefined if the hit's score already has this factor. */
export function movedFactor(head: Head, hit: Hit, { boosts }: Refinement): number | undefined {
  if (hit.factor === undefined) return undefined
  const factor = factorOf(boosts, textOfHead(head).metaValues)
  return factor === hit.factor ? undefined : factor
}

/** The hits with the given factors by docid, in the order of their new scores. */
export function withFactors(hits: Hits, factors: ReadonlyMap<number, number>): Hits {
  const rescored = hits.hits.map((hit) => {
    const factor = factors.get(hit.docid)
    return factor === undefined ? hit : { ...hit, factor, score: (hit.score / (hit.factor ?? 1)) * factor }
  })
  return { ...hits, hits: rescored.sort((one, other) => other.score - one.score) }
}
