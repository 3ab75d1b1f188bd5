/**
 * The interfaces of the engine, which take and return plain values. They cover the WASM analyzer (text to
 * packed tokens) and the native engine (packed tokens to postings, plans to hits). Byte layouts:
 * docs/formats/{packed-tokens,index-batch,search-plan}.md.
 */

/**
 * How a text is analysed. `language` is a base code of `LANGUAGES` ("en", "pl", ...) or "zh"; resolve it with
 * `resolveLanguage`.
 */
export interface AnalysisOptions {
  readonly language: string
  readonly stem: boolean
  /** Markdown: markup is not indexed. False for metadata values and queries. */
  readonly markdown: boolean
  /**
   * Source code: identifiers and their parts are indexed, without stemming and without stop words, regardless
   * of the other options.
   */
  readonly code?: boolean
}

interface TokenizeOptions extends AnalysisOptions {
  /**
   * The text is a query: scripts without spaces yield pairs of characters, and a single character only if it
   * stands alone. False: the text is analysed like a document.
   */
  readonly asks?: boolean
}

/** Input of the highlighter. All strings are JSON text, because they are copied into the response. */
export interface HighlightQuery {
  /** Indexed by the term numbers that documents refer to. Undefined: the term is never marked. */
  readonly terms: readonly (HighlightTerm | undefined)[]
  readonly phrases: readonly (readonly { readonly term: number; readonly offset: number }[])[]
  readonly opening: string
  readonly closing: string
  /** Target size of a fragment in bytes. */
  readonly fragmentBytes: number
  readonly most: number
}

export interface HighlightTerm {
  readonly indexed: string
  readonly shown: string
}

/** One per search. */
export interface Highlighter {
  /**
   * Returns the JSON text of a document's highlights, valid until the analyzer's next call. Returns undefined
   * if `shouldStop` returned true. `shouldStop` is called every 64 KB.
   * @param escaped the document's content as JSON text, without the quotes
   * @param matched indexes of the terms that the document contains
   */
  highlight(escaped: Uint8Array, options: AnalysisOptions, matched: readonly number[], shouldStop: () => boolean): Uint8Array | undefined
  /**
   * Highlights by the document's term vector, without reading its text. Returns undefined if the text must be
   * read, because it has more matches than a scan examines.
   * @param vector of this content, not empty
   */
  highlightKnown(escaped: Uint8Array, vector: Uint8Array, matched: readonly number[]): Uint8Array | undefined
}

/**
 * One token of a query, in text order. `position` counts stop words, so that phrases keep their gaps.
 * `start`/`end`: UTF-8 byte offsets into the text.
 */
export interface QueryToken {
  readonly term: string
  readonly position: number
  readonly start: number
  readonly end: number
}

/** One per thread: it owns a WASM instance. Not reentrant. */
export interface Analyzer {
  /**
   * Returns the packed tokens of `text` (UTF-8), as a copy that the caller owns. Bad input yields fewer
   * tokens, never an error.
   */
  analyze(text: Uint8Array, options: AnalysisOptions): Uint8Array
  /**
   * Returns the tokens of a query or a fragment to highlight. Stop words are omitted but counted in
   * positions.
   */
  tokenize(text: string, options: TokenizeOptions): QueryToken[]
  /** Creates a highlighter for one query. It is valid until the next one is created. */
  highlighter(query: HighlightQuery): Highlighter
  /**
   * Returns the term vector of a document, for `highlightKnown`, as a copy that the caller owns. It is empty
   * if it would be too large. Returns undefined if `shouldStop` returned true.
   * @param escaped the document's content as JSON text, without the quotes
   */
  termVector(escaped: Uint8Array, options: AnalysisOptions, shouldStop: () => boolean): Uint8Array | undefined
  /** Bytes of linear memory of this thread's instance. */
  memoryBytes(): number
}

export interface IndexDocument {
  readonly collection: number
  readonly key: string
  readonly lang: string
  /** Distinct (key, value) pairs. */
  readonly meta: readonly (readonly [string, string])[]
  /** Field name -> packed tokens. */
  readonly fields: readonly (readonly [string, Uint8Array])[]
}

/** Values that only the write lane knows. They are patched into a prepared upsert. */
export interface IndexStamp {
  /** Collection id: unknown before the write lane if the write creates the collection. */
  readonly collection: number
  readonly docid: number
  readonly lsn: bigint
  readonly addedAt: number
  readonly updatedAt: number
}

export type ScoringAlgorithm = 'tfidf' | 'bm25' | 'bm25f'
export type SortField = 'score' | 'addedAt' | 'updatedAt' | 'key' | 'docid'

export type PlanNode =
  | { readonly kind: 'term'; readonly term: number }
  | { readonly kind: 'and'; readonly children: readonly PlanNode[] }
  | { readonly kind: 'or'; readonly children: readonly PlanNode[] }
  | { readonly kind: 'andNot'; readonly wanted: PlanNode; readonly excluded: PlanNode }
  | {
      readonly kind: 'phrase'
      readonly scoring: 'occurrences' | 'bm25'
      readonly terms: readonly { readonly term: number; readonly offset: number }[]
    }
  /** Words within `edits` (0 to 2) of the term. Its first `prefix` characters are not edited. */
  | { readonly kind: 'fuzzy'; readonly term: number; readonly edits: number; readonly prefix: number }
  /** Words that match the term, a pattern of `*` and `?`. */
  | { readonly kind: 'wildcard'; readonly term: number }
  /**
   * At least two terms. The first and the last are at most `distance` positions apart, the others between
   * them.
   */
  | { readonly kind: 'proximity'; readonly distance: number; readonly terms: readonly number[] }
  | { readonly kind: 'all' }
  | { readonly kind: 'none' }

/**
 * Documents with one value within all bounds. A number bounds numbers and times (Unix seconds), a string
 * bounds strings. Strings do not bound times.
 */
export interface PlanRange {
  readonly of: { readonly time: 'addedAt' | 'updatedAt' } | { readonly key: string }
  readonly bounds: readonly (readonly [kind: 'gte' | 'lte' | 'gt' | 'lt', bound: number | string])[]
}

/**
 * Multiplies the score of documents with the metadata value by `factor`. The factors of several boosts are
 * multiplied; the product is at least 0.001.
 */
export interface PlanBoost {
  readonly key: string
  readonly value: string
  readonly factor: number
}

export interface SearchPlan {
  readonly collection: number
  readonly algorithm: ScoringAlgorithm
  readonly k1: number
  readonly b: number
  readonly k: number
  readonly skip: number
  readonly sort: SortField
  readonly descending: boolean
  readonly exactTotal: boolean
  readonly fields: readonly (readonly [name: string, weight: number])[]
  /** AND between filters, OR between the values of a filter: no values match no document. Null: any value. */
  readonly filters: readonly (readonly [key: string, values: readonly string[] | null])[]
  readonly ranges?: readonly PlanRange[]
  readonly boosts?: readonly PlanBoost[]
  readonly terms: readonly PlanTerm[]
  readonly root: PlanNode
}

/**
 * `fields`: indexes of the plan's fields that are searched for the term. Default: all fields with bm25f, the
 * first field with the other algorithms, which score a term in one field.
 */
export type PlanTerm = readonly [term: string, weight: number, fields?: readonly number[]]

export interface Hit {
  readonly docid: number
  readonly score: number
  /** The factor by which boosts changed the score; present only if the plan has boosts. */
  readonly factor?: number
  /** LSN of the index entry. If the document has changed since, the hit is checked again or dropped. */
  readonly lsn: bigint
  /** Indexes of the terms that occur in the document: into the plan's terms, followed by the expansions. */
  readonly matched: readonly number[]
}

/** A term of the index that a fuzzy or wildcard leaf matched in the searched snapshot. */
export interface Expansion {
  /** The leaf's term in the plan: the word of the query, or the pattern. */
  readonly leaf: number
  readonly edits: number
  readonly term: string
}

/**
 * The contribution of one term in one field to a score, or of a phrase or proximity over all fields (field
 * "", tf 0, the sum of the idfs).
 */
interface ScorePart {
  /** As indexed. */
  readonly terms: readonly string[]
  readonly field: string
  readonly tf: number
  readonly idf: number
  readonly score: number
}

export interface Explanation {
  /** The sum of the parts times `factor`, except for rounding. */
  readonly score: number
  /** The product of the plan's boosts. */
  readonly factor: number
  readonly parts: readonly ScorePart[]
}

/** A term with the requested prefix, in one text field. */
export interface Completion {
  readonly term: string
  readonly field: string
  readonly documents: number
}

/** A term within a given edit distance of a word. */
export interface NearTerm {
  readonly term: string
  readonly edits: number
  /** Summed over the text fields. */
  readonly documents: number
}

export interface Hits {
  readonly total: number
  /** As the engine returned it: a hits record. */
  readonly record: Uint8Array
  /** Number of hits in the record. */
  readonly count: number
  /** @throws Error if one of them is not a hit */
  readonly hits: readonly Hit[]
  readonly lsn: bigint
  readonly docCount: number
  readonly complete: boolean
  readonly expansions: readonly Expansion[]
  /** A leaf matches more terms in the index than it may expand to; the most frequent ones were used. */
  readonly expansionsCut: boolean
}

export type TimeInterval = 'day' | 'week' | 'month' | 'year'

/** Counts over the live documents of a collection that pass the filters. */
export interface AggregationRequest {
  readonly collection: number
  readonly filters: SearchPlan['filters']
  readonly facets: readonly { readonly key: string; readonly byValue: boolean }[]
  readonly histograms: readonly { readonly field: 'addedAt' | 'updatedAt'; readonly interval: TimeInterval }[]
  /** Maximum number of values returned per facet. */
  readonly facetSizeMax: number
  /** Maximum number of distinct values counted over all facets. */
  readonly valuesMax: number
  /** Docids that are not counted. */
  readonly absent: readonly number[]
}

/** Lists are in the order of the request. */
export interface Aggregated {
  readonly documents: number
  readonly isStopped: boolean
  /** There are more values than the maximum. */
  readonly isCut: boolean
  readonly facets: readonly (readonly (readonly [value: string, count: number])[])[]
  /** The newest 1 000 non-empty buckets, oldest first. `from` is the first second of a bucket. */
  readonly histograms: readonly (readonly (readonly [from: number, count: number])[])[]
}

export interface EngineStats {
  readonly isa: string
  readonly segments: number
  readonly documents: number
  readonly deadDocuments: number
  readonly terms: number
  readonly memoryBytes: number
  readonly merges: number
  readonly lastLsn: bigint
  /** From the index env; 0 without one. */
  readonly storedSegments: number
  readonly storedBytes: number
  readonly indexFileBytes: number
  readonly indexLiveBytes: number
  /** LSN up to which the index on disk is complete; 0: the next start rebuilds it. */
  readonly checkpoint: bigint
  /** Bytes of batches that are only in memory. */
  readonly unflushedBytes: number
  readonly flushes: number
  /** Flushes and merges refused by the disk. They are retried. */
  readonly storageFailures: number
}

/**
 * failing: the last flush was refused and is retried; lost: all flushes will be refused until another process
 * opens the index.
 */
export type StorageState = 'good' | 'failing' | 'lost'

/** The state of the index directory at a start. */
export interface OpenedIndex {
  /** Entries above this LSN must be replayed. 0: the engine is empty and in rebuild mode. */
  readonly checkpoint: bigint
  /**
   * Descriptions of damage. If the checkpoint is above 0, the lines are segments that were set aside: the
   * engine is in rebuild mode and lacks their documents.
   */
  readonly damage: readonly string[]
  /**
   * The index contains entries that were on the store's disk and are missing there now. A line of `damage`
   * names them.
   */
  readonly isStoreBehind: boolean
}

/**
 * The word that the engine polls to stop. Non-zero at `byteOffset` of the lanes' shared control buffer means
 * that the client has disconnected or the deadline has passed.
 */
export interface StopWord {
  readonly control: Int32Array
  readonly byteOffset: number
}

/**
 * One per process, shared by every thread that loads the addon. All calls are synchronous and thread-safe.
 */
export interface SearchEngine {
  /**
   * Sets the directory of the engine's index before anything is published. Without it, all data stays in
   * memory.
   * @param history of the store, as returned by `beginEpoch`
   * @param analysis `analysisVersion` of this process; an index made with another version is rebuilt
   * @param isReadOnly the index files are not writable: they are read in place, and all other data stays in
   * memory; an incomplete index counts as missing
   */
  open(directory: string, history: Uint8Array, analysis: number, isReadOnly?: boolean): OpenedIndex
  /**
   * As `open`, but for a second index beside the current one. It is searched and written from `adoptNext` on,
   * which may only be called while no other call is in progress. `adoptNext` ends the current index, whose
   * unflushed data is lost.
   */
  openNext(directory: string, history: Uint8Array, analysis: number): OpenedIndex
  adoptNext(): void
  /** Closes the index opened by `openNext`. */
  dropNext(): void
  /**
   * Reports that the store has flushed every entry up to `lsn` to disk. Data from later entries must not
   * leave memory.
   */
  flushedTo(lsn: bigint): void
  /** Stores everything published so far. The store must have flushed it before. */
  flush(): void
  /** Whether the engine has exactly this version of the document. */
  holds(collection: number, docid: number, lsn: bigint): boolean
  /**
   * Publishes one snapshot. Called only by the write lane and the rebuild. Throws on a malformed batch, which
   * changes nothing.
   */
  publish(batch: Uint8Array): void
  /** A search stopped by `stop` returns the hits found so far with `complete` false. */
  search(plan: SearchPlan, stop?: StopWord): Hits
  /**
   * Explains the score of a document under the plan. Returns undefined if the document does not exist, the
   * plan's tree does not match it, or `stop` was set meanwhile. Filters are ignored.
   */
  explain(plan: SearchPlan, docid: number, stop?: StopWord): Explanation | undefined
  /**
   * Returns the `most` (at most 1 000) most frequent terms that begin with `prefix` (at most 128 bytes). At
   * most 10 000 dictionary entries are examined; if an exact result needs more, the most frequent of those
   * are returned. Stop words do not matter; terms are as indexed. Dead documents count until a merge drops
   * them.
   * @param fields text fields as they were indexed, each on its own; empty: all
   */
  completions(collection: number, fields: readonly string[], prefix: string, most: number): Completion[]
  /**
   * Returns those of the terms (at most 64, none with a zero byte) that are in these text fields, once per
   * field.
   */
  termFrequencies(collection: number, fields: readonly string[], terms: readonly string[]): Completion[]
  /**
   * Returns the `most` (at most 256) terms within `edits` (0 to 2) of `word` (at most 128 bytes) in these
   * text fields (empty: all). The first `prefix` characters are not edited. The order is fewest edits first,
   * then the most frequent, over the first 20 000 dictionary entries examined. Dead documents count until a
   * merge drops them.
   */
  nearTerms(collection: number, fields: readonly string[], word: string, edits: number, prefix: number, most: number): NearTerm[]
  /** LSN of the current snapshot. Results of the engine are valid while it is unchanged. */
  lastLsn(): bigint
  /** Counts over a collection. If stopped by `stop`, `isStopped` is true. */
  aggregate(request: AggregationRequest, stop?: StopWord): Aggregated
  /** Metadata keys of live documents with their values, sorted by key, then value. */
  metaKeys(collection: number): Record<string, string[]>
  /** Discards all data and enters rebuild mode, in which deletes of unknown documents are remembered. */
  beginRebuild(): void
  endRebuild(): void
  /** Merges everything into one segment. For tests and benchmarks. */
  forceMerge(): void
  stats(): EngineStats
  /** Whether published data reaches the disk. Takes a few nanoseconds. */
  storageState(): StorageState
  /**
   * Sets the keys that encrypt and decrypt stored segments of sealed collections. Called before `open`.
   * @param keys per key its id (1 byte) and 32 bytes
   */
  setSealKeys(primary: number, keys: Uint8Array): void
  /**
   * Sets whether the collection's documents must not be on disk as plaintext. Called before `open`, and on
   * every change, before the first affected document is published.
   */
  setSealed(collection: number, isSealed: boolean): void
  /** AES-256-GCM and HMAC-SHA-256, at a tenth of the cost of Node's objects for small texts. */
  readonly cipher: EngineCipher
}

export interface EngineCipher {
  /** @param sealed space for the text and 16 bytes of tag */
  readonly seal: (key: Uint8Array, nonce: Uint8Array, associated: Uint8Array, text: Uint8Array, sealed: Uint8Array) => void
  /**
   * Decrypts a stored record in one call: src/store/sealing/sealed_record.ts.
   * @param record space for the record without nonce and tag
   */
  readonly openRecord: (
    key: Uint8Array,
    kind: number,
    address: Uint8Array,
    clearBytes: number,
    sealed: Uint8Array,
    record: Uint8Array,
  ) => boolean
  /** @param out space for 32 bytes */
  readonly hmac: (key: Uint8Array, text: Uint8Array, out: Uint8Array) => void
}
