/**
 * The highlights of a search's results. The head of a document determines how its content was analysed, and
 * the analyzer's highlighter finds the matches. One per answer; read lanes. Rules:
 * docs/decisions/search/highlights.md.
 */
import type { AnalysisOptions, Highlighter, HighlightTerm, PlanNode } from '../../engine/types.js'
import { serviceError } from '../../errors.js'
import { MIB } from '../../limits/units.js'
import type { StoredDocument } from '../../store/documents/document_cache.js'
import { type AnalysisTools, contentAnalysis } from '../documents/analysis.js'
import { isCodeDocument } from '../documents/code_document.js'
import { contentStartOf, readingOf } from '../documents/document_json.js'
import type { HighlightRequest } from './highlight_request.js'
import { NO_VECTOR, type TermVectors } from './term_vectors.js'

/**
 * Bytes of content, as stored, that the highlights of one answer examine: 0.1 s at 300 MB/s. Further results
 * have no fragments.
 */
const HIGHLIGHT_ANSWER_BYTES_MAX = 32 * MIB

const NONE = Buffer.from('[]')

export interface HighlightTools extends AnalysisTools {
  readonly termVectors: TermVectors
}

interface Wanted {
  readonly terms: readonly (HighlightTerm | undefined)[]
  readonly root: PlanNode
}

export class Highlights {
  readonly #tools: HighlightTools
  readonly #termVectors: TermVectors
  readonly #request: HighlightRequest
  readonly #shouldStop: () => boolean
  /** By language, as documents name it. */
  readonly #prose = new Map<string, AnalysisOptions>()
  readonly #code = new Map<string, AnalysisOptions>()
  #wanted: Wanted | undefined
  /** Of what is wanted, from the first document on that it is looked for in. */
  #highlighter: Highlighter | undefined
  /** Bytes of content scanned for this answer. */
  #bytes = 0

  constructor(tools: HighlightTools, request: HighlightRequest, shouldStop: () => boolean) {
    this.#tools = tools
    this.#termVectors = tools.termVectors
    this.#request = request
    this.#shouldStop = shouldStop
  }

  /**
   * Sets the terms to highlight in the following documents.
   * @param terms indexed as in the hits; undefined: never marked
   */
  lookFor(terms: readonly (HighlightTerm | undefined)[], root: PlanNode): void {
    this.#wanted = { terms, root }
    this.#highlighter = undefined
  }

  /**
   * The JSON text of a result's highlights, valid until the next call. Results beyond the byte limit have
   * none.
   * @param matched indexes of the terms that the document has
   * @throws ServiceError `deadline`
   */
  of(document: StoredDocument, matched: readonly number[]): Uint8Array {
    const { json } = document
    const known = this.#termVectors.of(document)
    const contentStart = known?.contentStart ?? contentStartOf(json)
    const escaped = json.subarray(contentStart, json.length - 2)
    this.#bytes += escaped.length
    if (matched.length === 0 || this.#wanted === undefined || this.#bytes > HIGHLIGHT_ANSWER_BYTES_MAX) return NONE
    const vector = known?.vector ?? this.#vectorOf(document, contentStart, escaped)
    const highlighter = (this.#highlighter ??= this.#highlighterOf(this.#wanted))
    const shown = vector.length > 0 ? highlighter.highlightKnown(escaped, vector, matched) : undefined
    return shown ?? inTime(highlighter.highlight(escaped, this.#analysisOf(json), matched, this.#shouldStop))
  }

  #highlighterOf({ terms, root }: Wanted): Highlighter {
    const { opening, closing, most, fragmentBytes } = this.#request
    return this.#tools.analyzer.highlighter({
      terms,
      phrases: phrasesOf(root),
      opening: inJson(opening),
      closing: inJson(closing),
      most,
      fragmentBytes,
    })
  }

  /** Built when the document is shown for the second time. Empty if it is not built. */
  #vectorOf(document: StoredDocument, contentStart: number, escaped: Uint8Array): Uint8Array {
    if (!this.#termVectors.wants(document)) return NO_VECTOR
    const vector = inTime(this.#tools.analyzer.termVector(escaped, this.#analysisOf(document.json), this.#shouldStop))
    return this.#termVectors.put(document, contentStart, vector).vector
  }

  #analysisOf(json: Buffer): AnalysisOptions {
    const { lang, marks } = readingOf(json)
    const isCode = isCodeDocument(marks)
    const kept = isCode ? this.#code : this.#prose
    let options = kept.get(lang)
    if (options === undefined) kept.set(lang, (options = contentAnalysis(this.#tools.config, lang, isCode)))
    return options
  }
}

/** @throws ServiceError `deadline` if the work was stopped */
function inTime<Result>(result: Result | undefined): Result {
  if (result === undefined) throw serviceError('deadline')
  return result
}

/** The JSON string without its quotes. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** Phrases of more than one term that are not excluded by the query. */
function phrasesOf(node: PlanNode): Extract<PlanNode, { kind: 'phrase' }>['terms'][] {
  switch (node.kind) {
    case 'phrase':
      return node.terms.length > 1 ? [node.terms] : []
    case 'and':
    case 'or':
      return node.children.flatMap(phrasesOf)
    case 'andNot':
      return phrasesOf(node.wanted)
    default:
      return []
  }
}
