/**
 * One table of the truth env. Every row carries a checksum over its key and its value, which is written and
 * looked at here and nowhere else; what it does not hold for is read as `DAMAGED_ROW`, and refused by whoever
 * decodes it. Rows of format 1, which have none, are believed until the store has been brought to format 2 as
 * a whole (row_upgrade.ts). Layout: docs/formats/truth-env.md.
 */
import type { Database } from 'lmdb'
import { ROW_SCRATCH_BYTES } from '../limits/store.js'
import { DAMAGED_ROW } from './record.js'
import { extendedCrc, hasTrailer, rowChecksum, TRAILER_BYTES, TRAILER_MARK } from './row_checksum.js'

export interface Row {
  readonly key: Buffer
  readonly value: Buffer
}

export interface RowRange {
  readonly start?: Uint8Array
  /** Exclusive. */
  readonly end?: Uint8Array
  readonly limit?: number
  readonly offset?: number
  readonly reverse?: boolean
}

/** Whether every row has its checksum by now. */
export type Strictness = () => boolean

// Of this thread: LMDB has copied a value when `put` returns, for that is called inside write transactions
// only.
const scratch = Buffer.allocUnsafeSlow(ROW_SCRATCH_BYTES)

export class Table {
  readonly #rows: Database<Buffer, Buffer>
  readonly #seed: number
  readonly #isRecord: boolean
  readonly #isStrict: Strictness

  /** @param isRecord values begin with a checksum of their own over the rest (record.ts) */
  constructor(rows: Database<Buffer, Buffer>, name: string, isRecord: boolean, isStrict: Strictness) {
    this.#rows = rows
    this.#seed = extendedCrc(0, Buffer.from(name), Buffer.byteLength(name))
    this.#isRecord = isRecord
    this.#isStrict = isStrict
  }

  /** LMDB's numbers of the tree. */
  getStats(): object {
    return this.#rows.getStats()
  }

  /** A copy of the value; `DAMAGED_ROW` where its checksum does not hold. */
  get(key: Buffer): Buffer | undefined {
    const stored = this.#rows.get(key)
    return stored === undefined ? undefined : this.#valueOf(key, stored)
  }

  /** As `get`, without a copy: valid until the next read of this thread. */
  peek(key: Buffer): Buffer | undefined {
    const stored = this.#rows.getBinaryFast(key)
    if (stored === undefined) return undefined
    const { length } = stored
    // lmdb-js hands out one reused buffer whose `length` it overrides: a subarray is an ordinary Buffer
    // again.
    if (hasTrailer(this.#seed, key, stored, length, this.#isRecord)) return stored.subarray(0, length - TRAILER_BYTES)
    // Whether it may lack one is read from the store, too: a copy outlives that.
    return this.get(key)
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

  /** Whether there is such a row, and its checksum holds. */
  has(key: Buffer): boolean {
    const value = this.peek(key)
    return value !== undefined && value !== DAMAGED_ROW
  }

  /** Whether there is such a row, damaged or not. */
  doesExist(key: Buffer): boolean {
    return this.#rows.doesExist(key)
  }

  /** Not checked: for what is looked up by key afterwards, or removed. */
  getKeys(range: RowRange = {}): Iterable<Buffer> {
    // lmdb-js notes in what it is given that no values are wanted, or a count only.
    return this.#rows.getKeys({ ...range })
  }

  /** Each value is a copy, or `DAMAGED_ROW`. */
  *getRange(range: RowRange = {}): Generator<Row> {
    for (const { key, value } of this.#rows.getRange(range)) yield { key, value: this.#valueOf(key, value) }
  }

  /** Rows whose checksum holds: for tables where the key says it all. */
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

  /** Whether a value as it lies in the store, with what stands behind it, is that of the key. */
  holds(key: Buffer, stored: Buffer): boolean {
    return hasTrailer(this.#seed, key, stored, stored.length, this.#isRecord)
  }

  /** The value as it lies in the store, with what stands behind it. */
  storedValue(key: Buffer): Buffer | undefined {
    return this.#rows.get(key)
  }

  /**
   * Of rows from `start` on, whether each has its checksum. For the upgrade, and for whoever looks for
   * damage.
   */
  *storedRows(start: Uint8Array | undefined): Generator<Row & { readonly isChecked: boolean }> {
    for (const { key, value } of this.#rows.getRange(start === undefined ? {} : { start: Buffer.from(start) })) {
      const isChecked = hasTrailer(this.#seed, key, value, value.length, this.#isRecord)
      yield { key, value: isChecked ? value.subarray(0, value.length - TRAILER_BYTES) : value, isChecked }
    }
  }

  get isOfRecords(): boolean {
    return this.#isRecord
  }

  #valueOf(key: Buffer, stored: Buffer): Buffer {
    if (hasTrailer(this.#seed, key, stored, stored.length, this.#isRecord)) return stored.subarray(0, stored.length - TRAILER_BYTES)
    return this.#isStrict() ? DAMAGED_ROW : stored
  }
}
