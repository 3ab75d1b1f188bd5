/**
 * An answer of known length that is written as fast as its client reads it, and as the turns of the event
 * loop allow (write_turns.ts). What is not written yet is counted in the budget of unread bytes. Independent
 * of the socket, which answer_writer.ts provides. Front-end thread only.
 */
import { KIB } from '../../../limits/units.js'
import { releaseBuffer } from '../../../wire/released_buffer.js'
import type { ByteBudget } from '../bounds/byte_budget.js'
import type { WriteTurns } from '../bounds/write_turns.js'

/** Bytes of a large answer that go with its head if the turn has none left. */
export const LARGE_FIRST_BYTES = 16 * KIB

/** The operations on the response. The surface implements them. */
export interface LargeSocket {
  /**
   * Writes what the socket accepts of the piece, and ends the answer with its last byte. If it accepts less
   * than all, `onWritable` follows.
   * @returns bytes of the answer that are written by now, those of the length if it has ended; null: the
   * client has disconnected
   */
  write(piece: Uint8Array): number | null
  /** Closes the connection with the body incomplete, which the client can detect. */
  close(): void
}

export class LargeAnswer {
  #body: Uint8Array
  #owned: ArrayBuffer | null
  readonly #length: number
  /** Bytes of the answer before those of `#body`. */
  #before = 0
  #written = 0
  #counted = 0
  #isOver = false
  readonly #writeLater = (): void => this.#write()

  constructor(
    readonly socket: LargeSocket,
    body: Uint8Array,
    /** The buffer of the body, if nothing else uses it: it is released with the end of the answer. */
    owned: ArrayBuffer | null,
    /** The budget of the bytes that all clients have not read yet. */
    readonly budget: ByteBudget,
    readonly turns: WriteTurns,
  ) {
    this.#body = body
    this.#owned = owned
    this.#length = body.length
  }

  /**
   * Called once, after the status and the headers were written. The memory of the body may be shared with a
   * lane and is then valid during this call only, so that the bytes left over are copied.
   * @returns whether the answer goes on
   */
  begin(): boolean {
    this.#writePiece(this.turns.take(this.#length), LARGE_FIRST_BYTES)
    if (this.#isOver) return false
    const unread = this.#length - this.#written
    if (!this.budget.take(unread)) {
      // Too many bytes are unread by clients. This connection is closed, as at every bound that is exceeded
      // after the status line.
      this.abandon()
      this.socket.close()
      return false
    }
    this.#counted = unread
    if (this.#body.buffer instanceof SharedArrayBuffer) {
      const rest = new Uint8Array(this.#body.subarray(this.#written))
      this.#body = rest
      this.#owned = rest.buffer
      this.#before = this.#written
    }
    return true
  }

  /** The socket accepts more bytes. */
  onWritable(): void {
    this.#write()
  }

  /** The connection is closed. Has no effect after the end. */
  abandon(): void {
    this.#isOver = true
    this.turns.leave(this.#writeLater)
    this.budget.give(this.#counted)
    this.#counted = 0
    if (this.#owned !== null) releaseBuffer(this.#owned)
    this.#owned = null
  }

  #write(): void {
    if (this.#isOver) return
    const granted = this.turns.take(this.#length - this.#written)
    if (granted === 0) this.turns.wait(this.#writeLater)
    else this.#writePiece(granted)
  }

  /** @param least is written even if fewer bytes were granted */
  #writePiece(granted: number, least = 0): void {
    const at = this.#written - this.#before
    const piece = this.#body.subarray(at, at + Math.max(granted, least))
    const written = this.socket.write(piece)
    if (written === null || written === this.#length) {
      this.abandon()
      return
    }
    const accepted = written - this.#written
    this.#written = written
    this.turns.give(Math.max(0, granted - accepted))
    // Else `onWritable` follows.
    if (accepted === piece.length) this.turns.wait(this.#writeLater)
  }
}
