/**
 * Classifies a request that returned no vectors, and what the failure means for the next request. The texts
 * are this project's own and contain nothing from the provider's response. Pure.
 */
import { EMBEDDING_PAUSE_MS_MAX } from '../../limits/embedding.js'
import { OutboundRefused } from '../destination.js'
import { BodyTooLarge } from '../received_body.js'
import { BadAnswer } from './protocol.js'
import type { EmbeddingErrorKind } from './provider.js'

/**
 * A longer `Retry-After` is shortened to this. A mistaken value of days must not block a provider for days
 * after its quota is available again.
 */
const EMBEDDING_RETRY_AFTER_MS_MAX = 600_000

export interface Failure {
  readonly kind: EmbeddingErrorKind
  readonly text: string
  /** The same request may succeed a little later. */
  readonly isPassing: boolean
  /** According to the provider, the request itself is invalid. Another form of it may succeed. */
  readonly isOfRequest: boolean
  /**
   * No request should be sent for this time, because the provider asked for it or the kind of failure
   * requires it.
   */
  readonly pauseMs: number | undefined
  readonly cause?: unknown
}

/** Statuses of an invalid request. */
const OF_REQUEST = new Set([400, 413, 422])
/** Statuses of an overloaded or failing provider; also 5xx. */
const PASSING = new Set([408, 409, 425, 429])

const HINTS: Readonly<Record<number, string>> = {
  401: 'is the API key right?',
  402: 'is the account paid for?',
  403: 'may this API key do this?',
  404: 'are address and model right?',
  429: 'too many requests, or the quota is used up',
}

/**
 * @param headers with lower-case names
 * @param nowMs Unix milliseconds
 */
export function failureOfStatus(status: number, headers: Readonly<Record<string, string>>, nowMs: number): Failure {
  const hint = HINTS[status] === undefined ? '' : `, ${HINTS[status]}`
  const text = status >= 300 && status < 400 ? `it sends elsewhere (HTTP ${status}), which is not followed` : `HTTP ${status}${hint}`
  if (OF_REQUEST.has(status)) return { kind: 'refused', text, isPassing: false, isOfRequest: true, pauseMs: undefined }
  const isPassing = PASSING.has(status) || status >= 500
  // Address, key, or account: only the operator can fix it. The long pause avoids one report per waiting
  // document.
  const pauseMs = isPassing ? retryAfterMs(headers, nowMs) : EMBEDDING_PAUSE_MS_MAX
  return { kind: 'unavailable', text, isPassing, isOfRequest: false, pauseMs }
}

/** @param isLate whether the request exceeded its own time limit */
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

/**
 * Undefined if there is no such header. `retry-after` is in seconds or a date; `retry-after-ms`, which some
 * providers add, is in milliseconds.
 */
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
