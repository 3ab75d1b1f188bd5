/**
 * What is stored of a document's vectors: the record (chunks of its content and one vector each, as
 * produced), the stamp beside it (what the index has to know, small enough to be read for all documents at a
 * start), and how many documents of a collection have vectors of which variant. Layout:
 * docs/formats/truth-env.md. Pure; any thread. Little-endian machines only, as the whole store.
 */
import { checkRecord, CorruptRecord, requireIntact, sealRecord } from '../record.js'
import { crc32c, pack, unpack } from '../packages.js'

export interface VectorRecord {
  /** Identity of the vectors: those of another variant can't be compared with them. */
  readonly variant: string
  readonly dimensions: number
  /** The content was cut as source code. */
  readonly isCode: boolean
  /** Stands for how the content was cut: the same content cut by the same recipe gives the same chunks. */
  readonly recipe: number
  /**
   * LSN of the body that they were made from. They are those of the document while it is that of its present
   * state. 0: some chunks are missing still.
   */
  readonly bodyLsn: bigint
  /** Byte ranges of the UTF-8 content, ascending: start, end, start, end ... */
  readonly ranges: Uint32Array
  /** Of what was embedded, one a chunk: equal hashes stand for equal vectors. */
  readonly hashes: BigUint64Array
  /** Chunk after chunk. */
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
 * @param bytes in clear, owned by the caller and not changed afterwards: the vectors may be a view of it.
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

/** The record made from an equal content that lies under another LSN. @param bytes in clear */
export function withBodyLsn(bytes: Buffer, bodyLsn: bigint): Buffer {
  const copy = Buffer.from(bytes)
  copy.writeBigUInt64LE(bodyLsn, BODY_LSN_AT)
  sealRecord(copy)
  return copy
}

/** A view where the bytes lie so that there can be one. */
export function floatsOf(bytes: Uint8Array): Float32Array {
  const whole = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice()
  return new Float32Array(whole.buffer, whole.byteOffset, bytes.length / 4)
}

/** What the index must know of a document's vectors to tell whether it has them. */
export interface VectorStamp {
  /** Of the entry that set them. */
  readonly lsn: bigint
  readonly dimensions: number
  readonly chunks: number
  /** `variantCrc` of theirs. */
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

/** Stands for a variant in stamps and in the keys of counts. */
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
