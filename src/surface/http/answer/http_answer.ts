/**
 * The HTTP form of an answer: status, headers, content coding. It is derived from the code and the facts of
 * an answer; no other layer knows the header names of facts. Pure.
 */
import { refusal } from '../../../dispatch/answers/answers.js'
import type { ErrorCode } from '../../../errors.js'
import { entryOf } from '../../../errors.js'
import type { AnyOperation } from '../../../operations/row/operation.js'
import { isInternal } from '../../../operations/row/operation.js'
import { type AnswerRest, type Fact, factOf, type OutgoingAnswer } from '../../../wire/answer.js'
import type { PushedBody } from '../../../wire/body_streams.js'

export interface HttpAnswer {
  readonly status: number
  /** Null: JSON. */
  readonly contentType: string | null
  /** name, value, name, value ... */
  readonly headers: readonly string[]
  /** Whether the body is already gzip-compressed. */
  readonly gzip: boolean
  /** Valid until `answer` returns, unless it is copied. */
  readonly body: Uint8Array | string
  /** As in `OutgoingAnswer`. */
  readonly owned?: ArrayBuffer | undefined
  /** Absent if `body` is complete. */
  readonly rest?: AnswerRest
  /** Present if the body is pushed; `body` is empty then. */
  readonly push?: PushedBody
}

const ACCEPTED = 202
const UNAUTHORIZED = 401
const NO_HEADERS: readonly string[] = []
/** Neither caches nor proxies keep back what is pushed. */
const PUSHED_HEADERS: readonly string[] = ['Cache-Control', 'no-cache, no-transform', 'X-Accel-Buffering', 'no']

const HEADERS_OF: Readonly<Record<Fact, (value: string) => readonly string[]>> = {
  total: (value) => ['X-Total-Count', value],
  // Over HTTP it is part of the configuration, which clients read once.
  responsePrompt: () => NO_HEADERS,
  truncated: (value) => ['X-Context-Truncated', value],
  // Both have the same value. The first is the name that proxies use, the second is part of the contract.
  cache: (value) => ['X-Cache', value, 'X-MDDB-Cache', value],
  cacheSeconds: (value) => ['X-Cache-Ttl', value],
  fileName: (value) => ['Content-Disposition', `attachment; filename="${value}"`],
  // It is in the status.
  accepted: () => NO_HEADERS,
  retryAfterSeconds: (value) => ['Retry-After', value],
  outcome: () => NO_HEADERS,
  warning: () => NO_HEADERS,
}

/** @param operation null if none was found for the request */
export function httpAnswer(operation: AnyOperation | null, answer: OutgoingAnswer): HttpAnswer {
  const { code, contentType, facts, isCompressed, body, owned, rest, push } = answer
  const success = factOf(facts, 'accepted') === undefined ? successStatusOf(operation) : ACCEPTED
  const status = code === null ? success : entryOf(code).http
  const headers = code === null && facts.length === 0 ? NO_HEADERS : headersOf(code, facts)
  const given = { status, contentType, headers, gzip: isCompressed, body, owned }
  if (rest !== undefined) return { ...given, rest }
  return push === undefined ? given : { ...given, headers: [...headers, ...PUSHED_HEADERS], push }
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
  if (code !== null && entryOf(code).http === UNAUTHORIZED) headers.push('WWW-Authenticate', 'Bearer')
  for (let at = 0; at < facts.length; at += 2) headers.push(...HEADERS_OF[facts[at] as Fact](facts[at + 1] ?? ''))
  return headers
}
