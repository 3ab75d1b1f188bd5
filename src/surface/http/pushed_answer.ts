/**
 * An answer that its producer pushes. Pieces go to the socket as they are made. While the socket is full they
 * wait here, up to a bound per answer and a budget of all answers, above which the client is too slow and
 * loses its connection. Ends with its producer, with its client, or at the shutdown. Knows no socket:
 * answer_writer.ts gives it one. Front-end thread only.
 *
 * uWS wants writes corked. A small write succeeds into the cork's buffer whether the client reads or not, and
 * nothing says later whether the buffer was sent. Only a write that is larger than that buffer reports a full
 * socket. So after some bytes of small pieces the next one is filled up with pulses to that size: a probe.
 */
import assert from 'node:assert/strict'
import { PUSH_PROBE_BYTES, PUSH_PULSE_MS, PUSH_UNPROBED_BYTES_MAX, PUSH_UNSENT_BYTES_MAX } from '../../limits/surface.js'
import type { BodyPush, DetachReason, PushedBody } from '../../wire/body_streams.js'
import type { ByteBudget } from './byte_budget.js'
import type { OpenStreams } from './open_streams.js'

/** What the surface does to the response. */
export interface PushSocket {
  /** False: the socket has taken it, but it is full; `onWritable` follows. */
  write(bytes: Uint8Array): boolean
  /** The body is complete. */
  end(): void
  /** The body stays incomplete, and the client sees that it does. */
  close(): void
  /** The producer threw. */
  fault(error: unknown): void
}

export class PushedAnswer implements BodyPush {
  #waiting: Uint8Array[] = []
  /**
   * Bytes that wait, and those of the write that filled the socket: uWS keeps what the kernel did not take.
   * Counted in the budget.
   */
  #unsentBytes = 0
  /** Bytes since the last probe, which the client may not have taken. */
  #unprobedBytes = 0
  #isFull = false
  /** A `write` has returned false since the client took everything. */
  #isBehind = false
  #isQuiet = true
  #isEnding = false
  #isOver = false
  #stall: NodeJS.Timeout | undefined
  #beat: NodeJS.Timeout | undefined
  /** Bytes that the socket was given. */
  bytes = 0

  constructor(
    readonly socket: PushSocket,
    readonly body: PushedBody,
    /** Of what all clients have not taken. */
    readonly budget: ByteBudget,
    readonly streams: OpenStreams,
    /** How long a client may take nothing while bytes wait for it. */
    readonly stallMsMax: number,
  ) {}

  /** Once, after the status and the headers were written. */
  begin(): void {
    assert(this.body.pulse.length > 0 && this.streams.add(this), 'a pushed answer has a pulse and begins before the shutdown')
    this.#beat = setInterval(() => this.#pulse(), PUSH_PULSE_MS)
    this.#send(this.body.pulse)
    if (!this.#isOver) this.#guarded(() => this.body.attach(this))
  }

  write(bytes: Uint8Array): boolean {
    if (this.#isOver || this.#isEnding) return false
    assert(bytes.length <= PUSH_UNSENT_BYTES_MAX, 'a pushed piece fits the bound')
    // uWS takes an empty write for the end of the body.
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

  /** The socket takes more. */
  onWritable(): void {
    if (this.#isOver) return
    this.#isFull = false
    clearTimeout(this.#stall)
    this.#stall = undefined
    this.budget.give(this.#unsentBytes)
    this.#unsentBytes = 0
    const next = this.#waiting
    this.#waiting = []
    // Also where nothing waits: with a handler for it, uWS sends what it has kept only when something is
    // written.
    this.#send(this.#probe(next))
    if (this.#isFull || this.#isOver) return
    if (this.#isEnding) this.#complete()
    else this.#tellDrained()
  }

  /** The connection has gone. */
  abandon(): void {
    const isProducing = !this.#isEnding
    if (this.#finish() && isProducing) this.#detach('clientGone')
  }

  /** What was pushed so far is still sent; then the body is complete. */
  shutDown(): void {
    if (this.#isOver || this.#isEnding) return
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

  /** The pieces as one, with pulses behind them where it is too small to be a probe. */
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
   * uWebSockets.js closes a connection 8 to 12 s after its last write, whoever is slow. How long a client may
   * take nothing is decided here, so a pulse is written to a full socket, too: into the buffer of uWS. The
   * socket stays full until `onWritable`.
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

  /** The client is too slow. */
  #lose(): void {
    const isProducing = !this.#isEnding
    if (!this.#finish()) return
    if (isProducing) this.#detach('slowClient')
    this.socket.close()
  }

  #detach(reason: DetachReason): void {
    this.#guarded(() => this.body.detach(reason))
  }

  /** False where it was over before. */
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

  /** The producer is foreign code: a fault in it ends its own answer. */
  #guarded(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.socket.fault(error)
    }
  }
}
