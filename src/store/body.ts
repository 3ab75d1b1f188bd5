/**
 * Bodies: the JSON-escaped contentMd, compressed if that makes it smaller. A body is stored once and shared
 * by a document, its revisions and the binlog. The body of a superseded state may be stored as a delta
 * against the body of a later state of its document. Layout: docs/formats/truth-env.md.
 */
import { DOCUMENT_BYTES_MAX } from '../limits/documents.js'
import { MIB } from '../limits/units.js'
import type { ByteWriter } from './rows/byte_writer.js'
import { CCtx, compressBound, compressSync, DCtx, uncompressSync } from './rows/packages.js'
import { checkRecord, CorruptRecord, sealRecord } from './rows/record.js'

/** Contents that are compared to make a delta: 1.5 ms of the write lane. Larger ones are stored whole. */
const DELTA_RAW_BYTES_MAX = 1 * MIB
/**
 * Bytes of a stored body after decompression: a document whose every byte is escaped as \u00XX (6 B). A
 * larger one is damage, not data.
 */
const BODY_RAW_BYTES_MAX = 6 * DOCUMENT_BYTES_MAX
/**
 * Buffer of a lane for packing bodies: one of 120 KB in the worst case, and few are larger. Those get a
 * buffer of their own.
 */
const PACKING_SPACE_BYTES = 128 * 1024

const PREFIX_BYTES = 12
/** No record that is stored with an entry is shorter. */
export const BODY_RECORD_BYTES_MIN = PREFIX_BYTES
// Copying into a buffer of V8 costs less than an external buffer with its finalizer: 4.7 against 12.2 us to
// decompress, 6.8 against 15.9 us to compress 3 KB.
const COPIED = { asBuffer: true, copyOutputData: true } as const
const CODEC = { none: 0, snappy: 1, zstd: 2, delta: 3 } as const
/** Length of a delta's base LSN, which precedes the compressed bytes. */
const DELTA_BASE_BYTES = 8

// One context of each kind per thread.
const compressor = new CCtx()
const decompressor = new DCtx()
const ZSTD_LEVEL = 3
const packingSpace = Buffer.allocUnsafeSlow(PACKING_SPACE_BYTES)

export interface Compression {
  readonly enabled: boolean
  /** Smaller bodies are stored uncompressed. */
  readonly smallThreshold: number
  /** Bodies of at least this size are compressed by zstd, those between the two thresholds by snappy. */
  readonly mediumThreshold: number
}

/** The text between the quotes of the JSON string: what follows `"contentMd":"` in an answer. */
export function escapeContent(contentMd: string): Buffer {
  const quoted = Buffer.from(JSON.stringify(contentMd), 'utf8')
  return quoted.subarray(1, quoted.length - 1)
}

export function unescapeContent(escaped: Uint8Array): string {
  return JSON.parse(`"${Buffer.from(escaped.buffer, escaped.byteOffset, escaped.length).toString('utf8')}"`) as string
}

/** A body record with its checksum. It does not depend on where it will be stored. */
export function encodeBody(escaped: Buffer, compression: Compression): Buffer {
  const [codec, stored] = compressBody(escaped, compression)
  return bodyRecord(codec, escaped.length, [stored])
}

/**
 * The body record of a content as a delta against another body of its document. The other body is used as a
 * compression dictionary, as if it preceded the content.
 * @param base the escaped content of that body
 * @param baseLsn LSN in the key of that body, which must be the later of the two, so that chains of deltas
 * end
 * @returns undefined if the contents are too large for a delta
 */
export function encodeDelta(escaped: Buffer, base: Buffer, baseLsn: bigint): Buffer | undefined {
  if (Math.max(escaped.length, base.length) > DELTA_RAW_BYTES_MAX) return undefined
  const space = spaceFor(escaped.length)
  const packed = space.subarray(0, compressor.compressUsingDict(space, escaped, base, ZSTD_LEVEL))
  const lsn = Buffer.allocUnsafe(DELTA_BASE_BYTES)
  lsn.writeBigUInt64LE(baseLsn)
  return bodyRecord(CODEC.delta, escaped.length, [lsn, packed])
}

function bodyRecord(codec: number, rawBytes: number, stored: readonly Buffer[]): Buffer {
  const record = Buffer.allocUnsafeSlow(stored.reduce((sum, part) => sum + part.length, PREFIX_BYTES))
  record[5] = codec
  record[6] = 0 // key id: 0 = not encrypted
  record[7] = 0
  record.writeUInt32LE(rawBytes, 8)
  let at = PREFIX_BYTES
  for (const part of stored) at += part.copy(record, at)
  sealRecord(record)
  return record
}

function compressBody(escaped: Buffer, compression: Compression): readonly [number, Buffer] {
  if (!compression.enabled || escaped.length < compression.smallThreshold) return [CODEC.none, escaped]
  const medium = escaped.length < compression.mediumThreshold
  const packed = medium ? compressSync(escaped, COPIED) : packZstd(escaped)
  if (packed.length >= escaped.length) return [CODEC.none, escaped]
  return [medium ? CODEC.snappy : CODEC.zstd, packed]
}

/** The result is valid until the next call. */
function packZstd(raw: Buffer): Buffer {
  const space = spaceFor(raw.length)
  return space.subarray(0, compressor.compress(space, raw, ZSTD_LEVEL))
}

function spaceFor(rawBytes: number): Buffer {
  const bytesMax = compressBound(rawBytes)
  return bytesMax <= packingSpace.length ? packingSpace : Buffer.allocUnsafeSlow(bytesMax)
}

/**
 * Whether the record is a delta. The checksum is not verified: for callers that decode the record afterwards.
 */
export function isDelta(record: Buffer): boolean {
  return record[5] === CODEC.delta
}

/** LSN in the key of the body that a delta is based on; undefined for a whole body. */
export function baseOfBody(record: Buffer, name: () => string): bigint | undefined {
  checkBody(record, name)
  if (!isDelta(record)) return undefined
  if (record.length < PREFIX_BYTES + DELTA_BASE_BYTES) throw new CorruptRecord(name(), 'a delta without a base')
  return record.readBigUInt64LE(PREFIX_BYTES)
}

/**
 * The escaped content of a delta, in its own buffer.
 * @param base the escaped content of the body that it is based on
 */
export function decodeDelta(record: Buffer, base: Buffer, name: () => string): Buffer {
  const rawBytes = checkBody(record, name)
  const raw = Buffer.allocUnsafe(rawBytes)
  const written = decompressor.decompressUsingDict(raw, record.subarray(PREFIX_BYTES + DELTA_BASE_BYTES), base)
  if (written !== rawBytes) throw new CorruptRecord(name(), `${written} bytes of content, ${rawBytes} expected`)
  return raw
}

/** The escaped content of a whole body. May be a view of `record`. */
export function decodeBody(record: Buffer, name: () => string): Buffer {
  const rawBytes = checkBody(record, name)
  const raw = decompressBody(record[5] as number, record.subarray(PREFIX_BYTES), rawBytes, name)
  if (raw.length !== rawBytes) throw new CorruptRecord(name(), `${raw.length} bytes of content, ${rawBytes} expected`)
  return raw
}

/** Appends the escaped content of a whole body. Zstd decompresses directly into the writer. */
export function appendBody(record: Buffer, out: ByteWriter, name: () => string): void {
  if (record[5] !== CODEC.zstd) {
    out.bytes(decodeBody(record, name))
    return
  }
  const rawBytes = checkBody(record, name)
  out.filled(rawBytes, (space) => {
    const written = decompressor.decompress(space, record.subarray(PREFIX_BYTES))
    if (written !== rawBytes) throw new CorruptRecord(name(), `${written} bytes of content, ${rawBytes} expected`)
  })
}

/** @returns size of the escaped content in bytes */
export function checkBody(record: Buffer, name: () => string): number {
  checkRecord(record, PREFIX_BYTES, name)
  const rawBytes = record.readUInt32LE(8)
  if (rawBytes > BODY_RAW_BYTES_MAX) throw new CorruptRecord(name(), `${rawBytes} bytes of content, at most ${BODY_RAW_BYTES_MAX} expected`)
  return rawBytes
}

function decompressBody(codec: number, stored: Buffer, rawBytes: number, name: () => string): Buffer {
  switch (codec) {
    case CODEC.none:
      return stored
    case CODEC.snappy:
      return uncompressSync(stored, COPIED) as Buffer
    case CODEC.zstd:
      return unpackZstd(stored, rawBytes)
    default:
      throw new CorruptRecord(name(), `unknown codec ${codec}`)
  }
}

function unpackZstd(stored: Buffer, rawBytes: number): Buffer {
  const raw = Buffer.allocUnsafe(rawBytes)
  return raw.subarray(0, decompressor.decompress(raw, stored))
}
