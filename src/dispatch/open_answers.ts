/**
 * The answers that lanes have begun and not finished, by surface. A lane keeps a bounded number of them
 * (worker/request/answer_streams.ts). Without shares, one surface with slow clients could use all of them. An
 * answer counts from the lane's first part to its last, or until the lane has discarded the rest; each ticket
 * of the answer passes the count to the next. Front-end thread only.
 */
import { ANSWER_STREAMS_MAX } from '../limits/answers.js'
import { Shares } from './shares.js'
import type { Ticket } from './ticket.js'

export class OpenAnswers {
  readonly #shares: Shares

  /** @param surfaces number of surfaces that clients can reach */
  constructor(surfaces: number) {
    this.#shares = new Shares(ANSWER_STREAMS_MAX, surfaces)
  }

  /** Returns false if the surface must not begin a further answer in parts. */
  mayBegin(ticket: Ticket): boolean {
    if (ticket.operation.comesInParts !== true || ticket.holdsAnswer) return true
    if (this.#shares.isFullFor(ticket.surface)) return false
    this.#shares.take(ticket.surface)
    ticket.holdsAnswer = true
    return true
  }

  /** Called when the lane has nothing left of the answer. */
  end(ticket: Ticket): void {
    if (!ticket.holdsAnswer) return
    ticket.holdsAnswer = false
    this.#shares.give(ticket.surface)
  }
}
