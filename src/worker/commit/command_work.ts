/**
 * The work of each command except a chunk of a bulk ingest (ingest_work.ts), pages of a wiki (wiki_work.ts),
 * a truncation (truncate_work.ts) and vectors (vectors_work.ts). Every slice decides and applies document by
 * document. Write lane only.
 */
import type { AccessCommand } from '../../domain/access/access_changes.js'
import { decideAccess, withoutGrantsOn } from '../../domain/access/access_decision.js'
import { decideCancel, decideSubmit, decideSubmitterGone, type SubmitIngestCommand } from '../../domain/bulk_ingest.js'
import type {
  AddCommand,
  Command,
  DeleteCollectionCommand,
  ForgetReleasesCommand,
  IngestChunkCommand,
  MoveCommand,
  SetTtlCommand,
} from '../../domain/commands.js'
import { decideDelete, decideDrop, decideExpiry, decideMove, type PutDecision } from '../../domain/decision.js'
import { requirePlainName } from '../../domain/documents/identity.js'
import { decideRotation } from '../../domain/rotation.js'
import type { WebhookCommand } from '../../domain/settings/webhook_commands.js'
import { decideSettings, serverSteps } from '../../domain/settings_decision.js'
import { decideWebhook } from '../../domain/webhooks/webhook_changes.js'
import { findDocument, requireCollection } from '../../domain/writes/changes.js'
import { checkTtl } from '../../domain/writes/preparation.js'
import { BATCH_ERRORS_MAX } from '../../limits/documents.js'
import { COMMIT_SLICE_DOCUMENTS_MAX, RELEASES_SCANNED_MAX } from '../../limits/store.js'
import { ALL_COLLECTIONS } from '../../operations/row/collection_access.js'
import type { WriteTransaction } from '../../store/apply.js'
import type { CommitAnswer } from '../request/handler.js'
import { addBatch, ingest } from './batch_work.js'
import { changeDocument } from './change_work.js'
import type { CommitTools, GroupEffects, Work } from './commit_work.js'
import {
  carryOut,
  decideChecked,
  documentAnswer,
  freeing,
  guarded,
  hold,
  jsonAnswer,
  refusalText,
  requireLocation,
  single,
} from './commit_work.js'
import { memoryWork } from './memory_work.js'
import { truncate } from './truncate_work.js'
import { updateBatch } from './update_batch_work.js'
import { vectorsWork } from './vectors_work.js'
import type { ImportCommand } from './wiki_work.js'

type OtherCommand = Exclude<Command, IngestChunkCommand | ImportCommand>

/** The work of every command except a chunk of a bulk ingest and pages of a wiki. */
export function workOf(tools: CommitTools, command: OtherCommand): Work {
  return guarded(workOfKind(tools, command))
}

function workOfKind(tools: CommitTools, command: OtherCommand): Work {
  switch (command.kind) {
    case 'add':
      return single((transaction, effects) => {
        const decision = decideChecked(tools, transaction, command.collection, command.document)
        carryOut(transaction, effects, decision.steps)
        return { ...documentAnswer(decision, command.document.escaped), ...outcomeOf(command, decision) }
      })
    case 'update':
    case 'restore':
      return single((transaction, effects) => {
        const { decision, document } = changeDocument(tools, transaction, effects, command)
        return documentAnswer(decision, document.escaped)
      })
    case 'memory':
      return memoryWork(tools, command)
    case 'delete':
      return freeing((transaction, effects) => {
        const { collection, key, lang } = command
        carryOut(transaction, effects, [decideDelete(transaction, findDocument(transaction.view, collection, key, lang))])
        return jsonAnswer({ status: 'deleted', deleted: true, collection, key, lang })
      })
    case 'setTtl':
      return single((transaction, effects) => setTtl(transaction, effects, command))
    case 'deleteCollection':
      return deleteCollection(command)
    case 'settings':
      return single((transaction, effects) => {
        const { steps, answer } = decideSettings(transaction, command)
        carryOut(transaction, effects, steps)
        return { body: answer === undefined ? '' : JSON.stringify(answer) }
      })
    case 'access':
      return changeAccounts(command)
    case 'submitIngest':
      return submitIngest(command)
    case 'cancelIngest':
      return freeing((transaction, effects) => {
        carryOut(transaction, effects, [decideCancel(transaction, command.id)])
        return jsonAnswer({ status: 'cancelled', id: command.id })
      })
    case 'truncate':
      return truncate(command)
    case 'rotate':
      return single((transaction, effects) => {
        const { steps, answer } = decideRotation(transaction, command.id, command.collection, Date.now())
        carryOut(transaction, effects, steps)
        return jsonAnswer(answer)
      })
    case 'move':
      return { ...single((transaction, effects) => moveBodies(tools, transaction, effects, command)), origin: 'upkeep' }
    case 'vectors':
      return vectorsWork(tools, command)
    case 'forgetReleases':
      return forgetReleases(command)
    case 'webhook':
      return changeWebhooks(tools, command)
    case 'addBatch':
      return addBatch(tools, command)
    case 'ingest':
      return ingest(tools, command)
    case 'updateBatch':
      return updateBatch(tools, command)
    case 'deleteBatch':
      return deleteBatch(command.collection, command.documents, command.errors)
  }
}

function submitIngest(command: SubmitIngestCommand): Work {
  return single((transaction, effects) => {
    const { steps, answer } = decideSubmit(transaction, command)
    carryOut(transaction, effects, steps)
    return { body: JSON.stringify(answer) }
  })
}

function outcomeOf({ warnings }: AddCommand, { added }: PutDecision): Pick<CommitAnswer, 'facts'> {
  if (warnings === undefined) return {}
  return { facts: [['outcome', added ? 'added' : 'updated'], ...warnings.map((text) => ['warning', text] as const)] }
}

function deleteCollection({ collection: name, endsGrants }: DeleteCollectionCommand): Work {
  return freeing((transaction, effects) => {
    const collection = transaction.view.collection(name)
    const deleted = collection === undefined ? 0 : transaction.counters(collection.id).documents
    if (name === ALL_COLLECTIONS) requirePlainName('collection', name)
    if (collection !== undefined) {
      const grants = endsGrants ? serverSteps(transaction, withoutGrantsOn(transaction.view, collection.name), 1) : []
      carryOut(transaction, effects, [decideDrop(transaction, collection.id, collection.name), ...grants])
    }
    return jsonAnswer({ status: 'deleted', collection: name, deleted, deletedCount: deleted })
  })
}

/** Runs while the disk is full, too: a right must be taken away at once. */
function changeAccounts({ change }: AccessCommand): Work {
  return freeing((transaction, effects) => {
    const { writes, answer } = decideAccess(transaction.view, change)
    const ended = change.kind === 'deleteUser' ? decideSubmitterGone(transaction, change.username, writes.length) : []
    carryOut(transaction, effects, [...serverSteps(transaction, writes), ...ended])
    return jsonAnswer(answer)
  })
}

/** Deliveries are settled while the disk is full, too: that frees space. */
function changeWebhooks({ store }: CommitTools, { change }: WebhookCommand): Work {
  const run = (transaction: WriteTransaction, effects: GroupEffects): CommitAnswer => {
    const { steps, answer } = decideWebhook(transaction, change, store.presentEpoch().toString('hex'))
    carryOut(transaction, effects, steps)
    return jsonAnswer(answer)
  }
  return change.kind === 'delete' || change.kind === 'settle' ? freeing(run) : single(run)
}

function forgetReleases({ before, swept }: ForgetReleasesCommand): Work {
  let from: Buffer | undefined
  return {
    onFullDisk: 'runs',
    weight: COMMIT_SLICE_DOCUMENTS_MAX,
    run(transaction) {
      if (from === undefined) transaction.forgetSwept(swept)
      from = transaction.forgetReleases(before, from, RELEASES_SCANNED_MAX)
      return from !== undefined
    },
    answer: () => jsonAnswer({}),
  }
}

/** Moves are independent of each other. The body mover retries the refused ones. */
function moveBodies(
  tools: CommitTools,
  transaction: WriteTransaction,
  effects: GroupEffects,
  { collection, moves }: MoveCommand,
): CommitAnswer {
  let moved = 0
  for (const move of moves) {
    const step = decideMove(transaction, collection, move)
    if (step === undefined) continue
    requireLocation(tools, transaction, collection, move.object)
    hold(tools, transaction, move.object)
    carryOut(transaction, effects, [step])
    moved++
  }
  return jsonAnswer({ moved })
}

function setTtl(transaction: WriteTransaction, effects: GroupEffects, { collection, key, lang, ttl }: SetTtlCommand): CommitAnswer {
  checkTtl(ttl)
  const head = findDocument(transaction.view, collection, key, lang)
  const escaped = Buffer.from(transaction.view.escapedContent(head))
  const decision = decideExpiry(transaction, head, ttl > 0 ? transaction.view.now + ttl : 0)
  carryOut(transaction, effects, decision.steps)
  return documentAnswer(decision, escaped)
}

function deleteBatch(collection: string, documents: readonly (readonly [string, string])[], refusedBefore: readonly string[]): Work {
  const refused = [...refusedBefore]
  let next = 0
  let deleted = 0
  let notFound = 0
  return {
    onFullDisk: 'runs',
    get weight() {
      return Math.min(COMMIT_SLICE_DOCUMENTS_MAX, documents.length - next)
    },
    run(transaction, effects) {
      const end = Math.min(next + COMMIT_SLICE_DOCUMENTS_MAX, documents.length)
      for (; next < end; next++) {
        const [key, lang] = documents[next] as readonly [string, string]
        try {
          const found = transaction.view.collection(collection)
          const head = found === undefined ? undefined : transaction.view.find(found.id, key, lang)
          if (head === undefined) {
            notFound++
            continue
          }
          requireCollection(head, collection)
          carryOut(transaction, effects, [decideDelete(transaction, head)])
          deleted++
        } catch (error) {
          refused.push(`${key}: ${refusalText(transaction, error)}`)
        }
      }
      return next < documents.length
    },
    answer: () =>
      jsonAnswer({
        deleted,
        not_found: notFound,
        failed: refused.length,
        errors: refused.length === 0 ? null : refused.slice(0, BATCH_ERRORS_MAX),
      }),
  }
}
