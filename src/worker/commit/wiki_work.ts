/**
 * The work of the write lane for a batch of pages of a wiki. The documents are written in slices, as in any
 * batch. What the import has reached changes in the transaction of each slice: in the job's record, or in the
 * record that the front end keeps. A batch that does not begin where the record ends is refused, so no page
 * is stored twice.
 */
import { endOfIngest, findRunnable, shownError } from '../../domain/bulk_ingest.js'
import type { PreparedDocument } from '../../domain/commands.js'
import { decideJobChange } from '../../domain/jobs.js'
import {
  changedBy,
  importedPages,
  type ImportPagesCommand,
  noCounts,
  type PageCounts,
  type PageStep,
  type WikiRecord,
} from '../../domain/wiki_import.js'
import { serviceError } from '../../errors.js'
import { COMMIT_SLICE_DOCUMENTS_MAX } from '../../limits/store.js'
import type { WriteTransaction } from '../../store/apply.js'
import type { CommitAnswer } from '../request/handler.js'
import type { CommitTools, GroupEffects, Work } from './commit_work.js'
import { carryOut, decideChecked, guarded, jsonAnswer, refusalText, slicesOf } from './commit_work.js'
import { mayWriteOf } from './ingest_work.js'

export type ImportCommand = ImportPagesCommand<PreparedDocument>

interface Progress {
  /** Index of the next step, and of the next document. */
  step: number
  document: number
  /** The record that the front end keeps. */
  record: WikiRecord | null
}

/** Where an import stands; `limit`: the next page would be one more than the server imports. */
type Ended = 'full' | 'limit' | 'last' | undefined

export function importPagesWork(tools: CommitTools, command: ImportCommand, pagesMax: number): Work {
  const { documents, steps } = command
  let now: Progress = { step: 0, document: 0, record: command.record }
  let before = now
  let answer: CommitAnswer = jsonAnswer({})
  return guarded({
    get onFullDisk() {
      // Without a job the counts of what is stored are in this work only.
      return now.step === 0 ? 'refused' : 'waits'
    },
    origin: 'import',
    slices: slicesOf(documents),
    undo() {
      now = before
    },
    get weight() {
      return Math.max(1, Math.min(COMMIT_SLICE_DOCUMENTS_MAX, documents.length - now.document))
    },
    run(transaction, effects) {
      before = { ...now }
      const next = { ...now }
      const record = recordOf(transaction, command, next)
      if (record.total !== command.after + passedPages(steps, next.step)) throw serviceError('importMoved')
      const gone = endOfIngest(transaction.view, { id: '', createdLsn: 0n, fields: record }, mayWriteOf(tools))
      const counts = noCounts()
      const ended = gone === undefined ? storeSlice(tools, transaction, effects, command, next, { record, counts, pagesMax }) : undefined
      const reason = gone ?? (ended === 'limit' ? `more than ${pagesMax} pages` : ended === 'last' ? command.fault : '')
      if (reason !== '' && command.job !== '') counts.errors.unshift(reason)
      const end = reason !== '' ? 'failed' : ended === undefined ? undefined : 'completed'
      const changed = keep(transaction, effects, command, record, counts, end)
      next.record = changed
      now = next
      answer = jsonAnswer({ record: changed, isOverLimit: ended === 'limit', isGone: gone !== undefined, reason })
      return end === undefined && next.step < steps.length
    },
    answer: () => answer,
  })
}

/** @throws ServiceError if the job may store nothing more */
function recordOf({ view }: WriteTransaction, { job }: ImportCommand, { record }: Progress): WikiRecord {
  if (job !== '') return findRunnable(view, job).fields as WikiRecord
  if (record === null) throw new Error('an import without a job and without a record')
  return record
}

function passedPages(steps: readonly PageStep[], end: number): number {
  let pages = 0
  for (let at = 0; at < end; at++) pages += (steps[at] as PageStep).pages
  return pages
}

/** Writes up to COMMIT_SLICE_DOCUMENTS_MAX documents. Steps behind the end of the import do not count. */
function storeSlice(
  tools: CommitTools,
  transaction: WriteTransaction,
  effects: GroupEffects,
  command: ImportCommand,
  next: Progress,
  { record, counts, pagesMax }: { readonly record: WikiRecord; readonly counts: PageCounts; readonly pagesMax: number },
): Ended {
  const { maxPages, steps, documents } = command
  const documentEnd = next.document + COMMIT_SLICE_DOCUMENTS_MAX
  const imported = (): number => importedPages(record) + importedPages(counts)
  for (; next.step < steps.length && next.document < documentEnd; next.step++) {
    const step = steps[next.step] as PageStep
    if (step.hasDocument) {
      if (imported() >= pagesMax) return 'limit'
      storePage(tools, transaction, effects, command, step, documents[next.document++] as PreparedDocument, counts)
    } else if (step.problem !== '') fail(counts, { subject: step.title, text: step.problem }, isHidden(transaction, command))
    counts.pages += step.pages
    counts.skipped += step.skipped
    if (maxPages > 0 && imported() >= maxPages) return 'full'
  }
  return command.isLast && next.step === steps.length ? 'last' : undefined
}

function storePage(
  tools: CommitTools,
  transaction: WriteTransaction,
  effects: GroupEffects,
  command: ImportCommand,
  { title }: PageStep,
  document: PreparedDocument,
  counts: PageCounts,
): void {
  try {
    const decision = decideChecked(tools, transaction, command.collection, document)
    carryOut(transaction, effects, decision.steps)
    if (decision.added) counts.added++
    else counts.updated++
  } catch (error) {
    fail(counts, { subject: title, text: refusalText(transaction, error) }, isHidden(transaction, command))
  }
}

function fail(counts: PageCounts, error: { readonly subject: string; readonly text: string }, isSealed: boolean): void {
  counts.failed++
  counts.errors.push(shownError(isSealed ? { ...error, subject: 'a page' } : error, isSealed))
}

/** Records of jobs are plaintext, so they quote nothing of an encrypted collection. */
function isHidden(transaction: WriteTransaction, { job, collection }: ImportCommand): boolean {
  const found = job === '' ? undefined : transaction.view.collection(collection)
  return found !== undefined && transaction.isSealed(found.id)
}

/** @returns the record as it is now */
function keep(
  transaction: WriteTransaction,
  effects: GroupEffects,
  { job, collection }: ImportCommand,
  record: WikiRecord,
  counts: PageCounts,
  end: 'completed' | 'failed' | undefined,
): WikiRecord {
  const collectionId = record.collectionId ?? transaction.view.collection(collection)?.id
  const change = changedBy(record, counts, transaction.view.now, { collectionId, end })
  if (job !== '') carryOut(transaction, effects, [decideJobChange(transaction, 'bulk', findRunnable(transaction.view, job), change)])
  return { ...record, ...change }
}
