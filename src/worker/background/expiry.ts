/**
 * What the write lane does unasked, as ordinary work in its queue: deleting expired documents, removing the rows of deleted collections and old counts of events, packing revisions, in slices.
 * Runs on the write lane's event loop.
 */
import { nextPacking } from '../../consumers/revision_packing.js'
import type { PackingSlice } from '../../consumers/revision_packing.js'
import { decideDelete } from '../../domain/decision.js'
import { EVENT_MINUTES_SWEEP_MS, PACKING_PAUSE_MS, SWEEP_DOCUMENTS_MAX, SWEEP_INTERVAL_MS } from '../../limits.js'
import type { WriteTransaction } from '../../store/apply.js'
import type { View } from '../../store/view.js'
import type { Head } from '../../store/head.js'
import { noteDamage } from '../../store/noted_damage.js'
import { CorruptRecord } from '../../store/record.js'
import { threadTelemetry } from '../../telemetry/registry.js'
import { carryOut } from '../commit/commit_work.js'
import type { GroupEffects, Work } from '../commit/commit_work.js'
import type { Answer, LaneContext } from '../request/handler.js'
import { minuteSweep } from './event_minutes.js'
import { log } from '../../telemetry/log.js'

const DONE: Answer = { status: 200, body: '' }

/**
 * Starts the round of maintenance. @param enqueue puts work into the commit queue and resolves when it is on disk
 * @param purgeRowsMax of deleted collections, in a group
 * @returns a function that stops it; work that is already queued still runs
 */
export function maintenanceWork(lane: LaneContext, enqueue: (work: Work) => Promise<unknown>, purgeRowsMax: () => number): () => void {
  let timer: NodeJS.Timeout | undefined
  let packingTimer: NodeJS.Timeout | undefined
  let packedLsn: bigint | undefined
  let stopped = false
  let minutesSweptAt = Number.NEGATIVE_INFINITY
  const documentsMax = lane.config.limits.SWEEP_DOCUMENTS_MAX
  const isDue = (view: View): boolean => documentsMax > 0 && view.due(1).length > 0
  const round = async (): Promise<void> => {
    const [due, retired] = lane.store.read((view) => [isDue(view), view.retired().length > 0])
    const begun = performance.now()
    if (due) await enqueue(sweep(documentsMax))
    if (retired) await enqueue(purge(purgeRowsMax))
    if (lane.config.temporal && performance.now() - minutesSweptAt >= EVENT_MINUTES_SWEEP_MS) {
      minutesSweptAt = performance.now()
      await enqueue(minuteSweep())
    }
    if (stopped) return
    // As long as it took: of the write lane and of what the index does behind it, the larger half is for those who wait for an answer.
    const pauseMs = due && lane.store.read(isDue) ? performance.now() - begun : SWEEP_INTERVAL_MS
    timer = setTimeout(() => void round(), Math.min(pauseMs, SWEEP_INTERVAL_MS))
  }
  const packingRound = async (): Promise<void> => {
    const slice = lane.store.read((view) => nextPacking(view, packedLsn ?? view.packedLsn()))
    packedLsn = slice.lsn
    if (slice.bodies.length > 0) await enqueue(pack(slice))
    if (!stopped) packingTimer = setTimeout(() => void packingRound(), slice.isMore ? PACKING_PAUSE_MS : SWEEP_INTERVAL_MS)
  }
  timer = setTimeout(() => void round(), SWEEP_INTERVAL_MS)
  packingTimer = setTimeout(() => void packingRound(), SWEEP_INTERVAL_MS)
  return () => {
    stopped = true
    clearTimeout(timer)
    clearTimeout(packingTimer)
  }
}

/** Deletes what is due. Each delete holds for (docid, expiry) only: a document that was written again since has another. */
function sweep(documentsMax: number): Work {
  return {
    onFullDisk: 'runs',
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

/** A damaged head can't be deleted by its identity; its expiry is forgotten, and a get goes on naming the damage. */
function readHead(transaction: WriteTransaction, collection: number, docid: number): Head | undefined {
  try {
    return transaction.view.headEvenExpired(collection, docid)
  } catch (error) {
    if (!(error instanceof CorruptRecord)) throw error
    log.error('not expired', { reason: error })
    return undefined
  }
}

function purge(rowsMax: () => number): Work {
  return {
    onFullDisk: 'runs',
    weight: SWEEP_DOCUMENTS_MAX,
    run: (transaction: WriteTransaction) => transaction.purgeRetired(rowsMax()),
    answer: () => DONE,
  }
}
