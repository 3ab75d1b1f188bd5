/**
 * The work of the write lane for computed vectors: document by document in slices, as in any batch. Documents
 * that were embedded for a store that has been replaced meanwhile are not written, because their docids
 * denote other documents in this store.
 */
import { decideDropped } from '../../domain/bulk_ingest.js'
import type { VectorsCommand } from '../../domain/commands.js'
import { decideVectors } from '../../domain/embedding/embedded_document.js'
import { COMMIT_SLICE_DOCUMENTS_MAX } from '../../limits/store.js'
import { noteDamage } from '../../store/rows/noted_damage.js'
import type { CommitTools, Work } from './commit_work.js'
import { carryOut, jsonAnswer, slicesOf } from './commit_work.js'

/** Answers the number of entries settled, and whether the store has been replaced. */
export function vectorsWork({ store }: CommitTools, { epoch, job, documents }: VectorsCommand): Work {
  let next = 0
  let settled = 0
  let isOther = false
  return {
    onFullDisk: 'refused',
    origin: 'upkeep',
    slices: slicesOf(documents),
    get weight() {
      return Math.max(1, Math.min(COMMIT_SLICE_DOCUMENTS_MAX, documents.length - next))
    },
    run(transaction, effects) {
      isOther = !store.presentEpoch().equals(epoch)
      if (isOther) return false
      const end = Math.min(next + COMMIT_SLICE_DOCUMENTS_MAX, documents.length)
      for (const document of documents.slice(next, end)) {
        try {
          const step = decideVectors(transaction, document)
          if (step === undefined) continue
          carryOut(transaction, effects, [step])
          settled++
        } catch (error) {
          noteDamage(error)
        }
      }
      next = end
      if (next === documents.length && job !== '') carryOut(transaction, effects, decideDropped(transaction, job, settled))
      return next < documents.length
    },
    answer: () => jsonAnswer({ settled, isOther }),
  }
}
