/**
 * The outcome of embedding a document, as it is passed to the write lane, and the decision there: the new
 * vectors are merged with the document's existing vectors of unchanged chunks. Write lane, inside the write
 * transaction, except for the types.
 */
import type { VectorChange } from '../../engine/vectors/vector_types.js'
import type { WriteTransaction } from '../../store/apply.js'
import type { VectorRecord } from '../../store/vectors/vector_record.js'
import { encodeVectors, floatsOf } from '../../store/vectors/vector_record.js'
import type { Step } from '../step.js'

interface OfDocument {
  readonly collection: number
  readonly docid: number
  /** LSN of the write that waits for the vectors; 0: none. */
  readonly queued: bigint
}

/** `keep`: the vectors do not change, or cannot be computed. */
interface KeptVectors extends OfDocument {
  readonly change: 'keep'
}

/** The existing vectors also match the body with this LSN. */
interface RestampedVectors extends OfDocument {
  readonly change: 'restamp'
  readonly bodyLsn: bigint
}

interface NewVectors extends OfDocument {
  readonly change: 'set'
  readonly variant: string
  readonly dimensions: number
  readonly isCode: boolean
  readonly recipe: number
  /** LSN of the body that was chunked. */
  readonly bodyLsn: bigint
  /** Start and end of each chunk, u32. */
  readonly ranges: Uint8Array
  /** One per chunk, u64. */
  readonly hashes: Uint8Array
  /** Indexes of the chunks in `vectors`, ascending, u32. Of chunks with equal hashes only one is included. */
  readonly given: Uint8Array
  /** f32. */
  readonly vectors: Uint8Array
  /** False: the other vectors follow later, and the document remains queued. */
  readonly isWhole: boolean
  /** No existing vectors are reused. */
  readonly isFresh: boolean
}

/** As encoded in msgpack: numbers and byte strings. */
export type EmbeddedDocument = KeptVectors | RestampedVectors | NewVectors

/**
 * Returns undefined if nothing changes, or if a chunk lacks a vector that existed when the document was
 * examined. The document then stays in the queue and is examined again. Vectors of content that has been
 * replaced meanwhile are kept, so that chunks shared with the new content are not embedded again.
 */
export function decideVectors(transaction: WriteTransaction, document: EmbeddedDocument): Step | undefined {
  const { collection, docid } = document
  const head = transaction.isRetired(collection) ? undefined : transaction.view.headEvenExpired(collection, docid)
  const base = { kind: 'vectors', lsn: transaction.nextLsn, collection, docid, queued: queuedOf(transaction, document.queued) } as const
  if (head === undefined || document.change === 'keep')
    return base.queued === 0n ? undefined : { entry: { ...base, change: 'keep', bodyLsn: 0n }, body: undefined, indexOp: undefined }
  if (document.change === 'restamp')
    return { entry: { ...base, change: 'restamp', bodyLsn: BigInt(document.bodyLsn) }, body: undefined, indexOp: undefined }
  const record = joined(document, document.isFresh ? undefined : transaction.view.vectors.record(collection, docid))
  if (record === undefined) return undefined
  const queued = document.isWhole ? base.queued : 0n
  return {
    entry: { ...base, queued, change: 'set', bodyLsn: record.bodyLsn },
    body: encodeVectors(record),
    indexOp: undefined,
    vectorOp: changeOf(record, collection, docid, base.lsn),
  }
}

/** The change for the vector engine after vectors were set. */
export function changeOf({ dimensions, vectors }: VectorRecord, collection: number, docid: number, lsn: bigint): VectorChange {
  return vectors.length === 0 ? { kind: 'remove', collection, docid, lsn } : { kind: 'set', collection, docid, lsn, dimensions, vectors }
}

/** 0 if the document no longer waits. */
function queuedOf({ view }: WriteTransaction, lsn: bigint | number): bigint {
  const queued = BigInt(lsn)
  return queued > 0n && view.vectors.isQueued(queued) ? queued : 0n
}

/**
 * Undefined if a chunk has a vector in neither source. A partial document (`isWhole` false) keeps only the
 * chunks that have one.
 */
function joined(document: NewVectors, old: VectorRecord | undefined): VectorRecord | undefined {
  const { dimensions, variant, isCode, recipe, isWhole } = document
  const ranges = wordsOf(document.ranges)
  const hashes = longsOf(document.hashes)
  const found = new Map<bigint, Float32Array>()
  const gather = (from: Float32Array, hash: bigint | undefined, at: number): void => {
    if (hash !== undefined) found.set(hash, from.subarray(at * dimensions, (at + 1) * dimensions))
  }
  if (old?.variant === variant && old.dimensions === dimensions) old.hashes.forEach((hash, chunk) => gather(old.vectors, hash, chunk))
  const given = floatsOf(document.vectors)
  wordsOf(document.given).forEach((chunk, at) => gather(given, hashes[chunk], at))
  const there = [...hashes.keys()].filter((chunk) => found.has(hashes[chunk] as bigint))
  if (isWhole && there.length < hashes.length) return undefined
  const vectors = new Float32Array(there.length * dimensions)
  there.forEach((chunk, at) => vectors.set(found.get(hashes[chunk] as bigint) as Float32Array, at * dimensions))
  return {
    ...{ variant, dimensions, isCode, recipe, vectors },
    bodyLsn: isWhole ? BigInt(document.bodyLsn) : 0n,
    ranges: new Uint32Array(there.flatMap((chunk) => [ranges[chunk * 2] as number, ranges[chunk * 2 + 1] as number])),
    hashes: new BigUint64Array(there.map((chunk) => hashes[chunk] as bigint)),
  }
}

function wordsOf(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.slice().buffer)
}

function longsOf(bytes: Uint8Array): BigUint64Array {
  return new BigUint64Array(bytes.slice().buffer)
}
