/**
 * A lane's way back to the front end: finished answers, several in one message. Lane threads only.
 *
 * Sending costs the loop a wake-up, so answers of a batch are held back, but never for long: they leave when ANSWERS_COALESCED_MAX have gathered, when the oldest has
 * waited ANSWER_HOLD_US_MAX, before anything slow starts, and when the batch ends.
 */
import type { MessagePort } from 'node:worker_threads'
import { encodeAnswers, type LaneAnswer } from '../dispatch/answer_codec.js'
import type { LaneMessage } from '../dispatch/lane_pool.js'
import { transferListOf } from '../dispatch/request_codec.js'
import { ANSWER_HOLD_US_MAX, ANSWERS_COALESCED_MAX } from '../limits.js'

export class LanePort {
  #held: LaneAnswer[] = []
  #oldestAt = 0

  constructor(readonly port: MessagePort) {}

  /** Takes the answer's body. */
  answer(answer: LaneAnswer): void {
    if (this.#held.length === 0) this.#oldestAt = performance.now()
    this.#held.push(answer)
    if (this.#held.length >= ANSWERS_COALESCED_MAX) this.flush()
  }

  /** For answers that come in a burst, as those of a flushed group do: they leave together at the end of the present job. At most a batch of commands is held. */
  answerSoon(answer: LaneAnswer): void {
    this.#held.push(answer)
    if (this.#held.length === 1) queueMicrotask(() => this.flush())
  }

  /** To be called between two requests. */
  flushIfDue(): void {
    if (this.#held.length > 0 && (performance.now() - this.#oldestAt) * 1000 >= ANSWER_HOLD_US_MAX) this.flush()
  }

  flush(): void {
    if (this.#held.length === 0) return
    const envelope = encodeAnswers(this.#held)
    this.#held = []
    this.send({ kind: 'answers', envelope }, transferListOf(envelope))
  }

  send(message: LaneMessage, transferList: readonly ArrayBuffer[] = []): void {
    this.port.postMessage(message, transferList)
  }
}
