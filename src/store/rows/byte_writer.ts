/**
 * A growable byte buffer for answers that are assembled from stored pieces. A document passes through the
 * lane without becoming a JavaScript object or string. One per lane, reused for successive answers; not
 * shared between threads.
 */
import { MIB } from '../../limits/units.js'

/**
 * Capacity that the answer writer of a lane keeps from one answer to the next: a page of 1 600 documents of
 * 5 KB. Allocating buffers of megabytes for each answer keeps V8 marking.
 */
const ANSWER_SCRATCH_BYTES_KEPT = 8 * MIB

const BYTES_COPIED_ONE_BY_ONE = 48

export class ByteWriter {
  /** Grows by doubling, bounded by the answer's own bounds (results × document size). */
  #buffer: Buffer = Buffer.allocUnsafeSlow(16 * 1024)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Appends a copy of `bytes`. */
  bytes(bytes: Uint8Array): void {
    if (this.#length + bytes.length > this.#buffer.length) this.#grow(bytes.length)
    this.#buffer.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /**
   * Appends `source` from `begin` to `end`. For texts of very many short pieces, where creating a view of
   * each would cost more than copying it.
   */
  part(source: Uint8Array, begin: number, end: number): void {
    this.#reserve(end - begin)
    const buffer = this.#buffer
    if (end - begin > BYTES_COPIED_ONE_BY_ONE) {
      buffer.set(source.subarray(begin, end), this.#length)
      this.#length += end - begin
    } else for (let at = begin; at < end; at++) buffer[this.#length++] = source[at] as number
  }

  /**
   * Reserves space for this number of additional bytes. For large answers of known size: growing in steps
   * would leave as many bytes in outgrown buffers.
   */
  reserve(bytes: number): this {
    this.#reserve(bytes)
    return this
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#buffer[this.#length++] = value
  }

  /** Appends text that is known to contain only ASCII (JSON punctuation, numbers, field names). */
  ascii(text: string): void {
    if (this.#length + text.length > this.#buffer.length) this.#grow(text.length)
    this.#length += this.#buffer.write(text, this.#length, 'latin1')
  }

  utf8(text: string): void {
    if (this.#length + text.length * 3 > this.#buffer.length) this.#grow(text.length * 3)
    this.#length += this.#buffer.write(text, this.#length, 'utf8')
  }

  /** Appends `bytes` bytes that `write` stores into the given space. */
  filled(bytes: number, write: (space: Uint8Array) => void): void {
    this.#reserve(bytes)
    write(this.#buffer.subarray(this.#length, this.#length + bytes))
    this.#length += bytes
  }

  /**
   * Appends what `write` stores at the beginning of the space that it is given.
   * @param write returns the number of bytes stored, 0 for nothing, or the negated number of bytes that it
   * needs; then it is called again with that space
   * @returns whether anything was appended
   */
  appended(write: (space: Uint8Array) => number): boolean {
    for (;;) {
      const bytes = write(this.#length === 0 ? this.#buffer : this.#buffer.subarray(this.#length))
      if (bytes >= 0) {
        this.#length += bytes
        return bytes > 0
      }
      this.#reserve(-bytes)
    }
  }

  /**
   * Empties the writer for the next answer, and releases a buffer that an unusually large answer has made
   * large.
   */
  begin(): this {
    this.#length = 0
    if (this.#buffer.length > ANSWER_SCRATCH_BYTES_KEPT) this.#buffer = Buffer.allocUnsafeSlow(ANSWER_SCRATCH_BYTES_KEPT)
    return this
  }

  /** Removes everything after the first `length` bytes. */
  cut(length: number): void {
    this.#length = Math.min(this.#length, length)
  }

  /**
   * Whether `bytes` is a view of this writer that is too large to be kept for the next answer. The caller
   * then owns it and may transfer it to another thread without a copy; the writer starts with a new buffer.
   */
  giveAway(bytes: string | Uint8Array): boolean {
    if (typeof bytes === 'string' || bytes.buffer !== this.#buffer.buffer || bytes.length <= ANSWER_SCRATCH_BYTES_KEPT) return false
    this.#length = 0
    this.#buffer = Buffer.allocUnsafeSlow(ANSWER_SCRATCH_BYTES_KEPT)
    return true
  }

  /** The bytes written since `begin`, without a copy: valid until the next `begin` or append. */
  view(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes > this.#buffer.length) this.#grow(bytes)
  }

  /** @param bytes that do not fit behind those that have been written */
  #grow(bytes: number): void {
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#length + bytes, this.#buffer.length * 2, 4096))
    this.#buffer.copy(grown, 0, 0, this.#length)
    this.#buffer = grown
  }
}
