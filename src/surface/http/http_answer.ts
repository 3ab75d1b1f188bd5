/**
 * What an answer is over HTTP: status, headers, content coding. Made of the code and the facts of an answer,
 * whose names no other layer knows as headers. Pure.
 */
import { entryOf } from '../../errors.js'
import type { AnyOperation } from '../../operations/operation.js'
import { isInternal } from '../../operations/operation.js'
import type { PushedBody } from '../../wire/body_streams.js'
import { factOf, type AnswerRest, type Fact, type OutgoingAnswer } from '../../wire/answer.js'
import { refusal } from '../../dispatch/answers.js'
import type { ErrorCode } from '../../errors.js'

export interface HttpAnswer {
  readonly status: number
  /** Null: JSON. */
  readonly contentType: string | null
  /** name, value, name, value ... */
  readonly headers: readonly string[]
  /** The body is gzip already. */
  readonly gzip: boolean
  /** Valid until `answer` returns, unless it is copied. */
  readonly body: Uint8Array | string
  /** Absent: the body is all. */
  readonly rest?: AnswerRest
  /** The body is pushed, and `body` is empty. */
  readonly push?: PushedBody
}

const NO_HEADERS: readonly string[] = []

const HEADERS_OF: Readonly<Record<Fact, (value: string) => readonly string[]>> = {
  total: (value) => ['X-Total-Count', value],
  truncated: (value) => ['X-Context-Truncated', value],
  // Both say the same: the first is what proxies say, the second is the contract's.
  cache: (value) => ['X-Cache', value, 'X-MDDB-Cache', value],
  cacheSeconds: (value) => ['X-Cache-Ttl', value],
  fileName: (value) => ['Content-Disposition', `attachment; filename="${value}"`],
  retryAfterSeconds: (value) => ['Retry-After', value],
}

/** @param operation null: none was found for the request */
export function httpAnswer(operation: AnyOperation | null, answer: OutgoingAnswer): HttpAnswer {
  const { code, contentType, facts, isCompressed, body, rest, push } = answer
  const status = code === null ? successStatusOf(operation) : entryOf(code).http
  const headers = code === null && facts.length === 0 ? NO_HEADERS : headersOf(code, facts)
  const given = { status, contentType, headers, gzip: isCompressed, body }
  if (rest !== undefined) return { ...given, rest }
  return push === undefined ? given : { ...given, push }
}

/** The answer to a request that reaches no operation. */
export function httpRefusal(code: ErrorCode): HttpAnswer {
  return httpAnswer(null, refusal(code))
}

function successStatusOf(operation: AnyOperation | null): number {
  if (operation === null || isInternal(operation)) return 200
  return operation.http?.successStatus ?? 200
}

function headersOf(code: ErrorCode | null, facts: readonly string[]): readonly string[] {
  const headers: string[] = []
  const retryAfterSeconds = code === null ? undefined : entryOf(code).retryAfterSeconds
  if (retryAfterSeconds !== undefined && factOf(facts, 'retryAfterSeconds') === undefined)
    headers.push('Retry-After', String(retryAfterSeconds))
  for (let at = 0; at < facts.length; at += 2) headers.push(...HEADERS_OF[facts[at] as Fact](facts[at + 1] ?? ''))
  return headers
}
