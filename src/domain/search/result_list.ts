/**
 * The results of one answer, as JSON in the writer of the lane: how many there are, whether another one fits,
 * the cap on their text, the bound on their bytes, and their facets. Documents are copied from the store's
 * bytes, never parsed. Full-text, vector, hybrid and cross-collection search write through it, each with its
 * own fields. One per request.
 */
import { badRequest } from '../../errors.js'
import { ANSWER_BYTES_MAX } from '../../limits/answers.js'
import type { ByteWriter } from '../../store/byte_writer.js'
import { FacetCounter } from './facets.js'

export interface ResultBounds {
  readonly limit: number
  /** Tokens of text that the results may have together; undefined: no cap. */
  readonly contextTokensMax: number | undefined
  /** Metadata keys whose values are counted; undefined: none. */
  readonly facetBy?: readonly string[] | undefined
  /** Values shown of each; undefined: all. */
  readonly facetValuesMax?: number | undefined
  /** What a client lowers where the answer is too large. */
  readonly limitName: 'the limit' | 'topK'
}

const OPENING = '{"results":['
/** The contract approximates tokens so. */
const BYTES_PER_TOKEN = 4

export class ResultList {
  readonly #out: ByteWriter
  readonly #bounds: ResultBounds
  #facets: FacetCounter | undefined
  #count = 0
  #contextBytes = 0
  #isTruncated = false
  /** Bytes of the writer before the result that was begun last. */
  #begun = 0

  /** @param out the lane's: nothing else may use it until the answer has left */
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

  /** The text of results is capped: `admits` has to be asked for each. */
  get isCapped(): boolean {
    return this.#bounds.contextTokensMax !== undefined
  }

  /** Counts the facets of the results; undefined where none are wanted. */
  get facets(): FacetCounter | undefined {
    return this.#facets
  }

  /** Forgets the results so far. */
  restart(): void {
    const { facetBy, facetValuesMax = Number.POSITIVE_INFINITY } = this.#bounds
    this.#out.begin().ascii(OPENING)
    this.#facets = facetBy === undefined ? undefined : new FacetCounter(facetBy, facetValuesMax)
    this.#count = 0
    this.#contextBytes = 0
    this.#isTruncated = false
  }

  /**
   * Whether a result with so many bytes of text fits under the cap. The first one always does; after a
   * refusal the list is full.
   */
  admits(textBytes: number): boolean {
    const { contextTokensMax = Number.POSITIVE_INFINITY } = this.#bounds
    this.#contextBytes += textBytes
    this.#isTruncated = this.#count > 0 && this.#contextBytes / BYTES_PER_TOKEN > contextTokensMax
    return !this.#isTruncated
  }

  /**
   * Begins a result: its document comes next.
   * @param before JSON of the fields in front of it, each with a comma behind it
   */
  begin(before = ''): void {
    this.#begun = this.#out.length
    if (before === '') this.#out.ascii(this.#count === 0 ? '{"document":' : ',{"document":')
    else this.#out.utf8(`${this.#count === 0 ? '' : ','}{${before}"document":`)
  }

  /** Takes back the result that was begun. */
  cancel(): void {
    this.#out.cut(this.#begun)
  }

  /** Ends the result that was begun. @throws ServiceError 400 where the answer exceeds its bound */
  end(): void {
    this.#out.ascii('}')
    this.#count++
    if (this.#out.length > ANSWER_BYTES_MAX)
      throw badRequest(`answer larger than ${ANSWER_BYTES_MAX} bytes, please lower ${this.#bounds.limitName}`)
  }

  /**
   * @param fields of the answer, behind the number of results
   * @returns the whole answer, a view of the lane's writer
   */
  finish(fields: object): Uint8Array {
    const tail = {
      total: this.#count,
      ...fields,
      ...(this.#facets === undefined ? {} : { facets: this.#facets.counts() }),
      ...(this.#isTruncated ? { contextTruncated: true } : {}),
    }
    this.#out.utf8(`],${JSON.stringify(tail).slice(1)}`)
    return this.#out.view()
  }
}
