/**
 * Truncates a collection's history as work of the write lane. The slices run in docid order. Each is bounded
 * in documents examined and in revisions removed, so that single writes run between them. A document written
 * during the truncation is truncated in the state it has when its slice runs. A damaged document is left
 * unchanged and reported.
 */
import type { TruncateCommand } from '../../domain/commands.js'
import { decideTrim } from '../../domain/revision_trim.js'
import { requireApplicable } from '../../domain/writes/entry_check.js'
import { BATCH_ERRORS_MAX } from '../../limits/documents.js'
import { COMMIT_SLICE_DOCUMENTS_MAX } from '../../limits/store.js'
import type { WriteTransaction } from '../../store/apply.js'
import { CorruptRecord } from '../../store/rows/record.js'
import type { Work } from './commit_work.js'

/**
 * Documents that one slice of a truncation examines. Each takes a read of the head and of the history;
 * together some 4 ms.
 */
const TRUNCATE_SLICE_DOCUMENTS_MAX = 512
/** Revisions after which a slice of a truncation ends. */
const TRUNCATE_SLICE_REVISIONS_MAX = 512

export function truncate({ collection: name, keep }: TruncateCommand): Work {
  const errors: string[] = []
  let collection: number | undefined
  let nextDocid = 1
  let deleted = 0

  /** @returns number of revisions removed; the cursor advances unless the document has more */
  const trimOne = (transaction: WriteTransaction, id: number, docid: number): number => {
    try {
      const head = transaction.view.headEvenExpired(id, docid)
      const decision = head === undefined ? undefined : decideTrim(transaction, head, keep)
      if (decision?.isPartial !== true) nextDocid = docid + 1
      if (decision === undefined) return 0
      requireApplicable([decision.step])
      transaction.requireIntact(decision.step.entry)
      transaction.apply(decision.step.entry, decision.step.body)
      return decision.trimmed
    } catch (error) {
      // Raised by `decide` before anything was applied. Every other error must end the process inside the
      // transaction.
      if (!(error instanceof CorruptRecord)) throw error
      if (errors.length < BATCH_ERRORS_MAX) errors.push(error.message)
      nextDocid = docid + 1
      return 0
    }
  }

  return {
    onFullDisk: 'runs',
    weight: COMMIT_SLICE_DOCUMENTS_MAX,
    run(transaction) {
      const found = transaction.view.collection(name)
      collection ??= found?.id
      // Another collection of the same name has its own history.
      if (found === undefined || found.id !== collection) return false
      const docids = transaction.view.docidsFrom(found.id, nextDocid, TRUNCATE_SLICE_DOCUMENTS_MAX)
      let removed = 0
      for (const docid of docids) {
        do removed += trimOne(transaction, found.id, docid)
        while (nextDocid <= docid && removed < TRUNCATE_SLICE_REVISIONS_MAX)
        if (removed >= TRUNCATE_SLICE_REVISIONS_MAX) break
      }
      deleted += removed
      return nextDocid <= (docids.at(-1) ?? 0) || docids.length === TRUNCATE_SLICE_DOCUMENTS_MAX
    },
    answer: () => ({ body: JSON.stringify({ status: 'truncated', deleted, ...(errors.length === 0 ? {} : { errors }) }) }),
  }
}
