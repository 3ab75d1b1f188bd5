/**
 * Bulk ingest jobs: their record, and `decide` for their state changes. pending -> processing -> completed or
 * failed; pending -> cancelled. A restart marks unfinished jobs as failed, because the documents of a job are
 * kept in memory only. The counters of a job change in the transactions that store its documents, so they are
 * exact after any end of the process.
 */
import { badRequest, serviceError } from '../errors.js'
import { BATCH_ERRORS_MAX } from '../limits/input.js'
import { JOB_MESSAGE_BYTES_MAX } from '../limits/jobs.js'
import type { WriteTransaction } from '../store/apply.js'
import type { Job, JobFields } from '../store/jobs.js'
import { lowerCase } from '../operations/lower_case.js'
import { requirePlainName } from './documents/identity.js'
import type { View } from '../store/view.js'
import type { Step } from './step.js'
import { decideJobChange, decideNewJob } from './jobs.js'

export type IngestStatus = 'pending' | 'processing' | 'completed' | 'failed' | 'cancelled'

export interface IngestRecord extends JobFields {
  readonly status: IngestStatus
  readonly collection: string
  readonly total: number
  readonly processed: number
  readonly added: number
  readonly updated: number
  readonly failed: number
  readonly errors?: readonly string[]
  /** Documents that were stored without vectors, because too many documents were waiting for theirs. */
  readonly embeddingDropped?: number
  readonly callbackUrl?: string
  readonly submittedAt: number
  readonly startedAt?: number
  readonly completedAt?: number
}

/** The outcome of one part of a job. */
export interface IngestProgress {
  readonly added: number
  readonly updated: number
  readonly failed: number
  readonly errors: readonly string[]
  readonly isLast: boolean
}

export interface SubmitIngestCommand {
  readonly kind: 'submitIngest'
  readonly id: string
  readonly collection: string
  readonly total: number
  readonly callbackUrl: string
}

export interface CancelIngestCommand {
  readonly kind: 'cancelIngest'
  readonly id: string
}

/** The error of one document. */
export interface IngestError {
  /** Its position in the request, or its key. */
  readonly subject: string
  readonly text: string
}

const RESTARTED = 'server restarted mid-job'

export function isUnfinishedIngest(status: string): boolean {
  return status === 'pending' || status === 'processing'
}

/** As shown in answers. */
export function showIngest({ id, fields }: Job): object {
  const { collection, status, ...rest } = fields as IngestRecord
  return { id, collection, status, ...rest }
}

/** @throws ServiceError 404 */
export function findIngest(view: View, id: string): Job {
  const job = view.job('bulk', id)
  if (job === undefined) throw serviceError('notFound')
  return job
}

/** Undefined if the job does not exist. */
export function collectionOfIngest(view: View, id: string): string | undefined {
  return (view.job('bulk', id)?.fields as IngestRecord | undefined)?.collection
}

/** Newest first. @param collection undefined: all */
export function ingestsOf(view: View, collection: string | undefined): Job[] {
  const jobs = view.jobs('bulk')
  if (collection === undefined || collection === '') return jobs
  const wanted = lowerCase(collection)
  return jobs.filter(({ fields }) => lowerCase((fields as IngestRecord).collection) === wanted)
}

export function decideSubmit(
  transaction: WriteTransaction,
  { id, collection, total, callbackUrl }: SubmitIngestCommand,
): { readonly steps: readonly Step[]; readonly answer: object } {
  if (transaction.view.collection(collection) === undefined) requirePlainName('collection', collection)
  const submittedAt = transaction.view.now
  const record: IngestRecord = {
    status: 'pending',
    collection,
    total,
    processed: 0,
    added: 0,
    updated: 0,
    failed: 0,
    submittedAt,
    ...(callbackUrl === '' ? {} : { callbackUrl }),
  }
  return {
    steps: decideNewJob(transaction, 'bulk', id, record, isUnfinishedIngest),
    answer: { id, collection, status: record.status, total, submittedAt },
  }
}

/** @throws ServiceError 404; 400 once it has started */
export function decideCancel(transaction: WriteTransaction, id: string): Step {
  const job = findIngest(transaction.view, id)
  if (job.fields.status !== 'pending') throw badRequest(`${serviceError('ingestStarted').message}: ${job.fields.status}`)
  return decideJobChange(transaction, 'bulk', job, { status: 'cancelled', completedAt: transaction.view.now })
}

/** @throws ServiceError 404, 409 if the job may no longer store anything */
export function findRunnable(view: View, id: string): Job {
  const job = findIngest(view, id)
  if (!isUnfinishedIngest(job.fields.status)) throw serviceError('ingestEnded')
  return job
}

/** Must be decided after the entries of the documents that it counts, in their transaction. */
export function decideProgress(transaction: WriteTransaction, job: Job, progress: IngestProgress): Step {
  const record = job.fields as IngestRecord
  const { now } = transaction.view
  const added = record.added + progress.added
  const updated = record.updated + progress.updated
  const errors = [...(record.errors ?? []), ...progress.errors].slice(0, BATCH_ERRORS_MAX).map(shortened)
  const end = { status: added + updated > 0 ? 'completed' : 'failed', completedAt: now } as const
  return decideJobChange(transaction, 'bulk', job, {
    added,
    updated,
    failed: record.failed + progress.failed,
    processed: record.processed + progress.added + progress.updated + progress.failed,
    startedAt: record.startedAt ?? now,
    ...(errors.length === 0 ? {} : { errors }),
    ...(progress.isLast ? end : { status: 'processing' }),
  })
}

/** Counts documents of the job that will not be embedded. */
export function decideDropped(transaction: WriteTransaction, id: string, count: number): Step[] {
  const job = transaction.view.job('bulk', id)
  if (job === undefined || count === 0) return []
  const record = job.fields as IngestRecord
  return [decideJobChange(transaction, 'bulk', job, { status: record.status, embeddingDropped: (record.embeddingDropped ?? 0) + count })]
}

/**
 * At a start: the step that marks the next unfinished job as failed, because its documents are lost.
 * Undefined if there is none.
 */
export function decideAbandoned(transaction: WriteTransaction): Step | undefined {
  const job = transaction.view.jobs('bulk').find(({ fields }) => isUnfinishedIngest(fields.status))
  if (job === undefined) return undefined
  const { errors = [] } = job.fields as IngestRecord
  return decideJobChange(transaction, 'bulk', job, {
    status: 'failed',
    errors: [RESTARTED, ...errors].slice(0, BATCH_ERRORS_MAX),
    completedAt: transaction.view.now,
  })
}

/**
 * The text for the job's record. Job records are stored as plaintext. For a document of an encrypted
 * collection the text therefore states only the kind of error and quotes nothing: no metadata key and no
 * value.
 * @param isSealed the subject must not be a key then
 */
export function shownError({ subject, text }: IngestError, isSealed: boolean): string {
  return `${subject}: ${isSealed ? (/^[^:."]*/.exec(text)?.[0] ?? '') : text}`
}

/** Messages quote client input, such as keys of 1 024 bytes. */
function shortened(message: string): string {
  const bytes = Buffer.from(message)
  if (bytes.length <= JOB_MESSAGE_BYTES_MAX) return message
  return `${bytes.toString('utf8', 0, JOB_MESSAGE_BYTES_MAX).replace(/\uFFFD+$/, '')}…`
}
