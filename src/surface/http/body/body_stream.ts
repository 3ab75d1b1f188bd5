/**
 * A request body that is passed to a consumer while it arrives. A full consumer pauses the socket, so that
 * the client's own send buffer fills. At most one chunk is with the consumer. Chunks that uWS still reads in
 * the same event are queued behind it: what a bounded receive buffer holds (engine/loop_threads.ts). All
 * buffered bytes are counted in the budget of all bodies.
 *
 * A paused socket is not polled. A disconnect of its client is detected when the socket is resumed, or when
 * the stall limit ends the request. Independent of the socket, which request_body.ts provides. Front-end
 * thread only.
 */
import type { SpareBuffers } from '../../../dispatch/port/spare_buffers.js'
import type { BodyAbortReason, BodyConsumer } from '../../../wire/body_streams.js'
import type { ByteBudget } from '../bounds/byte_budget.js'
import type { OpenStreams } from '../bounds/open_streams.js'

/** Why the request must be refused. The other abort reasons come from the exchange itself. */
export type StreamRefusal = Exclude<BodyAbortReason, 'clientGone' | 'answered'>

/** The operations on the request. request_body.ts implements them. */
interface StreamSource {
  pause(): void
  resume(): void
  /** The body has ended; the consumer is notified next. */
  complete(): void
  /** The consumer has been notified of the abort. */
  refuse(reason: StreamRefusal): void
  /** The consumer threw. */
  fault(error: unknown): void
}

export class BodyStream {
  /** Chunks that arrived after the one that filled the consumer. */
  readonly #waiting: Uint8Array[] = []
  #counted = 0
  #received = 0
  /** The chunk that the consumer still processes. */
  #kept: Uint8Array | null = null
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
    readonly spare: Pick<SpareBuffers, 'take' | 'keep'>,
    readonly bytesMax: number,
    readonly stallMsMax: number,
  ) {}

  /** Called before the first chunk. */
  begin(): void {
    this.#guarded(() => {
      this.consumer.begin(() => this.#drained())
      if (!this.streams.add(this)) this.refuse('shutdown')
    })
  }

  /** @param chunk is copied, because uWS detaches it when its callback returns */
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
    if (chunk.length > 0) this.#waiting.push(this.#copyOf(chunk))
    this.#hasLast = isLast
    this.#pump()
  }

  /** In a buffer of few different lengths, so that the next body finds it. */
  #copyOf(chunk: Uint8Array): Uint8Array {
    const capacity = 2 ** Math.ceil(Math.log2(chunk.length))
    const copy = (this.spare.take(capacity) ?? new Uint8Array(capacity)).subarray(0, chunk.length)
    copy.set(chunk)
    return copy
  }

  /** Ends the stream and the request. */
  refuse(reason: StreamRefusal): void {
    if (this.#abort(reason)) this.source.refuse(reason)
  }

  /** The exchange has ended for another reason. */
  release(reason: 'clientGone' | 'answered'): void {
    this.#abort(reason)
  }

  shutDown(): void {
    this.refuse('shutdown')
  }

  /**
   * Passes queued chunks until the consumer is full. Then pauses or resumes the socket, or ends the stream.
   */
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
   * Marks the consumer full before calling `write`, so that a `drained` from inside of `write` is not lost.
   */
  #write(chunk: Uint8Array): void {
    this.#isFull = true
    this.#kept = chunk
    if (this.consumer.write(chunk)) this.#empty()
  }

  #empty(): void {
    this.#isFull = false
    if (this.#isOver) return
    const kept = this.#kept
    if (kept === null) return
    this.#kept = null
    this.#counted -= kept.length
    this.budget.give(kept.length)
    this.spare.keep(kept.buffer)
  }

  #drained(): void {
    if (!this.#isFull || this.#isOver) return
    clearTimeout(this.#stall)
    this.#stall = undefined
    this.#empty()
    this.#pump()
  }

  /** Pauses the socket. Data that has already been read from it still arrives, and is queued. */
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

  /** Returns false if the stream had already ended. */
  #abort(reason: BodyAbortReason): boolean {
    if (this.#isOver) return false
    this.#close()
    this.#guarded(() => this.consumer.abort(reason))
    return true
  }

  /** Resumes the socket: either the rest of the body is dropped, or the next request is read. */
  #close(): void {
    this.#isOver = true
    clearTimeout(this.#stall)
    this.streams.delete(this)
    this.budget.give(this.#counted)
    this.#counted = 0
    this.#waiting.length = 0
    this.#resume()
  }

  /** Calls the consumer. An exception in it ends only its own request. */
  #guarded(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.source.fault(error)
    }
  }
}
