/**
 * Behind the requests, the rows of a store of format 1 get their checksums (store/row_upgrade.ts): ordinary
 * work in the write lane's queue, slice by slice, with pauses as long as the slices.
 */
import { UPGRADE_BYTES_MAX, UPGRADE_ROWS_MAX } from '../../limits.js'
import type { WriteTransaction } from '../../store/apply.js'
import { log } from '../../telemetry/log.js'
import type { Work } from '../commit/commit_work.js'
import type { LaneContext } from '../request/handler.js'

/** @returns a function that stops it; a slice that is queued still runs */
export function rowUpgradeWork({ store }: LaneContext, enqueue: (work: Work) => Promise<unknown>): () => void {
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let isMore = store.read((view) => view.isUpgradeWanted())
  const step = async (): Promise<void> => {
    const begun = performance.now()
    await enqueue(slice((left) => (isMore = left)))
    if (!isMore) log.info('every row of the store has its checksum now')
    else if (!isStopped) schedule(performance.now() - begun)
  }
  const schedule = (pauseMs: number): void => {
    timer = setTimeout(() => void step(), pauseMs)
  }
  if (isMore) schedule(0)
  return () => {
    isStopped = true
    clearTimeout(timer)
  }
}

function slice(settle: (isMore: boolean) => void): Work {
  return {
    onFullDisk: 'waits',
    weight: 1,
    run(transaction: WriteTransaction): boolean {
      settle(transaction.upgradeRows(UPGRADE_ROWS_MAX, UPGRADE_BYTES_MAX))
      return false
    },
    answer: () => ({ body: '' }),
  }
}
