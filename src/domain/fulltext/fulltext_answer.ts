/**
 * The answer of a full-text search: each document with its score, the terms it matched, its highlights and
 * what else the request asks for. Documents are copied from the store's JSON, never parsed. One per request,
 * over the lane's writer. Shape: service-1, "Full-text search", and http.md section 2.
 */
import type { Expansion, Explanation } from '../../engine/types.js'
import type { ByteWriter } from '../../store/byte_writer.js'
import type { StoredDocument } from '../../store/documents/document_cache.js'
import { contentBytesOf } from '../documents/document_json.js'
import type { Highlights } from '../search/highlights.js'
import { ResultList } from '../search/result_list.js'
import type { Passages } from '../search/shown_passages.js'
import type { QueryPlan } from './query_plan.js'
import type { FulltextRequest } from './fulltext_request.js'

export interface SearchFacts {
  /** Live documents of the collection in the index. */
  readonly documents: number
  /** All documents that match, as far as counted. */
  readonly matches: number
  /**
   * A pattern or a fuzzy word has more terms in the index than it may stand for: the commonest were taken.
   */
  readonly expansionsCut: boolean
  readonly durationMs: number
}

/** A result as it stands in the answer; `document` is a copy of its JSON. */
export interface WrittenResult {
  readonly docid: number
  readonly document: Buffer
  readonly score: number
  readonly matchedTerms: readonly string[]
  /** JSON text, a copy; undefined where none were asked for. */
  readonly highlights: Buffer | undefined
}

/** What an answer says of a result beside document, score and terms. */
export interface ResultNotes {
  readonly isPinned?: boolean
  readonly explanation?: Explanation | undefined
}

/** What the results of an answer have beside their documents. */
export interface AnswerParts {
  /** Gets what is written, too. */
  readonly results?: WrittenResult[] | undefined
  readonly highlights?: Highlights | undefined
  /** Stand in place of whole documents. */
  readonly passages?: Passages | undefined
}

export class AnswerWriter {
  readonly #request: FulltextRequest
  readonly #query: QueryPlan
  /** How each term is shown where a document has it; undefined where the query only excludes it. */
  readonly #shown: readonly (string | undefined)[]
  readonly #out: ByteWriter
  readonly #list: ResultList
  /** The same for the terms that leaves stood for in the snapshot of the round. */
  #expansions: readonly (string | undefined)[] = []
  /** Results of earlier pages that were passed over. */
  #passed = 0
  readonly #results: WrittenResult[] | undefined
  readonly #highlights: Highlights | undefined
  readonly #passages: Passages | undefined

  /** @param out the lane's: nothing else may use it until the answer has left */
  constructor(request: FulltextRequest, query: QueryPlan, out: ByteWriter, { results, highlights, passages }: AnswerParts = {}) {
    this.#results = results
    this.#highlights = highlights
    this.#passages = passages
    this.#request = request
    this.#query = query
    this.#shown = query.terms.map(([term], index) =>
      query.wanted[index] === true ? `${query.suggested.has(index) ? '~' : ''}${term}` : undefined,
    )
    this.#out = out
    const { limit, contextTokensMax, facetBy, facetValuesMax } = request
    this.#list = new ResultList(out, { limit, contextTokensMax, facetBy, facetValuesMax, limitName: 'the limit' })
    this.restart([])
  }

  /** Results so far, those of earlier pages included. */
  get count(): number {
    return this.#passed + this.#list.count
  }

  /** The next result belongs to an earlier page: nothing of it is shown. */
  get isPassing(): boolean {
    return this.#passed < this.#request.offset
  }

  /** Results wanted. */
  get limit(): number {
    return this.#request.limit
  }

  /** No further result fits. */
  get isFull(): boolean {
    return this.#list.isFull
  }

  /** Forgets the results so far. @param expansions of the hits that results will come from */
  restart(expansions: readonly Expansion[]): void {
    this.#expansions = expansions.map(({ leaf, edits, term }) => {
      const word = this.#shown[leaf]
      return word === undefined || edits === 0 ? word && term : `${word}~${term}`
    })
    this.#lookForHighlights(expansions)
    this.#passed = 0
    if (this.#results !== undefined) this.#results.length = 0
    this.#list.restart()
  }

  #lookForHighlights(expansions: readonly Expansion[]): void {
    if (this.#highlights === undefined && this.#passages === undefined) return
    const indexed = [...this.#query.terms.map(([term]) => term), ...expansions.map(({ term }) => term)]
    const shown = [...this.#shown, ...this.#expansions]
    const terms = indexed.map((term, index) =>
      shown[index] === undefined ? undefined : { indexed: term, shown: JSON.stringify(shown[index]) },
    )
    this.#highlights?.lookFor(terms, this.#query.root)
    this.#passages?.lookFor(terms, this.#query.root)
  }

  /** A result of an earlier page. */
  pass(): void {
    this.#passed++
  }

  /**
   * Left out, with all that come after it, where it would exceed the cap on content and is not the first.
   * @param matched indexes of the query's terms that the document has
   * @throws ServiceError 400 when the answer grows over its bound
   */
  result(document: StoredDocument, score: number, matched: readonly number[], { isPinned = false, explanation }: ResultNotes = {}): void {
    const passage = this.#passages?.of(document, matched)
    const json = passage?.json ?? document.json
    const list = this.#list
    if (list.isCapped && !list.admits(passage?.bytes ?? contentBytesOf(json))) return
    list.facets?.add(json)
    list.begin()
    this.#out.bytes(json)
    const notes = `${passage?.fields ?? ''}${isPinned ? ',"pinned":true' : ''}${explanation === undefined ? '' : `,"explanation":${JSON.stringify(explanation)}`}`
    const matchedTerms = this.#matchedTerms(matched)
    this.#out.utf8(`,"score":${score},"matchedTerms":${JSON.stringify(matchedTerms)}${notes}`)
    const highlights = this.#highlights?.of(document, matched)
    if (highlights !== undefined) {
      this.#out.ascii(',"highlights":')
      this.#out.bytes(highlights)
    }
    const copy = this.#results === undefined || highlights === undefined ? undefined : Buffer.from(highlights)
    this.#results?.push({ docid: document.docid, document: Buffer.from(json), score, matchedTerms, highlights: copy })
    list.end()
  }

  /**
   * `total` is the number of results returned; the number of matches is given only where it was asked for,
   * since counting costs.
   */
  finish(facts: SearchFacts): Uint8Array {
    const { scoring, query, language, stem, synonyms, count, offset, text, correctedFrom } = this.#request
    const milliseconds = Math.round(facts.durationMs * 1000) / 1000
    return this.#list.finish({
      ...(count ? { totalMatches: facts.matches } : {}),
      algorithm: scoring.algorithm,
      mode: query.mode,
      lang: language,
      stemmingActive: stem,
      synonymsActive: synonyms,
      fuzzy: query.mode === 'simple' ? query.edits : 0,
      ...(offset > 0 ? { offset } : {}),
      took: milliseconds,
      ...(scoring.algorithm === 'bm25f' ? { fieldWeights: Object.fromEntries(scoring.fields) } : {}),
      searchStats: {
        durationMs: milliseconds,
        queryTerms: this.#query.terms.length,
        indexSize: facts.documents,
        totalTokens: this.#query.tokens,
      },
      ...(facts.expansionsCut ? { expansionsCut: true } : {}),
      ...(correctedFrom === undefined ? {} : { spellCorrected: { original: correctedFrom, corrected: text } }),
    })
  }

  /**
   * In the order of the query, each once: a word may be a term of its own and among those that another one
   * stands for.
   */
  #matchedTerms(matched: readonly number[]): string[] {
    const terms = new Set<string>()
    for (const index of matched) {
      const term = index < this.#shown.length ? this.#shown[index] : this.#expansions[index - this.#shown.length]
      if (term !== undefined) terms.add(term)
    }
    return [...terms]
  }
}
