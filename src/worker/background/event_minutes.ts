/**
 * Removes expired per-minute event counts, collection by collection, in slices. This is ordinary work in the
 * write lane's queue. Write lane only.
 */
import { Chore } from '../../chore.js'
import { oldestMinute } from '../../domain/temporal/temporal_requests.js'
import { PURGE_ROWS_MAX, SWEEP_INTERVAL_MS } from '../../limits/store.js'
import type { WriteTransaction } from '../../store/apply.js'
import type { Work } from '../commit/commit_work.js'
import { DONE, type LaneWork } from './lane_work.js'

/**
 * Interval between two sweeps of old counts, and the number of collections in one sweep: three look-ups each.
 */
const EVENT_MINUTES_SWEEP_MS = 3_600_000
const EVENT_MINUTES_SWEEP_COLLECTIONS_MAX = 256

export function eventMinutes({ tools, enqueue }: LaneWork): Chore {
  let sweep = minuteSweep()
  return new Chore(tools, {
    name: 'event-minutes',
    first: SWEEP_INTERVAL_MS,
    failure: 'old counts of events are not removed yet',
    round: async () => {
      // A slice a round: a stop does not wait for the whole sweep.
      await enqueue(sweep.slice)
      if (sweep.isMore()) return 0
      sweep = minuteSweep()
      return EVENT_MINUTES_SWEEP_MS
    },
  })
}

/** A sweep over all collections. `slice` is its next slice, as often as there is more. */
function minuteSweep(): { readonly slice: Work; readonly isMore: () => boolean } {
  let collections: readonly number[] | undefined
  let next = 0
  const slice: Work = {
    onFullDisk: 'runs',
    weight: EVENT_MINUTES_SWEEP_COLLECTIONS_MAX,
    run(transaction: WriteTransaction): boolean {
      collections ??= transaction.view.collections().map(({ id }) => id)
      const minute = oldestMinute(transaction.view.now)
      const end = Math.min(next + EVENT_MINUTES_SWEEP_COLLECTIONS_MAX, collections.length)
      let rows = PURGE_ROWS_MAX
      while (next < end && rows > 0) {
        rows -= transaction.forgetMinutes(collections[next] as number, minute, rows)
        if (rows > 0) next++
      }
      return false
    },
    answer: () => DONE,
  }
  return { slice, isMore: () => collections !== undefined && next < collections.length }
}
