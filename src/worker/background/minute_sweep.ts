/**
 * Removes the counts of events by minute that have grown too old, collection by collection, in slices. Ordinary work in the write lane's queue.
 */
import { oldestMinute } from '../../domain/temporal/temporal_requests.js'
import { EVENT_MINUTES_SWEEP_COLLECTIONS_MAX, PURGE_ROWS_MAX } from '../../limits.js'
import type { WriteTransaction } from '../../store/apply.js'
import type { Work } from '../commit/commit_work.js'

export function minuteSweep(): Work {
  let collections: readonly number[] | undefined
  let next = 0
  return {
    onFullDisk: 'runs',
    weight: EVENT_MINUTES_SWEEP_COLLECTIONS_MAX,
    run(transaction: WriteTransaction): boolean {
      collections ??= transaction.view.collections().map(({ id }) => id)
      const minute = oldestMinute(transaction.view.now)
      const end = Math.min(next + EVENT_MINUTES_SWEEP_COLLECTIONS_MAX, collections.length)
      let room = PURGE_ROWS_MAX
      while (next < end && room > 0) {
        room -= transaction.forgetMinutes(collections[next] as number, minute, room)
        if (room > 0) next++
      }
      return next < collections.length
    },
    answer: () => ({ status: 200, body: '' }),
  }
}
