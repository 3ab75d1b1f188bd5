/**
 * What became of one request that brought no vectors, and what that means for the next. Texts are of ours:
 * nothing that a provider wrote is in them. Pure.
 */
import { EMBEDDING_PAUSE_MS_MAX, EMBEDDING_RETRY_AFTER_MS_MAX } from '../../limits/providers.js'
import { OutboundRefused } from '../destination.js'
import { BodyTooLarge } from '../received_body.js'
import { BadAnswer } from './protocol.js'
import type { EmbeddingErrorKind } from './provider.js'

export interface Failure {
  readonly kind: EmbeddingErrorKind
  readonly text: string
  /** The same request may have another outcome a little later. */
  readonly isPassing: boolean
  /** The request itself was at fault, says the provider: another form of it may do. */
  readonly isOfRequest: boolean
  /** The provider, or the kind of the failure, wants no request for so long. */
  readonly pauseMs: number | undefined
  readonly cause?: unknown
}

/** Statuses by which a provider says that what was sent will not do. */
const OF_REQUEST = new Set([400, 413, 422])
/** Of a provider that has too much to do, or trouble of its own; 5xx as well. */
const PASSING = new Set([408, 409, 425, 429])

const HINTS: Readonly<Record<number, string>> = {
  401: 'is the API key right?',
  402: 'is the account paid for?',
  403: 'may this API key do this?',
  404: 'are address and model right?',
  429: 'too many requests, or the quota is used up',
}

/** @param headers names in lower case; @param nowMs Unix milliseconds */
export function failureOfStatus(status: number, headers: Readonly<Record<string, string>>, nowMs: number): Failure {
  const hint = HINTS[status] === undefined ? '' : `, ${HINTS[status]}`
  const text = status >= 300 && status < 400 ? `it sends elsewhere (HTTP ${status}), which is not followed` : `HTTP ${status}${hint}`
  if (OF_REQUEST.has(status)) return { kind: 'refused', text, isPassing: false, isOfRequest: true, pauseMs: undefined }
  const isPassing = PASSING.has(status) || status >= 500
  // Address, key, account: only somebody can change it, who need not hear of every document that waits.
  const pauseMs = isPassing ? retryAfterMs(headers, nowMs) : EMBEDDING_PAUSE_MS_MAX
  return { kind: 'unavailable', text, isPassing, isOfRequest: false, pauseMs }
}

/** @param isLate the request's own time was over */
export function failureOfError(error: unknown, isLate: boolean, msMax: number): Failure {
  const none = { isOfRequest: false, pauseMs: undefined, cause: error }
  if (error instanceof BadAnswer || error instanceof BodyTooLarge)
    return { ...none, kind: 'refused', text: `an answer that can't be used: ${error.message}`, isPassing: true }
  if (error instanceof OutboundRefused) {
    const text = `${error.message}; SVC_OUTBOUND_ALLOWLIST can allow it`
    return { ...none, kind: 'unavailable', text, isPassing: false, pauseMs: EMBEDDING_PAUSE_MS_MAX }
  }
  const text = isLate ? `no answer within ${msMax} ms` : `no answer: ${codeOf(error)}`
  return { ...none, kind: 'unavailable', text, isPassing: true }
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : 'the connection failed'
}

/** Undefined where the provider says nothing. Seconds, a date, or the milliseconds that some give beside. */
function retryAfterMs(headers: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const exact = headers['retry-after-ms']
  const text = headers['retry-after']
  const ms = /^\d+(\.\d+)?$/.test(exact ?? '') ? Number(exact) : parseRetryAfter(text ?? '', nowMs)
  return ms === undefined ? undefined : Math.min(Math.max(0, ms), EMBEDDING_RETRY_AFTER_MS_MAX)
}

function parseRetryAfter(text: string, nowMs: number): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : date - nowMs
}
