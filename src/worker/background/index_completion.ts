/**
 * Indexes documents whose bodies could not be had when the index was built, once their object stores answer:
 * at once after a start, and then now and again, as long as the mark in the store says that there may be
 * some. The mark is on disk before the index says that it is complete, so that no end of the process forgets
 * them.
 *
 * A page at a time: nothing is written between the reading of a page and its publishing, so nothing that was
 * deleted comes back. Write lane only.
 */
import { Chore } from '../../chore.js'
import type { RebuildShare } from '../../consumers/rebuild.js'
import { UNINDEXED_POLL_MS } from '../../limits/indexing.js'
import { indexMarkWork } from '../commit/index_mark_work.js'
import type { LaneWork } from './lane_work.js'
import { rebuild } from './object_fetching.js'

const ALONE: RebuildShare = { share: 0, shares: 1 }

/** @param isBuilding whether the index is being built as a whole: that comes first */
export function indexCompletion({ lane, tools, enqueue }: LaneWork, isBuilding: () => boolean): Chore {
  const retryMs = lane.config.limits.UNINDEXED_RETRY_MS
  return new Chore(tools, {
    name: 'index-completion',
    failure: 'not indexed yet',
    retry: { firstMs: retryMs, longestMs: retryMs },
    round: async (signal) => {
      if (isBuilding() || !lane.store.read((view) => view.objects.isIndexIncomplete())) return UNINDEXED_POLL_MS
      const collections = lane.store.read((view) => view.collections().flatMap(({ id }) => (view.objects.isUsedBy(id) ? [id] : [])))
      const isWhole = await rebuild(lane, ALONE, { collections, missingOnly: true }, signal)
      if (isWhole !== true) return retryMs
      // An index that was built as a whole meanwhile has said anew what it lacks.
      if (!isBuilding()) await enqueue(indexMarkWork(false))
      return UNINDEXED_POLL_MS
    },
  })
}
