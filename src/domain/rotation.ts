/**
 * Rotation of keys as defined by the contract: one job at a time that rewrites every stored row into the
 * current form of its collection. Contains `decide` for its start, one step of its walk, and its
 * representation. The position of the walk is stored in the job's record, in the transaction that advances
 * it, so that a server that was killed resumes there. On the write lane, except for the representation.
 * Rules: service-2, "Audit, encryption, compliance"; docs/decisions/store/encryption.md.
 */
import { serviceError } from '../errors.js'
import type { WriteTransaction } from '../store/apply.js'
import type { Job, JobFields } from '../store/jobs.js'
import type { ResealedRows, ResealedTable } from '../store/resealing/resealing.js'
import { RESEALED_TABLES } from '../store/resealing/resealing.js'
import { CorruptRecord } from '../store/rows/record.js'
import { SERVER_SETTINGS } from '../store/settings.js'
import type { View } from '../store/view.js'
import { decideJobChange, decideNewJob } from './jobs.js'
import type { Step } from './step.js'

/**
 * Rows that one step of a rotation examines: 256 x 15 us, and a page of bodies of 3 KB is 0.8 MB to flush.
 */
const ROTATION_ROWS_MAX = 256

const isRotationUnfinished = (status: string): boolean => status === 'queued' || status === 'running'

/** The fields of a rotation's record. */
interface Rotation extends JobFields {
  readonly primaryKeyID: number
  /** Unix milliseconds. */
  readonly startedAt: number
  readonly finishedAt?: number
  readonly scanned: number
  readonly reencrypted: number
  readonly skipped: number
  readonly errors: number
  readonly lastError?: string
  /** Id of the requested collection; 0: all. */
  readonly collection: number
  /** Collections that remain to be walked, the current one first. */
  readonly left: readonly number[]
  /**
   * Collections that the walk has begun, each with the LSN of the last change of whether it is sealed, as of
   * that time.
   */
  readonly begun: readonly (readonly [collection: number, lsn: bigint])[]
  /** Index into RESEALED_TABLES. Its length denotes the binlog. */
  readonly table: number
  /**
   * Set when the walk is complete: collections whose objects in stores may still be in another form, the
   * current one first. They are moved elsewhere (src/background/objects/body_moves.ts).
   */
  readonly awaited?: readonly number[]
  /** Key to resume at; null: the first. Never a key that contains text. */
  readonly from: Uint8Array | null
}

export function unfinishedRotation(view: View): Job | undefined {
  return view.jobs('rotation').find(({ fields }) => isRotationUnfinished(fields.status))
}

interface RotationDecision {
  readonly steps: readonly Step[]
  readonly answer: unknown
}

/**
 * Returns a new job, or the running one.
 * @param id `rot-` and 16 hexadecimal digits
 * @throws ServiceError
 */
export function decideRotation(transaction: WriteTransaction, id: string, name: string | null, nowMs: number): RotationDecision {
  const { view } = transaction
  if (!transaction.canSeal) throw serviceError('encryptionOff')
  const running = unfinishedRotation(view)
  if (running !== undefined) return { steps: [], answer: showRotation(running) }
  const named = name === null ? undefined : view.collection(name)
  if (name !== null && named === undefined) throw serviceError('notFound')
  const fields: Rotation = {
    status: 'queued',
    primaryKeyID: transaction.primaryKeyId,
    startedAt: nowMs,
    scanned: 0,
    reencrypted: 0,
    skipped: 0,
    errors: 0,
    collection: named?.id ?? 0,
    left: named === undefined ? [SERVER_SETTINGS, ...view.collections().map((collection) => collection.id)] : [named.id],
    begun: [],
    table: 0,
    from: null,
  }
  return {
    steps: decideNewJob(transaction, 'rotation', id, fields, isRotationUnfinished),
    answer: showRotation({ id, createdLsn: 0n, fields }),
  }
}

/**
 * Applies the next step of the walk, and the entry that advances the job. Applies nothing while the job waits
 * for objects to be moved.
 * @returns whether it waits
 */
export function stepRotation(transaction: WriteTransaction, id: string, nowMs: number): boolean {
  const job = transaction.view.job('rotation', id)
  if (job === undefined || !isRotationUnfinished(job.fields.status)) return false
  const before = job.fields as Rotation
  const change = changeOf(transaction, before, nowMs)
  if (change === WAITING) return true
  const step = decideJobChange(transaction, 'rotation', job, change)
  transaction.apply(step.entry, step.body)
  return false
}

type Change = Partial<Rotation> & { readonly status: string }
const WAITING = 'waiting'

function changeOf(transaction: WriteTransaction, before: Rotation, nowMs: number): Change | typeof WAITING {
  if (before.primaryKeyID !== transaction.primaryKeyId)
    return failed(before, 'the primary key changed while the job ran: rotate again', nowMs)
  if (before.left.length > 0) return { ...walkCollection(transaction, before), status: 'running' }
  if (before.awaited !== undefined) return awaitObjects(transaction, before, before.awaited, nowMs)
  const rows = transaction.reseal(
    before.collection === 0 ? undefined : before.collection,
    undefined,
    bufferOf(before.from),
    ROTATION_ROWS_MAX,
  )
  const counted = count(before, rows)
  if (rows.next !== undefined) return { ...counted, from: rows.next, status: 'running' }
  const walked = { ...before, ...counted, from: null, awaited: before.begun.map(([collection]) => collection) }
  return { ...counted, awaited: walked.awaited, from: null, ...finishOrWait(transaction, walked, nowMs) }
}

function finishOrWait(transaction: WriteTransaction, walked: Rotation & { readonly awaited: readonly number[] }, nowMs: number): Change {
  const change = awaitObjects(transaction, walked, walked.awaited, nowMs)
  return change === WAITING ? { status: 'running' } : change
}

/**
 * An object in a store is rewritten by moving it, which requires the key of its old form. While such an
 * object is left, its form must stay on record. Objects that have been passed stay in the current form,
 * because no command stores an object in another form (src/worker/commit/commit_work.ts).
 */
function awaitObjects(transaction: WriteTransaction, before: Rotation, awaited: readonly number[], nowMs: number): Change | typeof WAITING {
  let from = bufferOf(before.from)
  let remaining = ROTATION_ROWS_MAX
  for (const [at, collection] of awaited.entries()) {
    const left = awaited.slice(at)
    if (remaining <= 0) return { awaited: left, from: from ?? null, status: 'running' }
    // Collections deleted meanwhile are purged separately.
    if (transaction.isRetired(collection)) continue
    try {
      const { found, next, scanned } = transaction.view.objects.nextInOtherForm(collection, from, remaining)
      remaining -= scanned
      if (next !== undefined) return { awaited: left, from: next, status: 'running' }
      if (found !== undefined)
        return at === 0 && before.from !== null && found.equals(before.from) ? WAITING : { awaited: left, from: found, status: 'running' }
    } catch (error) {
      if (!(error instanceof CorruptRecord)) throw error
      return failed(before, error.message, nowMs)
    }
    from = undefined
  }
  return finish(transaction, before, nowMs)
}

function walkCollection(transaction: WriteTransaction, before: Rotation): Partial<Rotation> {
  const [collection, ...rest] = before.left as [number, ...number[]]
  const table = RESEALED_TABLES[before.table]
  // Collections deleted meanwhile are purged separately.
  if (table === undefined || transaction.isRetired(collection)) return { left: rest, table: 0, from: null }
  const isFirst = before.table === 0 && before.from === null
  const begun: Partial<Rotation> = isFirst ? { begun: [...before.begun, [collection, transaction.sealingLsn(collection)]] } : {}
  const rows = transaction.reseal(collection, table, bufferOf(before.from), ROTATION_ROWS_MAX)
  const moved = { ...begun, ...count(before, rows) }
  if (rows.next === undefined) return { ...moved, table: before.table + 1, from: null }
  if (!HOLDS_TEXT.has(table) || !transaction.isSealed(collection)) return { ...moved, from: rows.next }
  // A job's record is stored as plaintext, so it must not name a row of a sealed collection whose key
  // contains text. Sealed rows have left the table, so the walk continues at the first row.
  return rows.resealed > 0 ? { ...moved, from: null } : { ...moved, table: before.table + 1, from: null }
}

/** Tables whose keys contain text. */
const HOLDS_TEXT: ReadonlySet<ResealedTable> = new Set<ResealedTable>(['identities', 'spellings', 'collectionSettings'])

function count(before: Rotation, rows: ResealedRows): Pick<Rotation, 'scanned' | 'reencrypted' | 'skipped' | 'errors'> & Partial<Rotation> {
  const lastError = rows.errors.at(-1)
  return {
    scanned: before.scanned + rows.scanned,
    reencrypted: before.reencrypted + rows.resealed,
    skipped: before.skipped + rows.skipped,
    errors: before.errors + rows.errors.length,
    ...(lastError === undefined ? {} : { lastError }),
  }
}

/**
 * Deletes the record of former forms. It is kept if rows could not be rewritten, or if the sealing of a
 * collection changed behind the walk.
 */
function finish(transaction: WriteTransaction, walked: Rotation, nowMs: number): Change {
  if (walked.errors > 0) return { status: 'failed', finishedAt: nowMs }
  // 0: the collection was deleted meanwhile, or never was sealed.
  const changed = walked.begun.filter(([collection, lsn]) => ![0n, BigInt(lsn)].includes(transaction.sealingLsn(collection)))
  if (changed.length > 0) return failed(walked, 'whether a collection is encrypted changed while the job ran: rotate again', nowMs)
  for (const [collection] of walked.begun) transaction.finishForms(collection)
  return { status: 'completed', finishedAt: nowMs }
}

function failed(before: Rotation, lastError: string, nowMs: number): Change {
  return { status: 'failed', finishedAt: nowMs, errors: before.errors + 1, lastError }
}

function bufferOf(from: Uint8Array | null): Buffer | undefined {
  return from === null ? undefined : Buffer.from(from)
}

/** As defined by the contract; times in Unix nanoseconds. */
export function showRotation({ id, fields }: Job): Readonly<Record<string, unknown>> {
  const { status, primaryKeyID, startedAt, finishedAt, scanned, reencrypted, skipped, errors, lastError } = fields as Rotation
  return {
    id,
    status,
    primaryKeyID,
    startedAt: startedAt * NANOSECONDS,
    finishedAt: (finishedAt ?? 0) * NANOSECONDS,
    scanned,
    reencrypted,
    skipped,
    errors,
    ...(lastError === undefined ? {} : { lastError }),
  }
}

/** Nanoseconds per millisecond. Whole milliseconds times a million are printed exactly. */
const NANOSECONDS = 1_000_000
