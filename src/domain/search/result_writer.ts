/**
 * Puts the results of a vector, hybrid or cross-collection search together as bytes: heads and contents are copied from the store, never parsed. One per request, over the lane's writer.
 */
import { badRequest, serviceError } from '../../errors.js'
import { ANSWER_BYTES_MAX } from '../../limits.js'
import type { ByteWriter } from '../../store/byte_writer.js'
import type { Head } from '../../store/head.js'
import type { View } from '../../store/view.js'
import type { CuttingTools } from '../embedding/chunks.js'
import { contentBytesOf } from '../documents/document_json.js'
import type { FacetCounter } from './facets.js'
import type { Stop } from './context.js'
import { passageOf, type PassagePlace } from './passages.js'
import type { Retrieval } from './retrieval.js'

export interface ResultOptions {
  readonly limit: number
  readonly withContent: boolean
  readonly retrieval: Retrieval
  /** Tokens of text that the results may have together; undefined for no cap. */
  readonly contextTokensMax: number | undefined
  /** A fresh one for each time that the results are written; undefined where no facets are wanted. */
  readonly facets?: () => FacetCounter
}

const OPENING = '{"results":['
const NO_CONTENT = ',"contentMd":""}'

export class ResultWriter {
  readonly #out: ByteWriter
  readonly #cutting: CuttingTools
  readonly #options: ResultOptions
  readonly #stop: Stop
  #facets: FacetCounter | undefined
  #count = 0
  #contextBytes = 0
  #isTruncated = false

  constructor(out: ByteWriter, cutting: CuttingTools, options: ResultOptions, stop: Stop) {
    this.#out = out
    this.#cutting = cutting
    this.#options = options
    this.#stop = stop
    this.restart()
  }

  get count(): number {
    return this.#count
  }

  /** No further result has room. */
  get isFull(): boolean {
    return this.#isTruncated || this.#count >= this.#options.limit
  }

  /** Forgets the results so far. */
  restart(): void {
    this.#out.begin().ascii(OPENING)
    this.#facets = this.#options.facets?.()
    this.#count = 0
    this.#contextBytes = 0
    this.#isTruncated = false
  }

  /**
   * Left out, with all that come after it, where its text would exceed the cap and it is not the first.
   * @param before JSON of the fields in front of the document, each with a comma behind it
   * @param fields of the result, beside document, rank and passage
   * @throws ServiceError 400 when the answer grows over its bound, `deadline` when it was stopped; BodiesWanted
   */
  add(view: View, head: Head, place: PassagePlace, fields: object, before = ''): void {
    // A passage of 10 MB takes a third of a second to find: a look at the word is nothing beside it.
    if (this.#stop.shouldStop()) throw serviceError('deadline')
    const begin = this.#out.length
    this.#out.utf8(`${this.#count === 0 ? '' : ','}{${before}"document":`)
    let bytes = this.#document(view, head)
    const rest = {
      ...fields,
      rank: this.#count + 1,
      ...(this.#options.retrieval.mode === 'parent' ? {} : this.#passage(view, head, place)),
    }
    if ('chunkText' in rest) bytes += Buffer.byteLength(rest.chunkText as string)
    if (this.#exceedsContext(bytes)) {
      this.#out.cut(begin)
      this.#isTruncated = true
      return
    }
    this.#out.utf8(`,${JSON.stringify(rest).slice(1)}`)
    if (this.#facets !== undefined) this.#facets.add(Buffer.concat([head.json, Buffer.from(NO_CONTENT)]))
    this.#count++
    if (this.#out.length > ANSWER_BYTES_MAX) throw badRequest(`answer larger than ${ANSWER_BYTES_MAX} bytes, please lower topK`)
  }

  /** @returns the whole answer, a view of the lane's writer */
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

  /** @returns bytes of content that it shows */
  #document(view: View, head: Head): number {
    if (!this.#options.withContent) {
      this.#out.bytes(head.json)
      this.#out.ascii(NO_CONTENT)
      return 0
    }
    const begin = this.#out.length
    view.writeDocument(head, this.#out, true)
    return this.#options.contextTokensMax === undefined ? 0 : contentBytesOf(this.#out.view().subarray(begin))
  }

  #passage(view: View, head: Head, place: PassagePlace): object {
    return passageOf(this.#cutting, view, head, place, this.#options.retrieval) ?? {}
  }

  /** Tokens are approximated as bytes / 4, as the contract says. */
  #exceedsContext(bytes: number): boolean {
    const { contextTokensMax } = this.#options
    if (contextTokensMax === undefined) return false
    this.#contextBytes += bytes
    return this.#count > 0 && this.#contextBytes / 4 > contextTokensMax
  }
}
