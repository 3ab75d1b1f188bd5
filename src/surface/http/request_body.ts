/**
 * The body of one request: collected as a whole, or handed to a consumer as it comes, or dropped after it was
 * refused. Uses of uWS's response only what reads: `onData`, `pause`, `resume`. Front-end thread only.
 */
import type { HttpResponse } from 'uWebSockets.js'
import type { BodyConsumer } from '../../wire/body_streams.js'
import type { ErrorCode } from '../../errors.js'
import { DISCARDED_BYTES_MAX } from '../../limits/surface.js'
import { BodyCollector } from './body_collector.js'
import { BodyStream, type StreamRefusal } from './body_stream.js'
import type { ByteBudget } from './byte_budget.js'
import type { OpenStreams } from './open_streams.js'

/** What a body tells its exchange, which is one object: closures would cost each request a microsecond. */
export interface BodyOwner {
  /** All of it has come. Null: it is empty. */
  wholeBodyRead(body: Uint8Array | null): void
  /** The consumer has all of it, and is about to be told. */
  bodyStreamed(): void
  /** The body ends here with a refusal. */
  bodyRefused(code: ErrorCode, closes: boolean): void
  bodyFault(error: unknown): void
  readonly budget: ByteBudget
  readonly streams: OpenStreams
  /** -1: the body is chunked. */
  readonly declaredBytes: number
}

const REFUSALS = { tooLarge: 'bodyTooLarge', overloaded: 'overloaded', stalled: 'overloaded', shutdown: 'shuttingDown' } as const

export class RequestBody {
  #state: 'reading' | 'discarding' | 'over' = 'reading'
  #refused: ErrorCode = 'bodyTooLarge'
  #reader: BodyCollector | BodyStream | null = null
  #hasLast = false
  #received = 0

  /** Null once the exchange has answered or its client has gone: from then on the response may die. */
  #response: HttpResponse | null

  constructor(
    readonly owner: BodyOwner,
    response: HttpResponse,
  ) {
    this.#response = response
  }

  /** Bytes so far. */
  get received(): number {
    return this.#received
  }

  readWhole(bytesMax: number): void {
    const { budget, declaredBytes } = this.owner
    if (declaredBytes > bytesMax) {
      this.#refuse('bodyTooLarge')
      return
    }
    const collector = new BodyCollector(budget, bytesMax, declaredBytes)
    this.#reader = collector
    this.#onChunk((chunk, isLast) => {
      const collected = collector.take(chunk, isLast)
      if (collected === 'complete') this.owner.wholeBodyRead(collector.giveAway())
      else if (collected !== 'more') this.#refuse(collected)
    })
  }

  stream(consumer: BodyConsumer, bytesMax: number, stallMsMax: number): void {
    const { budget, streams, declaredBytes } = this.owner
    const source = {
      pause: () => void this.#response?.pause(),
      resume: () => void this.#response?.resume(),
      complete: () => this.owner.bodyStreamed(),
      refuse: (reason: StreamRefusal) => this.#refuseStream(reason),
      fault: (error: unknown) => this.owner.bodyFault(error),
    }
    const stream = new BodyStream(source, consumer, budget, streams, bytesMax, stallMsMax)
    this.#reader = stream
    stream.begin()
    if (declaredBytes > bytesMax) stream.refuse('tooLarge')
    else if (declaredBytes === 0) stream.take(new Uint8Array(0), true)
    else if (this.#state === 'reading') this.#onChunk((chunk, isLast) => stream.take(chunk, isLast))
  }

  /** The exchange has answered, or its client has gone: nothing more of the body is needed. */
  release(reason: 'answered' | 'clientGone'): void {
    if (reason === 'clientGone') this.#response = null
    this.#state = 'over'
    this.#reader?.release(reason)
    this.#response = null
  }

  #onChunk(take: (chunk: Uint8Array, isLast: boolean) => void): void {
    this.#response?.onData((data, isLast) => {
      this.#received += data.byteLength
      this.#hasLast = isLast
      try {
        if (this.#state === 'reading') take(new Uint8Array(data), isLast)
        else if (this.#state === 'discarding') this.#discard()
      } catch (error) {
        this.owner.bodyFault(error)
      }
    })
  }

  #refuseStream(reason: StreamRefusal): void {
    // A consumer that threw meanwhile has been answered 500.
    if (this.#state === 'over') return
    if (reason === 'shutdown') this.owner.bodyRefused('shuttingDown', true)
    else this.#refuse(REFUSALS[reason])
  }

  /**
   * The rest of a refused body is read and dropped up to a bound, so that a client that sends first and reads
   * then gets its answer and not a reset.
   */
  #refuse(code: ErrorCode): void {
    this.#reader?.release('answered')
    this.#refused = code
    this.#state = 'discarding'
    this.#discard()
  }

  /** A body of which nothing has come is refused at once, and uWS drops what comes. */
  #discard(): void {
    if (this.#hasLast || this.#received === 0 || this.#received > DISCARDED_BYTES_MAX) this.owner.bodyRefused(this.#refused, false)
  }
}

/**
 * Whether the connection is to be closed with an answer that comes before the end of the body. A known rest
 * within the bound is dropped by uWS itself.
 */
export function leavesTooMuch(declaredBytes: number, received: number): boolean {
  return declaredBytes < 0 ? received > DISCARDED_BYTES_MAX : declaredBytes > DISCARDED_BYTES_MAX
}
