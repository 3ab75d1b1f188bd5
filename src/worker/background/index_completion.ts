/**
 * Indexes documents whose bodies were unavailable when the index was built, once their object stores respond.
 * It runs at once after a start, after commits, and periodically as long as the mark in the store says that
 * documents may be missing. The mark is on disk before the index reports that it is complete, so a process
 * exit does not lose it.
 *
 * Works page by page. Nothing is written between reading a page and publishing it, so deleted documents do
 * not reappear. Write lane only.
 */
import { Chore } from '../../chore.js'
import type { RebuildShare } from '../../consumers/rebuild.js'
import { indexMarkWork } from '../commit/index_mark_work.js'
import type { LaneWork } from './lane_work.js'
import { rebuild } from './object_fetching.js'

/** Pause after a commit or a build before it is checked whether the index lacks bodies: one look-up. */
const UNINDEXED_POLL_MS = 1_000

const ALONE: RebuildShare = { share: 0, shares: 1 }

/** @param isBuilding whether a full index build is running, which takes precedence */
export function indexCompletion({ lane, tools, enqueue }: LaneWork, isBuilding: () => boolean): Chore {
  const retryMs = lane.config.limits.UNINDEXED_RETRY_MS
  return new Chore(tools, {
    name: 'index-completion',
    failure: 'not indexed yet',
    afterCommitMs: UNINDEXED_POLL_MS,
    retry: { firstMs: retryMs, longestMs: retryMs },
    round: async (signal) => {
      if (isBuilding()) return UNINDEXED_POLL_MS
      if (!lane.store.read((view) => view.objects.isIndexIncomplete())) return 'idle'
      const collections = lane.store.read((view) => view.collections().flatMap(({ id }) => (view.objects.isUsedBy(id) ? [id] : [])))
      const isWhole = await rebuild(lane, ALONE, { collections, missingOnly: true }, signal)
      if (isWhole !== true) return retryMs
      // A full build that ran meanwhile has recorded again what it lacks.
      if (!isBuilding()) await enqueue(indexMarkWork(false))
      return UNINDEXED_POLL_MS
    },
  })
}
