/**
 * A lane's channel back to the front end. It sends finished answers, several per message, with their bytes in
 * a block that both threads share. Lane threads only.
 *
 * Sending costs the event loop a wake-up, so the answers of a batch are held back for a short time. They are
 * sent when ANSWERS_COALESCED_MAX have gathered, when the oldest has waited ANSWER_HOLD_US_MAX, before
 * anything slow starts, and with the result of the batch.
 */
import type { MessagePort } from 'node:worker_threads'
import { KIB } from '../../limits/units.js'
import type { FetchFailure } from '../../outbound/object_stores.js'
import { AnswerEncoder, type LaneAnswer } from '../../wire/answer_codec.js'
import { type Envelope, transferListOf } from '../../wire/envelope.js'
import type { EnvelopeBlocks } from '../../wire/envelope_blocks.js'
import type { LaneMessage, LaneOrder } from '../../wire/messages/lane_messages.js'
import type { FetchObjects, ObjectsFetched, ObjectsWanted } from '../../wire/messages/object_messages.js'

/** Finished answers that a lane holds back at most, to send them in one message. */
const ANSWERS_COALESCED_MAX = 16
/** How long a lane holds back a finished answer at most, while others of its batch run. */
const ANSWER_HOLD_US_MAX = 200
/** An envelope of answers is sent once it has this size. With one more answer it still fits a block. */
const ENVELOPE_BYTES_WANTED = 128 * KIB

export class LanePort {
  readonly #encoder: AnswerEncoder
  #oldestAt = 0
  /** Whether answers have been sent since the last batch began. */
  #hasSent = false
  /** Fetches that the front end has not answered yet, by number. */
  readonly #fetches = new Map<number, (failures: readonly FetchFailure[]) => void>()
  #lastFetch = 0
  /** Orders that arrived before a handler was set. */
  readonly #orders: LaneOrder[] = []
  #obey = (order: LaneOrder): void => void this.#orders.push(order)

  constructor(
    readonly port: MessagePort,
    blocks: EnvelopeBlocks,
  ) {
    this.#encoder = new AnswerEncoder(blocks)
    port.on('message', (message: LaneOrder | ObjectsFetched) => {
      if (message.kind === 'fetched') this.#settleFetch(message)
      else this.#obey(message)
    })
    // The port must not keep a finished lane alive.
    port.unref()
  }

  /** Sets the handler of the front end's orders, which arrive beside the batches. */
  onOrder(obey: (order: LaneOrder) => void): void {
    this.#obey = obey
    for (const order of this.#orders.splice(0)) obey(order)
  }

  /**
   * The front end fetches the objects into native memory, because no lane uses the network. The lane
   * continues with its batches meanwhile.
   */
  readonly fetchObjects: FetchObjects = (objects) => {
    const number = ++this.#lastFetch
    this.port.ref()
    this.send({ kind: 'fetch', number, objects } satisfies ObjectsWanted)
    return new Promise((resolve) => this.#fetches.set(number, resolve))
  }

  /** Notifies the front end of a change. */
  readonly notify = (topics: readonly string[]): void => this.send({ kind: 'noticed', topics })

  #settleFetch({ number, failures }: ObjectsFetched): void {
    this.#fetches.get(number)?.(failures)
    this.#fetches.delete(number)
    if (this.#fetches.size === 0) this.port.unref()
  }

  /** Copies the answer's body, unless it is a command to be forwarded: then ownership of the body passes. */
  answer(answer: LaneAnswer): void {
    if (this.#encoder.count === 0) this.#oldestAt = performance.now()
    this.#encoder.add(answer)
    if (this.#encoder.count >= ANSWERS_COALESCED_MAX || this.#encoder.bytes >= ENVELOPE_BYTES_WANTED) this.flush()
  }

  /** For the last answer of a batch that is about to end: it becomes the result (`takeRest`). */
  answerLast(answer: LaneAnswer): void {
    this.#encoder.add(answer)
  }

  /**
   * For answers that come in a burst, such as those of a flushed group: they are sent together at the end of
   * the current task. At most a batch of commands is held.
   */
  answerSoon(answer: LaneAnswer): void {
    this.#encoder.add(answer)
    if (this.#encoder.count === 1) queueMicrotask(() => this.flush())
  }

  /** Must be called between two requests. */
  flushIfDue(): void {
    if (this.#encoder.count > 0 && (performance.now() - this.#oldestAt) * 1000 >= ANSWER_HOLD_US_MAX) this.flush()
  }

  flush(): void {
    if (this.#encoder.count === 0) return
    this.#hasSent = true
    const envelope = this.#encoder.finish()
    this.send({ kind: 'answers', envelope }, transferListOf(envelope))
  }

  beginBatch(): void {
    this.#hasSent = false
  }

  /**
   * The answers that have not been sent, for the result of the batch. Undefined if there are none, or if they
   * must not go that way, and are sent: behind other answers of the batch, which the result could overtake,
   * and with buffers to transfer.
   */
  takeRest(): Envelope | undefined {
    if (this.#hasSent) this.flush()
    if (this.#encoder.count === 0) return undefined
    const envelope = this.#encoder.finish()
    const transferList = transferListOf(envelope)
    if (transferList.length === 0) return envelope
    this.send({ kind: 'answers', envelope }, transferList)
    return undefined
  }

  send(message: LaneMessage, transferList: readonly ArrayBuffer[] = []): void {
    this.port.postMessage(message, transferList)
  }
}
