/**
 * Removes the rows of deleted collections in slices. This is ordinary work in the write lane's queue. It
 * sleeps until a commit, which may have deleted one. Write lane only.
 */
import { Chore } from '../../chore.js'
import { SWEEP_DOCUMENTS_MAX, SWEEP_INTERVAL_MS } from '../../limits/store.js'
import type { WriteTransaction } from '../../store/apply.js'
import type { Work } from '../commit/commit_work.js'
import type { CommitAnswer } from '../request/handler.js'
import { DONE, type LaneWork } from './lane_work.js'

/** @param rowsMax maximum number of rows that a commit group removes */
export function purge({ lane, tools, enqueue }: LaneWork, rowsMax: () => number): Chore {
  return new Chore(tools, {
    name: 'purge',
    first: SWEEP_INTERVAL_MS,
    afterCommitMs: SWEEP_INTERVAL_MS,
    failure: 'rows of deleted collections are not removed yet',
    round: async () => {
      if (lane.store.read((view) => view.retired().length === 0)) return 'idle'
      // A slice a round: a stop does not wait for all rows.
      const slice = new PurgeSlice(rowsMax)
      await enqueue(slice)
      return slice.isMore ? 0 : SWEEP_INTERVAL_MS
    },
  })
}

class PurgeSlice implements Work {
  readonly onFullDisk = 'runs'
  readonly weight = SWEEP_DOCUMENTS_MAX
  isMore = false

  constructor(readonly rowsMax: () => number) {}

  run(transaction: WriteTransaction): boolean {
    this.isMore = transaction.purgeRetired(this.rowsMax())
    return false
  }

  answer(): CommitAnswer {
    return DONE
  }
}
