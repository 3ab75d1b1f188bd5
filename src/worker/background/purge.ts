/**
 * Removes the rows of deleted collections in slices. This is ordinary work in the write lane's queue. Write
 * lane only.
 */
import { Chore } from '../../chore.js'
import { SWEEP_DOCUMENTS_MAX, SWEEP_INTERVAL_MS } from '../../limits/upkeep.js'
import type { WriteTransaction } from '../../store/apply.js'
import type { Work } from '../commit/commit_work.js'
import { DONE, type LaneWork } from './lane_work.js'

/** @param rowsMax maximum number of rows that a commit group removes */
export function purge({ lane, tools, enqueue }: LaneWork, rowsMax: () => number): Chore {
  return new Chore(tools, {
    name: 'purge',
    first: SWEEP_INTERVAL_MS,
    failure: 'rows of deleted collections are not removed yet',
    round: async () => {
      if (lane.store.read((view) => view.retired().length > 0)) await enqueue(purgeWork(rowsMax))
      return SWEEP_INTERVAL_MS
    },
  })
}

function purgeWork(rowsMax: () => number): Work {
  return {
    onFullDisk: 'runs',
    weight: SWEEP_DOCUMENTS_MAX,
    run: (transaction: WriteTransaction) => transaction.purgeRetired(rowsMax()),
    answer: () => DONE,
  }
}
