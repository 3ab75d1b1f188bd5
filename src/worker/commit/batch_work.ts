/**
 * The work of the write lane for many new documents in one command: add-batch and ingest. Each document is
 * written whole or refused alone; the counts are exact. Write lane only.
 */
import type { AddBatchCommand, IngestCommand, PreparedDocument } from '../../domain/commands.js'
import { decideSettings } from '../../domain/settings_decision.js'
import { BATCH_ERRORS_MAX } from '../../limits/documents.js'
import { COMMIT_SLICE_DOCUMENTS_MAX } from '../../limits/store.js'
import type { WriteTransaction } from '../../store/apply.js'
import type { CommitAnswer } from '../request/handler.js'
import {
  carryOut,
  type CommitTools,
  decideChecked,
  type GroupEffects,
  jsonAnswer,
  refusalText,
  slicesOf,
  type Work,
} from './commit_work.js'

interface Batch {
  readonly collection: string
  readonly documents: readonly PreparedDocument[]
  /** Of documents that were refused before. */
  readonly errors: readonly string[]
}

interface Stored {
  readonly added: number
  readonly updated: number
  readonly refused: readonly string[]
}

type StepAfter = (transaction: WriteTransaction, effects: GroupEffects) => void

export function addBatch(tools: CommitTools, command: AddBatchCommand): Work {
  return storing(tools, command, ({ added, updated, refused }) => {
    if (added + updated === 0 && refused.length > 0) return allFailed(refused)
    return jsonAnswer({ added, updated, failed: refused.length, errors: refused.slice(0, BATCH_ERRORS_MAX) })
  })
}

export function ingest(tools: CommitTools, command: IngestCommand): Work {
  const { collection, type, report } = command
  const { skipped, sanitized, keyCollisions, warnings, profile, startedMs } = report
  const answer = ({ added, updated, refused }: Stored): CommitAnswer => {
    if (added + updated + skipped === 0 && refused.length > 0) return allFailed(refused)
    return jsonAnswer({
      added,
      updated,
      skipped,
      failed: refused.length,
      errors: refused.slice(0, BATCH_ERRORS_MAX),
      collection,
      durationMs: Date.now() - startedMs,
      profile,
      ...(keyCollisions.length > 0 ? { keyCollisions } : {}),
      ...(sanitized > 0 ? { sanitized } : {}),
      ...(warnings.length > 0 ? { warnings } : {}),
    })
  }
  const configure: StepAfter = (transaction, effects) => {
    if (type === null) return
    const change = { kind: 'configure', change: { values: { type }, cleared: [] } } as const
    carryOut(transaction, effects, decideSettings(transaction, { kind: 'settings', collection, change }).steps)
  }
  return storing(tools, command, answer, configure)
}

/** @param onCreated runs in the transaction of the document that creates the collection, behind it */
function storing(
  tools: CommitTools,
  { collection, documents, errors }: Batch,
  answer: (stored: Stored) => CommitAnswer,
  onCreated: StepAfter = () => undefined,
): Work {
  const refused = [...errors]
  let next = 0
  let added = 0
  let updated = 0
  return {
    onFullDisk: 'refused',
    slices: slicesOf(documents),
    get weight() {
      return Math.min(COMMIT_SLICE_DOCUMENTS_MAX, documents.length - next)
    },
    run(transaction, effects) {
      const end = Math.min(next + COMMIT_SLICE_DOCUMENTS_MAX, documents.length)
      let isThere = transaction.view.collection(collection) !== undefined
      for (; next < end; next++) {
        const document = documents[next] as PreparedDocument
        try {
          const decision = decideChecked(tools, transaction, collection, document)
          carryOut(transaction, effects, decision.steps)
          if (decision.added) added++
          else updated++
        } catch (error) {
          refused.push(`${document.key}: ${refusalText(transaction, error)}`)
          continue
        }
        if (!isThere) onCreated(transaction, effects)
        isThere = true
      }
      return next < documents.length
    },
    answer: () => answer({ added, updated, refused }),
  }
}

function allFailed(refused: readonly string[]): CommitAnswer {
  const text = `all documents failed: ${refused.slice(0, BATCH_ERRORS_MAX).join('; ')}`
  return { code: 'allFailed', body: JSON.stringify({ error: text }) }
}
