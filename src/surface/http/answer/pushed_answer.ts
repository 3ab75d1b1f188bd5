/**
 * An answer that its producer pushes. Pieces are written to the socket as they are made. While the socket is
 * full they are queued here, up to a bound per answer and a budget of all answers. Above these the client is
 * too slow and is disconnected. The answer ends with its producer, with its client, or at the shutdown.
 * Independent of the socket, which answer_writer.ts provides. Front-end thread only.
 *
 * uWS requires writes to be corked. A small write succeeds into the cork's buffer whether the client reads or
 * not, and uWS does not report later whether the buffer was sent. Only a write that is larger than that
 * buffer reports a full socket. So after some bytes of small pieces, the next piece is padded with pulses to
 * that size: a probe.
 */
import assert from 'node:assert/strict'
import { KIB, MIB } from '../../../limits/units.js'
import type { BodyPush, DetachReason, PushedBody } from '../../../wire/body_streams.js'
import type { ByteBudget } from '../bounds/byte_budget.js'
import type { OpenStreams } from '../bounds/open_streams.js'

/**
 * Bytes of a pushed answer that a client has not read yet. Above it, the client is disconnected: 512 slow
 * clients fill ANSWERS_UNSENT_BYTES_MAX.
 */
export const PUSH_UNSENT_BYTES_MAX = MIB
/**
 * Interval of the pulses of an idle pushed answer. Two intervals are shorter than the 8 s after which
 * uWebSockets.js may close the connection.
 */
const PUSH_PULSE_MS = 3_000
/**
 * A write of at least this size bypasses the cork buffer of uWebSockets.js (16 KiB). Only such a write
 * reports whether the client has read everything before it.
 */
const PUSH_PROBE_BYTES = 16 * KIB
/** Bytes of smaller pieces after which the next one is padded with pulses to a probe: 6 % more at most. */
export const PUSH_UNPROBED_BYTES_MAX = 256 * KIB

/** The operations on the response. The surface implements them. */
interface PushSocket {
  /** Returns false if the socket has accepted the bytes but is full; `onWritable` follows. */
  write(bytes: Uint8Array): boolean
  /** The body is complete. */
  end(): void
  /** Closes the connection with the body incomplete, which the client can detect. */
  close(): void
  /** The producer threw. */
  fault(error: unknown): void
}

export class PushedAnswer implements BodyPush {
  #waiting: Uint8Array[] = []
  /**
   * Bytes that are queued, and those of the write that filled the socket: uWS buffers what the kernel did not
   * accept. Counted in the budget.
   */
  #unsentBytes = 0
  /** Bytes since the last probe, which the client may not have read. */
  #unprobedBytes = 0
  #isFull = false
  /** A `write` has returned false since the client last read everything. */
  #isBehind = false
  #isQuiet = true
  #isEnding = false
  #isOver = false
  #stall: NodeJS.Timeout | undefined
  #beat: NodeJS.Timeout | undefined
  /** Bytes written to the socket. */
  bytes = 0

  constructor(
    readonly socket: PushSocket,
    readonly body: PushedBody,
    /** The budget of the bytes that all clients have not read yet. */
    readonly budget: ByteBudget,
    readonly streams: OpenStreams,
    /** How long a client may read nothing while bytes are queued for it. */
    readonly stallMsMax: number,
  ) {}

  /** Called once, after the status and the headers were written. */
  begin(): void {
    assert(this.body.pulse.length > 0 && this.streams.add(this), 'a pushed answer has a pulse and begins before the shutdown')
    this.#beat = setInterval(() => this.#pulse(), PUSH_PULSE_MS)
    this.#send(this.body.pulse)
    if (!this.#isOver) this.#guarded(() => this.body.attach(this))
  }

  write(bytes: Uint8Array): boolean {
    if (this.#isOver || this.#isEnding) return false
    assert(bytes.length <= PUSH_UNSENT_BYTES_MAX, 'a pushed piece fits the bound')
    // uWS interprets an empty write as the end of the body.
    if (bytes.length > 0) {
      this.#isQuiet = false
      if (this.#isFull) this.#keep(bytes)
      else this.#send(bytes)
    }
    this.#isBehind ||= this.#isFull
    return !this.#isFull && !this.#isOver
  }

  end(): void {
    if (this.#isOver || this.#isEnding) return
    this.#isEnding = true
    if (!this.#isFull) this.#complete()
  }

  close(): void {
    if (this.#finish()) this.socket.close()
  }

  /** The socket accepts more bytes. */
  onWritable(): void {
    if (this.#isOver) return
    this.#isFull = false
    clearTimeout(this.#stall)
    this.#stall = undefined
    this.budget.give(this.#unsentBytes)
    this.#unsentBytes = 0
    const next = this.#waiting
    this.#waiting = []
    // Written even if no piece is queued: with a handler for `onWritable`, uWS sends its buffered bytes only
    // on the next write.
    this.#send(this.#probe(next))
    if (this.#isFull || this.#isOver) return
    if (this.#isEnding) this.#complete()
    else this.#tellDrained()
  }

  /** The connection is closed. */
  abandon(): void {
    const isProducing = !this.#isEnding
    if (this.#finish() && isProducing) this.#detach('clientGone')
  }

  /** Completes the body after the pieces that were pushed so far have been sent. */
  shutDown(): void {
    if (this.#isOver || this.#isEnding) return
    if (this.body.farewell !== undefined) this.write(this.body.farewell)
    if (this.#isOver) return
    this.#isEnding = true
    this.#detach('shutdown')
    if (!this.#isFull) this.#complete()
  }

  #send(bytes: Uint8Array): void {
    const isDue = this.#unprobedBytes + bytes.length > PUSH_UNPROBED_BYTES_MAX
    const sent = isDue ? this.#probe([bytes]) : bytes
    this.bytes += sent.length
    this.#isFull = !this.socket.write(sent)
    const unsentBytes = this.#unprobedBytes + sent.length
    this.#unprobedBytes = this.#isFull || sent.length >= PUSH_PROBE_BYTES ? 0 : unsentBytes
    if (!this.#isFull) return
    this.#stall ??= setTimeout(() => this.#lose(), this.stallMsMax)
    this.#count(unsentBytes)
  }

  /** Returns the pieces as one, padded with pulses if it is too small for a probe. */
  #probe(pieces: readonly Uint8Array[]): Uint8Array {
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0)
    const { pulse } = this.body
    const pulses = Math.ceil(Math.max(0, PUSH_PROBE_BYTES - bytes) / pulse.length)
    return Buffer.concat([...pieces, ...Array.from({ length: pulses }, () => pulse)])
  }

  #keep(bytes: Uint8Array): void {
    this.#waiting.push(bytes)
    this.#count(bytes.length)
  }

  #count(bytes: number): void {
    if (this.#unsentBytes + bytes > PUSH_UNSENT_BYTES_MAX || !this.budget.take(bytes)) this.#lose()
    else this.#unsentBytes += bytes
  }

  /**
   * Writes a pulse. uWebSockets.js closes a connection 8 to 12 s after its last write, even if the server is
   * the slow side. How long a client may read nothing is decided here, so a pulse is also written to a full
   * socket: it goes into the buffer of uWS. The socket stays full until `onWritable`.
   */
  #pulse(): void {
    if (this.#isFull) this.socket.write(this.body.pulse)
    else if (this.#isQuiet) this.#send(this.body.pulse)
    this.#isQuiet = true
  }

  #tellDrained(): void {
    if (!this.#isBehind) return
    this.#isBehind = false
    if (this.body.drained !== undefined) this.#guarded(() => this.body.drained!())
  }

  #complete(): void {
    if (this.#finish()) this.socket.end()
  }

  /** Closes the connection of a client that is too slow. */
  #lose(): void {
    const isProducing = !this.#isEnding
    if (!this.#finish()) return
    if (isProducing) this.#detach('slowClient')
    this.socket.close()
  }

  #detach(reason: DetachReason): void {
    this.#guarded(() => this.body.detach(reason))
  }

  /** Returns false if the answer had already ended. */
  #finish(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    clearTimeout(this.#stall)
    clearInterval(this.#beat)
    this.streams.delete(this)
    this.budget.give(this.#unsentBytes)
    this.#unsentBytes = 0
    this.#waiting = []
    return true
  }

  /** Calls the producer. An exception in it ends only its own answer. */
  #guarded(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.socket.fault(error)
    }
  }
}
