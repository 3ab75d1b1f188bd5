/**
 * Deletes expired documents in slices. This is ordinary work in the write lane's queue, with pauses as long
 * as the slices. It sleeps until the next document expires, or a commit may have set a sooner time. Write
 * lane only.
 */
import { Chore } from '../../chore.js'
import { decideDelete } from '../../domain/decision.js'
import { SWEEP_INTERVAL_MS } from '../../limits/store.js'
import type { WriteTransaction } from '../../store/apply.js'
import type { Head } from '../../store/head.js'
import { noteDamage } from '../../store/rows/noted_damage.js'
import { CorruptRecord } from '../../store/rows/record.js'
import type { View } from '../../store/view.js'
import { log } from '../../telemetry/log.js'
import type { GroupEffects, Work } from '../commit/commit_work.js'
import { carryOut } from '../commit/commit_work.js'
import { DONE, type LaneWork } from './lane_work.js'

/** Longest pause while a document expires later: within this time a clock that is set forward is noticed. */
const SWEEP_REST_MS_MAX = 60_000

export function expiry({ lane, tools, enqueue }: LaneWork): Chore {
  const documentsMax = lane.config.limits.SWEEP_DOCUMENTS_MAX
  const isDue = (view: View): boolean => documentsMax > 0 && view.due(1).length > 0
  return new Chore(tools, {
    name: 'expiry',
    first: SWEEP_INTERVAL_MS,
    afterCommitMs: SWEEP_INTERVAL_MS,
    commitsEndRest: true,
    failure: 'expired documents are not deleted yet',
    round: async () => {
      const begun = performance.now()
      const due = lane.store.read(isDue)
      if (due) await enqueue(sweep(documentsMax))
      // The pause is as long as the slice. Requests thus get the larger share of the write lane and of the
      // index work that follows it.
      if (due && lane.store.read(isDue)) return Math.min(performance.now() - begun, SWEEP_INTERVAL_MS)
      const { soonest, now } = lane.store.read((view) => ({ soonest: view.soonestExpiry(), now: view.now }))
      if (soonest === Number.POSITIVE_INFINITY) return 'idle'
      return Math.min(Math.max(SWEEP_INTERVAL_MS, (soonest - now) * 1000), SWEEP_REST_MS_MAX)
    },
  })
}

/**
 * Deletes the documents that are due. Each delete applies to (docid, expiry) only: a document that was
 * written again has another expiry.
 */
function sweep(documentsMax: number): Work {
  return {
    onFullDisk: 'runs',
    origin: 'expiry',
    weight: documentsMax,
    run(transaction: WriteTransaction, effects: GroupEffects): boolean {
      const retired = new Set(transaction.view.retired())
      for (const { expiresAt, collection, docid } of transaction.view.due(documentsMax)) {
        const head = retired.has(collection) ? undefined : readHead(transaction, collection, docid)
        if (head === undefined || head.expiresAt !== expiresAt) {
          transaction.forgetExpiry(expiresAt, collection, docid)
          continue
        }
        try {
          carryOut(transaction, effects, [decideDelete(transaction, head)])
        } catch (error) {
          noteDamage(error)
          transaction.forgetExpiry(expiresAt, collection, docid)
        }
      }
      return false
    },
    answer: () => DONE,
  }
}

/**
 * A damaged head cannot be deleted, because its identity is not readable. Its expiry record is removed, and a
 * get continues to report the damage.
 */
function readHead(transaction: WriteTransaction, collection: number, docid: number): Head | undefined {
  try {
    return transaction.view.headEvenExpired(collection, docid)
  } catch (error) {
    if (!(error instanceof CorruptRecord)) throw error
    log.error('not expired', { reason: error })
    return undefined
  }
}
