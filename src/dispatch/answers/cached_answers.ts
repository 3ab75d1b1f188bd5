/**
 * Serves cached answers to every surface and caches new ones. The permission is checked before a cached
 * answer is served, because rights may have changed since the answer was made. Front-end thread only.
 */
import { authorize } from '../../access/authorize.js'
import { MIB } from '../../limits/units.js'
import { isInternal } from '../../operations/row/operation.js'
import type { AnswerSink, OutgoingAnswer } from '../../wire/answer.js'
import type { DispatchRequest } from '../ticket.js'
import { AnswerCache, asksForCache, cacheSecondsOf, mayBeLookedUp } from './answer_cache.js'
import { refusalOf } from './answers.js'

/** Bytes of all answers cached on request: 500 of 128 KB. */
const ANSWERS_CACHED_BYTES_MAX = 64 * MIB
/**
 * Answers cached until the next write, for operations whose answers are small (completions, 1 KB): the texts
 * that people type start with a few thousand prefixes. The bytes include the cache keys: URLs of up to 8 KB,
 * or bodies.
 */
const ANSWERS_KEPT_MAX = 8192
const ANSWERS_KEPT_BYTES_MAX = 16 * MIB

/** An answer, and the collections for which the permission was checked. */
interface Answered extends OutgoingAnswer {
  readonly collections?: readonly string[]
}

export class CachedAnswers {
  /**
   * One cache for requests that ask for caching, one for operations that are always cached. Neither evicts
   * entries of the other.
   */
  readonly #asked: AnswerCache
  readonly #unasked: AnswerCache

  /** @param commits returns the number of published commits; every commit invalidates all older answers */
  constructor(answersMax: number, commits: () => number) {
    this.#asked = new AnswerCache(answersMax, ANSWERS_CACHED_BYTES_MAX, commits)
    this.#unasked = new AnswerCache(ANSWERS_KEPT_MAX, ANSWERS_KEPT_BYTES_MAX, commits)
  }

  /** @returns the sink for the answer, or null if the request was answered from the cache */
  sinkFor({ admitted, input, principal, sink }: DispatchRequest): AnswerSink | null {
    const { operation } = admitted
    if (isInternal(operation)) return sink
    const { isRepeatable, keptSeconds, name } = operation
    const request = { operationName: name, input, principal }
    if (keptSeconds === undefined ? isRepeatable !== true || !asksForCache(request) : !mayBeLookedUp(request)) return sink
    const cache = keptSeconds === undefined ? this.#asked : this.#unasked
    const found = cache.find(request, performance.now())
    if (found === null) return sink
    if ('answer' in found) {
      sink.answer(allowed(() => authorize(operation, principal, found.collections, 'cached')) ?? found.answer)
      return null
    }
    return {
      answer: (answer: Answered) => {
        cache.offer(found, answer, answer.collections ?? [], keptSeconds ?? cacheSecondsOf(answer), performance.now())
        sink.answer(answer)
      },
    }
  }
}

/** Returns the refusal, if there is one. */
function allowed(ask: () => unknown): OutgoingAnswer | undefined {
  try {
    ask()
    return undefined
  } catch (error) {
    return refusalOf(error)
  }
}
