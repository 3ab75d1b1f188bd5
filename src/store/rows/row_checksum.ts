/**
 * The checksum that binds a row's value to its key and its table. A row that has moved, because a byte of its
 * key, of a page number or of a branch has changed, fails the check. Layout: docs/formats/truth-env.md.
 */
import { crc32c } from './packages.js'

/** After the value of every row: one byte that never occurs in UTF-8 text, then the checksum. */
export const TRAILER_BYTES = 5
export const TRAILER_MARK = 0xff
/** The first bytes of a record: a checksum over the rest of it. */
const RECORD_CHECKSUM_BYTES = 4
/**
 * Up to this number of bytes, a lookup table in JavaScript is faster than the call into native code (56
 * against 131 ns for 24 bytes).
 */
const TABLE_BYTES_MAX = 48

const POLYNOMIAL = 0x82f63b78
const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ POLYNOMIAL
  return crc
})

/** CRC32C of the first `length` bytes, continued from the CRC of the preceding bytes. */
export function extendedCrc(crc: number, bytes: Buffer, length: number): number {
  if (length > TABLE_BYTES_MAX) return crc32c(length === bytes.length ? bytes : bytes.subarray(0, length), crc)
  let state = ~crc
  for (let at = 0; at < length; at++) state = (table[(state ^ (bytes[at] as number)) & 0xff] as number) ^ (state >>> 8)
  return ~state >>> 0
}

/**
 * @param seed CRC of the table's name
 * @param length of the value, which may be the beginning of a longer buffer
 * @param isRecord the value begins with a checksum of its own, which covers the rest of it
 */
export function rowChecksum(seed: number, key: Buffer, value: Buffer, length: number, isRecord: boolean): number {
  const covered = isRecord && length >= RECORD_CHECKSUM_BYTES ? RECORD_CHECKSUM_BYTES : length
  return extendedCrc(extendedCrc(seed, key, key.length), value, covered)
}

/** Whether the stored value ends with the correct checksum. */
export function hasTrailer(seed: number, key: Buffer, stored: Buffer, length: number, isRecord: boolean): boolean {
  const end = length - TRAILER_BYTES
  if (end < 0 || stored[end] !== TRAILER_MARK) return false
  return stored.readUInt32LE(end + 1) === rowChecksum(seed, key, stored, end, isRecord)
}
