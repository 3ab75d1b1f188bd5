/**
 * Stores superseded revisions as differences (consumers/revision_packing.ts), in slices: ordinary work in the
 * write lane's queue. Write lane only.
 */
import { Chore } from '../../chore.js'
import { nextPacking } from '../../consumers/revision_packing.js'
import type { PackingSlice } from '../../consumers/revision_packing.js'
import { PACKING_PAUSE_MS, SWEEP_INTERVAL_MS } from '../../limits.js'
import type { WriteTransaction } from '../../store/apply.js'
import { threadTelemetry } from '../../telemetry/registry.js'
import type { Work } from '../commit/commit_work.js'
import { DONE, type LaneWork } from './lane_work.js'

export function revisionPacking({ lane, tools, enqueue }: LaneWork): Chore {
  let packedLsn: bigint | undefined
  return new Chore(tools, {
    name: 'revision-packing',
    first: SWEEP_INTERVAL_MS,
    failure: 'revisions are not packed yet',
    round: async () => {
      const slice = lane.store.read((view) => nextPacking(view, packedLsn ?? view.binlog.packedLsn()))
      packedLsn = slice.lsn
      if (slice.bodies.length > 0) await enqueue(pack(slice))
      return slice.isMore ? PACKING_PAUSE_MS : SWEEP_INTERVAL_MS
    },
  })
}

function pack({ bodies, lsn }: PackingSlice): Work {
  return {
    onFullDisk: 'waits',
    weight: bodies.length,
    run(transaction: WriteTransaction): boolean {
      threadTelemetry().add('revisions_packed', bodies.filter((body) => transaction.packBody(body)).length)
      transaction.setPackedLsn(lsn)
      return false
    },
    answer: () => DONE,
  }
}
