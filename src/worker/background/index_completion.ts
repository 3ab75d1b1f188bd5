/**
 * Documents whose bodies could not be had when the index was built: as long as the store says that there may be some, they are looked for, at once after a start and then now and again, and indexed when their
 * object stores answer. The word is in the store, on disk before the index says that it is complete, so that no end of the process forgets them. Runs on the write lane's event loop, a page at a time: nothing is
 * written between the reading of a page and its publishing, so nothing that was deleted comes back.
 */
import { setTimeout } from 'node:timers/promises'
import type { RebuildShare } from '../../consumers/rebuild.js'
import { UNINDEXED_POLL_MS } from '../../limits.js'
import type { Work } from '../commit/commit_work.js'
import type { LaneContext } from '../request/handler.js'
import { rebuild } from './object_fetching.js'
import { log } from '../../telemetry/log.js'

const ALONE: RebuildShare = { share: 0, shares: 1 }

/**
 * @param isBuilding whether the index is being built as a whole: that comes first
 * @param enqueue puts work into the commit queue and resolves when it is on disk
 * @returns a function that stops it
 */
export function unindexedWork(lane: LaneContext, isBuilding: () => boolean, enqueue: (work: Work) => Promise<unknown>): () => void {
  const end = new AbortController()
  const { signal } = end
  const look = async (): Promise<boolean> => {
    if (isBuilding() || !lane.store.read((view) => view.objects.isIndexIncomplete())) return true
    const collections = lane.store.read((view) => view.collections().flatMap(({ id }) => (view.objects.isUsedBy(id) ? [id] : [])))
    const isWhole = await rebuild(lane, ALONE, { collections, missingOnly: true }, signal)
    // One that was built meanwhile has said anew what it lacks.
    if (isWhole === true && !isBuilding()) await enqueue(indexMarkWork(false))
    return isWhole === true
  }
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      let restMs = UNINDEXED_POLL_MS
      try {
        if (!(await look())) restMs = lane.config.limits.UNINDEXED_RETRY_MS
      } catch (error) {
        log.error('not indexed', { reason: error })
        restMs = lane.config.limits.UNINDEXED_RETRY_MS
      }
      await setTimeout(restMs, undefined, { signal }).catch(() => undefined)
    }
  }
  // Later: the lane opens first.
  setImmediate(() => void run())
  return () => end.abort()
}

/** Says in the store whether documents may be missing from the index. */
export function indexMarkWork(isIncomplete: boolean): Work {
  return {
    onFullDisk: 'waits',
    weight: 1,
    run(transaction) {
      transaction.markIndex(isIncomplete)
      return false
    },
    answer: () => ({ status: 200, body: '' }),
  }
}
