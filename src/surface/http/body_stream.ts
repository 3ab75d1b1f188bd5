/**
 * A request body that goes to a consumer as it comes. A full consumer pauses the socket, so that the client's
 * own send buffer fills. At most one chunk is with the consumer. What uWS still reads in the same event waits
 * behind it: up to ten fillings of its receive buffer, 5 MiB. Everything kept is counted in the budget of all
 * bodies.
 *
 * A paused socket is not watched. That its client has gone is noticed when the socket is resumed, or when the
 * stall limit ends the request. Knows no socket: request_body.ts gives it one. Front-end thread only.
 */
import type { BodyAbortReason, BodyConsumer } from '../../wire/body_streams.js'
import type { ByteBudget } from './byte_budget.js'
import type { OpenStreams } from './open_streams.js'

/** Why the request is to be refused; the other reasons for an abort come from the exchange itself. */
export type StreamRefusal = Exclude<BodyAbortReason, 'clientGone' | 'answered'>

/** What exchange.ts does to the request. */
export interface StreamSource {
  pause(): void
  resume(): void
  /** The body has ended, and the consumer is about to be told. */
  complete(): void
  /** The consumer has been told to abort. */
  refuse(reason: StreamRefusal): void
  /** The consumer threw. */
  fault(error: unknown): void
}

export class BodyStream {
  /** Chunks that came behind the one that filled the consumer. */
  readonly #waiting: Uint8Array[] = []
  #counted = 0
  #received = 0
  /** Bytes of the chunk that the consumer keeps. */
  #keptBytes = 0
  #isFull = false
  #isPaused = false
  #isPumping = false
  #hasLast = false
  #isOver = false
  #stall: NodeJS.Timeout | undefined

  constructor(
    readonly source: StreamSource,
    readonly consumer: BodyConsumer,
    readonly budget: ByteBudget,
    readonly streams: OpenStreams,
    readonly bytesMax: number,
    readonly stallMsMax: number,
  ) {}

  /** Before the first chunk. */
  begin(): void {
    this.#guarded(() => {
      this.consumer.begin(() => this.#drained())
      if (!this.streams.add(this)) this.refuse('shutdown')
    })
  }

  /** @param chunk copied: uWS neuters it when its callback returns */
  take(chunk: Uint8Array, isLast: boolean): void {
    if (this.#isOver) return
    this.#received += chunk.length
    if (this.#received > this.bytesMax) {
      this.refuse('tooLarge')
      return
    }
    if (!this.budget.take(chunk.length)) {
      this.refuse('overloaded')
      return
    }
    this.#counted += chunk.length
    if (chunk.length > 0) this.#waiting.push(new Uint8Array(chunk))
    this.#hasLast = isLast
    this.#pump()
  }

  /** Ends the stream and the request. */
  refuse(reason: StreamRefusal): void {
    if (this.#abort(reason)) this.source.refuse(reason)
  }

  /** The exchange has ended otherwise. */
  release(reason: 'clientGone' | 'answered'): void {
    this.#abort(reason)
  }

  shutDown(): void {
    this.refuse('shutdown')
  }

  /** Hands on what waits until the consumer is full; then pauses or resumes the socket, or ends. */
  #pump(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    this.#guarded(() => {
      while (!this.#isFull && !this.#isOver && this.#waiting.length > 0) this.#write(this.#waiting.shift()!)
    })
    this.#isPumping = false
    if (this.#isOver) return
    if (this.#isFull) this.#wait()
    else if (this.#hasLast) this.#complete()
    else this.#resume()
  }

  /**
   * The consumer counts as full before it is asked, so that a `drained` from inside of `write` is not lost.
   */
  #write(chunk: Uint8Array): void {
    this.#isFull = true
    this.#keptBytes = chunk.length
    if (this.consumer.write(chunk)) this.#empty()
  }

  #empty(): void {
    this.#isFull = false
    if (this.#isOver) return
    this.#counted -= this.#keptBytes
    this.budget.give(this.#keptBytes)
    this.#keptBytes = 0
  }

  #drained(): void {
    if (!this.#isFull || this.#isOver) return
    clearTimeout(this.#stall)
    this.#stall = undefined
    this.#empty()
    this.#pump()
  }

  /** The rest of what has been read from the socket still comes, and waits. */
  #wait(): void {
    this.#stall ??= setTimeout(() => this.#guarded(() => this.refuse('stalled')), this.stallMsMax)
    if (this.#isPaused || this.#hasLast) return
    this.#isPaused = true
    this.source.pause()
  }

  #resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.source.resume()
  }

  #complete(): void {
    this.#close()
    this.source.complete()
    this.#guarded(() => this.consumer.end())
  }

  /** False where it was over before. */
  #abort(reason: BodyAbortReason): boolean {
    if (this.#isOver) return false
    this.#close()
    this.#guarded(() => this.consumer.abort(reason))
    return true
  }

  /** The socket is resumed for whatever comes next: the rest is dropped, or the next request is read. */
  #close(): void {
    this.#isOver = true
    clearTimeout(this.#stall)
    this.streams.delete(this)
    this.budget.give(this.#counted)
    this.#counted = 0
    this.#waiting.length = 0
    this.#resume()
  }

  /** The consumer is foreign code: a fault in it ends its own request. */
  #guarded(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.source.fault(error)
    }
  }
}
