/**
 * One table of the truth env. Every row has a checksum over its key and its value. Only this file writes and
 * verifies it. If it is wrong, the value is read as `DAMAGED_ROW`, which decoders refuse. Layout:
 * docs/formats/truth-env.md.
 */
import type { Database } from 'lmdb'
import { KIB } from '../../limits/units.js'
import { DAMAGED_ROW } from './record.js'
import { extendedCrc, hasTrailer, rowChecksum, TRAILER_BYTES, TRAILER_MARK } from './row_checksum.js'

/**
 * Values up to this size get their checksum in one reused buffer. Longer ones are rare, and a buffer for each
 * costs less than copying it.
 */
const ROW_SCRATCH_BYTES = 64 * KIB

export interface Row {
  readonly key: Buffer
  readonly value: Buffer
}

interface RowRange {
  readonly start?: Uint8Array
  /** Exclusive. */
  readonly end?: Uint8Array
  readonly limit?: number
  readonly offset?: number
  readonly reverse?: boolean
}

// Scratch buffer of this thread. `put` is called only inside write transactions, and there LMDB has copied
// the value when `put` returns.
const scratch = Buffer.allocUnsafeSlow(ROW_SCRATCH_BYTES)

export class Table {
  readonly #rows: Database<Buffer, Buffer>
  readonly #seed: number
  readonly #isRecord: boolean

  /** @param isRecord values begin with a checksum of their own over the rest (record.ts) */
  constructor(rows: Database<Buffer, Buffer>, name: string, isRecord: boolean) {
    this.#rows = rows
    this.#seed = extendedCrc(0, Buffer.from(name), Buffer.byteLength(name))
    this.#isRecord = isRecord
  }

  /** LMDB's statistics of the tree. */
  getStats(): object {
    return this.#rows.getStats()
  }

  /** A copy of the value; `DAMAGED_ROW` if its checksum is wrong. */
  get(key: Buffer): Buffer | undefined {
    const stored = this.#rows.get(key)
    return stored === undefined ? undefined : this.#valueOf(key, stored)
  }

  /** Like `get`, without a copy: valid until the next read of this thread. */
  peek(key: Buffer): Buffer | undefined {
    const stored = this.#rows.getBinaryFast(key)
    if (stored === undefined) return undefined
    const { length } = stored
    // lmdb-js returns one reused buffer whose `length` it overrides. A subarray of it is an ordinary Buffer.
    return hasTrailer(this.#seed, key, stored, length, this.#isRecord) ? stored.subarray(0, length - TRAILER_BYTES) : DAMAGED_ROW
  }

  /** Inside a write transaction only. */
  put(key: Buffer, value: Buffer): void {
    const { length } = value
    const stored = length + TRAILER_BYTES <= scratch.length ? scratch : Buffer.allocUnsafeSlow(length + TRAILER_BYTES)
    stored.set(value)
    stored[length] = TRAILER_MARK
    stored.writeUInt32LE(rowChecksum(this.#seed, key, stored, length, this.#isRecord), length + 1)
    void this.#rows.put(key, stored.subarray(0, length + TRAILER_BYTES))
  }

  /** Inside a write transaction only. */
  remove(key: Buffer): void {
    void this.#rows.remove(key)
  }

  /** Whether the row exists and its checksum is correct. */
  has(key: Buffer): boolean {
    const value = this.peek(key)
    return value !== undefined && value !== DAMAGED_ROW
  }

  /** Whether the row exists, damaged or not. */
  doesExist(key: Buffer): boolean {
    return this.#rows.doesExist(key)
  }

  /**
   * Keys of rows whose values are not verified. For callers that look the rows up by key afterwards, or
   * remove them.
   */
  getKeys(range: RowRange = {}): Iterable<Buffer> {
    // lmdb-js modifies the range that it is given: it sets that no values, or only a count, are requested.
    return this.#rows.getKeys({ ...range })
  }

  /** Rows of the range. Each value is a copy, or `DAMAGED_ROW`. */
  *getRange(range: RowRange = {}): Generator<Row> {
    for (const { key, value } of this.#rows.getRange(range)) yield { key, value: this.#valueOf(key, value) }
  }

  /** Keys of rows whose checksum is correct. For tables whose keys contain all the information. */
  *intactKeys(range: RowRange = {}): Generator<Buffer> {
    for (const { key, value } of this.getRange(range)) if (value !== DAMAGED_ROW) yield key
  }

  getKeysCount(range: RowRange): number {
    return this.#rows.getKeysCount({ ...range })
  }

  get rowCount(): number {
    return (this.#rows.getStats() as { readonly entryCount: number }).entryCount
  }

  clear(): void {
    this.#rows.clearSync()
  }

  /** Whether a stored value, with its trailer, belongs to the key. */
  holds(key: Buffer, stored: Buffer): boolean {
    return hasTrailer(this.#seed, key, stored, stored.length, this.#isRecord)
  }

  /** The stored value with its trailer. */
  storedValue(key: Buffer): Buffer | undefined {
    return this.#rows.get(key)
  }

  /**
   * Rows from `start` on, each with whether its checksum is correct. For searches for damage.
   */
  *storedRows(start: Uint8Array | undefined): Generator<Row & { readonly isChecked: boolean }> {
    for (const { key, value } of this.#rows.getRange(start === undefined ? {} : { start: Buffer.from(start) })) {
      const isChecked = this.holds(key, value)
      yield { key, value: isChecked ? value.subarray(0, value.length - TRAILER_BYTES) : value, isChecked }
    }
  }

  get isOfRecords(): boolean {
    return this.#isRecord
  }

  #valueOf(key: Buffer, stored: Buffer): Buffer {
    return this.holds(key, stored) ? stored.subarray(0, stored.length - TRAILER_BYTES) : DAMAGED_ROW
  }
}
