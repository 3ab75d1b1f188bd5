/**
 * The prefix of all stored records: four bytes of CRC32C over the rest, and a format version. Anything that
 * does not match is refused. Bytes on disk are never trusted.
 */
import { crc32c } from './packages.js'

export const RECORD_VERSION = 1

/**
 * A stored record that fails its check. It is answered with a 500 that names the record, counted, and never
 * served.
 */
export class CorruptRecord extends Error {
  constructor(
    readonly record: string,
    readonly detail: string,
  ) {
    super(`corrupt record ${record}: ${detail}`)
    this.name = 'CorruptRecord'
  }
}

/**
 * Replaces a value whose row checksum is wrong (table.ts). Decoders find it too short, or compare with it.
 */
export const DAMAGED_ROW = Buffer.alloc(0)

/** @throws CorruptRecord for a value that is damaged or shorter than `bytesMin` */
export function requireIntact(value: Buffer, bytesMin: number, name: () => string): void {
  if (value === DAMAGED_ROW) throw new CorruptRecord(name(), 'the checksum over its key and value does not hold')
  if (value.length < bytesMin) throw new CorruptRecord(name(), `${value.length} bytes, at least ${bytesMin} expected`)
}

/** Writes CRC and version into the first five bytes of a finished record. */
export function sealRecord(record: Buffer): void {
  record[4] = RECORD_VERSION
  record.writeUInt32LE(crc32c(record.subarray(4)), 0)
}

/** @throws CorruptRecord if the record is shorter than its fixed part, damaged, or of an unknown version */
export function checkRecord(record: Buffer, bytesMin: number, name: () => string): void {
  requireIntact(record, bytesMin, name)
  const expected = record.readUInt32LE(0)
  const found = crc32c(record.subarray(4))
  if (expected !== found) throw new CorruptRecord(name(), `checksum ${found.toString(16)}, ${expected.toString(16)} expected`)
  if (record[4] !== RECORD_VERSION) throw new CorruptRecord(name(), `version ${record[4]}, ${RECORD_VERSION} expected`)
}
