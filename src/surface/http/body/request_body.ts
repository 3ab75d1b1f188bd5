/**
 * The body of one request. It is collected as a whole, passed to a consumer while it arrives, or discarded
 * after a refusal. Of uWS's response only the reading functions are used: `onData`, `pause`, `resume`.
 * Front-end thread only.
 */
import type { HttpResponse } from 'uWebSockets.js'
import type { ErrorCode } from '../../../errors.js'
import { MIB } from '../../../limits/units.js'
import type { BodyConsumer } from '../../../wire/body_streams.js'
import type { WatchedBody } from '../bounds/body_watch.js'
import type { LoopResources } from '../bounds/loop_resources.js'
import { BodyCollector } from './body_collector.js'
import { BodyStream, type StreamRefusal } from './body_stream.js'

/**
 * Bytes of a refused body that are read and discarded before the connection is closed. Within this bound, a
 * client that sends everything before it reads still gets its 413.
 */
const DISCARDED_BYTES_MAX = 256 * MIB

/** The callbacks of a body to its exchange. One object: closures would cost each request a microsecond. */
export interface BodyOwner {
  /** The body is complete. Null: it is empty. */
  wholeBodyRead(body: Uint8Array | null): void
  /** The consumer has received the whole body; its end is notified next. */
  bodyStreamed(): void
  /** The request is refused, which ends the body. */
  bodyRefused(code: ErrorCode, closes: boolean): void
  bodyFault(error: unknown): void
  readonly loop: LoopResources
  /** The Content-Length; -1 if the body is chunked. */
  readonly declaredBytes: number
}

const REFUSALS = { tooLarge: 'bodyTooLarge', overloaded: 'overloaded', stalled: 'overloaded', shutdown: 'shuttingDown' } as const

export class RequestBody implements WatchedBody {
  #state: 'reading' | 'discarding' | 'over' = 'reading'
  #refused: ErrorCode = 'bodyTooLarge'
  #reader: BodyCollector | BodyStream | null = null
  #hasLast = false
  #received = 0
  #isPaused = false

  /** Null once the exchange has answered or its client has disconnected: the response may then be invalid. */
  #response: HttpResponse | null

  constructor(
    readonly owner: BodyOwner,
    response: HttpResponse,
  ) {
    this.#response = response
  }

  /** Bytes received so far. */
  get received(): number {
    return this.#received
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  /** uWebSockets.js begins to count again at `resume`, which must follow a `pause`. */
  waitLonger(): void {
    this.#response?.pause()
    this.#response?.resume()
  }

  endSlow(): void {
    const code = this.#state === 'discarding' ? this.#refused : 'bodyTooSlow'
    this.#reader?.release('answered')
    this.owner.bodyRefused(code, true)
  }

  readWhole(bytesMax: number): void {
    const { loop, declaredBytes } = this.owner
    if (declaredBytes > bytesMax) {
      this.#refuse('bodyTooLarge')
      return
    }
    const collector = new BodyCollector(loop, bytesMax, declaredBytes)
    this.#reader = collector
    this.#onChunk((chunk, isLast) => {
      const collected = collector.take(chunk, isLast)
      if (collected === 'complete') this.owner.wholeBodyRead(collector.giveAway())
      else if (collected !== 'more') this.#refuse(collected)
    })
  }

  stream(consumer: BodyConsumer, bytesMax: number, stallMsMax: number): void {
    const { loop, declaredBytes } = this.owner
    const source = {
      pause: () => this.#pause(),
      resume: () => this.#resume(),
      complete: () => this.owner.bodyStreamed(),
      refuse: (reason: StreamRefusal) => this.#refuseStream(reason),
      fault: (error: unknown) => this.owner.bodyFault(error),
    }
    const stream = new BodyStream(source, consumer, loop.bodies, loop.streams, loop.spare, bytesMax, stallMsMax)
    this.#reader = stream
    stream.begin()
    if (declaredBytes > bytesMax) stream.refuse('tooLarge')
    else if (declaredBytes === 0) stream.take(new Uint8Array(0), true)
    else if (this.#state === 'reading') this.#onChunk((chunk, isLast) => stream.take(chunk, isLast))
  }

  /** The exchange has answered, or its client has disconnected: the rest of the body is not needed. */
  release(reason: 'answered' | 'clientGone'): void {
    this.owner.loop.receiving.delete(this)
    if (reason === 'clientGone') this.#response = null
    this.#state = 'over'
    this.#reader?.release(reason)
    this.#response = null
  }

  #onChunk(take: (chunk: Uint8Array, isLast: boolean) => void): void {
    this.owner.loop.receiving.add(this)
    this.#response?.onData((data, isLast) => {
      this.#received += data.byteLength
      this.#hasLast = isLast
      if (isLast) this.owner.loop.receiving.delete(this)
      try {
        if (this.#state === 'reading') take(new Uint8Array(data), isLast)
        else if (this.#state === 'discarding') this.#discard()
      } catch (error) {
        this.owner.bodyFault(error)
      }
    })
  }

  #pause(): void {
    this.#isPaused = true
    this.#response?.pause()
  }

  #resume(): void {
    this.#isPaused = false
    this.#response?.resume()
  }

  #refuseStream(reason: StreamRefusal): void {
    // The consumer has thrown in the meantime, and the request has been answered 500.
    if (this.#state === 'over') return
    if (reason === 'shutdown') this.owner.bodyRefused('shuttingDown', true)
    else this.#refuse(REFUSALS[reason])
  }

  /**
   * Reads and discards the rest of a refused body up to a bound. A client that sends its whole body before it
   * reads then gets its answer and not a reset.
   */
  #refuse(code: ErrorCode): void {
    this.#reader?.release('answered')
    this.#refused = code
    this.#state = 'discarding'
    this.#discard()
  }

  /** A body without received bytes is refused at once; uWS discards bytes that arrive later. */
  #discard(): void {
    if (this.#hasLast || this.#received === 0 || this.#received > DISCARDED_BYTES_MAX) this.owner.bodyRefused(this.#refused, false)
  }
}

/**
 * Whether the connection must be closed with an answer that is sent before the end of the body. uWS itself
 * discards a rest of known length within the bound.
 */
export function leavesTooMuch(declaredBytes: number, received: number): boolean {
  return declaredBytes < 0 ? received > DISCARDED_BYTES_MAX : declaredBytes > DISCARDED_BYTES_MAX
}

/**
 * Reads and drops the body of a request that is answered without it, up to a bound. Must be called in the
 * turn of the event loop in which the request came.
 */
export function dropBody(response: HttpResponse, done: () => void): void {
  let received = 0
  response.onData((data, isLast) => {
    received += data.byteLength
    if (isLast || received > DISCARDED_BYTES_MAX) done()
  })
}
