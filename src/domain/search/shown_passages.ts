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
import { cut, type CuttingTools } from '../embedding/chunks.js'
import { passageIn } from './passages.js'
import type { Retrieval } from './retrieval.js'
import { BestMatch } from './best_match.js'
import { contentStartOf, readingOf } from '../documents/document_json.js'
import type { HighlightTools } from './highlights.js'
import type { Stop } from './context.js'

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
   * @throws ServiceError `deadline` when stopped
   */
  of(document: StoredDocument, matched: readonly number[]): ShownDocument {
    // Chunking a document of 10 MB takes a third of a second. The cost of polling the stop word is
    // negligible.
    if (this.#stop.shouldStop()) throw serviceError('deadline')
    const { json } = document
    const contentStart = contentStartOf(json)
    const content = Buffer.from(unescapeContent(json.subarray(contentStart, json.length - 2)), 'utf8')
    const { embeddingChunkMode: mode } = this.#cutting.config
    const isCode = mode === undefined ? isCodeDocument(readingOf(json).marks) : mode === 'code'
    const ranges = cut(this.#cutting, { isCode, recipe: 0 }, content).ranges
    const passage = passageIn(content, ranges, { byte: this.#match?.byteIn(document, matched) ?? 0 }, this.#retrieval)
    const fields = passage === undefined ? '' : `,"chunkIndex":${passage.chunkIndex},"chunkText":${JSON.stringify(passage.chunkText)}`
    const withContent = this.#withContent || (this.#retrieval.mode === 'auto' && passage === undefined)
    return {
      json: withContent ? json : Buffer.concat([json.subarray(0, contentStart), END]),
      fields,
      bytes: (passage === undefined ? 0 : Buffer.byteLength(passage.chunkText)) + (withContent ? content.length : 0),
    }
  }
}
