/**
 * Results that show a passage instead of the whole document (`retrievalMode` chunk, window or auto): the
 * chunk with the document's best highlight. A document without a highlight shows its first chunk. One per
 * answer; read lanes. Rules: docs/decisions/search/vector-search.md.
 */
import type { HighlightTerm, PlanNode } from '../../engine/types.js'
import { serviceError } from '../../errors.js'
import { unescapeContent } from '../../store/body.js'
import type { StoredDocument } from '../../store/documents/document_cache.js'
import { isCodeDocument } from '../documents/code_document.js'
import { contentStartOf, readingOf } from '../documents/document_json.js'
import { type CuttingTools, rangesOf } from '../embedding/chunks.js'
import { BestMatch } from './best_match.js'
import type { Stop } from './context.js'
import type { HighlightTools } from './highlights.js'
import { passageIn } from './passages.js'
import type { Retrieval } from './retrieval.js'

/** The representation of a document in the answer. */
export interface ShownDocument {
  readonly json: Buffer
  /** JSON of further fields, each preceded by a comma. */
  readonly fields: string
  /** UTF-8 bytes of the passage, plus those of the content if it is included. */
  readonly bytes: number
}

const END = Buffer.from('"}')

export class Passages {
  readonly #cutting: CuttingTools
  readonly #retrieval: Retrieval
  readonly #withContent: boolean
  readonly #stop: Stop
  readonly #match: BestMatch | undefined

  /** @param highlights undefined if there are no search terms: every document shows its beginning */
  constructor(cutting: CuttingTools, retrieval: Retrieval, withContent: boolean, stop: Stop, highlights?: HighlightTools) {
    this.#cutting = cutting
    this.#retrieval = retrieval
    this.#withContent = withContent
    this.#stop = stop
    this.#match = highlights === undefined ? undefined : new BestMatch(highlights, stop)
  }

  /** See `Highlights.lookFor`. */
  lookFor(terms: readonly (HighlightTerm | undefined)[], root: PlanNode): void {
    this.#match?.lookFor(terms, root)
  }

  /**
   * @param matched indexes of the terms that the document has
   * @returns undefined if the document is shown whole
   * @throws ServiceError `deadline` when stopped
   */
  of(document: StoredDocument, matched: readonly number[]): ShownDocument | undefined {
    const { json } = document
    const contentStart = contentStartOf(json)
    const escaped = json.subarray(contentStart, json.length - 2)
    const { embeddingChunkMode: mode, embeddingChunkSize: size } = this.#cutting.config
    const isAuto = this.#retrieval.mode === 'auto'
    // A text within the size of a chunk is one chunk, and has no more characters than bytes.
    if (isAuto && escaped.length <= size) return undefined
    // Chunking a document of 10 MB takes a third of a second. The cost of polling the stop word is
    // negligible.
    if (this.#stop.shouldStop()) throw serviceError('deadline')
    const content = Buffer.from(unescapeContent(escaped), 'utf8')
    const isCode = mode === undefined ? isCodeDocument(readingOf(json).marks) : mode === 'code'
    const ranges = rangesOf(this.#cutting, isCode, content)
    // The only chunk is the passage, wherever the match is.
    const byte = ranges.length > 2 ? (this.#match?.byteIn(document, matched) ?? 0) : 0
    const passage = passageIn(content, ranges, { byte }, this.#retrieval)
    if (isAuto && passage === undefined) return undefined
    const fields = passage === undefined ? '' : `,"chunkIndex":${passage.chunkIndex},"chunkText":${JSON.stringify(passage.chunkText)}`
    return {
      json: this.#withContent ? json : Buffer.concat([json.subarray(0, contentStart), END]),
      fields,
      bytes: (passage === undefined ? 0 : Buffer.byteLength(passage.chunkText)) + (this.#withContent ? content.length : 0),
    }
  }
}
