/**
 * Writes the results of a vector, hybrid or cross-collection search: the head of each document, its content
 * if the request includes it, its rank, and its passage. One per request, over the lane's writer.
 */
import { serviceError } from '../../errors.js'
import type { Head } from '../../store/head.js'
import type { ByteWriter } from '../../store/rows/byte_writer.js'
import type { View } from '../../store/view.js'
import { contentBytesOf } from '../documents/document_json.js'
import type { CuttingTools } from '../embedding/chunks.js'
import type { Stop } from './context.js'
import { passageOf, type PassagePosition } from './passages.js'
import { type ResultBounds, ResultList } from './result_list.js'
import type { Retrieval } from './retrieval.js'

interface ResultOptions extends Omit<ResultBounds, 'limitName'> {
  readonly withContent: boolean
  readonly retrieval: Retrieval
}

const NO_CONTENT = ',"contentMd":""}'

export class ResultWriter {
  readonly #out: ByteWriter
  readonly #cutting: CuttingTools
  readonly #options: ResultOptions
  readonly #stop: Stop
  readonly #results: ResultList

  constructor(out: ByteWriter, cutting: CuttingTools, options: ResultOptions, stop: Stop) {
    const { limit, contextTokensMax, facetBy, facetValuesMax } = options
    this.#out = out
    this.#cutting = cutting
    this.#options = options
    this.#stop = stop
    this.#results = new ResultList(out, { limit, contextTokensMax, facetBy, facetValuesMax, limitName: 'topK' })
  }

  get count(): number {
    return this.#results.count
  }

  /** No further result fits. */
  get isFull(): boolean {
    return this.#results.isFull
  }

  /** Discards the results so far. */
  restart(): void {
    this.#results.restart()
  }

  /**
   * Writes a result. If its text would exceed the cap and it is not the first, it is left out, along with all
   * results after it.
   * @param before JSON of the fields before the document, each followed by a comma
   * @param fields of the result, in addition to document, rank and passage
   * @throws ServiceError 400 when the answer exceeds its bound, `deadline` when stopped; BodiesWanted
   */
  add(view: View, head: Head, position: PassagePosition, fields: object, before = ''): void {
    // Finding a passage of 10 MB takes a third of a second. The cost of polling the stop word is negligible.
    if (this.#stop.shouldStop()) throw serviceError('deadline')
    const results = this.#results
    const { withContent, retrieval } = this.#options
    const passage = retrieval.mode === 'parent' ? undefined : passageOf(this.#cutting, view, head, position, retrieval)
    results.begin(before)
    const contentBytes = this.#document(view, head, withContent || (retrieval.mode === 'auto' && passage === undefined))
    const textBytes = contentBytes + (passage === undefined ? 0 : Buffer.byteLength(passage.chunkText))
    if (results.isCapped && !results.admits(textBytes)) {
      results.cancel()
      return
    }
    const rest = JSON.stringify({ ...fields, rank: results.count + 1, ...passage })
    this.#out.utf8(`,${rest.slice(1, -1)}`)
    results.facets?.add(Buffer.concat([head.json, Buffer.from(NO_CONTENT)]))
    results.end()
  }

  /** @returns the whole answer, a view of the lane's writer */
  finish(fields: object): Uint8Array {
    return this.#results.finish(fields)
  }

  /** @returns the number of content bytes shown, if they are capped; else 0 */
  #document(view: View, head: Head, withContent: boolean): number {
    if (!withContent) {
      this.#out.bytes(head.json)
      this.#out.ascii(NO_CONTENT)
      return 0
    }
    const begin = this.#out.length
    view.writeDocument(head, this.#out, true)
    return this.#results.isCapped ? contentBytesOf(this.#out.view().subarray(begin)) : 0
  }
}
