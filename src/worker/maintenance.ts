/**
 * What the write lane does unasked, as ordinary work in its queue: deleting expired documents, removing the rows of deleted collections and old counts of events, in slices. Runs on the write lane's event loop.
 */
import { decideDelete } from '../domain/decision.js'
import { EVENT_MINUTES_SWEEP_MS, PURGE_ROWS_MAX, SWEEP_DOCUMENTS_MAX, SWEEP_INTERVAL_MS } from '../limits.js'
import type { WriteTransaction } from '../store/apply.js'
import type { Head } from '../store/head.js'
import { CorruptRecord } from '../store/record.js'
import type { GroupEffects, Work } from './commit_work.js'
import type { Answer, LaneContext } from './handler.js'
import { minuteSweep } from './minute_sweep.js'

const DONE: Answer = { status: 200, body: '' }

/**
 * Starts the round of maintenance. @param enqueue puts work into the commit queue and resolves when it is on disk
 * @returns a function that stops it; work that is already queued still runs
 */
export function maintenanceWork(lane: LaneContext, enqueue: (work: Work) => Promise<unknown>): () => void {
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  let minutesSweptAt = Number.NEGATIVE_INFINITY
  const round = async (): Promise<void> => {
    const [due, retired] = lane.store.read((view) => [view.due(1).length > 0, view.retired().length > 0])
    if (due) await enqueue(sweep())
    if (retired) await enqueue(purge())
    if (lane.config.temporal && performance.now() - minutesSweptAt >= EVENT_MINUTES_SWEEP_MS) {
      minutesSweptAt = performance.now()
      await enqueue(minuteSweep())
    }
    if (!stopped) timer = setTimeout(() => void round(), due && lane.store.read((view) => view.due(1).length > 0) ? 0 : SWEEP_INTERVAL_MS)
  }
  timer = setTimeout(() => void round(), SWEEP_INTERVAL_MS)
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}

/** Deletes what is due. Each delete holds for (docid, expiry) only: a document that was written again since has another. */
function sweep(): Work {
  return {
    weight: SWEEP_DOCUMENTS_MAX,
    run(transaction: WriteTransaction, effects: GroupEffects): boolean {
      const retired = new Set(transaction.view.retired())
      for (const { expiresAt, collection, docid } of transaction.view.due(SWEEP_DOCUMENTS_MAX)) {
        const head = retired.has(collection) ? undefined : readHead(transaction, collection, docid)
        if (head === undefined || head.expiresAt !== expiresAt) {
          transaction.forgetExpiry(expiresAt, collection, docid)
          continue
        }
        const step = decideDelete(transaction, head)
        transaction.apply(step.entry, step.body)
        if (step.indexOp !== undefined) effects.indexOps.push(step.indexOp)
      }
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
    console.error(`not expired: ${error.message}`)
    return undefined
  }
}

function purge(): Work {
  return {
    weight: SWEEP_DOCUMENTS_MAX,
    run: (transaction: WriteTransaction) => transaction.purgeRetired(PURGE_ROWS_MAX),
    answer: () => DONE,
  }
}
