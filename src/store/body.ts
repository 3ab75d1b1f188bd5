/**
 * Bodies: the JSON-escaped contentMd, compressed when that makes it smaller, stored once and shared by a document, its revisions and the binlog. Layout: docs/formats/truth-env.md.
 */
import { BODY_RAW_BYTES_MAX, PACKING_SPACE_BYTES } from '../limits.js'
import type { ByteWriter } from './byte_writer.js'
import { CCtx, compressBound, compressSync, DCtx, uncompressSync } from './packages.js'
import { CorruptRecord, checkRecord, sealRecord } from './record.js'

const PREFIX_BYTES = 12
// A copy into a buffer of V8's own costs less than an external buffer with its finaliser: 4.7 against 12.2 us to unpack, 6.8 against 15.9 us to pack 3 KB.
const COPIED = { asBuffer: true, copyOutputData: true } as const
const CODEC = { none: 0, snappy: 1, zstd: 2 } as const

// One context of each kind a thread.
const compressor = new CCtx()
const decompressor = new DCtx()
const ZSTD_LEVEL = 3
const packingSpace = Buffer.allocUnsafeSlow(PACKING_SPACE_BYTES)

export interface Compression {
  readonly enabled: boolean
  /** Bodies below are stored as they are. */
  readonly smallThreshold: number
  /** Bodies from here on are compressed by zstd, those between by snappy. */
  readonly mediumThreshold: number
}

/** The text between the quotes of the JSON string: what an answer holds after `"contentMd":"`. */
export function escapeContent(contentMd: string): Buffer {
  const quoted = Buffer.from(JSON.stringify(contentMd), 'utf8')
  return quoted.subarray(1, quoted.length - 1)
}

export function unescapeContent(escaped: Uint8Array): string {
  return JSON.parse(`"${Buffer.from(escaped.buffer, escaped.byteOffset, escaped.length).toString('utf8')}"`) as string
}

/** A body record, complete with its checksum: it does not depend on where it will be stored. */
export function encodeBody(escaped: Buffer, compression: Compression): Buffer {
  const [codec, stored] = compressBody(escaped, compression)
  const record = Buffer.allocUnsafeSlow(PREFIX_BYTES + stored.length)
  record[5] = codec
  record[6] = 0 // key id: 0 = not encrypted
  record[7] = 0
  record.writeUInt32LE(escaped.length, 8)
  record.set(stored, PREFIX_BYTES)
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
  const bytesMax = compressBound(raw.length)
  const space = bytesMax <= packingSpace.length ? packingSpace : Buffer.allocUnsafeSlow(bytesMax)
  return space.subarray(0, compressor.compress(space, raw, ZSTD_LEVEL))
}

/** The escaped content. May be a view of `record`. */
export function decodeBody(record: Buffer, name: () => string): Buffer {
  const rawBytes = checkBody(record, name)
  const raw = decompressBody(record[5] as number, record.subarray(PREFIX_BYTES), rawBytes, name)
  if (raw.length !== rawBytes) throw new CorruptRecord(name(), `${raw.length} bytes of content, ${rawBytes} expected`)
  return raw
}

/** Appends the escaped content: where the codec allows it, unpacked into the writer itself. */
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

/** @returns bytes of the escaped content */
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
