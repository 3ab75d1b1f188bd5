/**
 * Answers that a lane sends in parts: how many of them surfaces have begun, and the requests for further
 * parts. The lane keeps the rest until the next part is requested, or until it is notified that the rest is
 * not wanted. Front-end thread only.
 */
import { ANSWER_STREAMS_MAX } from '../../limits/documents.js'
import type { AnswerRest, AnswerSink } from '../../wire/answer.js'
import { Shares } from '../queue/shares.js'
import type { Ticket } from '../ticket.js'

/**
 * The answers that lanes have begun and not finished, by surface. A lane keeps a bounded number of them
 * (worker/request/answer_streams.ts). Without shares, one surface with slow clients could use all of them. An
 * answer counts from the lane's first part to its last, or until the lane has discarded the rest; each ticket
 * of the answer passes the count to the next.
 */
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

const NOBODY: AnswerSink = { answer: () => undefined }

/**
 * @param goOn asks the lane for the next part; null if that was refused, in which case the sink has the
 * refusal
 * @param abandon called when the next part is not wanted
 */
export function restOf(goOn: (sink: AnswerSink) => Ticket | null, abandon: (ticket: Ticket) => void): AnswerRest {
  let asked: Ticket | null = null
  return {
    more: (next) => {
      asked = goOn(next)
    },
    end: () => {
      // A part request that is abandoned in its queue still reaches the lane, which then discards the rest.
      const last = asked ?? goOn(NOBODY)
      if (last !== null) abandon(last)
    },
  }
}

/** Returns the ticket for the part that follows the one of `before`. */
export function nextPartOf(before: Ticket, stream: number, sink: AnswerSink): Ticket {
  const now = performance.now()
  return {
    ...before,
    receivedAt: now,
    deadlineAt: now + before.limitMs,
    queuedAt: now,
    stream,
    body: null,
    bodyBytes: 0,
    batch: 0,
    sink,
    audit: null,
  }
}
