/**
 * What the write lane does for one command: one or more slices, each run inside a write transaction, and an answer once the last one is on disk. Every slice decides and applies document by
 * document: a document is written whole or not at all, and a refusal of one leaves the others alone.
 */
import { changeOf, findDocument, prepareRestore, prepareUpdate } from '../domain/changes.js'
import type { ChangeTools, PreparedChange } from '../domain/changes.js'
import type { Command, PreparedDocument, RestoreCommand, UpdateCommand } from '../domain/commands.js'
import { decideDelete, decideDrop, decideExpiry, decidePut } from '../domain/decision.js'
import type { PutDecision, Step } from '../domain/decision.js'
import { requireSchemaStill } from '../domain/schemas/write_rules.js'
import { decideSettings } from '../domain/settings_decision.js'
import { ServiceError, serviceError } from '../errors.js'
import { BATCH_ERRORS_MAX, COMMIT_SLICE_DOCUMENTS_MAX } from '../limits.js'
import type { WriteTransaction } from '../store/apply.js'
import { CorruptRecord } from '../store/record.js'
import type { Head } from '../store/head.js'
import type { Answer } from './handler.js'
import { truncate } from './truncate_work.js'

/** Collects what a group has to publish to the index. */
export interface GroupEffects {
  readonly indexOps: Uint8Array[]
}

export interface Work {
  /** Documents that the next slice will write. */
  readonly weight: number
  /** Runs the next slice inside the transaction. @returns true when more slices are left */
  run(transaction: WriteTransaction, effects: GroupEffects): boolean
  /** The answer, after the last slice. */
  answer(): Answer
}

export function workOf(tools: ChangeTools, command: Command): Work {
  switch (command.kind) {
    case 'add':
      return single((transaction, effects) => {
        const decision = decideChecked(tools, transaction, command.collection, command.document)
        carryOut(transaction, effects, decision.steps)
        return documentAnswer(decision, command.document.escaped)
      })
    case 'update':
    case 'restore':
      return single((transaction, effects) => changeDocument(tools, transaction, effects, command))
    case 'delete':
      return single((transaction, effects) => {
        const { collection, key, lang } = command
        carryOut(transaction, effects, [decideDelete(transaction, findDocument(transaction.view, collection, key, lang))])
        return jsonAnswer({ status: 'deleted', deleted: true, collection, key, lang })
      })
    case 'setTtl':
      return single((transaction, effects) => {
        const head = findDocument(transaction.view, command.collection, command.key, command.lang)
        const expiresAt = command.ttl > 0 ? transaction.view.now + command.ttl : 0
        const escaped = Buffer.from(transaction.view.escapedContent(head))
        const decision = decideExpiry(transaction, head, expiresAt)
        carryOut(transaction, effects, decision.steps)
        return documentAnswer(decision, escaped)
      })
    case 'deleteCollection':
      return single((transaction, effects) => {
        const collection = transaction.view.collection(command.collection)
        const deleted = collection === undefined ? 0 : transaction.counters(collection.id).documents
        if (collection !== undefined) carryOut(transaction, effects, [decideDrop(transaction, collection.id, collection.name)])
        return jsonAnswer({ status: 'deleted', collection: command.collection, deleted, deletedCount: deleted })
      })
    case 'settings':
      return single((transaction, effects) => {
        const { steps, answer } = decideSettings(transaction, command)
        carryOut(transaction, effects, steps)
        return jsonAnswer(answer)
      })
    case 'truncate':
      return truncate(command)
    case 'addBatch':
      return addBatch(tools, command.collection, command.documents, command.errors)
    case 'deleteBatch':
      return deleteBatch(command.collection, command.documents, command.errors)
  }
}

/** A command of one slice, whose refusal is its answer. */
function single(run: (transaction: WriteTransaction, effects: GroupEffects) => Answer): Work {
  let answer: Answer | undefined
  return {
    weight: 1,
    run(transaction, effects) {
      try {
        answer = run(transaction, effects)
      } catch (error) {
        answer = refusal(error)
      }
      return false
    },
    answer: () => answer ?? refusal(serviceError('internal')),
  }
}

/** Only operating errors, raised before anything was applied, may pass: everything else must end the process inside the transaction. */
function refusal(error: unknown): Answer {
  const status = error instanceof ServiceError ? error.http : 500
  return { status, body: JSON.stringify({ error: refusalText(error) }) }
}

/** A damaged record is found by `decide`, before anything was applied: the write is refused and says which record it was. */
function refusalText(error: unknown): string {
  if (error instanceof ServiceError || error instanceof CorruptRecord) return error.message
  throw error
}

function carryOut(transaction: WriteTransaction, effects: GroupEffects, steps: readonly Step[]): void {
  for (const step of steps) {
    transaction.apply(step.entry, step.body)
    if (step.indexOp !== undefined) effects.indexOps.push(step.indexOp)
  }
}

function changeDocument(
  tools: ChangeTools,
  transaction: WriteTransaction,
  effects: GroupEffects,
  command: UpdateCommand | RestoreCommand,
): Answer {
  const head = findDocument(transaction.view, command.collection, command.key, command.lang)
  const moved = head.docid !== command.base.docid || head.lsn !== command.base.lsn
  const document = moved ? prepareAgain(tools, transaction, head, command).document : command.document
  const decision = decideChecked(tools, transaction, command.collection, document)
  carryOut(transaction, effects, decision.steps)
  return documentAnswer(decision, document.escaped)
}

function prepareAgain(
  tools: ChangeTools,
  transaction: WriteTransaction,
  head: Head,
  command: UpdateCommand | RestoreCommand,
): PreparedChange {
  try {
    return command.kind === 'update'
      ? prepareUpdate(tools, transaction.view, head, changeOf(command))
      : prepareRestore(tools, transaction.view, head, command.wanted)
  } catch (error) {
    if (error instanceof ServiceError || error instanceof CorruptRecord) throw error
    // A text that the analyzer gave up on. Nothing has been applied yet: a refusal, not the end of the process.
    console.error('preparation on the write lane:', error)
    throw serviceError('internal')
  }
}

/** A document that was prepared under other settings than the collection has now is held to its schema again. */
function decideChecked(tools: ChangeTools, transaction: WriteTransaction, collection: string, document: PreparedDocument): PutDecision {
  requireSchemaStill(tools.settings, transaction.view, collection, document)
  return decidePut(transaction, collection, document)
}

function addBatch(tools: ChangeTools, collection: string, documents: readonly PreparedDocument[], refusedBefore: readonly string[]): Work {
  const refused = [...refusedBefore]
  let next = 0
  let added = 0
  let updated = 0
  return {
    get weight() {
      return Math.min(COMMIT_SLICE_DOCUMENTS_MAX, documents.length - next)
    },
    run(transaction, effects) {
      const end = Math.min(next + COMMIT_SLICE_DOCUMENTS_MAX, documents.length)
      for (; next < end; next++) {
        const document = documents[next] as PreparedDocument
        try {
          const decision = decideChecked(tools, transaction, collection, document)
          carryOut(transaction, effects, decision.steps)
          if (decision.added) added++
          else updated++
        } catch (error) {
          refused.push(`${document.key}: ${refusalText(error)}`)
        }
      }
      return next < documents.length
    },
    answer() {
      if (added + updated === 0 && refused.length > 0) {
        return { status: 400, body: JSON.stringify({ error: `all documents failed: ${refused.slice(0, BATCH_ERRORS_MAX).join('; ')}` }) }
      }
      return jsonAnswer({ added, updated, failed: refused.length, errors: refused.slice(0, BATCH_ERRORS_MAX) })
    },
  }
}

function deleteBatch(collection: string, documents: readonly (readonly [string, string])[], refusedBefore: readonly string[]): Work {
  const refused = [...refusedBefore]
  let next = 0
  let deleted = 0
  let notFound = 0
  return {
    get weight() {
      return Math.min(COMMIT_SLICE_DOCUMENTS_MAX, documents.length - next)
    },
    run(transaction, effects) {
      const found = transaction.view.collection(collection)
      const end = Math.min(next + COMMIT_SLICE_DOCUMENTS_MAX, documents.length)
      for (; next < end; next++) {
        const [key, lang] = documents[next] as readonly [string, string]
        try {
          const head = found === undefined ? undefined : transaction.view.find(found.id, key, lang)
          if (head === undefined) {
            notFound++
            continue
          }
          carryOut(transaction, effects, [decideDelete(transaction, head)])
          deleted++
        } catch (error) {
          refused.push(`${key}: ${refusalText(error)}`)
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

function jsonAnswer(value: unknown): Answer {
  return { status: 200, body: JSON.stringify(value) }
}

const BEFORE_CONTENT = Buffer.from(',"contentMd":"')
const AFTER_CONTENT = Buffer.from('"}')

function documentAnswer(decision: PutDecision, escaped: Buffer): Answer {
  return { status: 200, body: Buffer.concat([decision.headJson, BEFORE_CONTENT, escaped, AFTER_CONTENT]) }
}
