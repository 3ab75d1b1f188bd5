/**
 * Adds checksums to the rows of a format 1 store in the background (store/row_upgrade.ts). This is ordinary
 * work in the write lane's queue, slice by slice, with pauses as long as the slices. Write lane only.
 */
import { Chore } from '../../chore.js'
import { MIB } from '../../limits/units.js'
import type { WriteTransaction } from '../../store/apply.js'
import { log } from '../../telemetry/log.js'
import type { Work } from '../commit/commit_work.js'
import { DONE, type LaneWork } from './lane_work.js'

/**
 * Rows, and bytes of their values, that get their checksums in one transaction after an upgrade: some 20 ms
 * of the write lane, which then processes other work for as long.
 */
const UPGRADE_ROWS_MAX = 2000
const UPGRADE_BYTES_MAX = 2 * MIB

export function rowUpgrade({ lane: { store }, tools, enqueue }: LaneWork): Chore {
  let isMore = store.read((view) => view.isUpgradeWanted())
  return new Chore(tools, {
    name: 'row-upgrade',
    first: isMore ? 0 : 'idle',
    failure: 'rows of the store have no checksum yet',
    round: async () => {
      const begun = performance.now()
      await enqueue(slice((left) => (isMore = left)))
      if (isMore) return performance.now() - begun
      log.info('every row of the store has its checksum now')
      return 'idle'
    },
  })
}

function slice(settle: (isMore: boolean) => void): Work {
  return {
    onFullDisk: 'waits',
    weight: 1,
    run(transaction: WriteTransaction): boolean {
      settle(transaction.upgradeRows(UPGRADE_ROWS_MAX, UPGRADE_BYTES_MAX))
      return false
    },
    answer: () => DONE,
  }
}
