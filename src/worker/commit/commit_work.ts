/**
 * What the write lane does for one command: one or more slices, each run inside a write transaction, and an answer once the last one is on disk. Every slice decides and applies document by
 * document: a document is written whole or not at all, and a refusal of one leaves the others alone.
 */
import assert from 'node:assert/strict'
import { decideCancel, decideSubmit } from '../../domain/bulk_ingest.js'
import { changeOf, findDocument, prepareRestore, prepareUpdate, requireCollection } from '../../domain/writes/changes.js'
import type { ChangeTools, PreparedChange } from '../../domain/writes/changes.js'
import type {
  Command,
  ForgetReleasesCommand,
  IngestChunkCommand,
  PlaceCommand,
  PreparedDocument,
  PreparedObject,
  RestoreCommand,
  SetTtlCommand,
  UpdateCommand,
} from '../../domain/commands.js'
import { decideDelete, decideDrop, decideExpiry, decidePlace, decidePut } from '../../domain/decision.js'
import type { PutDecision, Step } from '../../domain/decision.js'
import { requireApplicable } from '../../domain/writes/entry_check.js'
import { checkTtl } from '../../domain/writes/preparation.js'
import { decideRotation } from '../../domain/rotation.js'
import { requireSchemaStill } from '../../domain/writes/write_rules.js'
import { decideSettings } from '../../domain/settings_decision.js'
import { CATALOGUE, ServiceError, serviceError, type ErrorCode } from '../../errors.js'
import { BATCH_ERRORS_MAX, COMMIT_SLICE_DOCUMENTS_MAX, RELEASES_LOOKED_AT_MAX } from '../../limits.js'
import type { WriteTransaction } from '../../store/apply.js'
import type { HeldBodies } from '../../engine/held_bodies.js'
import type { VectorChange } from '../../engine/vector_types.js'
import { BodiesWanted, idOfObject, keyIdOfObject, locationOfObject } from '../../store/objects.js'
import { CorruptRecord } from '../../store/record.js'
import type { NamedDocument } from '../../wire/embedding_messages.js'
import type { PutEntry } from '../../store/entry.js'
import type { Head } from '../../store/head.js'
import type { TruthStore } from '../../store/truth_store.js'
import type { CommitAnswer } from '../request/handler.js'
import { hintOfText } from '../request/hints.js'
import { truncate } from './truncate_work.js'
import { vectorsWork } from './vectors_work.js'
import { log } from '../../telemetry/log.js'

/** Collects what a group has to publish to the index. */
export interface GroupEffects {
  readonly indexOps: Uint8Array[]
  readonly vectorOps: VectorChange[]
  /** Collections that are sealed from now on, or are not. */
  readonly sealings: { readonly collection: number; readonly isSealed: boolean }[]
  /** Documents that want vectors. */
  readonly queued: NamedDocument[]
  /** Documents that wait for vectors are others than before. */
  isQueueChanged: boolean
}

export interface CommitTools extends ChangeTools {
  readonly store: TruthStore
  readonly held: HeldBodies
}

/** While the disk is full: `refused` would grow the store, and is answered 503; `runs` gives space back; `waits` is nobody's request, keeps until there is space, and begins a slice that was refused anew. */
export type OnFullDisk = 'refused' | 'runs' | 'waits'

export interface Work {
  readonly onFullDisk: OnFullDisk
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

/** Of every command but a chunk of a bulk ingest, whose work is in ingest_work.ts. */
export function workOf(tools: CommitTools, command: Exclude<Command, IngestChunkCommand>): Work {
  return guarded(workOfKind(tools, command))
}

function workOfKind(tools: CommitTools, command: Exclude<Command, IngestChunkCommand>): Work {
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
      return freeing((transaction, effects) => {
        const { collection, key, lang } = command
        carryOut(transaction, effects, [decideDelete(transaction, findDocument(transaction.view, collection, key, lang))])
        return jsonAnswer({ status: 'deleted', deleted: true, collection, key, lang })
      })
    case 'setTtl':
      return single((transaction, effects) => setTtl(transaction, effects, command))
    case 'deleteCollection':
      return freeing((transaction, effects) => {
        const collection = transaction.view.collection(command.collection)
        const deleted = collection === undefined ? 0 : transaction.counters(collection.id).documents
        if (collection !== undefined) carryOut(transaction, effects, [decideDrop(transaction, collection.id, collection.name)])
        return jsonAnswer({ status: 'deleted', collection: command.collection, deleted, deletedCount: deleted })
      })
    case 'settings':
      return single((transaction, effects) => {
        const { steps, answer } = decideSettings(transaction, command)
        carryOut(transaction, effects, steps)
        return { body: answer === undefined ? '' : JSON.stringify(answer) }
      })
    case 'submitIngest':
      return single((transaction, effects) => {
        const { steps, answer } = decideSubmit(transaction, command)
        carryOut(transaction, effects, steps)
        return { body: JSON.stringify(answer) }
      })
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
    case 'place':
      return single((transaction, effects) => place(tools, transaction, effects, command))
    case 'vectors':
      return vectorsWork(tools, command)
    case 'forgetReleases':
      return forgetReleases(command)
    case 'addBatch':
      return addBatch(tools, command.collection, command.documents, command.errors)
    case 'deleteBatch':
      return deleteBatch(command.collection, command.documents, command.errors)
  }
}

function forgetReleases({ before, swept }: ForgetReleasesCommand): Work {
  let from: Buffer | undefined
  return {
    onFullDisk: 'runs',
    weight: COMMIT_SLICE_DOCUMENTS_MAX,
    run(transaction) {
      if (from === undefined) transaction.forgetSwept(swept)
      from = transaction.forgetReleases(before, from, RELEASES_LOOKED_AT_MAX)
      return from !== undefined
    },
    answer: () => jsonAnswer({}),
  }
}

/** Each placement stands for itself: what was refused is tried again by whoever moves bodies. */
function place(
  tools: CommitTools,
  transaction: WriteTransaction,
  effects: GroupEffects,
  { collection, placements }: PlaceCommand,
): CommitAnswer {
  let placed = 0
  for (const placement of placements) {
    const step = decidePlace(transaction, collection, placement)
    if (step === undefined) continue
    requirePlace(tools, transaction, collection, placement.object)
    hold(tools, transaction, placement.object)
    carryOut(transaction, effects, [step])
    placed++
  }
  return jsonAnswer({ placed })
}

function setTtl(transaction: WriteTransaction, effects: GroupEffects, { collection, key, lang, ttl }: SetTtlCommand): CommitAnswer {
  checkTtl(ttl)
  const head = findDocument(transaction.view, collection, key, lang)
  const escaped = Buffer.from(transaction.view.escapedContent(head))
  const decision = decideExpiry(transaction, head, ttl > 0 ? transaction.view.now + ttl : 0)
  carryOut(transaction, effects, decision.steps)
  return documentAnswer(decision, escaped)
}

/** A `single` that gives space back. */
function freeing(run: (transaction: WriteTransaction, effects: GroupEffects) => CommitAnswer): Work {
  return { ...single(run), onFullDisk: 'runs' }
}

/** A command of one slice. */
function single(run: (transaction: WriteTransaction, effects: GroupEffects) => CommitAnswer): Work {
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
    if (step.entry.kind === 'sealing') effects.sealings.push(step.entry)
    if (step.entry.kind === 'put' && step.entry.wantsVectors) effects.queued.push(namedOf(step.entry))
    if (step.entry.kind === 'vectors' && step.entry.queued > 0n) effects.isQueueChanged = true
    if (step.indexOp !== undefined) effects.indexOps.push(step.indexOp)
    if (step.vectorOp !== undefined) effects.vectorOps.push(step.vectorOp)
  }
}

function namedOf({ collection, docid, lsn }: PutEntry): NamedDocument {
  return { collection, docid, queued: Number(lsn), force: false }
}

function changeDocument(
  tools: CommitTools,
  transaction: WriteTransaction,
  effects: GroupEffects,
  command: UpdateCommand | RestoreCommand,
): CommitAnswer {
  const head = findDocument(transaction.view, command.collection, command.key, command.lang)
  const moved = head.docid !== command.base.docid || head.lsn !== command.base.lsn || hasLeft(transaction, head, command.document)
  const document = moved ? sameObject(prepareAgain(tools, transaction, head, command).document, command.document) : command.document
  const decision = decideChecked(tools, transaction, command.collection, document)
  carryOut(transaction, effects, decision.steps)
  return documentAnswer(decision, document.escaped)
}

/** Whether the body that the document would share was here when it was prepared, and lies elsewhere only by now: a revision keeps its body here, so it needs one of its own. */
function hasLeft({ view }: WriteTransaction, { collection, docid }: Head, { body }: PreparedDocument): boolean {
  return body.kind === 'shared' && view.objects.isElsewhere({ collection, docid, bodyLsn: body.lsn })
}

/** The content is the same as before, as a rule: then its object is. Else it lies in the env until it is moved. */
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
    // A text that the analyzer gave up on. Nothing has been applied yet: a refusal, not the end of the process.
    log.error('preparation on the write lane', { fault: error })
    throw serviceError('internal')
  }
}

/** A document that was prepared under other settings than the collection has now is held to its schema again. */
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
 * The place of an object is known, unless the store has been replaced since the write was prepared. It was made for this collection, not for one of the same name that was deleted meanwhile and took its keys with
 * it; and it lies there as the collection's records do now: a rotation that has passed would not see it again.
 * @throws ServiceError 503
 */
function requirePlace(
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

/** What lies in process memory is there before its entry is applied. @throws ServiceError 503 where there is no room */
function hold({ held }: CommitTools, { kept }: WriteTransaction, object: PreparedObject | null | undefined): void {
  if (!(object?.held instanceof Uint8Array)) return
  const id = idOfObject(object.record)
  if (!held.keep(id, object.held)) throw serviceError('memoryFull')
  kept.push(id)
}

function addBatch(tools: CommitTools, collection: string, documents: readonly PreparedDocument[], refusedBefore: readonly string[]): Work {
  const refused = [...refusedBefore]
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
      for (; next < end; next++) {
        const document = documents[next] as PreparedDocument
        try {
          const decision = decideChecked(tools, transaction, collection, document)
          carryOut(transaction, effects, decision.steps)
          if (decision.added) added++
          else updated++
        } catch (error) {
          refused.push(`${document.key}: ${refusalText(transaction, error)}`)
        }
      }
      return next < documents.length
    },
    answer() {
      if (added + updated === 0 && refused.length > 0) {
        return {
          code: 'allFailed',
          body: JSON.stringify({ error: `all documents failed: ${refused.slice(0, BATCH_ERRORS_MAX).join('; ')}` }),
        }
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

export function slicesOf(documents: { readonly length: number }): number {
  return Math.max(1, Math.ceil(documents.length / COMMIT_SLICE_DOCUMENTS_MAX))
}

export function jsonAnswer(value: unknown): CommitAnswer {
  return { body: JSON.stringify(value) }
}

const BEFORE_CONTENT = Buffer.from(',"contentMd":"')
const AFTER_CONTENT = Buffer.from('"}')

function documentAnswer(decision: PutDecision, escaped: Buffer): CommitAnswer {
  return { body: Buffer.concat([decision.headJson, BEFORE_CONTENT, escaped, AFTER_CONTENT]) }
}
