/**
 * Collects lines of events as bytes, in batches of at most AUDIT_BATCH_EVENTS_MAX. Bytes, because strings
 * that live until their batch is sent cost more in the garbage collector than the copy. One object a thread.
 */
import { AUDIT_BATCH_EVENTS_MAX } from '../limits/process.js'
import type { AuditLines } from '../telemetry/audit.js'

/** Memory for the lines of a batch at first: 256 of 250 bytes. It grows to the largest batch. */
const AUDIT_LINES_BYTES_FIRST = 64 * 1024

/** Of a UTF-16 unit in UTF-8. */
const UNIT_BYTES_MAX = 3

export class LineBuffer {
  /** Reused by every batch; it grows to the largest one. */
  #bytes = Buffer.allocUnsafeSlow(AUDIT_LINES_BYTES_FIRST)
  #used = 0
  #events = 0
  readonly #full: AuditLines[] = []

  /** Whether `take` gives a full batch. */
  get isFull(): boolean {
    return this.#full.length > 0
  }

  get isEmpty(): boolean {
    return this.#events === 0 && this.#full.length === 0
  }

  /** @param line with its newline */
  append(line: string): void {
    this.#reserve(line.length * UNIT_BYTES_MAX)
    this.#used += this.#bytes.write(line, this.#used)
    this.#count()
  }

  /** @param line with its newline, which is copied */
  appendBytes(line: Uint8Array): void {
    this.#reserve(line.length)
    this.#bytes.set(line, this.#used)
    this.#used += line.length
    this.#count()
  }

  /** @returns the oldest batch, which leaves the buffer; null: there is none */
  take(): AuditLines | null {
    if (this.#full.length === 0) this.#close()
    return this.#full.shift() ?? null
  }

  #count(): void {
    this.#events += 1
    if (this.#events === AUDIT_BATCH_EVENTS_MAX) this.#close()
  }

  #close(): void {
    if (this.#events === 0) return
    // A copy of its own: a message would copy the whole memory that a part belongs to.
    this.#full.push({ bytes: new Uint8Array(this.#bytes.subarray(0, this.#used)), events: this.#events })
    this.#used = 0
    this.#events = 0
  }

  #reserve(more: number): void {
    const wanted = this.#used + more
    if (wanted <= this.#bytes.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(wanted, 2 * this.#bytes.length))
    this.#bytes.copy(grown, 0, 0, this.#used)
    this.#bytes = grown
  }
}
