/**
 * Buffers that are not needed any more, for the next bytes of about their length. Memory that is used again
 * costs no page faults, and is no garbage: V8 collects when there are many megabytes of buffers, and the
 * event loop waits for it. Buffers that nobody wants are dropped after a while. Not safe for threads; buffers
 * that were transferred may be kept where they arrive.
 */
import { PORT_TRANSFER_BYTES_MIN } from '../../limits/lanes.js'
import { releaseBuffer } from '../../wire/released_buffer.js'

/** How long buffers are kept while none is wanted. */
const SPARE_BUFFERS_MS_MAX = 10_000

export class SpareBuffers {
  #buffers: ArrayBuffer[] = []
  #bytes = 0
  #end: NodeJS.Timeout | undefined

  constructor(readonly bytesMax: number) {}

  /**
   * @param given by whoever has it alone and does not use it any more. Another thread may send anything;
   * short buffers and what is no buffer are left to the garbage collector
   */
  keep(given: unknown): void {
    if (!(given instanceof ArrayBuffer) || given.byteLength < PORT_TRANSFER_BYTES_MIN) return
    if (given.byteLength > this.bytesMax) return releaseBuffer(given)
    this.#end ??= setTimeout(() => this.#clear(), SPARE_BUFFERS_MS_MAX).unref()
    this.#buffers.push(given)
    this.#bytes += given.byteLength
    // The oldest ones go: their lengths may not be wanted any more.
    while (this.#bytes > this.bytesMax) {
      const oldest = this.#buffers.shift()!
      this.#bytes -= oldest.byteLength
      releaseBuffer(oldest)
    }
  }

  /**
   * @returns a whole buffer, at least so many bytes and at most twice as long, with the bytes of its last
   * use; null: there is none
   */
  take(bytes: number): Uint8Array<ArrayBuffer> | null {
    if (bytes < PORT_TRANSFER_BYTES_MIN) return null
    const at = this.#buffers.findLastIndex(({ byteLength }) => byteLength >= bytes && byteLength <= 2 * bytes)
    if (at < 0) return null
    const [buffer] = this.#buffers.splice(at, 1) as [ArrayBuffer]
    this.#bytes -= buffer.byteLength
    this.#end?.refresh()
    return new Uint8Array(buffer)
  }

  /** A copy whose buffer may be transferred, and is at most twice as long. */
  copyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    const copy = this.take(bytes.length)?.subarray(0, bytes.length)
    if (copy === undefined) return new Uint8Array(bytes)
    copy.set(bytes)
    return copy
  }

  #clear(): void {
    for (const buffer of this.#buffers) releaseBuffer(buffer)
    this.#buffers = []
    this.#bytes = 0
    this.#end = undefined
  }
}
