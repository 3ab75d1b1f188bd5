/**
 * A body that is sent in parts, as fast as its client reads. The lane produces the next part while this one
 * is written to the socket, so a connection buffers two parts at most (and a few bytes, see `#beat`). The
 * parts are copied, because the lane's memory is returned. A client that reads nothing for a time is
 * disconnected. Independent of the socket, which answer_writer.ts provides. Front-end thread only.
 */
import { KIB } from '../../../limits/units.js'
import type { AnswerRest, AnswerSink, OutgoingAnswer } from '../../../wire/answer.js'
import type { ByteBudget } from '../bounds/byte_budget.js'

/**
 * A part of an answer is written to its socket in pieces of this size. uWebSockets.js copies the rest of a
 * piece when the socket is full.
 */
const PART_PIECE_BYTES = 256 * KIB
/**
 * Longest time between two bytes of an answer in parts. uWebSockets.js gives up 8 to 12 s after the last one.
 */
const PART_PULSE_MS = 3_000
/** Bytes of a part that are kept back as pulses until the next part is ready: 40 x 3 s are its deadline. */
const PART_RESERVE_BYTES = 40

/** The operations on the response. answer_writer.ts implements them. */
interface PartSocket {
  /** Runs `send` and sends its writes together. Does not run it if the client has disconnected. */
  corked(send: () => void): void
  /** Returns false if the socket has accepted the bytes but is full; `onWritable` follows. */
  write(bytes: Uint8Array): boolean
  /** The body is complete. */
  end(): void
  /** Closes the connection with the body incomplete, which the client can detect. */
  close(): void
}

const NOTHING = new Uint8Array(0)

export class BodyParts implements AnswerSink {
  /** Bytes that have not been written to the socket yet. */
  #buffered = NOTHING
  #rest: AnswerRest | null = null
  #isAsked = false
  #isFull = false
  #isOver = false
  #stall: NodeJS.Timeout | undefined
  readonly #pulse: NodeJS.Timeout
  bytes = 0

  constructor(
    readonly socket: PartSocket,
    /** The budget of the bytes that all clients have not read yet. */
    readonly unsent: ByteBudget,
    readonly stallMsMax: number,
  ) {
    this.#pulse = setInterval(() => this.#beat(), PART_PULSE_MS)
  }

  /**
   * Receives a part, or a refusal in its place. A refusal closes the connection: it is too late for a status.
   */
  answer({ code, body, rest }: OutgoingAnswer): void {
    if (this.#isOver) return
    this.#rest = rest ?? null
    if (code === null) this.add(body, rest)
    else this.#giveUp()
  }

  /** Adds the first or the next part. */
  add(body: Uint8Array | string, rest: AnswerRest | undefined): void {
    this.#rest = rest ?? null
    this.#isAsked = false
    const part = typeof body === 'string' ? Buffer.from(body) : body
    if (!this.unsent.take(part.length)) {
      this.#giveUp()
      return
    }
    const wasSent = this.#buffered.length <= PART_RESERVE_BYTES
    this.#buffered = Buffer.concat([this.#buffered, part])
    // The lane produces the next part while this one is sent.
    if (wasSent) this.#ask()
    this.socket.corked(() => this.#pump())
  }

  /** The socket accepts more bytes. */
  onWritable(): void {
    if (this.#isOver) return
    this.#isFull = false
    clearTimeout(this.#stall)
    this.#stall = undefined
    this.#pump()
  }

  /** The connection is closed. */
  abandon(): void {
    if (this.#finish()) this.#rest?.end()
  }

  /** Sends what the socket accepts. Then requests the next part, or ends the body. */
  #pump(): void {
    const reserve = this.#rest === null ? 0 : PART_RESERVE_BYTES
    while (!this.#isFull && this.#buffered.length > reserve) this.#write(Math.min(PART_PIECE_BYTES, this.#buffered.length - reserve))
    if (this.#buffered.length > reserve || this.#isAsked) return
    this.#ask()
    if (this.#rest === null && this.#finish()) this.socket.end()
  }

  #ask(): void {
    if (this.#rest === null || this.#isAsked) return
    this.#isAsked = true
    this.#rest.more(this)
  }

  #write(bytes: number): void {
    const piece = this.#buffered.subarray(0, bytes)
    this.#buffered = this.#buffered.subarray(bytes)
    this.unsent.give(bytes)
    this.bytes += bytes
    this.#isFull = !this.socket.write(piece)
    if (this.#isFull) this.#stall ??= setTimeout(() => this.#giveUp(), this.stallMsMax)
  }

  /**
   * Writes one byte at intervals. uWebSockets.js closes a response 10 s after its last write, even if the
   * server is the slow side, but the time limits of client and lane are decided here. If the socket is full,
   * the byte goes into the buffer of uWebSockets.js. If the lane is slow, it comes from the reserve that was
   * kept back for it.
   */
  #beat(): void {
    if (this.#buffered.length === 0) return
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

  /** Returns false if the body had already ended. */
  #finish(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    clearTimeout(this.#stall)
    clearInterval(this.#pulse)
    this.unsent.give(this.#buffered.length)
    this.#buffered = NOTHING
    return true
  }
}
