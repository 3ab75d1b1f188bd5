/**
 * A body that comes in parts, sent as fast as its client takes it: the lane makes the next part while the
 * socket is given this one, so that a connection holds two parts at most (and a few bytes, see `#beat`), in a
 * copy because the lane's memory is given back. A client that takes nothing for a time loses its connection.
 * Knows no socket: exchange.ts gives it one. Front-end thread only.
 */
import { PART_PIECE_BYTES, PART_PULSE_MS, PART_RESERVE_BYTES } from '../../limits/surface.js'
import type { AnswerRest, AnswerSink, OutgoingAnswer } from '../../wire/answer.js'
import type { ByteBudget } from './byte_budget.js'

/** What exchange.ts does to the response. */
export interface PartSocket {
  /** Runs `send`, whose writes leave together. Not run where the client has gone. */
  corked(send: () => void): void
  /** False: the socket has taken it, but it is full; `onWritable` follows. */
  write(bytes: Uint8Array): boolean
  /** The body is complete. */
  end(): void
  /** The body stays incomplete, and the client sees that it does. */
  close(): void
}

const NOTHING = new Uint8Array(0)

export class BodyParts implements AnswerSink {
  /** What the socket has not been given yet. */
  #held = NOTHING
  #rest: AnswerRest | null = null
  #isAsked = false
  #isFull = false
  #isOver = false
  #stall: NodeJS.Timeout | undefined
  readonly #pulse: NodeJS.Timeout
  bytes = 0

  constructor(
    readonly socket: PartSocket,
    /** Of what all clients have not taken. */
    readonly unsent: ByteBudget,
    readonly stallMsMax: number,
  ) {
    this.#pulse = setInterval(() => this.#beat(), PART_PULSE_MS)
  }

  /** A part, or a refusal in its place: too late for a status, so the connection ends. */
  answer({ code, body, rest }: OutgoingAnswer): void {
    if (this.#isOver) return
    this.#rest = rest ?? null
    if (code === null) this.add(body, rest)
    else this.#giveUp()
  }

  /** The next part, or the first one. */
  add(body: Uint8Array | string, rest: AnswerRest | undefined): void {
    this.#rest = rest ?? null
    this.#isAsked = false
    const part = typeof body === 'string' ? Buffer.from(body) : body
    if (!this.unsent.take(part.length)) {
      this.#giveUp()
      return
    }
    const wasSent = this.#held.length <= PART_RESERVE_BYTES
    this.#held = Buffer.concat([this.#held, part])
    // The lane makes the next part while this one is sent.
    if (wasSent) this.#ask()
    this.socket.corked(() => this.#pump())
  }

  /** The socket takes more. */
  onWritable(): void {
    if (this.#isOver) return
    this.#isFull = false
    clearTimeout(this.#stall)
    this.#stall = undefined
    this.#pump()
  }

  /** The connection has gone. */
  abandon(): void {
    if (this.#finish()) this.#rest?.end()
  }

  /** Sends what the socket takes; then the next part is asked for, or the body ends. */
  #pump(): void {
    const reserve = this.#rest === null ? 0 : PART_RESERVE_BYTES
    while (!this.#isFull && this.#held.length > reserve) this.#write(Math.min(PART_PIECE_BYTES, this.#held.length - reserve))
    if (this.#held.length > reserve || this.#isAsked) return
    this.#ask()
    if (this.#rest === null && this.#finish()) this.socket.end()
  }

  #ask(): void {
    if (this.#rest === null || this.#isAsked) return
    this.#isAsked = true
    this.#rest.more(this)
  }

  #write(bytes: number): void {
    const piece = this.#held.subarray(0, bytes)
    this.#held = this.#held.subarray(bytes)
    this.unsent.give(bytes)
    this.bytes += bytes
    this.#isFull = !this.socket.write(piece)
    if (this.#isFull) this.#stall ??= setTimeout(() => this.#giveUp(), this.stallMsMax)
  }

  /**
   * uWebSockets.js gives a response 10 s from each write on, whoever is slow; how long client and lane may
   * take is decided here. So one byte is written now and then: into its buffer where the socket is full, and
   * from what was kept back for it where the lane is slow.
   */
  #beat(): void {
    if (this.#held.length === 0) return
    this.socket.corked(() => {
      this.#write(1)
      if (!this.#isFull) this.onWritable()
    })
  }

  #giveUp(): void {
    if (!this.#finish()) return
    this.#rest?.end()
    this.socket.close()
  }

  /** False where it was over before. */
  #finish(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    clearTimeout(this.#stall)
    clearInterval(this.#pulse)
    this.unsent.give(this.#held.length)
    this.#held = NOTHING
    return true
  }
}
