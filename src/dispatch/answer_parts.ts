/**
 * Answers that a lane gives in parts: it keeps the rest until that is asked for, or told that nobody wants it
 * any more. Front-end thread only.
 */
import type { AnswerRest, AnswerSink } from '../wire/answer.js'
import type { Ticket } from './ticket.js'

const NOBODY: AnswerSink = { answer: () => undefined }

/**
 * @param goOn asks the lane for the next part; null where that was refused, which the sink has been told
 * @param abandon the next part is not wanted
 */
export function restOf(goOn: (sink: AnswerSink) => Ticket | null, abandon: (ticket: Ticket) => void): AnswerRest {
  let asked: Ticket | null = null
  return {
    more: (next) => {
      asked = goOn(next)
    },
    end: () => {
      // Abandoned in its queue it still reaches the lane, which then forgets the rest.
      const last = asked ?? goOn(NOBODY)
      if (last !== null) abandon(last)
    },
  }
}

/** For the part after the one that the ticket has brought. */
export function nextPartOf(before: Ticket, stream: number, sink: AnswerSink): Ticket {
  const now = performance.now()
  return {
    ...before,
    acceptedAt: now,
    deadlineAt: now + before.operation.deadlineMs,
    queuedAt: now,
    stream,
    body: null,
    bodyBytes: 0,
    batch: 0,
    sink,
  }
}
