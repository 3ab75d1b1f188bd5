/**
 * What the write lane does for one command: one or more slices, each run inside a write transaction, and an
 * answer once the last one is on disk. Every slice decides and applies document by document: a document is
 * written whole or not at all, and a refusal of one leaves the others alone.
 */
import assert from 'node:assert/strict'
import type { ChangeTools } from '../../domain/writes/changes.js'
import type { PreparedDocument, PreparedObject } from '../../domain/commands.js'
import { decidePut } from '../../domain/decision.js'
import type { PutDecision } from '../../domain/decision.js'
import { requireApplicable } from '../../domain/writes/entry_check.js'
import { requireSchemaStill } from '../../domain/writes/write_rules.js'
import type { Step } from '../../domain/step.js'
import type { HeldBodies } from '../../engine/held_bodies.js'
import type { VectorChange } from '../../engine/vector_types.js'
import { CATALOGUE, ServiceError, serviceError, type ErrorCode } from '../../errors.js'
import { COMMIT_SLICE_DOCUMENTS_MAX } from '../../limits/commit.js'
import type { WriteTransaction } from '../../store/apply.js'
import type { EntryEffects, EntryOrigin } from '../../store/entries/entry_kind.js'
import { kindOf } from '../../store/entries/kinds.js'
import { BodiesWanted, idOfObject, keyIdOfObject, locationOfObject } from '../../store/objects.js'
import { CorruptRecord } from '../../store/record.js'
import type { TruthStore } from '../../store/truth_store.js'
import { log } from '../../telemetry/log.js'
import type { CommitAnswer } from '../request/handler.js'
import { hintOfText } from '../request/hints.js'

/** Collects what a group has to publish to the index, and what its entries ask for. */
export interface GroupEffects extends EntryEffects {
  readonly indexOps: Uint8Array[]
  readonly vectorOps: VectorChange[]
}

export interface CommitTools extends ChangeTools {
  readonly store: TruthStore
  readonly held: HeldBodies
}

/**
 * While the disk is full: `refused` would grow the store, and is answered 503; `runs` gives space back;
 * `waits` is nobody's request, keeps until there is space, and begins a slice that was refused anew.
 */
export type OnFullDisk = 'refused' | 'runs' | 'waits'

export interface Work {
  readonly onFullDisk: OnFullDisk
  /** Where its entries come from. Default: a request. */
  readonly origin?: EntryOrigin
  /** Documents that the next slice will write. */
  readonly weight: number
  /** Slices that it takes about. Default: one. */
  readonly slices?: number
  /** Runs the next slice inside the transaction. @returns true when more slices are left */
  run(transaction: WriteTransaction, effects: GroupEffects): boolean
  /** The slice that has run was not stored: of work that waits and remembers how far it is. */
  undo?(): void
  /** The answer, after the last slice. */
  answer(): CommitAnswer
}

/** A `single` that gives space back. */
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

/** Whatever a slice throws between two entries is the command's answer. */
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
 * What `decide` throws is a refusal: nothing of the decision has been applied. A damaged record says which it
 * was; what nobody thought of is a fault of ours, which must not cost the other clients the service. What
 * `apply` throws, and what LMDB itself reports, must end the process inside the transaction.
 */
export function refusalText(transaction: WriteTransaction, error: unknown): string {
  if (transaction.isApplying || isReportOfStore(error)) throw error
  if (error instanceof ServiceError || error instanceof CorruptRecord) return error.message
  log.error('a decision failed', { fault: error })
  return CATALOGUE.internal.text
}

/** LMDB's errors and those of the operating system have numbers. */
function isReportOfStore(error: unknown): boolean {
  return typeof (error as { readonly code?: unknown } | null)?.code === 'number'
}

/** All or nothing: what can't be applied is refused before the first step is. @throws CorruptRecord */
export function carryOut(transaction: WriteTransaction, effects: GroupEffects, steps: readonly Step[]): void {
  requireApplicable(steps)
  for (const { entry } of steps) transaction.requireIntact(entry)
  for (const step of steps) {
    transaction.apply(step.entry, step.body)
    kindOf(step.entry).addEffects?.(step.entry, effects)
    if (step.indexOp !== undefined) effects.indexOps.push(step.indexOp)
    if (step.vectorOp !== undefined) effects.vectorOps.push(step.vectorOp)
  }
}

/**
 * A document that was prepared under other settings than the collection has now is held to its schema again.
 */
export function decideChecked(
  tools: CommitTools,
  transaction: WriteTransaction,
  collection: string,
  document: PreparedDocument,
): PutDecision {
  requireSchemaStill(tools.settings, transaction.view, collection, document)
  requirePlace(tools, transaction, transaction.view.collection(collection)?.id, document.object)
  const decision = decidePut(transaction, collection, document)
  hold(tools, transaction, document.object)
  return decision
}

/**
 * The place of an object is known, unless the store has been replaced since the write was prepared. It was
 * made for this collection, not for one of the same name that was deleted meanwhile and took its keys with
 * it; and it lies there as the collection's records do now: a rotation that has passed would not see it
 * again.
 * @throws ServiceError 503
 */
export function requirePlace(
  { settings }: CommitTools,
  { view }: WriteTransaction,
  collection: number | undefined,
  object: PreparedObject | null | undefined,
): void {
  if (object === null || object === undefined || object.held !== null) return
  if (!settings.locations(view).has(locationOfObject(object.record))) throw serviceError('warmingUp')
  if (object.collection !== collection || keyIdOfObject(object.record) !== view.objects.writtenForm(collection))
    throw serviceError('collectionChanged')
}

/**
 * What lies in process memory is there before its entry is applied. @throws ServiceError 503 where there is
 * no room
 */
export function hold({ held }: CommitTools, { kept }: WriteTransaction, object: PreparedObject | null | undefined): void {
  if (!(object?.held instanceof Uint8Array)) return
  const id = idOfObject(object.record)
  if (!held.keep(id, object.held)) throw serviceError('memoryFull')
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
