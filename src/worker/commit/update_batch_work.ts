/** The work of a batch of updates: each document changes alone, and its outcome is counted. */
import type { UpdateBatchCommand, UpdateCommand } from '../../domain/commands.js'
import { CATALOGUE, ServiceError } from '../../errors.js'
import { BATCH_ERRORS_MAX } from '../../limits/documents.js'
import { COMMIT_SLICE_DOCUMENTS_MAX } from '../../limits/store.js'
import { BodiesWanted } from '../../store/objects.js'
import { changeDocument } from './change_work.js'
import { type CommitTools, jsonAnswer, refusalText, slicesOf, type Work } from './commit_work.js'

export function updateBatch(tools: CommitTools, { updates, notFound: missing, errors }: UpdateBatchCommand): Work {
  const refused = [...errors]
  let next = 0
  let updated = 0
  let notFound = missing
  return {
    onFullDisk: 'refused',
    slices: slicesOf(updates),
    get weight() {
      return Math.min(COMMIT_SLICE_DOCUMENTS_MAX, updates.length - next)
    },
    run(transaction, effects) {
      const end = Math.min(next + COMMIT_SLICE_DOCUMENTS_MAX, updates.length)
      for (; next < end; next++) {
        const update = updates[next] as UpdateCommand
        try {
          changeDocument(tools, transaction, effects, update)
          updated++
        } catch (error) {
          if (error instanceof ServiceError && error.code === 'notFound') notFound++
          // Its body left the env after the preparation. One document does not hold up the others.
          else if (error instanceof BodiesWanted) refused.push(`${update.key}: ${CATALOGUE.collectionChanged.text}`)
          else refused.push(`${update.key}: ${refusalText(transaction, error)}`)
        }
      }
      return next < updates.length
    },
    answer: () => jsonAnswer({ updated, not_found: notFound, failed: refused.length, errors: refused.slice(0, BATCH_ERRORS_MAX) }),
  }
}
