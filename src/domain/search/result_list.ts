/**
 * The results of one answer, as JSON in the lane's writer. Tracks the number of results, whether another one
 * fits, the cap on their text, the limit on their bytes, and their facets. Documents are copied from the
 * store's bytes and never parsed. Full-text, vector, hybrid and cross-collection search write through it,
 * each with its own fields. One per request.
 */
import { badRequest } from '../../errors.js'
import { ANSWER_BYTES_MAX } from '../../limits/documents.js'
import type { ByteWriter } from '../../store/rows/byte_writer.js'
import { FacetCounter } from './facets.js'

export interface ResultBounds {
  readonly limit: number
  /** Token budget for the text of all results together. Undefined: no cap. */
  readonly contextTokensMax: number | undefined
  /** Metadata keys whose values are counted. Undefined: none. */
  readonly facetBy?: readonly string[] | undefined
  /** Maximum number of values per key. Undefined: all. */
  readonly facetValuesMax?: number | undefined
  /** The parameter that a client must lower if the answer is too large. */
  readonly limitName: 'the limit' | 'topK'
}

const OPENING = '{"results":['
/** The contract approximates tokens by this ratio. */
const BYTES_PER_TOKEN = 4

export class ResultList {
  readonly #out: ByteWriter
  readonly #bounds: ResultBounds
  #facets: FacetCounter | undefined
  #count = 0
  #contextBytes = 0
  #isTruncated = false
  /** Length of the writer before the result that was begun last. */
  #begun = 0

  /** @param out the lane's writer: nothing else may use it until the answer has been sent */
  constructor(out: ByteWriter, bounds: ResultBounds) {
    this.#out = out
    this.#bounds = bounds
    this.restart()
  }

  get count(): number {
    return this.#count
  }

  get limit(): number {
    return this.#bounds.limit
  }

  /** No further result fits. */
  get isFull(): boolean {
    return this.#isTruncated || this.#count >= this.#bounds.limit
  }

  /** The text of results is capped: `admits` must be called for each result. */
  get isCapped(): boolean {
    return this.#bounds.contextTokensMax !== undefined
  }

  /** Counts the facets of the results. Undefined if no facets are requested. */
  get facets(): FacetCounter | undefined {
    return this.#facets
  }

  /** Discards the results so far. */
  restart(): void {
    const { facetBy, facetValuesMax = Number.POSITIVE_INFINITY } = this.#bounds
    this.#out.begin().ascii(OPENING)
    this.#facets = facetBy === undefined ? undefined : new FacetCounter(facetBy, facetValuesMax)
    this.#count = 0
    this.#contextBytes = 0
    this.#isTruncated = false
  }

  /**
   * Whether a result with the given number of bytes of text fits under the cap. The first result always fits.
   * After a refusal the list is full.
   */
  admits(textBytes: number): boolean {
    const { contextTokensMax = Number.POSITIVE_INFINITY } = this.#bounds
    this.#contextBytes += textBytes
    this.#isTruncated = this.#count > 0 && this.#contextBytes / BYTES_PER_TOKEN > contextTokensMax
    return !this.#isTruncated
  }

  /**
   * Begins a result. Its document is written next.
   * @param before JSON of the fields before the document, each followed by a comma
   */
  begin(before = ''): void {
    this.#begun = this.#out.length
    if (before === '') this.#out.ascii(this.#count === 0 ? '{"document":' : ',{"document":')
    else this.#out.utf8(`${this.#count === 0 ? '' : ','}{${before}"document":`)
  }

  /** Removes the result that was begun. */
  cancel(): void {
    this.#out.cut(this.#begun)
  }

  /**
   * Writes all results of the answer at once, into a list that is empty.
   * @param write returns the number of bytes stored, 0 for nothing, or the negated number of bytes that it
   * needs
   * @returns whether they have been written
   */
  writeAll(count: number, write: (space: Uint8Array) => number): boolean {
    if (!this.#out.appended(write)) return false
    this.#count = count
    return true
  }

  /** Ends the result that was begun. @throws ServiceError 400 when the answer exceeds its bound */
  end(): void {
    this.#out.ascii('}')
    this.#count++
    if (this.#out.length > ANSWER_BYTES_MAX)
      throw badRequest(`answer larger than ${ANSWER_BYTES_MAX} bytes, please lower ${this.#bounds.limitName}`)
  }

  /**
   * @param fields of the answer, written after the number of results
   * @returns the whole answer, a view of the lane's writer
   */
  finish(fields: object): Uint8Array {
    const members = JSON.stringify(fields).slice(1, -1)
    const facets = this.#facets === undefined ? '' : `,"facets":${JSON.stringify(this.#facets.counts())}`
    const truncated = this.#isTruncated ? ',"contextTruncated":true' : ''
    this.#out.utf8(`],"total":${this.#count}${members === '' ? '' : ','}${members}${facets}${truncated}}`)
    return this.#out.view()
  }
}
