/**
 * `decide` for jobs: runs on the write lane, inside the write transaction, and turns the new state of a job
 * into entries. Finished jobs are kept up to a limit; a new job evicts the oldest of them.
 */
import type { WriteTransaction } from '../store/apply.js'
import type { Job, JobFields, JobKind } from '../store/jobs.js'
import { encodeJob } from '../store/jobs.js'
import type { Step } from './step.js'

/** Finished jobs of each kind that are remembered. A list of them, with 50 messages each, has 4 MB. */
export const JOBS_KEPT_MAX = 256

/** Whether a job with this status may still change. */
type IsUnfinished = (status: string) => boolean

/**
 * The first record of a job, preceded by the removal of finished jobs beyond the limit.
 * @param isUnfinished jobs for which this holds are never evicted
 */
export function decideNewJob(
  transaction: WriteTransaction,
  kind: JobKind,
  id: string,
  fields: JobFields,
  isUnfinished: IsUnfinished,
): Step[] {
  const finished = transaction.view.jobs(kind).filter((job) => !isUnfinished(job.fields.status))
  const old = finished.slice(JOBS_KEPT_MAX - 1)
  const { nextLsn } = transaction
  const gone = old.map((job, at) => step(nextLsn + BigInt(at), kind, job.id, null))
  const lsn = nextLsn + BigInt(gone.length)
  return [...gone, step(lsn, kind, id, encodeJob(lsn, fields))]
}

/** Updates a job: the given fields replace its previous ones. */
export function decideJobChange(transaction: WriteTransaction, kind: JobKind, job: Job, change: Partial<JobFields>): Step {
  return step(transaction.nextLsn, kind, job.id, encodeJob(job.createdLsn, { ...job.fields, ...change }))
}

function step(lsn: bigint, job: JobKind, id: string, record: Buffer | null): Step {
  return { entry: { kind: 'job', lsn, collection: 0, docid: 0, job, id, record }, body: undefined, indexOp: undefined }
}
