/**
 * Cache of answers. An entry is valid for the same request by the same principal, as long as nothing is
 * written and the lifetime that the request (`cacheTtl`) or its operation allows has not expired. Front-end
 * thread only, so that the answers of every lane share one cache. Eviction is least recently used; the order
 * is tracked once the cache is half full. Decisions: docs/decisions/search/search-answers.md,
 * docs/decisions/search/term-expansion.md.
 */
import type { Principal } from '../../access/principal.js'
import { KIB, MIB } from '../../limits/units.js'
import { factOf, type OutgoingAnswer } from '../../wire/answer.js'
import type { EncodedInput } from '../../wire/form.js'

/** A larger answer is not cached: it would evict ten others. */
const CACHED_ANSWER_BYTES_MAX = 4 * MIB
/** A larger request is not looked up, because its body is a part of the cache key. */
const CACHED_REQUEST_BYTES_MAX = 16 * KIB

/** The parts of a request that form its cache key. */
interface CachedRequest {
  readonly operationName: string
  readonly input: EncodedInput
  readonly principal: Principal
}

/** A lookup without a hit. Its answer may be cached under `name`. */
interface Miss {
  readonly name: string
  /** State of the store at the time of the lookup. The answer is valid for that state only. */
  readonly commits: number
}

interface CachedAnswer {
  readonly answer: OutgoingAnswer
  /** Collections for which the permission was checked when the answer was made. */
  readonly collections: readonly string[]
  readonly bytes: number
  readonly commits: number
  readonly untilMs: number
}

/** The field name as it is encoded in JSON and in MessagePack. */
const ASKS = Buffer.from('cacheTtl')

export class AnswerCache {
  readonly #answersMax: number
  readonly #bytesMax: number
  readonly #commits: () => number
  readonly #kept = new Map<string, CachedAnswer>()
  #bytes = 0

  /** @param commits returns the number of published commits; every commit invalidates all older answers */
  constructor(answersMax: number, bytesMax: number, commits: () => number) {
    this.#answersMax = answersMax
    this.#bytesMax = bytesMax
    this.#commits = commits
  }

  /**
   * Returns the cached answer, or a miss to which the answer can be offered; null if the cache is disabled.
   */
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
    // The use order is not tracked while the cache is at most half full. Moving an entry on every hit makes
    // the map grow and be copied repeatedly.
    if (this.#kept.size * 2 > this.#answersMax) {
      this.#drop(name, kept)
      this.#keep(name, kept)
    }
    return kept
  }

  /** Caches a copy of the answer if it is cacheable. */
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

/** Whether the request is small enough to be a cache key. */
export function mayBeLookedUp({ input: { body } }: CachedRequest): boolean {
  return body === null || body.length <= CACHED_REQUEST_BYTES_MAX
}

/**
 * Whether the request asks for caching. The bytes are searched for `cacheTtl` and not parsed. The lane that
 * parses the request reports the lifetime.
 */
export function asksForCache(request: CachedRequest): boolean {
  if (!mayBeLookedUp(request)) return false
  const { head, body } = request.input
  if (body !== null && Buffer.from(body.buffer, body.byteOffset, body.length).includes(ASKS)) return true
  return head.includes('cacheTtl=')
}

/** Lifetime in seconds that the lane reports for the answer; 0 if it reports none. */
export function cacheSecondsOf({ facts }: OutgoingAnswer): number {
  return Number(factOf(facts, 'cacheSeconds') ?? 0)
}

/**
 * Builds the cache key. It contains the lengths of the variable parts except the last, so that keys of
 * different requests never collide.
 */
function nameOf({ operationName, input, principal }: CachedRequest): string {
  const { form, head, params, mayCompress, body } = input
  const text = body === null ? '' : Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1')
  const caller = `${principal.kind} ${principal.name}`
  const beside = params.length === 0 ? '' : JSON.stringify(params)
  const sizes = `${head.length} ${beside.length} ${caller.length}`
  return `${operationName} ${form} ${mayCompress} ${sizes} ${head} ${beside} ${caller} ${text}`
}
