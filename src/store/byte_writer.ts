/**
 * A growable byte buffer for answers that are put together from stored pieces, so that a document crosses the lane without ever becoming a JavaScript object or string.
 * One writer per answer or per lane; not shared between threads.
 */
export class ByteWriter {
  #buffer: Buffer
  #length = 0

  /** @param initialBytes first capacity; doubles as needed, bounded by the answer's own bounds (results × document size). */
  constructor(initialBytes = 16 * 1024) {
    this.#buffer = Buffer.allocUnsafeSlow(initialBytes)
  }

  get length(): number {
    return this.#length
  }

  /** Appends a copy of `bytes`. */
  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#buffer.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /** Appends text that is known to hold only ASCII (JSON punctuation, numbers, field names). */
  ascii(text: string): void {
    this.#reserve(text.length)
    this.#length += this.#buffer.write(text, this.#length, 'latin1')
  }

  utf8(text: string): void {
    this.#reserve(text.length * 3)
    this.#length += this.#buffer.write(text, this.#length, 'utf8')
  }

  /** What was written, without a copy; the writer is empty afterwards and owns a new buffer on its next use. */
  take(): Uint8Array {
    const taken = this.#buffer.subarray(0, this.#length)
    this.#buffer = Buffer.allocUnsafeSlow(0)
    this.#length = 0
    return taken
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#buffer.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2, 4096))
    this.#buffer.copy(grown, 0, 0, this.#length)
    this.#buffer = grown
  }
}
