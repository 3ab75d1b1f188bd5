/**
 * Answers that may be given again: to the same request by the same principal, as long as nothing is written
 * and the time that the request (`cacheTtl`) or its operation allows has not passed. Front-end thread only,
 * so that every lane's answers are in one place. The least recently used is evicted first (order is tracked
 * once the cache is half full). Decisions: docs/decisions/0068-answers-given-again.md, 0064-autocomplete.md.
 */
import type { Principal } from '../access/principal.js'
import { CACHED_ANSWER_BYTES_MAX, CACHED_REQUEST_BYTES_MAX } from '../limits/answers.js'
import { factOf, type OutgoingAnswer } from '../wire/answer.js'
import type { EncodedInput } from '../wire/form.js'

/** What tells one request from another. */
export interface CachedRequest {
  readonly operationName: string
  readonly input: EncodedInput
  readonly principal: Principal
}

/** A question that found no answer, and may bring one. */
export interface Miss {
  readonly name: string
  /** State of the store when it was asked: the answer is good for that one only. */
  readonly commits: number
}

export interface CachedAnswer {
  readonly answer: OutgoingAnswer
  /** On which the permission was asked when it was made. */
  readonly collections: readonly string[]
  readonly bytes: number
  readonly commits: number
  readonly untilMs: number
}

/** In JSON and in MessagePack. */
const ASKS = Buffer.from('cacheTtl')

export class AnswerCache {
  readonly #answersMax: number
  readonly #bytesMax: number
  readonly #commits: () => number
  readonly #kept = new Map<string, CachedAnswer>()
  #bytes = 0

  /** @param commits how many the server has published; every one ends the life of all answers before it */
  constructor(answersMax: number, bytesMax: number, commits: () => number) {
    this.#answersMax = answersMax
    this.#bytesMax = bytesMax
    this.#commits = commits
  }

  /** The answer, or where to keep the one that comes; null where none is kept. */
  find(request: CachedRequest, nowMs: number): CachedAnswer | Miss | null {
    if (this.#answersMax === 0) return null
    const name = nameOf(request)
    const commits = this.#commits()
    const kept = this.#kept.get(name)
    if (kept === undefined) return { name, commits }
    if (kept.commits !== commits || kept.untilMs <= nowMs) {
      this.#drop(name, kept)
      return { name, commits }
    }
    // While there is room for as many again, nobody has to know what was used last: moving an entry with
    // every hit makes the map grow and be copied, time and again.
    if (this.#kept.size * 2 > this.#answersMax) {
      this.#drop(name, kept)
      this.#keep(name, kept)
    }
    return kept
  }

  /** Copies the answer if it may be given again. */
  offer({ name, commits }: Miss, answer: OutgoingAnswer, collections: readonly string[], seconds: number, nowMs: number): void {
    if (answer.code !== null || answer.rest !== undefined || answer.push !== undefined) return
    if (seconds <= 0 || answer.body.length > CACHED_ANSWER_BYTES_MAX) return
    const old = this.#kept.get(name)
    if (old !== undefined) this.#drop(name, old)
    const facts = answer.facts.map((text, index, all) => (index % 2 === 1 && all[index - 1] === 'cache' ? 'hit' : text))
    const body = typeof answer.body === 'string' ? answer.body : new Uint8Array(answer.body)
    this.#keep(name, {
      answer: { ...answer, facts, body },
      collections,
      bytes: body.length + name.length,
      commits,
      untilMs: nowMs + seconds * 1000,
    })
    for (const [oldest, each] of this.#kept) {
      if (this.#kept.size <= this.#answersMax && this.#bytes <= this.#bytesMax) break
      this.#drop(oldest, each)
    }
  }

  #keep(name: string, kept: CachedAnswer): void {
    this.#kept.set(name, kept)
    this.#bytes += kept.bytes
  }

  #drop(name: string, kept: CachedAnswer): void {
    this.#kept.delete(name)
    this.#bytes -= kept.bytes
  }
}

/**
 * Whether the request allows that its answer is given again: searched for, not parsed; the lane that parses
 * it says for how long.
 */
export function asksForCache({ input }: CachedRequest): boolean {
  const { head, body } = input
  if (body !== null && body.length > CACHED_REQUEST_BYTES_MAX) return false
  if (body !== null && Buffer.from(body.buffer, body.byteOffset, body.length).includes(ASKS)) return true
  return head.includes('cacheTtl=')
}

/** For how long the lane says that the answer may be given again: 0 where it says nothing. */
export function cacheSecondsOf({ facts }: OutgoingAnswer): number {
  return Number(factOf(facts, 'cacheSeconds') ?? 0)
}

/** No part can be taken for another: all but the last say how long they are. */
function nameOf({ operationName, input, principal }: CachedRequest): string {
  const { form, head, params, mayCompress, body } = input
  const text = body === null ? '' : Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1')
  const caller = `${principal.kind} ${principal.name}`
  const beside = params.length === 0 ? '' : JSON.stringify(params)
  const sizes = `${head.length} ${beside.length} ${caller.length}`
  return `${operationName} ${form} ${mayCompress} ${sizes} ${head} ${beside} ${caller} ${text}`
}
