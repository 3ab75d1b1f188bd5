/**
 * Puts the answer of a full-text search together as bytes: documents are copied from the store's JSON, never parsed. One per request, over the lane's writer. Shape: service-1, full-text search, and http.md section 2.
 */
import { badRequest } from '../../errors.js'
import { ANSWER_BYTES_MAX } from '../../limits.js'
import type { ByteWriter } from '../../store/byte_writer.js'
import type { StoredDocument } from '../../store/document_cache.js'
import { contentBytesOf } from './document_text.js'
import { FacetCounter } from './facets.js'
import type { Highlights } from './highlights.js'
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
  readonly #highlights: Highlights | undefined
  #facets: FacetCounter | undefined
  #count = 0
  /** Bytes of content written, where they are capped. */
  #contextBytes = 0
  #isTruncated = false

  /** @param out the lane's: nothing else may use it until the answer has left */
  constructor(request: FulltextRequest, query: QueryPlan, out: ByteWriter, highlights?: Highlights) {
    this.#request = request
    this.#highlights = highlights
    this.#query = query
    this.#shown = query.terms.map(([term], index) => (query.wanted[index] === true ? JSON.stringify(term) : undefined))
    this.#out = out
    highlights?.lookFor(
      query.terms.map(([indexed], index) => {
        const shown = this.#shown[index]
        return shown === undefined ? undefined : { indexed, shown }
      }),
      query.root,
    )
    this.restart()
  }

  /** Results written so far. */
  get count(): number {
    return this.#count
  }

  /** Results wanted. */
  get limit(): number {
    return this.#request.limit
  }

  /** No further result has room. */
  get isFull(): boolean {
    return this.#isTruncated || this.#count >= this.#request.limit
  }

  /** Forgets the results written so far. */
  restart(): void {
    this.#out.begin().ascii(OPENING)
    const { facetBy, facetValuesMax } = this.#request
    this.#facets = facetBy === undefined ? undefined : new FacetCounter(facetBy, facetValuesMax)
    this.#count = 0
    this.#contextBytes = 0
    this.#isTruncated = false
  }

  /**
   * Left out, with all that come after it, where it would exceed the cap on content and is not the first.
   * @param matched indexes of the query's terms that the document has
   * @throws ServiceError 400 when the answer grows over its bound
   */
  result(document: StoredDocument, score: number, matched: readonly number[], isPinned = false): void {
    if (this.#exceedsContext(document)) {
      this.#isTruncated = true
      return
    }
    this.#facets?.add(document.json)
    this.#out.ascii(this.#count === 0 ? '{"document":' : ',{"document":')
    this.#out.bytes(document.json)
    this.#out.utf8(`,"score":${score},"matchedTerms":[${this.#matchedTerms(matched)}]`)
    if (this.#highlights !== undefined) {
      this.#out.ascii(',"highlights":')
      this.#out.bytes(this.#highlights.of(document, matched))
    }
    this.#out.ascii(isPinned ? ',"pinned":true}' : '}')
    this.#count++
    if (this.#out.length > ANSWER_BYTES_MAX) throw badRequest(`answer larger than ${ANSWER_BYTES_MAX} bytes, please lower the limit`)
  }

  /** `total` is the number of results returned; the number of matches is given only where it was asked for, since counting costs. */
  finish(facts: SearchFacts): Uint8Array {
    const { scoring, query, language, stem, synonyms, count } = this.#request
    const tail = {
      total: this.#count,
      ...(count ? { totalMatches: facts.matches } : {}),
      algorithm: scoring.algorithm,
      mode: query.mode,
      lang: language,
      stemmingActive: stem,
      synonymsActive: synonyms,
      fuzzy: 0,
      ...(scoring.algorithm === 'bm25f' ? { fieldWeights: Object.fromEntries(scoring.fields) } : {}),
      searchStats: {
        durationMs: Math.round(facts.durationMs * 1000) / 1000,
        queryTerms: this.#query.terms.length,
        indexSize: facts.documents,
        totalTokens: this.#query.tokens,
      },
      ...(this.#facets === undefined ? {} : { facets: this.#facets.counts() }),
      ...(this.#isTruncated ? { contextTruncated: true } : {}),
    }
    this.#out.utf8(`],${JSON.stringify(tail).slice(1)}`)
    return this.#out.view()
  }

  /** Tokens are approximated as bytes / 4, as the contract says. */
  #exceedsContext(document: StoredDocument): boolean {
    const { contextTokensMax } = this.#request
    if (contextTokensMax === undefined) return false
    this.#contextBytes += contentBytesOf(document.json)
    return this.#count > 0 && this.#contextBytes / 4 > contextTokensMax
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
