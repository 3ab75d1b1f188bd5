/** Requests whose answers are awaited. The answer of each belongs to the caller. */
import { type AnswerRest, type AnswerSink, type OutgoingAnswer, ownedBufferOf } from '../wire/answer.js'
import type { Core } from './core.js'
import type { DispatchRequest } from './ticket.js'

/**
 * @param signal abort abandons the request
 * @returns the answer or a refusal; one that has a rest must be gone on with (`nextPart`) or ended
 * @throws Error `cancelled` if the signal aborts before the answer
 */
export function awaitAnswer(
  core: Pick<Core, 'submit' | 'abandon'>,
  requestFor: (sink: AnswerSink) => DispatchRequest,
  signal?: AbortSignal,
): Promise<OutgoingAnswer> {
  return awaited(signal, (sink) => {
    if (signal?.aborted === true) return () => undefined
    const handle = core.submit(requestFor(sink))
    return () => {
      if (handle !== null) core.abandon(handle)
    }
  })
}

/**
 * The next part of an answer, or a refusal.
 * @param signal abort ends the rest of the answer
 * @throws Error `cancelled` as for `awaitAnswer`
 */
export function nextPart(rest: AnswerRest, signal?: AbortSignal): Promise<OutgoingAnswer> {
  return awaited(signal, (sink) => {
    if (signal?.aborted !== true) rest.more(sink)
    return () => rest.end()
  })
}

/** @param begin returns what abandons it */
function awaited(signal: AbortSignal | undefined, begin: (sink: AnswerSink) => () => void): Promise<OutgoingAnswer> {
  return new Promise((resolve, reject) => {
    const answer = (given: OutgoingAnswer): void => {
      signal?.removeEventListener('abort', onAbort)
      resolve(keptOf(given))
    }
    const onAbort = (): void => {
      abandon()
      reject(new Error('cancelled'))
    }
    signal?.addEventListener('abort', onAbort, { once: true })
    const abandon = begin({ answer })
    if (signal?.aborted === true) onAbort()
  })
}

/** The body of an answer whose buffer is not its own is valid during the call of its sink only. */
function keptOf(answer: OutgoingAnswer): OutgoingAnswer {
  const { body } = answer
  return typeof body === 'string' || ownedBufferOf(answer) !== null ? answer : { ...answer, body: Buffer.from(body) }
}
