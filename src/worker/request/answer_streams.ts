/**
 * The streamed answers of this lane, by number. Between two parts a stream waits here and holds no view. The
 * front end requests the next part when the client has taken the last one, and reports when nobody wants the
 * rest. One instance per lane. Numbers are not reused, so a part requested from a lane that replaced a dead
 * one is refused.
 */
import type { Authorized } from '../../access/authorize.js'
import { serviceError } from '../../errors.js'
import { ANSWER_STREAMS_MAX } from '../../limits/documents.js'
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
  // Numbers start at a random value below 2^30, so that lanes do not assign the same numbers.
  #last = Math.floor(Math.random() * 2 ** 30)

  /** @throws ServiceError 503 if the maximum number of streams is open */
  begin(stream: AnswerStream, access: Authorized): number {
    if (this.#open.size >= ANSWER_STREAMS_MAX) {
      stream.close()
      throw serviceError('overloaded')
    }
    this.#last += 1
    this.#open.set(this.#last, { stream, access, isBegun: false })
    return this.#last
  }

  /** The authorization of the request that began the answer. @throws ServiceError if the stream has ended */
  accessOf(number: number): Authorized {
    const found = this.#open.get(number)
    if (found === undefined) throw serviceError('internal')
    return found.access
  }

  /** Returns the next part. The stream ends with the last part, and with an error. */
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
      // A later part is requested again once the missing objects are cached. A first part restarts from the
      // beginning.
      if (!isBegun || !(error instanceof BodiesWanted)) this.end(number)
      throw error
    }
  }

  /** Discards the rest; does nothing if the stream has ended already. */
  end(number: number): void {
    const found = this.#open.get(number)
    this.#open.delete(number)
    found?.stream.close()
  }

  /** Called at the end of the lane, and when the store is replaced: streams in progress cannot continue. */
  endAll(): void {
    for (const number of [...this.#open.keys()]) this.end(number)
  }
}
