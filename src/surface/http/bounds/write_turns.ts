/**
 * How much large answers may write to their sockets in one turn of the event loop, all of them together. A
 * write copies into the kernel, as much as the socket accepts, and every other connection waits for it. What
 * does not fit in the turn waits for a later one, the oldest first. One object an event loop.
 */
import { MIB } from '../../../limits/units.js'

/**
 * Bytes of larger answers that are written in one turn of the event loop, to all sockets together: 0.3 ms,
 * for which other connections wait.
 */
export const LARGE_WRITES_OF_TURN_BYTES_MAX = MIB

export class WriteTurns {
  #left = LARGE_WRITES_OF_TURN_BYTES_MAX
  /** In their order. */
  readonly #waiting = new Set<() => void>()
  #isNextSet = false

  /** @returns how many of so many bytes may be written now; 0: none in this turn */
  take(bytes: number): number {
    const granted = Math.min(bytes, this.#left)
    this.#left -= granted
    this.#setNext()
    return granted
  }

  /** The socket has not accepted them. */
  give(bytes: number): void {
    this.#left += bytes
  }

  /** @param write is called once, after others that wait, as soon as a turn has bytes left; must not throw */
  wait(write: () => void): void {
    this.#waiting.add(write)
    this.#setNext()
  }

  /** It does not wait any more. */
  leave(write: () => void): void {
    this.#waiting.delete(write)
  }

  #setNext(): void {
    if (this.#isNextSet) return
    this.#isNextSet = true
    setImmediate(() => this.#begin())
  }

  #begin(): void {
    this.#isNextSet = false
    this.#left = LARGE_WRITES_OF_TURN_BYTES_MAX
    for (const write of this.#waiting) {
      if (this.#left === 0) break
      this.#waiting.delete(write)
      write()
    }
    if (this.#waiting.size > 0) this.#setNext()
  }
}
