/**
 * Finds the byte of a document at which the words of a query match best: the middle of its best highlight.
 * One per answer; read lanes.
 */
import type { HighlightTerm, PlanNode } from '../../engine/types.js'
import type { StoredDocument } from '../../store/documents/document_cache.js'
import type { Stop } from './context.js'
import { Highlights, type HighlightTools } from './highlights.js'

/** One highlight, as short as possible, so that its middle is the match. */
const BEST = { opening: '', closing: '', most: 1, fragmentBytes: 1 } as const

interface BestPiece {
  readonly startOffset: number
  readonly endOffset: number
}

export class BestMatch {
  readonly #highlights: Highlights

  constructor(tools: HighlightTools, stop: Stop) {
    this.#highlights = new Highlights(tools, BEST, () => stop.shouldStop())
  }

  /** See `Highlights.lookFor`. */
  lookFor(terms: readonly (HighlightTerm | undefined)[], root: PlanNode): void {
    this.#highlights.lookFor(terms, root)
  }

  /**
   * @param matched indexes of the terms that the document has
   * @returns a byte offset in the content; 0 if nothing is found
   * @throws ServiceError `deadline`
   */
  byteIn(document: StoredDocument, matched: readonly number[]): number {
    const [best] = JSON.parse(Buffer.from(this.#highlights.of(document, matched)).toString('utf8')) as readonly BestPiece[]
    return best === undefined ? 0 : Math.floor((best.startOffset + best.endOffset) / 2)
  }
}
