/**
 * The options of embeddings and vector search, a part of the table of options (options.ts). The API key is
 * not an option, because every process on the machine can read flags (embedding.ts). Pure data; main thread,
 * at start.
 */
import { EMBEDDING_DIMENSIONS_MAX } from '../../limits/embedding.js'
import { DEADLINE_HEAVY_MS } from '../../limits/lanes.js'
import { BQ_RERANK_FACTOR_DEFAULT, VECTOR_PARALLEL_SIZE_DEFAULT, VECTOR_WORKERS_MAX } from '../../limits/search.js'
import type { ProviderName } from '../../outbound/embedding/models.js'
import { PROVIDER_NAMES } from '../../outbound/embedding/models.js'
import type { Option } from './option.js'
import { parseBoolean, parseDuration, parseText, parseWhole, parseWord } from './values.js'

/**
 * Documents that may wait for their vectors before writes wait for capacity (`SVC_EMBEDDING_QUEUE_SIZE`), and
 * how long a write waits (`SVC_EMBEDDING_QUEUE_WAIT`). The values of the reference.
 */
const EMBEDDING_QUEUE_DEFAULT = 1000
const EMBEDDING_QUEUE_WAIT_MS_DEFAULT = 5_000
/** Highest `SVC_EMBEDDING_QUEUE_SIZE`: a row of 20 bytes for each document. */
const EMBEDDING_QUEUE_MAX = 10_000_000
/**
 * Characters (code points) of a chunk (`SVC_EMBEDDING_CHUNK_SIZE`). The value of the reference: some 350
 * tokens, which every known model accepts without truncation.
 */
export const EMBEDDING_CHUNK_CHARACTERS_DEFAULT = 1500
/** Smaller chunks carry no meaning by themselves; every provider truncates larger ones. */
const EMBEDDING_CHUNK_CHARACTERS_MIN = 100
const EMBEDDING_CHUNK_CHARACTERS_MAX = 100_000
/**
 * Vectors of query texts that are cached (`SVC_EMBEDDING_CACHE_SIZE`, `_TTL`). The defaults are the values of
 * the reference: 1 024 x 6 KB. The maximum takes 400 MB.
 */
const EMBEDDINGS_CACHED_DEFAULT = 1024
const EMBEDDINGS_CACHED_MAX = 65_536
const EMBEDDINGS_CACHED_MS_DEFAULT = 3_600_000
/** Thirty days: a vector does not change as long as its model does not. */
const EMBEDDINGS_CACHED_MS_MAX = 30 * 86_400_000
/** Candidates of a search by codes, per result that is wanted. */
const BQ_RERANK_FACTOR_MAX = 1000

const VECTOR_ALGORITHMS = ['flat', 'hnsw', 'ivf', 'pq', 'opq', 'sq', 'sq4', 'bq'] as const

export interface VectorOptionValues {
  /** Undefined: not configured, which differs from `none`. */
  readonly embeddingProvider: ProviderName | 'none' | undefined
  /** Empty: the provider's default. */
  readonly embeddingModel: string
  /** 0: the model's default. */
  readonly embeddingDimensions: number
  /** Empty: the provider's default. */
  readonly embeddingApiUrl: string
  readonly embeddingAutodetect: boolean
  /** Number of documents that may wait for their vectors. Above it, writes wait. */
  readonly embeddingQueueSize: number
  /** 0: a document is dropped immediately if the queue is full. */
  readonly embeddingQueueWaitMs: number
  /** Undefined: chosen per document. */
  readonly embeddingChunkMode: 'code' | 'prose' | undefined
  readonly embeddingChunkEnabled: boolean
  readonly embeddingChunkSize: number
  /** Maximum number of cached query vectors. 0: no cache. */
  readonly embeddingCacheSize: number
  readonly embeddingCacheMsMax: number
  readonly vectorDefaultAlgorithm: (typeof VECTOR_ALGORITHMS)[number]
  readonly vectorBqRerankFactor: number
  /** 0: one per core, at most 16. */
  readonly vectorParallelWorkers: number
  readonly vectorParallelMinSize: number
}

export const VECTOR_OPTIONS: { readonly [Name in keyof VectorOptionValues]: Option<VectorOptionValues[Name]> } = {
  embeddingProvider: {
    flag: 'embedding-provider',
    variables: ['SVC_EMBEDDING_PROVIDER'],
    yaml: ['embedding.provider'],
    fallback: undefined,
    fallbackText: 'none',
    parse: parseWord(['none', ...PROVIDER_NAMES] as const),
    help: `embedding provider: none, ${PROVIDER_NAMES.join(', ')}`,
  },
  embeddingModel: {
    flag: 'embedding-model',
    variables: ['SVC_EMBEDDING_MODEL'],
    yaml: ['embedding.model'],
    fallback: '',
    parse: parseText,
    help: 'name of the model; default: the default model of the provider',
  },
  embeddingDimensions: {
    flag: 'embedding-dimensions',
    variables: ['SVC_EMBEDDING_DIMENSIONS'],
    yaml: ['embedding.dimensions'],
    fallback: 0,
    fallbackText: '',
    parse: parseWhole(1, EMBEDDING_DIMENSIONS_MAX),
    help: 'dimensions of the vectors; default: those of the model',
  },
  embeddingApiUrl: {
    flag: 'embedding-api-url',
    variables: ['SVC_EMBEDDING_API_URL'],
    yaml: ['embedding.apiUrl'],
    fallback: '',
    parse: parseText,
    help: 'base URL of the provider, or of a server with the same protocol; default: that of the provider',
  },
  embeddingAutodetect: {
    flag: 'embedding-autodetect',
    variables: ['SVC_EMBEDDING_AUTODETECT'],
    yaml: ['embedding.autodetect'],
    fallback: true,
    parse: parseBoolean,
    boolean: true,
    help: 'if no provider is configured, check once at start whether a local Ollama has an embedding model',
  },
  embeddingQueueSize: {
    flag: 'embedding-queue-size',
    variables: ['SVC_EMBEDDING_QUEUE_SIZE'],
    yaml: ['embedding.queueSize'],
    fallback: EMBEDDING_QUEUE_DEFAULT,
    parse: parseWhole(1, EMBEDDING_QUEUE_MAX),
    help: 'number of documents that may wait for vectors, including those being embedded; above it, writes wait for capacity',
  },
  embeddingQueueWaitMs: {
    flag: 'embedding-queue-wait',
    variables: ['SVC_EMBEDDING_QUEUE_WAIT'],
    yaml: ['embedding.queueWait'],
    fallback: EMBEDDING_QUEUE_WAIT_MS_DEFAULT,
    fallbackText: '5s',
    parse: parseDuration(0, DEADLINE_HEAVY_MS),
    help: 'maximum time that a write waits for capacity in that queue, a duration such as 500ms or 5s; 0: not at all',
  },
  embeddingChunkMode: {
    flag: 'embedding-chunk-mode',
    variables: ['SVC_EMBEDDING_CHUNK_MODE'],
    yaml: ['embedding.chunkMode'],
    fallback: undefined,
    parse: parseWord(['code', 'prose'] as const),
    help: 'code or prose: chunking mode of all documents; default: chosen for each document',
  },
  embeddingChunkEnabled: {
    flag: 'embedding-chunk-enabled',
    variables: ['SVC_EMBEDDING_CHUNK_ENABLED'],
    yaml: ['embedding.chunkEnabled'],
    fallback: true,
    parse: parseBoolean,
    boolean: true,
    help: 'split long documents into chunks, each with its own vector',
  },
  embeddingChunkSize: {
    flag: 'embedding-chunk-size',
    variables: ['SVC_EMBEDDING_CHUNK_SIZE'],
    yaml: ['embedding.chunkSize'],
    fallback: EMBEDDING_CHUNK_CHARACTERS_DEFAULT,
    parse: parseWhole(EMBEDDING_CHUNK_CHARACTERS_MIN, EMBEDDING_CHUNK_CHARACTERS_MAX),
    help: 'size of a chunk in characters',
  },
  embeddingCacheSize: {
    flag: 'embedding-cache-size',
    variables: ['SVC_EMBEDDING_CACHE_SIZE'],
    yaml: ['embedding.cacheSize'],
    fallback: EMBEDDINGS_CACHED_DEFAULT,
    parse: parseWhole(0, EMBEDDINGS_CACHED_MAX),
    help: 'maximum number of cached query vectors; 0: no cache',
  },
  embeddingCacheMsMax: {
    flag: 'embedding-cache-ttl',
    variables: ['SVC_EMBEDDING_CACHE_TTL'],
    yaml: ['embedding.cacheTtl'],
    fallback: EMBEDDINGS_CACHED_MS_DEFAULT,
    fallbackText: '1h',
    parse: parseDuration(0, EMBEDDINGS_CACHED_MS_MAX),
    help: 'time for which query vectors are cached, a duration such as 10m or 1h',
  },
  vectorDefaultAlgorithm: {
    flag: 'vector-default-algorithm',
    variables: ['SVC_VECTOR_DEFAULT_ALGORITHM'],
    yaml: ['vector.defaultAlgorithm'],
    fallback: 'flat',
    parse: parseWord(VECTOR_ALGORITHMS),
    help: `algorithm of vector searches that name none: ${VECTOR_ALGORITHMS.join(', ')}`,
  },
  vectorBqRerankFactor: {
    flag: 'vector-bq-rerank-factor',
    variables: ['SVC_VECTOR_BQ_RERANK_FACTOR'],
    yaml: ['vector.bqRerankFactor'],
    fallback: BQ_RERANK_FACTOR_DEFAULT,
    parse: parseWhole(1, BQ_RERANK_FACTOR_MAX),
    help: 'number of candidates per result that a bq search rescores',
  },
  vectorParallelWorkers: {
    flag: 'vector-parallel-workers',
    variables: ['SVC_VECTOR_PARALLEL_WORKERS'],
    yaml: ['vector.parallelWorkers'],
    fallback: 0,
    parse: parseWhole(0, VECTOR_WORKERS_MAX),
    help: 'maximum number of threads of one flat search; 0: one per core, at most 16',
  },
  vectorParallelMinSize: {
    flag: 'vector-parallel-min-size',
    variables: ['SVC_VECTOR_PARALLEL_MIN_SIZE'],
    yaml: ['vector.parallelMinSize'],
    fallback: VECTOR_PARALLEL_SIZE_DEFAULT,
    parse: parseWhole(1, 2 ** 31),
    help: 'minimum number of vectors for which a flat search uses more than one thread',
  },
}
