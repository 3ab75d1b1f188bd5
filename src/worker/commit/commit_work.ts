/**
 * The work of the write lane for one command: one or more slices, each run inside a write transaction, and an
 * answer once the last slice is on disk. Every slice decides and applies document by document. A document is
 * written whole or not at all, and the refusal of one does not affect the others.
 */
import assert from 'node:assert/strict'
import type { PreparedDocument, PreparedObject } from '../../domain/commands.js'
import type { PutDecision } from '../../domain/decision.js'
import { decidePut } from '../../domain/decision.js'
import type { Step } from '../../domain/step.js'
import type { ChangeTools } from '../../domain/writes/changes.js'
import { requireApplicable } from '../../domain/writes/entry_check.js'
import { requireSchemaStill, requireSealedStill } from '../../domain/writes/write_rules.js'
import type { SharedBodies } from '../../engine/shared_bodies.js'
import type { VectorChange } from '../../engine/vectors/vector_types.js'
import { CATALOGUE, type ErrorCode, ServiceError, serviceError } from '../../errors.js'
import { COMMIT_SLICE_DOCUMENTS_MAX } from '../../limits/store.js'
import { MEMORY_SESSIONS } from '../../operations/memory/memory_collections.js'
import { lowerCase } from '../../operations/row/lower_case.js'
import type { WriteTransaction } from '../../store/apply.js'
import type { Entry } from '../../store/entries/entry.js'
import type { EntryEffects } from '../../store/entries/entry_kind.js'
import type { EntryOrigin } from '../../store/entries/entry_origin.js'
import { kindOf } from '../../store/entries/kinds.js'
import { BodiesWanted, idOfObject, keyIdOfObject, locationOfObject } from '../../store/objects.js'
import { CorruptRecord } from '../../store/rows/record.js'
import type { TruthStore } from '../../store/truth_store.js'
import { log } from '../../telemetry/log.js'
import type { CommitAnswer } from '../request/handler.js'
import { hintOfText } from '../request/hints.js'

/** Collects what a commit group publishes to the index and the effects of its entries. */
export interface GroupEffects extends EntryEffects {
  readonly indexOps: Uint8Array[]
  readonly vectorOps: VectorChange[]
  /** Ids of sessions of conversational memory that were deleted; EVERY_SESSION: all of them. */
  readonly endedSessions: string[]
}

/** Is the id of no session. */
export const EVERY_SESSION = ''

export interface CommitTools extends ChangeTools {
  readonly config: ChangeTools['config'] & { readonly authAdminUsername: string }
  readonly store: TruthStore
  readonly sharedBodies: SharedBodies
}

/**
 * Behaviour while the disk is full. `refused`: the work would grow the store and is answered 503. `runs`: the
 * work frees space. `waits`: the work belongs to no request; it is kept until there is space, and a slice
 * that was refused starts from the beginning.
 */
export type OnFullDisk = 'refused' | 'runs' | 'waits'

export interface Work {
  readonly onFullDisk: OnFullDisk
  /** Origin of its entries. Default: a request. */
  readonly origin?: EntryOrigin
  /** Number of documents that the next slice writes. */
  readonly weight: number
  /** Approximate number of slices. Default: one. */
  readonly slices?: number
  /** Runs the next slice inside the transaction. @returns true if more slices are left */
  run(transaction: WriteTransaction, effects: GroupEffects): boolean
  /** Called when the slice that has run was not stored. For work that waits and keeps its progress. */
  undo?(): void
  /** The answer, after the last slice. */
  answer(): CommitAnswer
}

/** A `single` that frees space. */
export function freeing(run: (transaction: WriteTransaction, effects: GroupEffects) => CommitAnswer): Work {
  return { ...single(run), onFullDisk: 'runs' }
}

/** A command of one slice. */
export function single(run: (transaction: WriteTransaction, effects: GroupEffects) => CommitAnswer): Work {
  let answer: CommitAnswer | undefined
  return {
    onFullDisk: 'refused',
    weight: 1,
    run(transaction, effects) {
      answer = run(transaction, effects)
      return false
    },
    answer: () => {
      assert(answer !== undefined, 'an answer before the slice has run')
      return answer
    },
  }
}

/** Turns an error that a slice throws between two entries into the command's answer. */
export function guarded(work: Work): Work {
  let answer: CommitAnswer | undefined
  return {
    get onFullDisk() {
      return work.onFullDisk
    },
    origin: work.origin ?? 'request',
    slices: work.slices ?? 1,
    undo() {
      answer = undefined
      work.undo?.()
    },
    get weight() {
      return work.weight
    },
    run(transaction, effects) {
      try {
        return work.run(transaction, effects)
      } catch (error) {
        answer =
          error instanceof BodiesWanted ? { code: 'backendUnavailable', body: '', wanted: error.objects } : refusal(transaction, error)
        return false
      }
    },
    answer: () => answer ?? work.answer(),
  }
}

export function refusal(transaction: WriteTransaction, error: unknown): CommitAnswer {
  const text = refusalText(transaction, error)
  const hint = hintOfText(text)
  const body = JSON.stringify({ error: text, ...(hint === undefined ? {} : { hint }) })
  return { code: codeOf(error), body }
}

export function refused({ code, message }: ServiceError): CommitAnswer {
  return { code, body: JSON.stringify({ error: message }) }
}

function codeOf(error: unknown): ErrorCode {
  if (error instanceof ServiceError) return error.code
  return error instanceof CorruptRecord ? 'damaged' : 'internal'
}

/**
 * An error from `decide` is a refusal: nothing of the decision has been applied. A damaged record is named in
 * the message. An unexpected error is a bug of the server and must not interrupt the service for other
 * clients. An error from `apply`, or one reported by LMDB itself, must end the process inside the
 * transaction.
 */
export function refusalText(transaction: WriteTransaction, error: unknown): string {
  if (transaction.isApplying || isReportOfStore(error)) throw error
  if (error instanceof ServiceError || error instanceof CorruptRecord) return error.message
  log.error('a decision failed', { fault: error })
  return CATALOGUE.internal.text
}

/** Errors of LMDB and of the operating system have numeric codes. */
function isReportOfStore(error: unknown): boolean {
  return typeof (error as { readonly code?: unknown } | null)?.code === 'number'
}

/**
 * All or nothing: steps that cannot be applied are refused before the first one is applied. @throws
 * CorruptRecord
 */
export function carryOut(transaction: WriteTransaction, effects: GroupEffects, steps: readonly Step[]): void {
  requireApplicable(steps)
  for (const { entry } of steps) transaction.requireIntact(entry)
  for (const step of steps) {
    transaction.apply(step.entry, step.body, step.present)
    kindOf(step.entry).addEffects?.(step.entry, effects)
    if (step.indexOp !== undefined) effects.indexOps.push(step.indexOp)
    if (step.vectorOp !== undefined) effects.vectorOps.push(step.vectorOp)
    noteEndOfSession(step.entry, effects)
  }
}

function noteEndOfSession(entry: Entry, { endedSessions }: GroupEffects): void {
  if (entry.kind !== 'delete' && entry.kind !== 'drop') return
  if (entry.collectionName.length !== MEMORY_SESSIONS.length || lowerCase(entry.collectionName) !== MEMORY_SESSIONS) return
  endedSessions.push(entry.kind === 'delete' ? entry.key : EVERY_SESSION)
}

/** Validates the document again if the collection's settings have changed since it was prepared. */
export function decideChecked(
  tools: CommitTools,
  transaction: WriteTransaction,
  collection: string,
  document: PreparedDocument,
): PutDecision {
  requireSealedStill(transaction.view, collection, document.sealedIn)
  requireSchemaStill(tools.settings, transaction.view, collection, document)
  requireLocation(tools, transaction, transaction.view.collection(collection)?.id, document.object)
  const decision = decidePut(transaction, collection, document)
  hold(tools, transaction, document.object)
  return decision
}

/**
 * Checks that an object still fits the store and the collection.
 * - Its location must be known. It is unknown if the store has been replaced since the write was prepared.
 * - It must have been made for this collection, not for one of the same name that was deleted meanwhile along
 *   with its keys.
 * - It must be stored in the same form as the collection's records are now, because a rotation that has
 *   already passed does not visit it again.
 * @throws ServiceError 503
 */
export function requireLocation(
  { settings }: CommitTools,
  { view }: WriteTransaction,
  collection: number | undefined,
  object: PreparedObject | null | undefined,
): void {
  if (object === null || object === undefined || object.memoryRecord !== null) return
  if (!settings.locations(view).has(locationOfObject(object.record))) throw serviceError('warmingUp')
  if (object.collection !== collection || keyIdOfObject(object.record) !== view.objects.writtenForm(collection))
    throw serviceError('collectionChanged')
}

/**
 * Stores the object of an in-memory body before its entry is applied. @throws ServiceError 503 if memory is
 * full
 */
export function hold({ sharedBodies }: CommitTools, { kept }: WriteTransaction, object: PreparedObject | null | undefined): void {
  if (!(object?.memoryRecord instanceof Uint8Array)) return
  const id = idOfObject(object.record)
  if (!sharedBodies.keep(id, object.memoryRecord)) throw serviceError('memoryFull')
  kept.push(id)
}

export function slicesOf(documents: { readonly length: number }): number {
  return Math.max(1, Math.ceil(documents.length / COMMIT_SLICE_DOCUMENTS_MAX))
}

export function jsonAnswer(value: unknown): CommitAnswer {
  return { body: JSON.stringify(value) }
}

const BEFORE_CONTENT = Buffer.from(',"contentMd":"')
const AFTER_CONTENT = Buffer.from('"}')

export function documentAnswer(decision: PutDecision, escaped: Buffer): CommitAnswer {
  return { body: Buffer.concat([decision.headJson, BEFORE_CONTENT, escaped, AFTER_CONTENT]) }
}
