/**
 * The interface of the vector engine. Behind it are the vectors of all collections, in native memory and
 * mapped files, one store per process for all threads. Byte layouts: docs/formats/vector-index.md.
 */
import type { PlanRange, SearchPlan, StopWord } from './types.js'

export type VectorMetric = 'cosine' | 'dot_product' | 'euclidean'
export type VectorAlgorithm = 'flat' | 'hnsw' | 'ivf' | 'pq' | 'opq' | 'sq' | 'sq4' | 'bq' | 'quantized'
export type VectorQuantization = 'float32' | 'int8' | 'int4'

/** Documents that pass all filters and lie within all ranges, as in a search plan. */
export interface VectorFilter {
  readonly filters: SearchPlan['filters']
  readonly ranges?: readonly PlanRange[]
}

export interface VectorSearchRequest {
  readonly collection: number
  /**
   * Its length chooses among the collection's vectors: only those of as many numbers are looked at. Finite
   * numbers.
   */
  readonly query: Float32Array
  /** Documents wanted, 1 to 100 000. */
  readonly k: number
  /** No hit scores below. */
  readonly threshold: number
  readonly metric: VectorMetric
  readonly algorithm: VectorAlgorithm
  /** Candidates of kinds that may err, and of MMR: so many times k, 1 to 10. */
  readonly oversample: number
  readonly filter?: VectorFilter
  /** Of the collection: what `quantized` stands for. */
  readonly quantization: VectorQuantization
  /** Chooses hits that differ from each other (MMR): 1 is by score alone, 0 by difference alone. */
  readonly mmrLambda?: number
}

/** What of the options of the server reaches each search. */
export interface VectorTuning {
  /** Candidates of a bq search that are scored again, for each result, 1 to 1 000. */
  readonly bqRerankFactor: number
  /** Threads of one flat search at most, 1 to 16. */
  readonly workers: number
  /** Vectors from which a flat search uses more than one. */
  readonly parallelMinSize: number
}

export interface VectorHit {
  readonly docid: number
  /** The best of the document's chunks, from 0. */
  readonly chunk: number
  /** Of the vectors' entry, as it was given to `apply`. */
  readonly lsn: bigint
  /** cosine; inner product; 1 / (1 + distance) for euclidean. */
  readonly score: number
}

export interface VectorHits {
  /** At most k documents, score descending, ties by docid; with MMR in the order of their choice. */
  readonly hits: readonly VectorHit[]
  /** No document that belongs among them is missing. */
  readonly exact: boolean
  /** False: stopped on the way. */
  readonly complete: boolean
  /** Documents of the collection with vectors of the query's dimensions. */
  readonly documents: number
}

/** A change for `apply`. Changes of one document come in the order of their LSNs. */
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
  /** All of a collection. Its id is never used again. */
  | { readonly kind: 'drop'; readonly collection: number }

/** What truth has of one document. */
export interface VectorStamp {
  readonly collection: number
  readonly docid: number
  readonly lsn: bigint
  readonly dimensions: number
}

export interface SimilarRequest {
  readonly collection: number
  readonly dimensions: number
  /** Cosine, -1 to 1. */
  readonly threshold: number
  /** Documents up to this one are looked at: 100 000 of them at most, those of the smallest docids. */
  readonly docidMax: number
}

/** Documents that pairs above the threshold join. */
export interface SimilarGroup {
  /** The mean of its pairs that were found. */
  readonly score: number
  /** Two at least, by docid; with the best score of each one's pairs. */
  readonly members: readonly { readonly docid: number; readonly score: number }[]
}

export interface SimilarGroups {
  /** By their first docids. */
  readonly groups: readonly SimilarGroup[]
  /** Looked at. */
  readonly documents: number
  /** False: stopped. */
  readonly complete: boolean
}

/** Of the vectors of one collection with one number of dimensions. */
export interface VectorSetStats {
  readonly collection: number
  readonly dimensions: number
  readonly documents: number
  readonly chunks: number
  /** Replaced or removed, until the set is written anew. */
  readonly deadSlots: number
  /** Codes, identities, and vectors that are not stored yet. */
  readonly memoryBytes: number
  /** Vectors in files. */
  readonly mappedBytes: number
  /**
   * Chunks, dead ones included, that the HNSW graph knows: the others are read one by one. 0: there is no
   * graph.
   */
  readonly graphSlots: number
  readonly graphBytes: number
  /** Of all kinds that searches have asked for: ivf, pq, opq, sq4, bq. */
  readonly trainedBytes: number
}

/** What brings an engine to what truth has. */
export interface VectorLoading {
  /**
   * Makes a batch visible to searches that start afterwards. Cheap: indexes are extended behind it by threads
   * of the engine.
   * @param batch of `encodeVectorBatch`
   * @throws an Error on a malformed batch, which changes nothing
   */
  apply(batch: Uint8Array): void
  /**
   * Removes every document that `stamps` does not name, or names with another LSN or other dimensions.
   * @param stamps of `encodeVectorStamps`, of everything that truth has
   * @returns pairs (collection, docid) of what is to be given again by `apply`
   */
  compare(stamps: Uint8Array): Uint32Array
}

/**
 * One per process, shared by every thread that loads the addon. All calls are synchronous and thread-safe.
 */
export interface VectorEngine extends VectorLoading {
  /**
   * Gives the engine its directory, before anything is applied; it is made where it is missing. Files in it
   * that can't be used, or are newer than the store, are removed: `compare` says what is missing. A later
   * call does nothing. Without a directory, and after an error, everything stays in memory.
   * @param history of the store, as `beginEpoch` returns it
   * @returns what could not be used, a line each
   */
  open(directory: string, history: Uint8Array): string[]
  /**
   * As `open`, for an engine beside the present one: searched from `adoptNext` on, which may only be called
   * while no call is under way. What the present one has ends then.
   * @param sealed ids of the collections of which that one must not store anything
   */
  openNext(directory: string, history: Uint8Array, sealed: readonly number[]): string[]
  /** What `openNext` has opened. */
  readonly next: VectorLoading
  adoptNext(): void
  /** Closes what `openNext` has opened. */
  dropNext(): void
  /**
   * Sets whether vectors of the collection must not be on disk as plaintext. Called before `open`, and
   * whenever that changes, before the first vector that it concerns is applied. Such vectors are not stored:
   * `compare` asks for them after a start.
   */
  setSealed(collection: number, isSealed: boolean): void
  /** Stopped by `stop`, it answers what it has with `complete` false. */
  search(request: VectorSearchRequest, stop?: StopWord): VectorHits
  /**
   * Documents whose first chunks are alike, joined into groups. Of up to 8 192 documents all pairs are
   * compared, of more each with its nearest ones.
   */
  similar(request: SimilarRequest, stop?: StopWord): SimilarGroups
  /**
   * Returns when graphs know every chunk and files hold what they should: for an orderly end, tests and
   * benches.
   */
  settle(): void
  /** Writes that the disk has refused; they are tried again. */
  storageFailures(): number
  /** The disk refuses writes; they are retried. Cheap. */
  isStoreRefused(): boolean
  /** Sets by collection, then dimensions. */
  stats(): VectorSetStats[]
  /** The instruction set that distances are computed with; 'serial' is none. */
  readonly isa: string
}
