/**
 * Answers as they cross between lanes, front end and surfaces. They know no protocol: a surface makes its
 * status and headers of the code and the facts.
 */
import type { ErrorCode } from '../errors.js'
import type { PushedBody } from './body_streams.js'

/** What an answer says beside its body. A surface that has no form for a fact leaves it out. */
export const FACTS = [
  /** Number of all matches, before paging. */
  'total',
  /** `1`: the token budget of the collection left results out. */
  'truncated',
  /** `hit` or `miss`. */
  'cache',
  /** For how many seconds the answer may be cached. */
  'cacheSeconds',
  /** Under which the body may be saved. */
  'fileName',
  /** When a retry can help, where that is known better than the catalogue knows it. */
  'retryAfterSeconds',
] as const
export type Fact = (typeof FACTS)[number]
/** fact, value, fact, value ... */
export type Facts = readonly string[]

export function factOf(facts: Facts, wanted: Fact): string | undefined {
  for (let at = 0; at < facts.length; at += 2) if (facts[at] === wanted) return facts[at + 1]
  return undefined
}

/** What a handler gives. */
export interface Answer {
  /** Absent: a success. */
  readonly code?: ErrorCode
  /** Bytes are copied before the lane runs its next request. */
  readonly body: string | Uint8Array
  /** Default: JSON. */
  readonly contentType?: string
  readonly facts?: readonly (readonly [Fact, string])[]
  /** It stays the same until the server ends: a surface may have clients keep it. */
  readonly isPage?: true
  /** One of several that make up the body: it is not compressed. */
  readonly isPart?: boolean
}

/** What goes to a surface, whoever made it. */
export interface OutgoingAnswer {
  /** Null: a success. */
  readonly code: ErrorCode | null
  /** Null: JSON. */
  readonly contentType: string | null
  readonly facts: Facts
  /** The body is compressed as its surface's form does it. */
  readonly isCompressed: boolean
  /** Valid until `answer` returns, unless the sink copies it. */
  readonly body: Uint8Array | string
  /** Absent: the body is all. */
  readonly rest?: AnswerRest
  /** The body is pushed, and `body` is empty. */
  readonly push?: PushedBody
  /** The answer of the handler, where it is a page. */
  readonly page?: Answer
}

/** The rest of an answer that comes in parts. One part is asked for at a time. */
export interface AnswerRest {
  /** The next part goes to `sink`, or a refusal, after which nothing comes any more. */
  more(sink: AnswerSink): void
  /** The client has gone: nobody is answered any more. */
  end(): void
}

/** Where an answer goes. Called at most once. */
export interface AnswerSink {
  answer(answer: OutgoingAnswer): void
}
