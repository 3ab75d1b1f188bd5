/**
 * The interface of the vector engine. The engine stores the vectors of all collections in native memory and
 * mapped files: one store per process for all threads. Byte layouts: docs/formats/vector-index.md.
 */
import type { PlanRange, SearchPlan, StopWord } from '../types.js'

export type VectorMetric = 'cosine' | 'dot_product' | 'euclidean'
export type VectorAlgorithm = 'flat' | 'hnsw' | 'ivf' | 'pq' | 'opq' | 'sq' | 'sq4' | 'bq' | 'quantized'
export type VectorQuantization = 'float32' | 'int8' | 'int4'

/** Documents that pass all filters and are within all ranges, as in a search plan. */
export interface VectorFilter {
  readonly filters: SearchPlan['filters']
  readonly ranges?: readonly PlanRange[]
}

export interface VectorSearchRequest {
  readonly collection: number
  /**
   * Only vectors of the collection with as many dimensions as the query are searched. All values are finite.
   */
  readonly query: Float32Array
  /** Maximum number of documents returned, 1 to 100 000. */
  readonly k: number
  /** Minimum score of a hit. */
  readonly threshold: number
  readonly metric: VectorMetric
  readonly algorithm: VectorAlgorithm
  /** Number of candidates of approximate algorithms and of MMR, as a multiple of k, 1 to 10. */
  readonly oversample: number
  readonly filter?: VectorFilter
  /** The collection's quantization, which determines the algorithm that `quantized` means. */
  readonly quantization: VectorQuantization
  /** Enables MMR (maximal marginal relevance): 1 ranks by score alone, 0 by difference alone. */
  readonly mmrLambda?: number
}

/** Server options that apply to each search. */
export interface VectorTuning {
  /** Candidates per result that a bq search rescores, 1 to 1 000. */
  readonly bqRerankFactor: number
  /** Maximum number of threads of one flat search, 1 to 16. */
  readonly workers: number
  /** Number of vectors from which a flat search uses more than one thread. */
  readonly parallelMinSize: number
}

export interface VectorHit {
  readonly docid: number
  /** Index of the document's best chunk, from 0. */
  readonly chunk: number
  /** LSN of the vectors' entry, as passed to `apply`. */
  readonly lsn: bigint
  /** Cosine similarity, inner product, or 1 / (1 + distance) for euclidean. */
  readonly score: number
}

export interface VectorHits {
  /** At most k documents, by score descending, ties by docid. With MMR, in the order of selection. */
  readonly hits: readonly VectorHit[]
  /** No document that belongs among the hits is missing. */
  readonly exact: boolean
  /** False: the search was stopped before it had finished. */
  readonly complete: boolean
  /** Documents of the collection with vectors of the query's dimensions. */
  readonly documents: number
}

/** A change for `apply`. Changes of one document are in the order of their LSNs. */
export type VectorChange =
  | {
      readonly kind: 'set'
      readonly collection: number
      readonly docid: number
      readonly lsn: bigint
      readonly dimensions: number
      /** Chunk-major; its length is a multiple of `dimensions`. */
      readonly vectors: Float32Array
    }
  | { readonly kind: 'remove'; readonly collection: number; readonly docid: number; readonly lsn: bigint }
  /** Removes all vectors of a collection. Its id is never reused. */
  | { readonly kind: 'drop'; readonly collection: number }

/** What truth contains for one document. */
export interface VectorStamp {
  readonly collection: number
  readonly docid: number
  readonly lsn: bigint
  readonly dimensions: number
}

interface SimilarRequest {
  readonly collection: number
  readonly dimensions: number
  /** Cosine, -1 to 1. */
  readonly threshold: number
  /**
   * Largest docid that is examined. At most 100 000 documents are examined, those with the smallest docids.
   */
  readonly docidMax: number
}

/** A group of documents that are connected by pairs above the threshold. */
export interface SimilarGroup {
  /** The mean score of the group's pairs that were found. */
  readonly score: number
  /** At least two, ordered by docid. Each score is the best of the member's pairs. */
  readonly members: readonly { readonly docid: number; readonly score: number }[]
}

export interface SimilarGroups {
  /** Ordered by their first docids. */
  readonly groups: readonly SimilarGroup[]
  /** Number of documents examined. */
  readonly documents: number
  /** False: the call was stopped. */
  readonly complete: boolean
}

/** Statistics of the vectors of one collection with one number of dimensions. */
export interface VectorSetStats {
  readonly collection: number
  readonly dimensions: number
  readonly documents: number
  readonly chunks: number
  /** Replaced or removed vectors that still occupy slots until the set is rewritten. */
  readonly deadSlots: number
  /** Codes, identities, and vectors that are not yet stored. */
  readonly memoryBytes: number
  /** Bytes of vectors in mapped files. */
  readonly mappedBytes: number
  /** Chunks in the HNSW graph, including dead ones. All other chunks are scanned. 0: there is no graph. */
  readonly graphSlots: number
  readonly graphBytes: number
  /** Bytes of all trained indexes that searches have requested: ivf, pq, opq, sq4, bq. */
  readonly trainedBytes: number
}

/** Brings an engine to the state of truth. */
export interface VectorLoading {
  /**
   * Makes a batch visible to searches that start afterwards. Cheap: engine threads extend the indexes in the
   * background.
   * @param batch from `encodeVectorBatch`
   * @throws an Error on a malformed batch, which changes nothing
   */
  apply(batch: Uint8Array): void
  /**
   * Removes every document that is not in `stamps`, or is there with another LSN or other dimensions.
   * @param stamps from `encodeVectorStamps`, for everything in truth
   * @returns pairs (collection, docid) of the documents that must be passed to `apply` again
   */
  compare(stamps: Uint8Array): Uint32Array
}

/**
 * One per process, shared by every thread that loads the addon. All calls are synchronous and thread-safe.
 */
export interface VectorEngine extends VectorLoading {
  /**
   * Sets the engine's directory before anything is applied. A missing directory is created. Files in it that
   * are unusable, or newer than the store, are removed; `compare` reports the missing documents. A later call
   * does nothing. Without a directory, and after an error, all data stays in memory.
   * @param history of the store, as returned by `beginEpoch`
   * @returns what could not be used, one line each
   */
  open(directory: string, history: Uint8Array): string[]
  /**
   * As `open`, but for a second engine beside the current one. Searches use it from `adoptNext` on, which may
   * only be called while no other call is in progress. `adoptNext` discards the contents of the current
   * engine.
   * @param sealed ids of the collections whose vectors the second engine must not store
   */
  openNext(directory: string, history: Uint8Array, sealed: readonly number[]): string[]
  /** The engine opened by `openNext`. */
  readonly next: VectorLoading
  adoptNext(): void
  /** Closes the engine opened by `openNext`. */
  dropNext(): void
  /**
   * Sets whether vectors of the collection must not be on disk as plaintext. Called before `open`, and on
   * every change, before the first affected vector is applied. Such vectors are not stored; `compare`
   * requests them after a start.
   */
  setSealed(collection: number, isSealed: boolean): void
  /** A search stopped by `stop` returns the hits found so far with `complete` false. */
  search(request: VectorSearchRequest, stop?: StopWord): VectorHits
  /**
   * Groups documents whose first chunks are similar. Up to 8 192 documents, all pairs are compared. Above
   * that, each document is compared with its nearest neighbours.
   */
  similar(request: SimilarRequest, stop?: StopWord): SimilarGroups
  /**
   * Returns when the graphs contain every chunk and the files are up to date. For an orderly shutdown, tests
   * and benchmarks.
   */
  settle(): void
  /** Number of writes refused by the disk. They are retried. */
  storageFailures(): number
  /** Whether the disk refuses writes, which are retried. Cheap. */
  isStoreRefused(): boolean
  /** Ordered by collection, then dimensions. */
  stats(): VectorSetStats[]
  /** The instruction set of the distance kernels. 'serial': none. */
  readonly isa: string
}
