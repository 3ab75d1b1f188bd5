/**
 * What is stored of a document's vectors. The record contains the chunks of its content and one vector for
 * each, as produced. The stamp beside it contains what the index needs, and is small enough to be read for
 * all documents at a start. A count for each collection and variant says how many documents have vectors of
 * that variant. Layout: docs/formats/truth-env.md. Pure; any thread. Little-endian machines only, like the
 * whole store.
 */
import { crc32c, pack, unpack } from '../rows/packages.js'
import { checkRecord, CorruptRecord, requireIntact, sealRecord } from '../rows/record.js'

export interface VectorRecord {
  /** Identity of the vectors: vectors of different variants can't be compared. */
  readonly variant: string
  readonly dimensions: number
  /** The content was split as source code. */
  readonly isCode: boolean
  /** Identifies how the content was split: the same content split by the same recipe has the same chunks. */
  readonly recipe: number
  /**
   * LSN of the body from which they were made. They are the document's vectors while its present state has
   * this body. 0: some chunks are still missing.
   */
  readonly bodyLsn: bigint
  /** Byte ranges of the UTF-8 content, ascending: start, end, start, end ... */
  readonly ranges: Uint32Array
  /** Hashes of the embedded texts, one per chunk: equal hashes mean equal vectors. */
  readonly hashes: BigUint64Array
  /** The vectors of all chunks, one after the other. */
  readonly vectors: Float32Array
}

const PREFIX_BYTES = 40
const CHUNK_BYTES = 16
const BODY_LSN_AT = 8
const FLAG_CODE = 1

export function encodeVectors(record: VectorRecord): Buffer {
  const { variant, dimensions, ranges, hashes, vectors } = record
  const chunks = hashes.length
  const vectorsAt = PREFIX_BYTES + chunks * CHUNK_BYTES
  const variantAt = vectorsAt + vectors.byteLength
  const bytes = Buffer.allocUnsafeSlow(variantAt + Buffer.byteLength(variant))
  bytes[5] = record.isCode ? FLAG_CODE : 0
  bytes[6] = 0 // key id: 0 = not encrypted
  bytes[7] = 0
  bytes.writeBigUInt64LE(record.bodyLsn, BODY_LSN_AT)
  bytes.writeUInt32LE(dimensions, 16)
  bytes.writeUInt32LE(chunks, 20)
  bytes.writeUInt32LE(record.recipe, 24)
  bytes.fill(0, 28, PREFIX_BYTES)
  for (let chunk = 0; chunk < chunks; chunk++) {
    const at = PREFIX_BYTES + chunk * CHUNK_BYTES
    bytes.writeUInt32LE(ranges[chunk * 2] as number, at)
    bytes.writeUInt32LE(ranges[chunk * 2 + 1] as number, at + 4)
    bytes.writeBigUInt64LE(hashes[chunk] as bigint, at + 8)
  }
  bytes.set(new Uint8Array(vectors.buffer, vectors.byteOffset, vectors.byteLength), vectorsAt)
  bytes.write(variant, variantAt, 'utf8')
  sealRecord(bytes)
  return bytes
}

/**
 * @param bytes plaintext, owned by the caller and not changed afterwards: the vectors may be a view of it
 * @throws CorruptRecord
 */
export function decodeVectors(bytes: Buffer, name: () => string): VectorRecord {
  checkRecord(bytes, PREFIX_BYTES, name)
  const dimensions = bytes.readUInt32LE(16)
  const chunks = bytes.readUInt32LE(20)
  const vectorsAt = PREFIX_BYTES + chunks * CHUNK_BYTES
  const variantAt = vectorsAt + chunks * dimensions * 4
  if (variantAt > bytes.length) throw new CorruptRecord(name(), `${chunks} chunks of ${dimensions} dimensions in ${bytes.length} bytes`)
  const ranges = new Uint32Array(chunks * 2)
  const hashes = new BigUint64Array(chunks)
  for (let chunk = 0; chunk < chunks; chunk++) {
    const at = PREFIX_BYTES + chunk * CHUNK_BYTES
    ranges[chunk * 2] = bytes.readUInt32LE(at)
    ranges[chunk * 2 + 1] = bytes.readUInt32LE(at + 4)
    hashes[chunk] = bytes.readBigUInt64LE(at + 8)
  }
  return {
    variant: bytes.toString('utf8', variantAt),
    dimensions,
    isCode: bytes[5] === FLAG_CODE,
    recipe: bytes.readUInt32LE(24),
    bodyLsn: bytes.readBigUInt64LE(BODY_LSN_AT),
    ranges,
    hashes,
    vectors: floatsOf(bytes.subarray(vectorsAt, variantAt)),
  }
}

/** The same record for an equal content that is stored under another LSN. @param bytes plaintext */
export function withBodyLsn(bytes: Buffer, bodyLsn: bigint): Buffer {
  const copy = Buffer.from(bytes)
  copy.writeBigUInt64LE(bodyLsn, BODY_LSN_AT)
  sealRecord(copy)
  return copy
}

/** The floats in the bytes: a view if the bytes are aligned, otherwise a copy. */
export function floatsOf(bytes: Uint8Array): Float32Array {
  const whole = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice()
  return new Float32Array(whole.buffer, whole.byteOffset, bytes.length / 4)
}

/** What the index needs to decide whether it has a document's vectors. */
export interface VectorStamp {
  /** LSN of the entry that set them. */
  readonly lsn: bigint
  readonly dimensions: number
  readonly chunks: number
  /** `variantCrc` of their variant. */
  readonly variant: number
}

const STAMP_BYTES = 28

export function encodeStamp({ lsn, dimensions, chunks, variant }: VectorStamp): Buffer {
  const bytes = Buffer.alloc(STAMP_BYTES)
  bytes.writeBigUInt64LE(lsn, 8)
  bytes.writeUInt32LE(dimensions, 16)
  bytes.writeUInt32LE(chunks, 20)
  bytes.writeUInt32LE(variant, 24)
  sealRecord(bytes)
  return bytes
}

/** @throws CorruptRecord */
export function decodeStamp(bytes: Buffer, name: () => string): VectorStamp {
  checkRecord(bytes, STAMP_BYTES, name)
  return {
    lsn: bytes.readBigUInt64LE(8),
    dimensions: bytes.readUInt32LE(16),
    chunks: bytes.readUInt32LE(20),
    variant: bytes.readUInt32LE(24),
  }
}

/** Identifies a variant in stamps and in the keys of counts. */
export function variantCrc(variant: string): number {
  return crc32c(Buffer.from(variant)) >>> 0
}

/** Documents of a collection whose vectors are of one variant. */
export interface VariantCount {
  readonly variant: string
  readonly dimensions: number
  readonly documents: number
  readonly chunks: number
}

export function encodeVariantCount({ variant, dimensions, documents, chunks }: VariantCount): Buffer {
  return pack([variant, dimensions, documents, chunks])
}

/** @throws CorruptRecord */
export function decodeVariantCount(bytes: Buffer, name: () => string): VariantCount {
  requireIntact(bytes, 1, name)
  const [variant, dimensions, documents, chunks] = unpack(bytes) as [string, number, number, number]
  return { variant, dimensions, documents, chunks }
}
