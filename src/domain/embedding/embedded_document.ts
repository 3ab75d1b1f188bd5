/**
 * What became of a document that was to be embedded, as it goes to the write lane, and the decision there:
 * the new vectors are joined with those that the document has of chunks that are still the same. Write lane,
 * inside the write transaction, but for the types.
 */
import type { VectorChange } from '../../engine/vector_types.js'
import type { WriteTransaction } from '../../store/apply.js'
import { encodeVectors, floatsOf } from '../../store/vectors/vector_record.js'
import type { VectorRecord } from '../../store/vectors/vector_record.js'
import type { Step } from '../step.js'

interface OfDocument {
  readonly collection: number
  readonly docid: number
  /** LSN of the write that waits for it; 0: none does. */
  readonly queued: bigint
}

/** `keep`: nothing is to be done, or nothing can be. */
export interface KeptVectors extends OfDocument {
  readonly change: 'keep'
}

/** What the body with this LSN says has its vectors already. */
export interface RestampedVectors extends OfDocument {
  readonly change: 'restamp'
  readonly bodyLsn: bigint
}

export interface NewVectors extends OfDocument {
  readonly change: 'set'
  readonly variant: string
  readonly dimensions: number
  readonly isCode: boolean
  readonly recipe: number
  /** Of the body that was cut. */
  readonly bodyLsn: bigint
  /** Start and end of each chunk, u32. */
  readonly ranges: Uint8Array
  /** One a chunk, u64. */
  readonly hashes: Uint8Array
  /** Chunks that `vectors` has, ascending, u32; chunks of equal hashes once. */
  readonly given: Uint8Array
  /** f32. */
  readonly vectors: Uint8Array
  /** False: the others come later, and the document waits for them. */
  readonly isWhole: boolean
  /** Nothing of before is taken over. */
  readonly isFresh: boolean
}

/** As msgpack carries it: numbers and byte strings. */
export type EmbeddedDocument = KeptVectors | RestampedVectors | NewVectors

/**
 * Nothing where there is nothing to say, or where chunks lack their vectors that were there when the document
 * was looked at: then it waits on, and is looked at again. What was embedded of a content that has been
 * replaced meanwhile is kept: what the next one has in common with it is not embedded again.
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

/** What the vector engine is told of vectors that were set. */
export function changeOf({ dimensions, vectors }: VectorRecord, collection: number, docid: number, lsn: bigint): VectorChange {
  return vectors.length === 0 ? { kind: 'remove', collection, docid, lsn } : { kind: 'set', collection, docid, lsn, dimensions, vectors }
}

/** 0 where it does not wait any more. */
function queuedOf({ view }: WriteTransaction, lsn: bigint | number): bigint {
  const queued = BigInt(lsn)
  return queued > 0n && view.vectors.isQueued(queued) ? queued : 0n
}

/** Undefined where a chunk has its vector in neither. Of a part those chunks that have one. */
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
