/**
 * The tables of vectors: records, stamps, counts by variant, and the queue of documents to be embedded. Only
 * `apply` changes them, inside the write transaction: a document has all of record, stamp and count, or none.
 * They are read through views. Layout: docs/formats/truth-env.md.
 */
import { log } from '../../telemetry/log.js'
import type { Environment } from '../environment.js'
import { collectionOfKey, counterKey, docidOfKey, documentKey, lsnKey, lsnOfKey, prefixEnd, variantKey } from '../rows/keys.js'
import { CorruptRecord, DAMAGED_ROW } from '../rows/record.js'
import { CLEAR, vectorsAddress } from '../sealing/collection_seal.js'
import { keyIdOf } from '../sealing/sealed_record.js'
import type { VariantCount, VectorRecord, VectorStamp } from './vector_record.js'
import {
  decodeStamp,
  decodeVariantCount,
  decodeVectors,
  encodeStamp,
  encodeVariantCount,
  variantCrc,
  withBodyLsn,
} from './vector_record.js'

/**
 * Sets the vectors of a document, replacing earlier ones.
 * @param lsn of the entry that sets them
 * @param record plaintext
 */
export function setVectors(environment: Environment, collection: number, docid: number, lsn: bigint, record: Buffer): void {
  forgetVectors(environment, collection, docid)
  const { variant, dimensions, hashes } = decodeVectors(record, () => `vectors of entry ${lsn}`)
  const stamp = { lsn, dimensions, chunks: hashes.length, variant: variantCrc(variant) }
  const key = documentKey(collection, docid)
  writeRecord(environment, collection, key, record)
  environment.vectorStamps.put(key, encodeStamp(stamp))
  count(environment, collection, stamp, 1, variant)
}

/** For a write with unchanged content: the vectors now belong to the body with this LSN. */
export function restampVectors(environment: Environment, collection: number, docid: number, bodyLsn: bigint): void {
  const record = tolerated(() => clearRecord(environment, collection, docid))
  if (record !== undefined) writeRecord(environment, collection, documentKey(collection, docid), withBodyLsn(record, bodyLsn))
}

/** Removes the vectors of a document with their stamp and count. */
export function forgetVectors(environment: Environment, collection: number, docid: number): void {
  const key = documentKey(collection, docid)
  if (!environment.vectorStamps.doesExist(key)) return
  const stamp = tolerated(() => readStamp(environment, collection, docid))
  if (stamp !== undefined) count(environment, collection, stamp, -1)
  environment.vectorStamps.remove(key)
  environment.vectors.remove(key)
}

/**
 * Damaged vectors are logged and treated as missing: a reindex makes them again, and a write must not fail
 * because of them.
 */
function tolerated<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof CorruptRecord)) throw error
    log.error(error.message)
    return undefined
  }
}

/** Writes the record in the stored form of its collection, sealed or plaintext. */
function writeRecord(environment: Environment, collection: number, key: Buffer, record: Buffer): void {
  const seal = environment.seals.of(collection)
  const isSealed = seal !== undefined && seal.writtenForm !== CLEAR
  environment.vectors.put(key, isSealed ? seal.seal(vectorsAddress(key), record) : record)
}

/** @param variant required if it may not have a row yet */
function count({ vectorVariants }: Environment, collection: number, stamp: VectorStamp, by: 1 | -1, variant = ''): void {
  const key = variantKey(collection, stamp.variant)
  const row = vectorVariants.get(key)
  const known = row === undefined ? undefined : tolerated(() => variantCountOf(key, row))
  // A damaged count starts from scratch.
  const before = known ?? { variant, dimensions: stamp.dimensions, documents: 0, chunks: 0 }
  const documents = before.documents + by
  if (documents <= 0) vectorVariants.remove(key)
  else vectorVariants.put(key, encodeVariantCount({ ...before, documents, chunks: Math.max(0, before.chunks + by * stamp.chunks) }))
}

function variantCountOf(key: Uint8Array, row: Buffer): VariantCount {
  return decodeVariantCount(row, () => `vectors of variant ${Buffer.from(key).toString('hex')}`)
}

function clearRecord(environment: Environment, collection: number, docid: number): Buffer | undefined {
  const key = documentKey(collection, docid)
  const record = environment.vectors.get(key)
  if (record === undefined || keyIdOf(record) === CLEAR) return record
  const name = (): string => `vectors ${collection}/${docid}`
  const seal = environment.seals.of(collection)
  if (seal === undefined) throw new CorruptRecord(name(), 'sealed row in an unsealed collection')
  return seal.open(vectorsAddress(key), record, name)
}

function readStamp(environment: Environment, collection: number, docid: number): VectorStamp | undefined {
  const row = environment.vectorStamps.get(documentKey(collection, docid))
  return row === undefined ? undefined : decodeStamp(row, () => `vector stamp ${collection}/${docid}`)
}

const NO_DOCUMENT = documentKey(0, 0)

/** A document that is to be embedded. */
export interface QueuedEmbedding {
  /** LSN of the write that queued it. */
  readonly lsn: bigint
  readonly collection: number
  readonly docid: number
}

/** The vectors of a view. Valid as long as the view. */
export class VectorView {
  readonly #environment: Environment

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** Undefined if there are none or they are damaged. Damage is logged; the vectors can be made again. */
  record(collection: number, docid: number): VectorRecord | undefined {
    return tolerated(() => {
      const record = clearRecord(this.#environment, collection, docid)
      return record === undefined ? undefined : decodeVectors(record, () => `vectors ${collection}/${docid}`)
    })
  }

  /** Undefined as for `record`. */
  stamp(collection: number, docid: number): VectorStamp | undefined {
    return tolerated(() => readStamp(this.#environment, collection, docid))
  }

  /**
   * Stamps of all documents of collections that are not deleted, by collection and docid. Damaged stamps are
   * skipped: their documents then have no vectors.
   */
  *stamps(): Generator<{ readonly collection: number; readonly docid: number; readonly stamp: VectorStamp }> {
    const { retired, vectorStamps } = this.#environment
    const gone = new Set([...retired.getKeys()].map((key) => collectionOfKey(key)))
    for (const { key, value } of vectorStamps.getRange()) {
      const collection = collectionOfKey(key)
      if (gone.has(collection)) continue
      const docid = docidOfKey(key)
      const stamp = tolerated(() => decodeStamp(value, () => `vector stamp ${collection}/${docid}`))
      if (stamp !== undefined) yield { collection, docid, stamp }
    }
  }

  /** Stamps of the documents of one collection, by docid. */
  *stampsOf(collection: number): Generator<{ readonly docid: number; readonly stamp: VectorStamp }> {
    const prefix = counterKey(collection)
    for (const { key, value } of this.#environment.vectorStamps.getRange({ start: prefix, end: prefixEnd(prefix) })) {
      const docid = docidOfKey(key)
      const stamp = tolerated(() => decodeStamp(value, () => `vector stamp ${collection}/${docid}`))
      if (stamp !== undefined) yield { docid, stamp }
    }
  }

  /** Counts of a collection by variant. */
  variants(collection: number): VariantCount[] {
    const prefix = counterKey(collection)
    const range = { start: prefix, end: prefixEnd(prefix) }
    const rows = [...this.#environment.vectorVariants.getRange(range)]
    return rows.map(({ key, value }) => tolerated(() => variantCountOf(key, value))).filter((count) => count !== undefined)
  }

  /**
   * Documents that wait for their vectors, in the order in which they were queued, after the LSN `after`; at
   * most `count`. A document may occur more than once.
   */
  queued(after: bigint, count: number): QueuedEmbedding[] {
    const rows = this.#environment.embedQueue.getRange({ start: lsnKey(after + 1n), limit: count })
    return [...rows].map(({ key, value }) => {
      // A damaged row names no document. Like a row of a deleted document, it is settled by the code that
      // takes it.
      const of = value === DAMAGED_ROW || value.length !== 8 ? NO_DOCUMENT : value
      return { lsn: lsnOfKey(key), collection: collectionOfKey(of), docid: docidOfKey(of) }
    })
  }

  /** Number of rows in the embedding queue. */
  get queueDepth(): number {
    return this.#environment.embedQueue.rowCount
  }

  /** Whether the document of this write is still queued. */
  isQueued(lsn: bigint): boolean {
    return this.#environment.embedQueue.doesExist(lsnKey(lsn))
  }
}
