/**
 * Buffers of large answers that a thread has read and given back: the next answers are copied into them. So
 * the memory of answers on their way is used again at once, instead of lying in the thread until its garbage
 * is collected. One object a port; front-end thread only.
 */
import { PORT_TRANSFER_BYTES_MIN, SURFACE_PORT_SPARE_BYTES_MAX } from '../limits/dispatch.js'

export class SpareBuffers {
  readonly #buffers: ArrayBuffer[] = []
  #bytes = 0

  /** @param given as the thread sent it, so it may be anything */
  keep(given: unknown): void {
    if (!(given instanceof ArrayBuffer) || given.byteLength < PORT_TRANSFER_BYTES_MIN) return
    if (given.byteLength > SURFACE_PORT_SPARE_BYTES_MAX) return
    this.#buffers.push(given)
    this.#bytes += given.byteLength
    // The oldest ones go: their lengths may not be wanted any more.
    while (this.#bytes > SURFACE_PORT_SPARE_BYTES_MAX) this.#bytes -= this.#buffers.shift()!.byteLength
  }

  /** A copy whose buffer may be transferred, and is at most twice as long. */
  copyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    const fits = (buffer: ArrayBuffer): boolean => buffer.byteLength >= bytes.length && buffer.byteLength <= 2 * bytes.length
    const at = bytes.length < PORT_TRANSFER_BYTES_MIN ? -1 : this.#buffers.findLastIndex(fits)
    if (at < 0) return new Uint8Array(bytes)
    const [buffer] = this.#buffers.splice(at, 1) as [ArrayBuffer]
    this.#bytes -= buffer.byteLength
    const copy = new Uint8Array(buffer, 0, bytes.length)
    copy.set(bytes)
    return copy
  }
}
