/**
 * Answers that a lane sends in parts. The lane keeps the rest until the next part is requested, or until it
 * is notified that the rest is not wanted. Front-end thread only.
 */
import type { AnswerRest, AnswerSink } from '../wire/answer.js'
import type { Ticket } from './ticket.js'

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
