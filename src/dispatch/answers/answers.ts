/**
 * Answers that the front end makes itself: refusals from the catalogue, and conversion of handlers' answers
 * to outgoing ones. Pure functions.
 */
import { CATALOGUE, ERROR_CODES, type ErrorCode, ServiceError } from '../../errors.js'
import type { Answer, Facts, OutgoingAnswer } from '../../wire/answer.js'

const NO_FACTS: Facts = []

/** Returns `{"error": text}` with the text of the catalogue. */
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

/** Returns `{"error": text}` with the given text. */
export function refusalWith(code: ErrorCode, text: string): OutgoingAnswer {
  return { code, contentType: null, facts: NO_FACTS, isCompressed: false, body: JSON.stringify({ error: text }) }
}

/** @throws every error that is not an operating error */
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
