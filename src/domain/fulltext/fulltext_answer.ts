/**
 * Writes the answer of a full-text search: each document with its score, matched terms, highlights and the
 * other parts that the request asks for. Documents are copied from the store's JSON and never parsed. One per
 * request, over the lane's writer. Shape: service-1, "Full-text search", and http.md section 2.
 */
import type { Expansion, Explanation, Hits } from '../../engine/types.js'
import { MIB } from '../../limits/units.js'
import type { StoredDocument } from '../../store/documents/document_cache.js'
import type { ByteWriter } from '../../store/rows/byte_writer.js'
import type { TruthStore } from '../../store/truth_store.js'
import { contentBytesOf } from '../documents/document_json.js'
import type { Highlights } from '../search/highlights.js'
import { ResultList } from '../search/result_list.js'
import { statsOf } from '../search/search_stats.js'
import type { Passages } from '../search/shown_passages.js'
import type { FulltextRequest } from './fulltext_request.js'
import type { QueryPlan } from './query_plan.js'
import { encodeShownTerms } from './shown_terms.js'

/**
 * The results of a larger page are not written by one native call: between documents it looks for no
 * deadline. 100 of 5 KB take 0.2 ms, and 8 MiB take 11 ms.
 */
export const NATIVE_PAGE_DOCUMENTS_MAX = 100
export const NATIVE_PAGE_BYTES_MAX = 8 * MIB

/** What the last snapshot searched has. */
export interface SearchFacts {
  /** Live documents of the collection in the index. */
  readonly documents: number
  /** Number of matching documents, as far as counted. */
  readonly matches: number
  /**
   * A pattern or a fuzzy word matches more index terms than its expansion limit. The most frequent terms were
   * used.
   */
  readonly expansionsCut: boolean
}

/** A result as written to the answer. `document` is a copy of its JSON. */
export interface WrittenResult {
  readonly docid: number
  readonly document: Buffer
  readonly score: number
  readonly matchedTerms: readonly string[]
  /** JSON text, a copy. Undefined if the request asks for none. */
  readonly highlights: Buffer | undefined
}

/** Fields of a result in addition to document, score and terms. */
interface ResultNotes {
  readonly isPinned?: boolean
  readonly explanation?: Explanation | undefined
}

/** Optional parts of an answer. */
interface AnswerParts {
  /** Also receives each result that is written. */
  readonly results?: WrittenResult[] | undefined
  readonly highlights?: Highlights | undefined
  /** Replace the whole documents. */
  readonly passages?: Passages | undefined
  /** Whether the answer has `searchStats`. Default: yes. */
  readonly showsStats?: boolean
}

export class AnswerWriter {
  readonly #request: FulltextRequest
  readonly #query: QueryPlan
  /** How each term is shown when a document has it. Undefined for a term that the query only excludes. */
  readonly #shown: readonly (string | undefined)[]
  readonly #out: ByteWriter
  readonly #list: ResultList
  /** The same for the expansions of the query's leaves in the snapshot of the round. */
  #expansions: readonly (string | undefined)[] = []
  /** Results of earlier pages that were skipped. */
  #passed = 0
  readonly #results: WrittenResult[] | undefined
  readonly #highlights: Highlights | undefined
  readonly #passages: Passages | undefined
  readonly #showsStats: boolean

  /** @param out the lane's writer: nothing else may use it until the answer has been sent */
  constructor(
    request: FulltextRequest,
    query: QueryPlan,
    out: ByteWriter,
    { results, highlights, passages, showsStats = true }: AnswerParts = {},
  ) {
    this.#results = results
    this.#highlights = highlights
    this.#passages = passages
    this.#showsStats = showsStats
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

  /** Results so far, including those of earlier pages. */
  get count(): number {
    return this.#passed + this.#list.count
  }

  /** The next result belongs to an earlier page and is not written. */
  get isPassing(): boolean {
    return this.#passed < this.#request.offset
  }

  /** Results of earlier pages that are still to be skipped. */
  get passesLeft(): number {
    return this.#request.offset - this.#passed
  }

  /** The text of results is capped: the answer may end before the page is full. */
  get isCapped(): boolean {
    return this.#list.isCapped
  }

  /** Number of results requested. */
  get limit(): number {
    return this.#request.limit
  }

  /** No further result fits. */
  get isFull(): boolean {
    return this.#list.isFull
  }

  /** Discards the results so far. @param expansions of the hits that the next results come from */
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

  /** Skips a result of an earlier page. */
  pass(): void {
    this.#passed++
  }

  /**
   * Writes a result. If it would exceed the cap on content and is not the first, it is left out, along with
   * all results after it.
   * @param matched indexes of the query's terms that the document has
   * @throws ServiceError 400 when the answer exceeds its bound
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
   * Writes all results by one native call, from the record of the hits, if the answer shows nothing but
   * documents, scores and matched terms, and every document is what was indexed.
   * @returns whether they have been written; if not, nothing has
   */
  writeAll(store: TruthStore, collection: number, { count, record, expansions }: Hits): boolean {
    const { limit, offset, explain } = this.#request
    const needsDocuments = this.#results ?? this.#highlights ?? this.#passages ?? this.#list.facets
    if (offset > 0 || explain || needsDocuments !== undefined || this.#list.isCapped) return false
    if (limit > NATIVE_PAGE_DOCUMENTS_MAX || expansions.length > 0) return false
    const results = Math.min(limit, count)
    if (results === 0) return true
    const page = { collection, hits: record, terms: encodeShownTerms(this.#shown), limit: results }
    return this.#list.writeAll(results, (space) => store.writeResults(page, NATIVE_PAGE_BYTES_MAX, space))
  }

  /**
   * `total` is the number of results returned. The number of matches is included only on request, because
   * counting is expensive.
   */
  finish(facts: SearchFacts, durationMs: number): Uint8Array {
    const { scoring, query, language, stem, synonyms, count, offset, text, correctedFrom } = this.#request
    const milliseconds = Math.round(durationMs * 1000) / 1000
    return this.#list.finish({
      totalMatches: count ? facts.matches : undefined,
      algorithm: scoring.algorithm,
      mode: query.mode,
      lang: language,
      stemmingActive: stem,
      synonymsActive: synonyms,
      fuzzy: query.mode === 'simple' ? query.edits : 0,
      offset: offset > 0 ? offset : undefined,
      took: milliseconds,
      fieldWeights: scoring.algorithm === 'bm25f' ? Object.fromEntries(scoring.fields) : undefined,
      searchStats: statsOf(this.#showsStats, {
        durationMs: milliseconds,
        queryTerms: this.#query.terms.length,
        indexSize: facts.documents,
        totalTokens: this.#query.tokens,
      }),
      expansionsCut: facts.expansionsCut || undefined,
      spellCorrected: correctedFrom === undefined ? undefined : { original: correctedFrom, corrected: text },
    })
  }

  /**
   * In the order of the query, each once: a word may be both a term of its own and an expansion of another
   * term.
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
