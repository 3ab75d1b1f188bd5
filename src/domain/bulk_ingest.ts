/**
 * Bulk ingest jobs: their record, and `decide` for their state changes. pending -> processing -> completed or
 * failed; pending -> cancelled. A restart marks unfinished jobs as failed, because the documents of a job are
 * kept in memory only; imports of wikis (wiki_import.ts), whose dumps are on disk, go on. The counters of a
 * job change in the transactions that store its documents, so they are exact after any end of the process.
 */
import type { WikiImportOptions } from '../conversion/wiki/import_options.js'
import { badRequest, serviceError } from '../errors.js'
import { BATCH_ERRORS_MAX } from '../limits/documents.js'
import { lowerCase } from '../operations/row/lower_case.js'
import type { WriteTransaction } from '../store/apply.js'
import type { Job, JobFields } from '../store/jobs.js'
import type { View } from '../store/view.js'
import { requirePlainName } from './documents/identity.js'
import { decideJobChange, decideNewJob } from './jobs.js'
import type { Step } from './step.js'

/**
 * UTF-8 bytes of one message in the record of a job. With 50 of them a record stays below 32 KB. It is
 * written again with each slice of 64 documents.
 */
const JOB_MESSAGE_BYTES_MAX = 512

type IngestStatus = 'pending' | 'processing' | 'completed' | 'failed' | 'cancelled'

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
  /** Of an import of a wiki: pages that were left out. */
  readonly skipped?: number
  /** Not shown. Of an import of a wiki. */
  readonly wiki?: WikiImportOptions
  /** Not shown. Id of the collection, from when it existed; a later one of its name is another. */
  readonly collectionId?: number
  /** Not shown. Name of the user who submitted it; empty or absent: access control was off. */
  readonly submitter?: string
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
  /** Name of the user; empty: access control is off. */
  readonly submitter: string
  /** An import of a wiki. */
  readonly wiki?: WikiImportOptions
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
const COLLECTION_GONE = 'the collection was deleted'
const SUBMITTER_GONE = 'forbidden: the account of the submitter was deleted'

export function isUnfinishedIngest(status: string): boolean {
  return status === 'pending' || status === 'processing'
}

/** At a start: whether nothing goes on with the job. */
export function isAbandoned({ status, wiki }: JobFields): boolean {
  return isUnfinishedIngest(status) && wiki === undefined
}

/** Imports of wikis that wait or run, the oldest first. */
export function unfinishedWikiJobs(view: View): Job[] {
  return view
    .jobs('bulk')
    .filter(({ fields }) => fields['wiki'] !== undefined && isUnfinishedIngest(fields.status))
    .reverse()
}

/** As shown in answers. */
export function showIngest({ id, fields }: Job): object {
  const { collection, status, collectionId: _, submitter: __, wiki: ___, ...rest } = fields as IngestRecord
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
  { id, collection, total, callbackUrl, submitter, wiki }: SubmitIngestCommand,
): { readonly steps: readonly Step[]; readonly answer: object } {
  const known = transaction.view.collection(collection)
  if (known === undefined) requirePlainName('collection', collection)
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
    ...(known === undefined ? {} : { collectionId: known.id }),
    ...(submitter === '' ? {} : { submitter }),
    ...(wiki === undefined ? {} : { skipped: 0, wiki }),
  }
  return {
    steps: decideNewJob(transaction, 'bulk', id, record, isUnfinishedIngest),
    answer: { id, collection, status: record.status, total, submittedAt },
  }
}

/** An import of a wiki may have started. @throws ServiceError 404; 400 once it has started, or ended */
export function decideCancel(transaction: WriteTransaction, id: string): Step {
  const job = findIngest(transaction.view, id)
  const { status, wiki } = job.fields as IngestRecord
  if (status !== 'pending' && !(wiki !== undefined && isUnfinishedIngest(status)))
    throw badRequest(`${serviceError('ingestStarted').message}: ${status}`)
  return decideJobChange(transaction, 'bulk', job, { status: 'cancelled', completedAt: transaction.view.now })
}

/** @throws ServiceError 404, 409 if the job may no longer store anything */
export function findRunnable(view: View, id: string): Job {
  const job = findIngest(view, id)
  if (!isUnfinishedIngest(job.fields.status)) throw serviceError('ingestEnded')
  return job
}

/** Answers whether the user may write to the collection at the time of the view. */
export type MayWrite = (view: View, username: string, collection: string) => boolean

/**
 * Why the job may store nothing more; undefined if it may. A job outlives its request, so each of its parts
 * asks again for the right of its submitter and for the collection that it was submitted for.
 */
export function endOfIngest(view: View, { fields }: Job, mayWrite: MayWrite): string | undefined {
  const { collection, collectionId, submitter = '' } = fields as IngestRecord
  if (collectionId !== undefined && view.collection(collection)?.id !== collectionId) return COLLECTION_GONE
  return submitter === '' || mayWrite(view, submitter, collection) ? undefined : serviceError('forbidden').message
}

/** The job fails, whatever it has stored. Its remaining documents count as failed. */
export function decideFailed(transaction: WriteTransaction, job: Job, reason: string): Step {
  const { total, processed, failed, errors = [] } = job.fields as IngestRecord
  return decideJobChange(transaction, 'bulk', job, {
    status: 'failed',
    failed: failed + total - processed,
    processed: total,
    errors: [reason, ...errors].slice(0, BATCH_ERRORS_MAX),
    completedAt: transaction.view.now,
  })
}

/**
 * Unfinished jobs of a user end with its account: a later user of the name is another.
 * @param before number of entries that precede them in the decision
 */
export function decideSubmitterGone(transaction: WriteTransaction, username: string, before: number): Step[] {
  return transaction.view
    .jobs('bulk')
    .filter(({ fields }) => isUnfinishedIngest(fields.status) && (fields as IngestRecord).submitter === username)
    .map((job, at) => {
      const { entry, ...rest } = decideFailed(transaction, job, SUBMITTER_GONE)
      return { ...rest, entry: { ...entry, lsn: entry.lsn + BigInt(before + at) } }
    })
}

/** Must be decided after the entries of the documents that it counts, in their transaction. */
export function decideProgress(transaction: WriteTransaction, job: Job, progress: IngestProgress): Step {
  const record = job.fields as IngestRecord
  const { now } = transaction.view
  const added = record.added + progress.added
  const updated = record.updated + progress.updated
  const errors = [...(record.errors ?? []), ...progress.errors].slice(0, BATCH_ERRORS_MAX).map(shortened)
  const collectionId = record.collectionId ?? transaction.view.collection(record.collection)?.id
  const end = { status: added + updated > 0 ? 'completed' : 'failed', completedAt: now } as const
  return decideJobChange(transaction, 'bulk', job, {
    added,
    updated,
    failed: record.failed + progress.failed,
    processed: record.processed + progress.added + progress.updated + progress.failed,
    startedAt: record.startedAt ?? now,
    ...(errors.length === 0 ? {} : { errors }),
    ...(collectionId === undefined ? {} : { collectionId }),
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
 * At a start: the step that marks the next unfinished job as failed whose documents are lost.
 * Undefined if there is none.
 */
export function decideAbandoned(transaction: WriteTransaction): Step | undefined {
  const job = transaction.view.jobs('bulk').find(({ fields }) => isAbandoned(fields))
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
export function shortened(message: string): string {
  const bytes = Buffer.from(message)
  if (bytes.length <= JOB_MESSAGE_BYTES_MAX) return message
  return `${bytes.toString('utf8', 0, JOB_MESSAGE_BYTES_MAX).replace(/\uFFFD+$/, '')}…`
}
