/**
 * The work of the write lane for a chunk of a bulk ingest. The documents are written in slices, as in any
 * batch. The job's counters are updated in the transaction of each slice, so a job's record states exactly
 * what is stored, whenever the process ends.
 */
import { Rights } from '../../access/rights.js'
import { identityOfUser } from '../../domain/access/accounts.js'
import type { IngestError, IngestProgress, MayWrite } from '../../domain/bulk_ingest.js'
import {
  decideAbandoned,
  decideFailed,
  decideProgress,
  endOfIngest,
  findIngest,
  findRunnable,
  isUnfinishedIngest,
  showIngest,
  shownError,
} from '../../domain/bulk_ingest.js'
import type { IngestChunkCommand, PreparedDocument } from '../../domain/commands.js'
import { COMMIT_SLICE_DOCUMENTS_MAX } from '../../limits/store.js'
import type { WriteTransaction } from '../../store/apply.js'
import type { Job } from '../../store/jobs.js'
import type { CommitAnswer } from '../request/handler.js'
import type { CommitTools, GroupEffects, Work } from './commit_work.js'
import { carryOut, decideChecked, guarded, jsonAnswer, refusal, refusalText, slicesOf } from './commit_work.js'

export function ingestChunkWork(tools: CommitTools, command: IngestChunkCommand): Work {
  const { id, documents } = command
  let next = 0
  let committed = 0
  let answer: CommitAnswer = jsonAnswer({})
  return guarded({
    // After the first slice, the job's record counts documents that are stored already. The chunk can then no
    // longer be submitted again as a whole.
    get onFullDisk() {
      return next === 0 ? 'refused' : 'waits'
    },
    origin: 'import',
    slices: slicesOf(documents),
    undo() {
      next = committed
    },
    get weight() {
      return Math.max(1, Math.min(COMMIT_SLICE_DOCUMENTS_MAX, documents.length - next))
    },
    run(transaction, effects) {
      committed = next
      let job: Job
      let isSealed: boolean
      try {
        const ended = endedIngest(tools, transaction, effects, id)
        if (ended !== undefined) {
          answer = jsonAnswer(showIngest(ended))
          return false
        }
        job = findRunnable(transaction.view, id)
        const collection = transaction.view.collection(command.collection)
        isSealed = collection !== undefined && transaction.isSealed(collection.id)
      } catch (error) {
        // The job was cancelled meanwhile, or its record is damaged. Nothing of the slice has been applied.
        answer = refusal(transaction, error)
        return false
      }
      const slice = documents.slice(next, next + COMMIT_SLICE_DOCUMENTS_MAX)
      const beforehand = next === 0 ? command : { failed: 0, errors: [] }
      next += slice.length
      const hasMore = next < documents.length
      const progress = storeSlice(tools, transaction, effects, { collection: command.collection, isSealed }, slice, beforehand)
      carryOut(transaction, effects, [decideProgress(transaction, job, { ...progress, isLast: command.isLast && !hasMore })])
      answer = jsonAnswer(showIngest(transaction.view.job('bulk', id) ?? job))
      return hasMore
    },
    answer: () => answer,
  })
}

/**
 * The job, if it has failed or fails now, because its submitter may not write any more or its collection is
 * not the one that it was submitted for. Undefined: it may go on, or was cancelled.
 */
function endedIngest(tools: CommitTools, transaction: WriteTransaction, effects: GroupEffects, id: string): Job | undefined {
  const { view } = transaction
  const job = findIngest(view, id)
  if (job.fields.status === 'failed') return job
  const reason = isUnfinishedIngest(job.fields.status) ? endOfIngest(view, job, mayWriteOf(tools)) : undefined
  if (reason === undefined) return undefined
  carryOut(transaction, effects, [decideFailed(transaction, job, reason)])
  return findIngest(view, id)
}

/** By the rights that users have at the time of the view. */
export function mayWriteOf({ config }: CommitTools): MayWrite {
  return (view, username, collection) => {
    const identity = identityOfUser(view, username, config.authAdminUsername)
    return identity !== undefined && new Rights(identity.rights).permits('write', collection)
  }
}

function storeSlice(
  tools: CommitTools,
  transaction: WriteTransaction,
  effects: GroupEffects,
  { collection, isSealed }: { readonly collection: string; readonly isSealed: boolean },
  documents: readonly PreparedDocument[],
  beforehand: { readonly failed: number; readonly errors: readonly IngestError[] },
): Omit<IngestProgress, 'isLast'> {
  const errors = [...beforehand.errors]
  let { failed } = beforehand
  let added = 0
  let updated = 0
  for (const document of documents) {
    try {
      const decision = decideChecked(tools, transaction, collection, document)
      carryOut(transaction, effects, decision.steps)
      if (decision.added) added++
      else updated++
    } catch (error) {
      errors.push({ subject: isSealed ? 'a document' : document.key, text: refusalText(transaction, error) })
      failed++
    }
  }
  return { added, updated, failed, errors: errors.map((error) => shownError(error, isSealed)) }
}

/** Fails the jobs whose documents were lost with an earlier process. */
export function abandonedIngestsWork(): Work {
  return {
    onFullDisk: 'runs',
    origin: 'upkeep',
    weight: 1,
    run(transaction, effects) {
      for (let step = decideAbandoned(transaction); step !== undefined; step = decideAbandoned(transaction)) {
        carryOut(transaction, effects, [step])
      }
      return false
    },
    answer: () => jsonAnswer({}),
  }
}
