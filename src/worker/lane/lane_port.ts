/**
 * A lane's way back to the front end: finished answers, several in one message, their bytes in a block that both threads share. Lane threads only.
 *
 * Sending costs the loop a wake-up, so answers of a batch are held back, but never for long: they leave when ANSWERS_COALESCED_MAX have gathered, when the oldest has
 * waited ANSWER_HOLD_US_MAX, before anything slow starts, and when the batch ends.
 */
import type { MessagePort } from 'node:worker_threads'
import { AnswerEncoder, type LaneAnswer } from '../../wire/answer_codec.js'
import { transferListOf } from '../../wire/envelope.js'
import type { EnvelopeBlocks } from '../../wire/envelope_blocks.js'
import type { LaneMessage } from '../../dispatch/lane_pool.js'
import type { LaneOrder } from './lane_start.js'
import { ANSWER_HOLD_US_MAX, ANSWERS_COALESCED_MAX, ENVELOPE_BYTES_WANTED } from '../../limits.js'

export class LanePort {
  readonly #encoder: AnswerEncoder
  #oldestAt = 0

  constructor(
    readonly port: MessagePort,
    blocks: EnvelopeBlocks,
  ) {
    this.#encoder = new AnswerEncoder(blocks)
  }

  /** What the front end asks of the lane beside batches. Listening must not keep a lane alive whose work is done. */
  onOrder(obey: (order: LaneOrder) => void): void {
    this.port.on('message', obey)
    this.port.unref()
  }

  /** Copies the answer's body, unless it is a command to be forwarded: that is taken. */
  answer(answer: LaneAnswer): void {
    if (this.#encoder.count === 0) this.#oldestAt = performance.now()
    this.#encoder.add(answer)
    if (this.#encoder.count >= ANSWERS_COALESCED_MAX || this.#encoder.bytes >= ENVELOPE_BYTES_WANTED) this.flush()
  }

  /** For answers that come in a burst, as those of a flushed group do: they leave together at the end of the present job. At most a batch of commands is held. */
  answerSoon(answer: LaneAnswer): void {
    this.#encoder.add(answer)
    if (this.#encoder.count === 1) queueMicrotask(() => this.flush())
  }

  /** To be called between two requests. */
  flushIfDue(): void {
    if (this.#encoder.count > 0 && (performance.now() - this.#oldestAt) * 1000 >= ANSWER_HOLD_US_MAX) this.flush()
  }

  flush(): void {
    if (this.#encoder.count === 0) return
    const envelope = this.#encoder.finish()
    this.send({ kind: 'answers', envelope }, transferListOf(envelope))
  }

  send(message: LaneMessage, transferList: readonly ArrayBuffer[] = []): void {
    this.port.postMessage(message, transferList)
  }
}
