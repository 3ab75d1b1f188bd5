/**
 * Records of work that continues after its request was answered: bulk ingests, rotations of keys. Each job
 * defines its own fields beside the status. This file implements what all jobs share: where a record is
 * stored, how it is checked, and the LSN by which jobs of a kind are ordered. Any thread reads; only `apply`
 * writes. Layout: docs/formats/truth-env.md.
 */
import { prefixEnd } from './rows/keys.js'
import { pack, unpack } from './rows/packages.js'
import { checkRecord, sealRecord } from './rows/record.js'
import type { Table } from './rows/table.js'

/** UTF-8 bytes of the id of a job. Ids made by the server have at most 40. */
const JOB_ID_BYTES_MAX = 128

/** In the order of the codes on disk. */
export const JOB_KINDS = ['bulk', 'rotation'] as const
export type JobKind = (typeof JOB_KINDS)[number]

/** Values that msgpack can encode: strings, numbers, booleans, lists and maps of them. */
export interface JobFields {
  readonly status: string
  readonly [field: string]: unknown
}

export interface Job {
  readonly id: string
  /** LSN of the entry that created it: a newer job has a higher LSN. */
  readonly createdLsn: bigint
  readonly fields: JobFields
}

/** CRC, version, three bytes of zero, LSN. */
const PREFIX_BYTES = 16

export function encodeJob(createdLsn: bigint, fields: JobFields): Buffer {
  const packed = pack(fields)
  const record = Buffer.allocUnsafeSlow(PREFIX_BYTES + packed.length)
  record.fill(0, 5, 8)
  record.writeBigUInt64LE(createdLsn, 8)
  record.set(packed, PREFIX_BYTES)
  sealRecord(record)
  return record
}

/** @throws CorruptRecord */
export function decodeJob(id: string, record: Buffer, name: () => string): Job {
  checkRecord(record, PREFIX_BYTES, name)
  return { id, createdLsn: record.readBigUInt64LE(8), fields: unpack(record.subarray(PREFIX_BYTES)) as JobFields }
}

/** (kind, id). With an empty id, the prefix of all jobs of a kind. */
export function jobKey(kind: JobKind, id: string): Buffer {
  const key = Buffer.allocUnsafe(1 + Buffer.byteLength(id))
  key[0] = JOB_KINDS.indexOf(kind)
  key.write(id, 1)
  return key
}

function idOfJobKey(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString('utf8', 1)
}

/** @throws CorruptRecord */
export function readJob(jobs: Table, kind: JobKind, id: string): Job | undefined {
  // No id is longer, and LMDB refuses longer keys.
  if (Buffer.byteLength(id) > JOB_ID_BYTES_MAX) return undefined
  const record = jobs.get(jobKey(kind, id))
  return record === undefined ? undefined : decodeJob(id, record, () => `job ${kind}/${id}`)
}

/** All jobs of a kind, newest first. @throws CorruptRecord */
export function readJobs(jobs: Table, kind: JobKind): Job[] {
  const start = jobKey(kind, '')
  const found: Job[] = []
  for (const { key, value } of jobs.getRange({ start, end: prefixEnd(start) })) {
    const id = idOfJobKey(key)
    found.push(decodeJob(id, value, () => `job ${kind}/${id}`))
  }
  return found.sort((one, other) => Number(other.createdLsn - one.createdLsn))
}
