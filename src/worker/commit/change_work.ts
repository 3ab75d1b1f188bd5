/**
 * A change of a stored document on the write lane: if the document has changed since the command was
 * prepared, the command is prepared again inside the transaction.
 */
import type { PreparedDocument, RestoreCommand, UpdateCommand } from '../../domain/commands.js'
import type { PutDecision } from '../../domain/decision.js'
import { changeOf, findDocument, type PreparedChange, prepareRestore, prepareUpdate } from '../../domain/writes/changes.js'
import { requireSealedStill } from '../../domain/writes/write_rules.js'
import { ServiceError, serviceError } from '../../errors.js'
import type { WriteTransaction } from '../../store/apply.js'
import type { Head } from '../../store/head.js'
import { BodiesWanted } from '../../store/objects.js'
import { CorruptRecord } from '../../store/rows/record.js'
import { log } from '../../telemetry/log.js'
import { carryOut, type CommitTools, decideChecked, type GroupEffects } from './commit_work.js'

interface ChangedDocument {
  readonly decision: PutDecision
  readonly document: PreparedDocument
}

/** @throws ServiceError 404, and whatever refuses the write; nothing is applied then */
export function changeDocument(
  tools: CommitTools,
  transaction: WriteTransaction,
  effects: GroupEffects,
  command: UpdateCommand | RestoreCommand,
): ChangedDocument {
  const changed = decideChange(tools, transaction, command)
  carryOut(transaction, effects, changed.decision.steps)
  return changed
}

/** The same without applying anything. */
export function decideChange(tools: CommitTools, transaction: WriteTransaction, command: UpdateCommand | RestoreCommand): ChangedDocument {
  // Asked before a preparation for the present collection could hide it.
  requireSealedStill(transaction.view, command.collection, command.document.sealedIn)
  const head = findDocument(transaction.view, command.collection, command.key, command.lang)
  const moved = head.docid !== command.base.docid || head.lsn !== command.base.lsn || hasLeft(transaction, head, command.document)
  const document = moved ? sameObject(prepareAgain(tools, transaction, head, command).document, command.document) : command.document
  return { decision: decideChecked(tools, transaction, command.collection, document), document }
}

/**
 * Whether the body that the document would share was in the env when the document was prepared and has been
 * moved to another location since. A revision keeps its body in the env, so it then needs a body of its own.
 */
function hasLeft({ view }: WriteTransaction, { collection, docid }: Head, { body }: PreparedDocument): boolean {
  return body.kind === 'shared' && view.objects.isElsewhere({ collection, docid, bodyLsn: body.lsn })
}

/**
 * The content is usually unchanged; then the object that was prepared before is used. Otherwise the body is
 * stored in the env until it is moved.
 */
function sameObject(document: PreparedDocument, before: PreparedDocument): PreparedDocument {
  return before.object !== undefined && document.escaped.equals(before.escaped) ? { ...document, object: before.object } : document
}

function prepareAgain(
  tools: CommitTools,
  transaction: WriteTransaction,
  head: Head,
  command: UpdateCommand | RestoreCommand,
): PreparedChange {
  try {
    return command.kind === 'update'
      ? prepareUpdate(tools, transaction.view, head, changeOf(command))
      : prepareRestore(tools, transaction.view, head, command.wanted)
  } catch (error) {
    if (error instanceof ServiceError || error instanceof CorruptRecord || error instanceof BodiesWanted) throw error
    // The analyzer failed on the text. Nothing has been applied yet, so the command is refused and the
    // process continues.
    log.error('preparation on the write lane', { fault: error })
    throw serviceError('internal')
  }
}
