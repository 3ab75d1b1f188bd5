/**
 * Answers that may be given again: to the same request by the same caller, as long as nothing is written and the time that the request (`cacheTtl`) or its operation allows has not passed.
 * Front-end thread only, so that every lane's answers are in one place. Least recently used goes first (told apart once half full). Decisions: docs/decisions/0068-answers-given-again.md, 0064-autocomplete.md.
 */
import { CACHED_ANSWER_BYTES_MAX, CACHED_REQUEST_BYTES_MAX } from '../../limits.js'
import { CACHE_HEADERS } from '../../operations/cache_headers.js'
import type { OutgoingAnswer } from '../../dispatch/ticket.js'

/** What tells one request from another. */
export interface CachedRequest {
  readonly operationIndex: number
  readonly query: string
  readonly body: Uint8Array | null
  readonly acceptsGzip: boolean
  readonly credentials: string
}

/** A question that found no answer, and may bring one. */
export interface Miss {
  readonly name: string
  /** State of the store when it was asked: the answer is good for that one only. */
  readonly commits: number
}

interface Kept {
  readonly answer: OutgoingAnswer
  readonly bytes: number
  readonly commits: number
  readonly untilMs: number
}

const ASKS = Buffer.from('"cacheTtl"')

export class AnswerCache {
  readonly #answersMax: number
  readonly #bytesMax: number
  readonly #commits: () => number
  readonly #kept = new Map<string, Kept>()
  #bytes = 0

  /** @param commits how many the server has published; every one ends the life of all answers before it */
  constructor(answersMax: number, bytesMax: number, commits: () => number) {
    this.#answersMax = answersMax
    this.#bytesMax = bytesMax
    this.#commits = commits
  }

  /** The answer, or where to keep the one that comes; null where none is kept. */
  find(request: CachedRequest, nowMs: number): OutgoingAnswer | Miss | null {
    if (this.#answersMax === 0) return null
    const name = nameOf(request)
    const commits = this.#commits()
    const kept = this.#kept.get(name)
    if (kept === undefined) return { name, commits }
    if (kept.commits !== commits || kept.untilMs <= nowMs) {
      this.#drop(name, kept)
      return { name, commits }
    }
    // While there is room for as many again, nobody has to know what was used last: moving an entry with every hit makes the map grow and be copied, time and again.
    if (this.#kept.size * 2 > this.#answersMax) {
      this.#drop(name, kept)
      this.#keep(name, kept)
    }
    return kept.answer
  }

  /** Copies the answer if it may be given again. */
  offer({ name, commits }: Miss, answer: OutgoingAnswer, seconds: number, nowMs: number): void {
    if (answer.status !== 200 || seconds <= 0 || answer.body.length > CACHED_ANSWER_BYTES_MAX) return
    const old = this.#kept.get(name)
    if (old !== undefined) this.#drop(name, old)
    const headers = answer.headers.map((text, index, all) => (index % 2 === 1 && isState(all[index - 1]) ? 'hit' : text))
    const body = typeof answer.body === 'string' ? answer.body : new Uint8Array(answer.body)
    this.#keep(name, { answer: { ...answer, headers, body }, bytes: body.length + name.length, commits, untilMs: nowMs + seconds * 1000 })
    for (const [oldest, each] of this.#kept) {
      if (this.#kept.size <= this.#answersMax && this.#bytes <= this.#bytesMax) break
      this.#drop(oldest, each)
    }
  }

  #keep(name: string, kept: Kept): void {
    this.#kept.set(name, kept)
    this.#bytes += kept.bytes
  }

  #drop(name: string, kept: Kept): void {
    this.#kept.delete(name)
    this.#bytes -= kept.bytes
  }
}

/** Whether the request allows that its answer is given again: looked for, not parsed; the lane that parses it says for how long. */
export function asksForCache({ query, body }: CachedRequest): boolean {
  if (body === null) return query.includes('cacheTtl=')
  if (body.length > CACHED_REQUEST_BYTES_MAX) return false
  return Buffer.from(body.buffer, body.byteOffset, body.length).includes(ASKS) || query.includes('cacheTtl=')
}

/** For how long the lane says that the answer may be given again: 0 where it says nothing. */
export function cacheSecondsOf({ headers }: OutgoingAnswer): number {
  return Number(headerOf(headers, CACHE_HEADERS.seconds) ?? 0)
}

/** No part can be taken for another: all but the last say how long they are. */
function nameOf({ operationIndex, query, body, acceptsGzip, credentials }: CachedRequest): string {
  const text = body === null ? '' : Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1')
  return `${operationIndex} ${acceptsGzip} ${query.length} ${query} ${credentials.length} ${credentials} ${text}`
}

function isState(name: string | undefined): boolean {
  return CACHE_HEADERS.states.some((each) => each === name)
}

function headerOf(headers: readonly string[], name: string): string | undefined {
  for (let at = 0; at < headers.length; at += 2) if (headers[at] === name) return headers[at + 1]
  return undefined
}
