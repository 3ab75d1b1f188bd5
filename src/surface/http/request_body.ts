/**
 * The body of one request: collected as a whole, or handed to a consumer as it comes, or dropped after it was
 * refused. Uses of uWS's response only what reads: `onData`, `pause`, `resume`. Front-end thread only.
 */
import type { HttpResponse } from 'uWebSockets.js'
import type { BodyConsumer } from '../../dispatch/body_streams.js'
import type { CATALOGUE } from '../../errors.js'
import { DISCARDED_BYTES_MAX } from '../../limits.js'
import { BodyCollector } from './body_collector.js'
import { BodyStream, type StreamRefusal } from './body_stream.js'
import type { ByteBudget } from './byte_budget.js'
import type { OpenStreams } from './open_streams.js'

/** What a body needs of its exchange. */
export interface BodyChannel {
  /** Null: the client has gone, or the answer has ended. */
  live(): HttpResponse | null
  /** All of it has come. `body` is null where it is empty, or where a consumer has it. */
  complete(body: Uint8Array | null): void
  /** The body ends here with a refusal. */
  refuse(code: keyof typeof CATALOGUE, closes: boolean): void
  fault(error: unknown): void
  readonly budget: ByteBudget
  readonly streams: OpenStreams
}

const REFUSALS = { tooLarge: 'bodyTooLarge', overloaded: 'overloaded', stalled: 'overloaded', shutdown: 'shuttingDown' } as const

export class RequestBody {
  #state: 'reading' | 'discarding' | 'over' = 'reading'
  #refused: keyof typeof CATALOGUE = 'bodyTooLarge'
  #reader: BodyCollector | BodyStream | null = null
  #hasLast = false
  #received = 0

  constructor(
    readonly channel: BodyChannel,
    /** -1: the body is chunked. */
    readonly declaredBytes: number,
  ) {}

  /** Bytes so far. */
  get received(): number {
    return this.#received
  }

  readWhole(bytesMax: number): void {
    if (this.declaredBytes > bytesMax) {
      this.#refuse('bodyTooLarge')
      return
    }
    const collector = new BodyCollector(this.channel.budget, bytesMax, this.declaredBytes)
    this.#reader = collector
    this.#onChunk((chunk, isLast) => {
      const collected = collector.take(chunk, isLast)
      if (collected === 'complete') this.#complete(collector.giveAway())
      else if (collected !== 'more') this.#refuse(collected)
    })
  }

  stream(consumer: BodyConsumer, bytesMax: number, stallMsMax: number): void {
    const source = {
      pause: () => void this.channel.live()?.pause(),
      resume: () => void this.channel.live()?.resume(),
      complete: () => this.#complete(null),
      refuse: (reason: StreamRefusal) => this.#refuseStream(reason),
      fault: (error: unknown) => this.channel.fault(error),
    }
    const stream = new BodyStream(source, consumer, this.channel.budget, this.channel.streams, bytesMax, stallMsMax)
    this.#reader = stream
    stream.begin()
    if (this.declaredBytes > bytesMax) stream.refuse('tooLarge')
    else if (this.declaredBytes === 0) stream.take(new Uint8Array(0), true)
    else if (this.#state === 'reading') this.#onChunk((chunk, isLast) => stream.take(chunk, isLast))
  }

  /** The exchange has answered, or its client has gone: nothing more of the body is needed. */
  release(reason: 'answered' | 'clientGone'): void {
    this.#state = 'over'
    this.#reader?.release(reason)
  }

  #onChunk(take: (chunk: Uint8Array, isLast: boolean) => void): void {
    this.channel.live()?.onData((data, isLast) => {
      this.#received += data.byteLength
      this.#hasLast = isLast
      try {
        if (this.#state === 'reading') take(new Uint8Array(data), isLast)
        else if (this.#state === 'discarding') this.#discard()
      } catch (error) {
        this.channel.fault(error)
      }
    })
  }

  #complete(body: Uint8Array | null): void {
    this.#state = 'over'
    this.channel.complete(body)
  }

  #refuseStream(reason: StreamRefusal): void {
    // A consumer that threw meanwhile has been answered 500.
    if (this.#state === 'over') return
    if (reason === 'shutdown') this.channel.refuse('shuttingDown', true)
    else this.#refuse(REFUSALS[reason])
  }

  /**
   * The rest of a refused body is read and dropped up to a bound, so that a client that sends first and reads
   * then gets its answer and not a reset.
   */
  #refuse(code: keyof typeof CATALOGUE): void {
    this.#reader?.release('answered')
    this.#refused = code
    this.#state = 'discarding'
    this.#discard()
  }

  /** A body of which nothing has come is refused at once, and uWS drops what comes. */
  #discard(): void {
    if (this.#hasLast || this.#received === 0 || this.#received > DISCARDED_BYTES_MAX) this.channel.refuse(this.#refused, false)
  }
}

/**
 * Whether the connection is to be closed with an answer that comes before the end of the body. A known rest
 * within the bound is dropped by uWS itself.
 */
export function leavesTooMuch(declaredBytes: number, received: number): boolean {
  return declaredBytes < 0 ? received > DISCARDED_BYTES_MAX : declaredBytes > DISCARDED_BYTES_MAX
}
