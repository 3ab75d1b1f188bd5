/**
 * The interfaces of the engine: plain values in, plain values out. Behind them are the WASM analyzer (text to
 * packed tokens) and the native engine (packed tokens to postings, plans to hits). Byte layouts:
 * docs/formats/{packed-tokens,index-batch,search-plan}.md.
 */

/**
 * How one text is analysed. `language` is a base code of `LANGUAGES` ("en", "pl", ...) or "zh"; resolve it
 * with `resolveLanguage`.
 */
export interface AnalysisOptions {
  readonly language: string
  readonly stem: boolean
  /** Markdown: markup is not indexed. False for metadata values and queries. */
  readonly markdown: boolean
  /** Source code: identifiers and their parts, neither stemmed nor left out, whatever else is said here. */
  readonly code?: boolean
}

export interface TokenizeOptions extends AnalysisOptions {
  /**
   * The text is a query: scripts without spaces give pairs of characters, and single characters only where
   * they stand alone. False: as in documents.
   */
  readonly asks?: boolean
}

/** What highlights are made of. Texts are JSON texts: they are copied into the answer. */
export interface HighlightQuery {
  /** By the index that documents name them by: as indexed, and as shown; undefined: never marked. */
  readonly terms: readonly (HighlightTerm | undefined)[]
  readonly phrases: readonly (readonly { readonly term: number; readonly offset: number }[])[]
  readonly opening: string
  readonly closing: string
  /** Bytes that a fragment should have. */
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
   * The JSON text of a document's highlights, valid until the analyzer's next call; undefined when
   * `shouldStop` said so, which is asked every 64 KB.
   * @param escaped its content as JSON text, without the quotes
   * @param matched indexes of the terms that it has
   */
  highlight(escaped: Uint8Array, options: AnalysisOptions, matched: readonly number[], shouldStop: () => boolean): Uint8Array | undefined
  /**
   * The same by the document's term vector, without reading its text. Undefined where the text has to be
   * read, because it has more matches than a scan looks at.
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
   * Packed tokens of `text` (UTF-8), a copy that the caller owns. Bad input yields fewer tokens, never an
   * error.
   */
  analyze(text: Uint8Array, options: AnalysisOptions): Uint8Array
  /** Tokens of a query or a fragment to highlight, stop words left out (but counted in positions). */
  tokenize(text: string, options: TokenizeOptions): QueryToken[]
  /** Makes a highlighter for one query. Valid until the next one is made. */
  highlighter(query: HighlightQuery): Highlighter
  /**
   * The term vector of a document, for `highlightKnown`: a copy that the caller owns; empty where it would be
   * too large. Undefined when `shouldStop` said so.
   * @param escaped its content as JSON text, without the quotes
   */
  termVector(escaped: Uint8Array, options: AnalysisOptions, shouldStop: () => boolean): Uint8Array | undefined
  /** Bytes of linear memory that this thread's instance holds. */
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

/** What only the write lane knows; patched into a prepared upsert. */
export interface IndexStamp {
  /** Collection id: not known before the write lane where the write creates the collection. */
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
  /** The words within `edits` (0 to 2) of the term, whose first `prefix` characters are not edited. */
  | { readonly kind: 'fuzzy'; readonly term: number; readonly edits: number; readonly prefix: number }
  /** The words that the term, a pattern of `*` and `?`, matches. */
  | { readonly kind: 'wildcard'; readonly term: number }
  /**
   * At least two terms; the first and the last at most `distance` positions apart, the others between them.
   */
  | { readonly kind: 'proximity'; readonly distance: number; readonly terms: readonly number[] }
  | { readonly kind: 'all' }
  | { readonly kind: 'none' }

/**
 * Documents of which one value lies within all bounds. A number bounds numbers and times (Unix seconds), a
 * text bounds texts; times are not bounded by texts.
 */
export interface PlanRange {
  readonly of: { readonly time: 'addedAt' | 'updatedAt' } | { readonly key: string }
  readonly bounds: readonly (readonly [kind: 'gte' | 'lte' | 'gt' | 'lt', bound: number | string])[]
}

/**
 * Documents with the metadata value score `factor` times as high; factors of several multiply, to at least
 * 0.001.
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
  readonly filters: readonly (readonly [key: string, values: readonly string[]])[]
  readonly ranges?: readonly PlanRange[]
  readonly boosts?: readonly PlanBoost[]
  readonly terms: readonly PlanTerm[]
  readonly root: PlanNode
}

/**
 * `fields`: indexes of the plan's fields in which the term is looked for; without them in all with bm25f, in
 * the first with the others, which score a term in one field.
 */
export type PlanTerm = readonly [term: string, weight: number, fields?: readonly number[]]

export interface Hit {
  readonly docid: number
  readonly score: number
  /** What boosts have made of the score; only where the plan has some. */
  readonly factor?: number
  /** LSN of the index entry: a hit whose document has changed since is checked again or dropped. */
  readonly lsn: bigint
  /** Indexes into the plan's terms, and behind them into the expansions, that occur in the document. */
  readonly matched: readonly number[]
}

/** A term of the index that a fuzzy or wildcard leaf stood for in the snapshot searched. */
export interface Expansion {
  /** The leaf's term in the plan: the word as asked, or the pattern. */
  readonly leaf: number
  readonly edits: number
  readonly term: string
}

/**
 * What one term gives to a score in one field; or a phrase or proximity over all fields (field "", tf 0, the
 * sum of the idfs).
 */
export interface ScorePart {
  /** As they are in the index. */
  readonly terms: readonly string[]
  readonly field: string
  readonly tf: number
  readonly idf: number
  readonly score: number
}

export interface Explanation {
  /** The sum of the parts, times `factor`, but for rounding. */
  readonly score: number
  /** The product of the plan's boosts. */
  readonly factor: number
  readonly parts: readonly ScorePart[]
}

/** A term that begins with what was asked for, in one text field. */
export interface Completion {
  readonly term: string
  readonly field: string
  readonly documents: number
}

/** A term within some edits of a word. */
export interface NearTerm {
  readonly term: string
  readonly edits: number
  /** Summed over the text fields. */
  readonly documents: number
}

export interface Hits {
  readonly total: number
  readonly hits: readonly Hit[]
  readonly lsn: bigint
  readonly docCount: number
  readonly complete: boolean
  readonly expansions: readonly Expansion[]
  /** A leaf has more terms in the index than it may stand for: the commonest were taken. */
  readonly expansionsCut: boolean
}

export type TimeInterval = 'day' | 'week' | 'month' | 'year'

/** What to count over the live documents of a collection that pass the filters. */
export interface AggregationRequest {
  readonly collection: number
  readonly filters: SearchPlan['filters']
  readonly facets: readonly { readonly key: string; readonly byValue: boolean }[]
  readonly histograms: readonly { readonly field: 'addedAt' | 'updatedAt'; readonly interval: TimeInterval }[]
  /** Values told of one facet. */
  readonly facetSizeMax: number
  /** Distinct values counted over all facets. */
  readonly valuesMax: number
  /** Docids that do not count. */
  readonly absent: readonly number[]
}

/** Lists in the order of the request. */
export interface Aggregated {
  readonly documents: number
  readonly isStopped: boolean
  /** There are more values than may be counted. */
  readonly isCut: boolean
  readonly facets: readonly (readonly (readonly [value: string, count: number])[])[]
  /** The newest 1 000 buckets that are not empty, oldest first: the first second of each. */
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
  /** Of the index env; 0 without one. */
  readonly storedSegments: number
  readonly storedBytes: number
  readonly indexFileBytes: number
  readonly indexLiveBytes: number
  /** LSN up to which the index on disk is complete; 0: the next start rebuilds it. */
  readonly checkpoint: bigint
  /** Bytes of batches that only memory holds. */
  readonly unflushedBytes: number
  readonly flushes: number
  /** Flushes and merges that the disk refused; they are tried again. */
  readonly storageFailures: number
}

/**
 * failing: the last flush was refused, and is tried again; lost: all will be, until another process opens the
 * index.
 */
export type StorageState = 'good' | 'failing' | 'lost'

/** What a start finds in the index directory. */
export interface OpenedIndex {
  /** Entries above are to be replayed; 0: the engine is empty and in rebuild mode. */
  readonly checkpoint: bigint
  /**
   * What was wrong. Lines with a checkpoint above 0 are segments that were set aside: the engine is in
   * rebuild mode and lacks their documents.
   */
  readonly damage: readonly string[]
  /**
   * The index knows of entries that the store had on its disk and has no more; a line of `damage` says which.
   */
  readonly isStoreBehind: boolean
}

/**
 * The word that the engine polls to stop: non-zero at `byteOffset` of the lanes' shared control buffer means
 * that the client has gone or the deadline has passed.
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
   * Gives the engine the directory of its index, before anything is published. Without it everything stays in
   * memory.
   * @param history of the store, as `beginEpoch` returns it
   * @param analysis `analysisVersion` of this process: an index made by another one is built anew
   * @param isReadOnly its files can't be written: they are read where they lie, and everything else stays in
   * memory; one that is not whole counts as none
   */
  open(directory: string, history: Uint8Array, analysis: number, isReadOnly?: boolean): OpenedIndex
  /**
   * As `open`, for an index beside the present one: searched and written to from `adoptNext` on, which may
   * only be called while no call is under way. The present one ends then; what it has in memory only is lost.
   */
  openNext(directory: string, history: Uint8Array, analysis: number): OpenedIndex
  adoptNext(): void
  /** Closes what `openNext` has opened. */
  dropNext(): void
  /** The store has every entry up to `lsn` on disk: what comes from later ones must not leave memory. */
  flushedTo(lsn: bigint): void
  /** Stores everything published so far, which must have been flushed by the store. */
  flush(): void
  /** Whether the engine has just this state of the document. */
  holds(collection: number, docid: number, lsn: bigint): boolean
  /**
   * Publishes one snapshot. Only the write lane (and the rebuild) calls it. Throws on a malformed batch,
   * changing nothing.
   */
  publish(batch: Uint8Array): void
  /** Stopped by `stop`, it answers what it has with `complete` false. */
  search(plan: SearchPlan, stop?: StopWord): Hits
  /**
   * Why a document has its score under the plan; undefined where it is not there, the plan's tree does not
   * match it, or `stop` was set meanwhile. Filters are not looked at.
   */
  explain(plan: SearchPlan, docid: number, stop?: StopWord): Explanation | undefined
  /**
   * The `most` (1 000 at most) commonest terms that begin with `prefix` (128 bytes at most), found by at most
   * 10 000 dictionary entries: where more would be needed to be sure, the commonest of those. Not touched by
   * stop words; terms are as they were indexed. Dead documents count until a merge drops them.
   * @param fields text fields as they were indexed, each on its own; empty: all
   */
  completions(collection: number, fields: readonly string[], prefix: string, most: number): Completion[]
  /**
   * Of the terms (64 at most; none contains a zero byte) those that are in these text fields, once for each
   * field.
   */
  termFrequencies(collection: number, fields: readonly string[], terms: readonly string[]): Completion[]
  /**
   * The `most` (256 at most) terms within `edits` (0 to 2) of `word` (128 bytes at most) in these text fields
   * (empty: all), of whose first `prefix` characters none is edited: fewest edits first, then the commonest,
   * over the first 20 000 dictionary entries looked at. Dead documents count until a merge drops them.
   */
  nearTerms(collection: number, fields: readonly string[], word: string, edits: number, prefix: number, most: number): NearTerm[]
  /** LSN of the current snapshot. Answers of the engine are valid while it is unchanged. */
  lastLsn(): bigint
  /** Counts over a collection. Stopped by `stop`, it says so. */
  aggregate(request: AggregationRequest, stop?: StopWord): Aggregated
  /** Metadata keys of live documents with their values, sorted by key, then value. */
  metaKeys(collection: number): Record<string, string[]>
  /** Discards everything and enters rebuild mode, in which deletes of unknown documents are remembered. */
  beginRebuild(): void
  endRebuild(): void
  /** Merges everything into one segment; for tests and benches. */
  forceMerge(): void
  stats(): EngineStats
  /** Whether what is published reaches the disk; a few nanoseconds. */
  storageState(): StorageState
  /**
   * Keys that stored segments of sealed collections are written and read with; before `open`.
   * @param keys per key its id (1 byte) and 32 bytes
   */
  setSealKeys(primary: number, keys: Uint8Array): void
  /**
   * Sets whether the collection's documents must not be on disk as plaintext. Called before `open`, and
   * before the first document that a change concerns is published.
   */
  setSealed(collection: number, isSealed: boolean): void
  /** AES-256-GCM and HMAC-SHA-256 at a tenth of what Node's objects cost for small texts. */
  readonly cipher: EngineCipher
}

export interface EngineCipher {
  /** @param sealed space for the text and 16 bytes of tag */
  readonly seal: (key: Uint8Array, nonce: Uint8Array, associated: Uint8Array, text: Uint8Array, sealed: Uint8Array) => void
  /**
   * Opens a stored record in one call: src/store/sealing/sealed_record.ts.
   * @param record space for the record without nonce and tag
   */
  readonly openRecord: (
    key: Uint8Array,
    kind: number,
    place: Uint8Array,
    clearBytes: number,
    sealed: Uint8Array,
    record: Uint8Array,
  ) => boolean
  /** @param out space for 32 bytes */
  readonly hmac: (key: Uint8Array, text: Uint8Array, out: Uint8Array) => void
}
