/**
 * Puts the answer of a full-text search together as bytes: documents are copied from the store's JSON, never parsed. One per request, over the lane's writer. Shape: service-1, full-text search, and http.md section 2.
 */
import { badRequest } from '../../errors.js'
import { ANSWER_BYTES_MAX } from '../../limits.js'
import type { ByteWriter } from '../../store/byte_writer.js'
import type { StoredDocument } from '../../store/document_cache.js'
import type { QueryPlan } from './query_plan.js'
import type { FulltextRequest } from './request.js'

export interface SearchFacts {
  /** Live documents of the collection in the index. */
  readonly documents: number
  /** All documents that match, as far as counted. */
  readonly matches: number
  readonly durationMs: number
}

const OPENING = '{"results":['

export class AnswerWriter {
  readonly #request: FulltextRequest
  readonly #query: QueryPlan
  /** JSON text of each term that may be shown as matched. */
  readonly #shown: readonly (string | undefined)[]
  readonly #out: ByteWriter
  #count = 0

  /** @param out the lane's: nothing else may use it until the answer has left */
  constructor(request: FulltextRequest, query: QueryPlan, out: ByteWriter) {
    this.#request = request
    this.#query = query
    this.#shown = query.terms.map(([term], index) => (query.wanted[index] === true ? JSON.stringify(term) : undefined))
    this.#out = out.begin()
    this.#out.ascii(OPENING)
  }

  /** Results written so far. */
  get count(): number {
    return this.#count
  }

  /** Forgets the results written so far. */
  restart(): void {
    this.#out.begin().ascii(OPENING)
    this.#count = 0
  }

  /**
   * @param matched indexes of the query's terms that the document has
   * @throws ServiceError 400 when the answer grows over its bound
   */
  result(document: StoredDocument, score: number, matched: readonly number[]): void {
    this.#out.ascii(this.#count === 0 ? '{"document":' : ',{"document":')
    this.#out.bytes(document.json)
    this.#out.utf8(`,"score":${score},"matchedTerms":[${this.#matchedTerms(matched)}]}`)
    this.#count++
    if (this.#out.length > ANSWER_BYTES_MAX) throw badRequest(`answer larger than ${ANSWER_BYTES_MAX} bytes, please lower the limit`)
  }

  /** `total` is the number of results returned; the number of matches is given only where it was asked for, since counting costs. */
  finish(facts: SearchFacts): Uint8Array {
    const { scoring, query, language, stem, count } = this.#request
    const tail = {
      total: this.#count,
      ...(count ? { totalMatches: facts.matches } : {}),
      algorithm: scoring.algorithm,
      mode: query.mode,
      lang: language,
      stemmingActive: stem,
      // No collection can have synonyms yet.
      synonymsActive: false,
      fuzzy: 0,
      ...(scoring.algorithm === 'bm25f' ? { fieldWeights: Object.fromEntries(scoring.fields) } : {}),
      searchStats: {
        durationMs: Math.round(facts.durationMs * 1000) / 1000,
        queryTerms: this.#query.terms.length,
        indexSize: facts.documents,
        totalTokens: this.#query.tokens,
      },
    }
    this.#out.utf8(`],${JSON.stringify(tail).slice(1)}`)
    return this.#out.view()
  }

  #matchedTerms(matched: readonly number[]): string {
    const terms: string[] = []
    for (const index of matched) {
      const term = this.#shown[index]
      if (term !== undefined) terms.push(term)
    }
    return terms.join(',')
  }
}
