/** Entries of kind `job`. Layout: docs/formats/entries/job.md. */
import type { JobKind } from '../../jobs.js'
import { decodeJob, JOB_KINDS, jobKey } from '../../jobs.js'
import { isKey } from '../../rows/keys.js'
import type { ApplyTarget, EntryBase, EntryKind, Fields } from '../entry_kind.js'
import { neverSealed } from '../entry_kind.js'

/** A job was created, made progress or was removed. collection and docid are 0. */
interface JobEntry extends EntryBase {
  readonly kind: 'job'
  readonly job: JobKind
  readonly id: string
  /** The record as stored. Null: the job is removed. */
  readonly record: Buffer | null
}

function decode({ lsn }: EntryBase, fields: Fields): JobEntry {
  const [code, id, record] = fields as [number, string, Buffer | null]
  const job = JOB_KINDS[code]
  if (job === undefined) throw new Error(`binlog entry ${lsn}: unknown kind of job ${code}`)
  return { kind: 'job', lsn, collection: 0, docid: 0, job, id, record }
}

function apply({ environment: { jobs } }: ApplyTarget, { job: kind, id, record }: JobEntry): void {
  const key = jobKey(kind, id)
  if (record === null) jobs.remove(key)
  else jobs.put(key, record)
}

export const job: EntryKind<JobEntry> = {
  name: 'job',
  code: 5,
  index: 'none',
  makesCollection: false,
  isCounted: false,
  keepsBody: true,
  topicOf: (entry) => `job/${entry.job}`,
  jobOf: ({ job: kind, id, record, lsn }) =>
    kind !== 'bulk' || record === null ? undefined : decodeJob(id, record, () => `job of entry ${lsn}`),
  secrecyOf: neverSealed,
  encode: (entry) => [JOB_KINDS.indexOf(entry.job), entry.id, entry.record],
  decode,
  check: ({ id, job: kind }, checks) => checks.holds(typeof id === 'string' && id !== '' && isKey(jobKey(kind, id)), 'id'),
  apply,
}
