/**
 * Answers as they cross between lanes, front end and surfaces. They are independent of protocols: a surface
 * derives its status and headers from the code and the facts.
 */
import type { ErrorCode } from '../errors.js'
import type { PushedBody } from './body_streams.js'
import { releaseBuffer } from './released_buffer.js'

/** Properties of an answer beside its body. A surface that has no form for a fact omits it. */
export type Fact =
  /** Number of all matches, before paging. */
  | 'total'
  /** `1`: results were omitted because of the collection's token budget. */
  | 'truncated'
  /** How the owner of the collection wants answers from its documents to be written. */
  | 'responsePrompt'
  /** `hit` or `miss`. */
  | 'cache'
  /** Number of seconds for which the answer may be cached. */
  | 'cacheSeconds'
  /** File name under which the body may be saved. */
  | 'fileName'
  /** `1`: the work goes on after the answer. */
  | 'accepted'
  /** Seconds until a retry can help, if this is known more precisely than in the catalogue. */
  | 'retryAfterSeconds'
  /** `added` or `updated`, for requests of the server itself. */
  | 'outcome'
  /** What the client should know of a document that was written; for requests of the server itself. */
  | 'warning'
/** fact, value, fact, value ... */
export type Facts = readonly string[]

export function factOf(facts: Facts, wanted: Fact): string | undefined {
  for (let at = 0; at < facts.length; at += 2) if (facts[at] === wanted) return facts[at + 1]
  return undefined
}

/** The answer of a handler. */
export interface Answer {
  /** Absent: a success. */
  readonly code?: ErrorCode
  /** Bytes are copied before the lane runs its next request. */
  readonly body: string | Uint8Array
  /** Default: JSON. */
  readonly contentType?: string
  readonly facts?: readonly (readonly [Fact, string])[]
  /** The body stays the same until the server ends: a surface may have clients cache it. */
  readonly isPage?: true
  /** One of several parts of the body: it is not compressed. */
  readonly isPart?: boolean
}

/** An answer for a surface, whatever its origin. */
export interface OutgoingAnswer {
  /** Null: a success. */
  readonly code: ErrorCode | null
  /** Null: JSON. */
  readonly contentType: string | null
  readonly facts: Facts
  /** The body is compressed in the way of its surface's form. */
  readonly isCompressed: boolean
  /** Valid until `answer` returns, unless the sink copies it. */
  readonly body: Uint8Array | string
  /** The buffer of the body, if nothing else uses it: the sink may transfer or release it. */
  readonly owned?: ArrayBuffer | undefined
  /** Absent: the body is complete. */
  readonly rest?: AnswerRest
  /** The body is pushed, and `body` is empty. */
  readonly push?: PushedBody
  /** The handler's answer, if it is a page. */
  readonly page?: Answer
}

/** The rest of an answer that comes in parts. Parts are requested one at a time. */
export interface AnswerRest {
  /** Sends the next part to `sink`, or a refusal, after which nothing follows. */
  more(sink: AnswerSink): void
  /** The client has disconnected: nothing more is answered. */
  end(): void
}

/** The receiver of an answer. Called at most once. */
export interface AnswerSink {
  answer(answer: OutgoingAnswer): void
}

export function textOf({ body }: Pick<OutgoingAnswer, 'body'>): string {
  return typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.length).toString('utf8')
}

/** @returns the buffer of the body, if it is owned; null also for an answer whose body was replaced */
export function ownedBufferOf({ body, owned }: Pick<OutgoingAnswer, 'body' | 'owned'>): ArrayBuffer | null {
  return owned !== undefined && typeof body !== 'string' && body.buffer === owned ? owned : null
}

/** For an answer that nobody receives. */
export function releaseAnswer(answer: Pick<OutgoingAnswer, 'body' | 'owned'>): void {
  const owned = ownedBufferOf(answer)
  if (owned !== null) releaseBuffer(owned)
}
