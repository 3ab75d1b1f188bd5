/**
 * Writes a ZIP file front to back, in constant memory. Local headers contain the sizes, because each document
 * is in memory as a whole. The central directory is spooled to disk and written at the end. The 64-bit forms
 * are used where count or offset require them (PKWARE APPNOTE 6.3, sections 4.3 and 4.5.3). Names are ASCII.
 * Why not fflate: docs/decisions/documents/exports.md. One export; bulk lane.
 */
import { deflateRawSync } from 'node:zlib'
import type { Spool } from '../../store/files/spool.js'
import type { ByteWriter } from '../../store/rows/byte_writer.js'
import { crc32 } from '../../store/rows/packages.js'

/** zlib level of files in a ZIP export. The lane is the scarce resource. */
const ZIP_DEFLATE_LEVEL = 1

const LOCAL_HEADER = 0x04034b50
const CENTRAL_HEADER = 0x02014b50
const END_64 = 0x06064b50
const END_64_LOCATOR = 0x07064b50
const END = 0x06054b50
const VERSION_DEFLATE = 20
const VERSION_64 = 45
/** Made by Unix, which defines the meaning of the external attributes: a regular file, rw-r--r--. */
const MADE_BY = (3 << 8) | VERSION_64
const FILE_MODE = 0o100644 * 2 ** 16
const MAX_16 = 0xffff
const MAX_32 = 0xffffffff
const STORED = 0
const DEFLATED = 8

export class ZipWriter {
  #entries = 0
  /** Bytes of local headers and contents so far. */
  #offset = 0

  /** @param directory stores the central directory until the end */
  constructor(readonly directory: Spool) {}

  /** Appends a file. @param changedAt Unix seconds */
  add(out: ByteWriter, name: string, content: Buffer, changedAt: number): void {
    const packed = deflateRawSync(content, { level: ZIP_DEFLATE_LEVEL })
    const isPacked = packed.length < content.length
    const bytes = isPacked ? packed : content
    const common = commonFields(isPacked ? DEFLATED : STORED, changedAt, crc32(content), bytes.length, content.length, name.length)
    const header = Buffer.alloc(4)
    header.writeUInt32LE(LOCAL_HEADER)
    for (const part of [header, common, Buffer.from(name, 'latin1'), bytes]) out.bytes(part)
    this.#describe(common, name)
    this.#entries += 1
    this.#offset += header.length + common.length + name.length + bytes.length
  }

  /** Appends the end of the file, after the spooled directory. */
  end(out: ByteWriter): void {
    const start = this.#offset
    const bytes = this.directory.bytes
    if (this.#entries >= MAX_16 || start + bytes >= MAX_32) out.bytes(end64(this.#entries, start, bytes))
    const end = Buffer.alloc(22)
    const count = Math.min(this.#entries, MAX_16)
    end.writeUInt32LE(END, 0)
    end.writeUInt16LE(count, 8)
    end.writeUInt16LE(count, 10)
    end.writeUInt32LE(Math.min(bytes, MAX_32), 12)
    end.writeUInt32LE(Math.min(start, MAX_32), 16)
    out.bytes(end)
  }

  /** Spools the central directory entry of the last added file. */
  #describe(common: Buffer, name: string): void {
    const isFar = this.#offset >= MAX_32
    const before = Buffer.alloc(6)
    before.writeUInt32LE(CENTRAL_HEADER, 0)
    before.writeUInt16LE(MADE_BY, 4)
    const behind = Buffer.alloc(14)
    behind.writeUInt32LE(FILE_MODE, 6)
    behind.writeUInt32LE(isFar ? MAX_32 : this.#offset, 10)
    const extra = Buffer.alloc(isFar ? 12 : 0)
    if (isFar) {
      extra.writeUInt16LE(1, 0)
      extra.writeUInt16LE(8, 2)
      extra.writeBigUInt64LE(BigInt(this.#offset), 4)
    }
    const fields = Buffer.from(common)
    if (isFar) fields.writeUInt16LE(VERSION_64, 0)
    fields.writeUInt16LE(extra.length, fields.length - 2)
    this.directory.append(Buffer.concat([before, fields, behind, Buffer.from(name, 'latin1'), extra]))
  }
}

/**
 * The fields that the local header and the central directory share: from the required version to the length
 * of the extra field.
 */
function commonFields(method: number, changedAt: number, crc: number, packedBytes: number, rawBytes: number, nameBytes: number): Buffer {
  const fields = Buffer.alloc(26)
  const [date, time] = dosTime(changedAt)
  fields.writeUInt16LE(VERSION_DEFLATE, 0)
  fields.writeUInt16LE(method, 4)
  fields.writeUInt16LE(time, 6)
  fields.writeUInt16LE(date, 8)
  fields.writeUInt32LE(crc, 10)
  fields.writeUInt32LE(packedBytes, 14)
  fields.writeUInt32LE(rawBytes, 18)
  fields.writeUInt16LE(nameBytes, 22)
  return fields
}

/** UTC, in steps of two seconds since 1980. */
function dosTime(unixSeconds: number): readonly [date: number, time: number] {
  const at = new Date(Math.max(unixSeconds, Date.UTC(1980, 0, 1) / 1000) * 1000)
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate()
  return [date, (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1)]
}

function end64(entries: number, start: number, bytes: number): Buffer {
  const record = Buffer.alloc(56 + 20)
  record.writeUInt32LE(END_64, 0)
  record.writeBigUInt64LE(44n, 4)
  record.writeUInt16LE(MADE_BY, 12)
  record.writeUInt16LE(VERSION_64, 14)
  record.writeBigUInt64LE(BigInt(entries), 24)
  record.writeBigUInt64LE(BigInt(entries), 32)
  record.writeBigUInt64LE(BigInt(bytes), 40)
  record.writeBigUInt64LE(BigInt(start), 48)
  record.writeUInt32LE(END_64_LOCATOR, 56)
  record.writeBigUInt64LE(BigInt(start + bytes), 64)
  record.writeUInt32LE(1, 72)
  return record
}
