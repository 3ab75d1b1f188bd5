/** Answers that the front end makes itself: refusals from the catalogue, and what an Answer of a handler looks like on its way out. Pure. */
import { CATALOGUE, type CatalogueEntry } from '../errors.js'
import type { Answer } from '../worker/request/handler.js'
import type { OutgoingAnswer } from './ticket.js'

const NO_HEADERS: readonly string[] = []

/** `{"error": text}` with the status and the Retry-After of the catalogue. */
export function refusal(code: keyof typeof CATALOGUE): OutgoingAnswer {
  return REFUSALS[code]
}

const REFUSALS = Object.fromEntries(Object.entries(CATALOGUE).map(([code, entry]) => [code, refusalOf(entry)])) as Record<
  keyof typeof CATALOGUE,
  OutgoingAnswer
>

function refusalOf(entry: CatalogueEntry): OutgoingAnswer {
  return {
    status: entry.http,
    contentType: null,
    headers: entry.retryAfterSeconds === undefined ? NO_HEADERS : ['Retry-After', String(entry.retryAfterSeconds)],
    gzip: false,
    body: JSON.stringify({ error: entry.text }),
  }
}

export function outgoing(answer: Answer): OutgoingAnswer {
  return {
    status: answer.status,
    contentType: answer.contentType ?? null,
    headers: answer.headers === undefined ? NO_HEADERS : answer.headers.flat(),
    gzip: false,
    body: answer.body,
  }
}
