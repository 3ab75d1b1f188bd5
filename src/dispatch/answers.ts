/**
 * Answers that the front end makes itself: refusals of the catalogue, and answers of handlers on their way
 * out. Pure.
 */
import { CATALOGUE, ERROR_CODES, ServiceError, type ErrorCode } from '../errors.js'
import type { Answer, Facts, OutgoingAnswer } from '../wire/answer.js'

const NO_FACTS: Facts = []

/** `{"error": text}` of the catalogue. */
export function refusal(code: ErrorCode): OutgoingAnswer {
  return REFUSALS[code]
}

const REFUSALS = Object.fromEntries(ERROR_CODES.map((code) => [code, refusalWith(code, CATALOGUE[code].text)])) as Record<
  ErrorCode,
  OutgoingAnswer
>

export function successOf(body: string | Uint8Array): OutgoingAnswer {
  return { code: null, contentType: null, facts: NO_FACTS, isCompressed: false, body }
}

/** The same with a text of its own. */
export function refusalWith(code: ErrorCode, text: string): OutgoingAnswer {
  return { code, contentType: null, facts: NO_FACTS, isCompressed: false, body: JSON.stringify({ error: text }) }
}

/** @throws what is not an operating error */
export function refusalOf(error: unknown): OutgoingAnswer {
  if (!(error instanceof ServiceError)) throw error
  return refusalWith(error.code, error.message)
}

export function outgoing(answer: Answer): OutgoingAnswer {
  return {
    code: answer.code ?? null,
    contentType: answer.contentType ?? null,
    facts: answer.facts === undefined ? NO_FACTS : answer.facts.flat(),
    isCompressed: false,
    body: answer.body,
    ...(answer.isPage === true ? { page: answer } : {}),
  }
}
