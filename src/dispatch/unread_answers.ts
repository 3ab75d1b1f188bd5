/**
 * Large answers on their way to the thread of a surface: from the message until the thread has taken it.
 * Lanes make answers sooner than a thread turns them into messages of its protocol, so they are bounded
 * here. Short ones are bounded by the number of requests. One object a port; front-end thread only.
 */
import { PORT_TRANSFER_BYTES_MIN } from '../limits/dispatch.js'

export class UnreadAnswers {
  readonly #bytes = new Map<number, number>()
  #total = 0

  constructor(readonly bytesMax: number) {}

  /** Whether an answer of so many bytes must not be sent. One alone may be longer than the bound. */
  refuses(bytes: number): boolean {
    return bytes >= PORT_TRANSFER_BYTES_MIN && this.#total > 0 && this.#total + bytes > this.bytesMax
  }

  /** @param id of the request; it has one answer on its way at a time. @returns whether it is a large one */
  add(id: number, bytes: number): boolean {
    if (bytes < PORT_TRANSFER_BYTES_MIN) return false
    this.#bytes.set(id, bytes)
    this.#total += bytes
    return true
  }

  /** The thread has the answer. */
  taken(id: number): void {
    this.#total -= this.#bytes.get(id) ?? 0
    this.#bytes.delete(id)
  }
}
