/**
 * The answers that this lane gives in parts, by number: each waits here between two parts, holding no view.
 * The front end asks for the next part when the client has taken the last one, and says when nobody wants the
 * rest. One per lane; numbers are not used again, so that a part asked of a lane that has taken the place of
 * a dead one is refused.
 */
import type { Authorized } from '../../access/authorize.js'
import { serviceError } from '../../errors.js'
import { ANSWER_STREAMS_MAX } from '../../limits/answers.js'
import { BodiesWanted } from '../../store/objects.js'
import type { Answer } from '../../wire/answer.js'
import type { AnswerStream, RequestContext } from './handler.js'

interface OpenStream {
  readonly stream: AnswerStream
  readonly access: Authorized
  isBegun: boolean
}

export class AnswerStreams {
  readonly #open = new Map<number, OpenStream>()
  // Lanes begin somewhere in 31 bits, so that no two of them give the same numbers.
  #last = Math.floor(Math.random() * 2 ** 30)

  /** @throws ServiceError 503 where as many are open as there may be */
  begin(stream: AnswerStream, access: Authorized): number {
    if (this.#open.size >= ANSWER_STREAMS_MAX) {
      stream.close()
      throw serviceError('overloaded')
    }
    this.#last += 1
    this.#open.set(this.#last, { stream, access, isBegun: false })
    return this.#last
  }

  /** What the request that began the answer was allowed. @throws ServiceError where it has ended */
  accessOf(number: number): Authorized {
    const found = this.#open.get(number)
    if (found === undefined) throw serviceError('internal')
    return found.access
  }

  /** The next part; with the last one, and with a throw, the stream has ended. */
  next(number: number, request: RequestContext): { readonly answer: Answer; readonly isLast: boolean } {
    const found = this.#open.get(number)
    if (found === undefined) throw serviceError('internal')
    const { stream, isBegun } = found
    found.isBegun = true
    try {
      const { bytes, isLast } = stream.next(request)
      if (isLast) this.end(number)
      const { contentType } = stream
      return { answer: { body: bytes, contentType, isPart: true, ...(isBegun ? {} : { facts: stream.facts }) }, isLast }
    } catch (error) {
      // A part is asked for again once what it lacks is there; a first one begins anew.
      if (!isBegun || !(error instanceof BodiesWanted)) this.end(number)
      throw error
    }
  }

  /** Forgets the rest; nothing where it has ended before. */
  end(number: number): void {
    const found = this.#open.get(number)
    this.#open.delete(number)
    found?.stream.close()
  }

  /** At the end of the lane, and where the store is replaced: what was begun can't go on. */
  endAll(): void {
    for (const number of [...this.#open.keys()]) this.end(number)
  }
}
