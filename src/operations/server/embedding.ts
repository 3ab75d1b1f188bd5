/**
 * Rows of embedding: operations for clients, and internal operations that the front end requests from the
 * lanes (src/background/embedding/worker.ts). Pure data; rules in src/domain/embedding.
 */
import { DEADLINE_HEAVY_MS, DEADLINE_POINT_MS, DEADLINE_REINDEX_MS, DEADLINE_SEARCH_MS } from '../../limits/lanes.js'
import { named, READABLE } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { collection, internal, mapOf, operation, optional, required, shape, wholeNumber } from '../row/schema.js'

export const vectorReindex = operation({
  name: 'vectorReindex',
  client: 'indexes.rebuildVectors',
  boundedBy: ['EMBEDDINGS_WANTED_MAX'],
  protocols: { grpc: 'VectorReindex', graphql: 'vectorReindex', mcp: 'vector_reindex' },
  group: 'Vector search',
  description: 'Embeds the documents of a collection that lack current vectors, and responds when this is complete',
  effect: 'write',
  permission: 'write',
  collections: named('collection'),
  cost: 'heavy',
  http: { routes: [{ method: 'POST', path: '/v1/vector-reindex' }] },
  input: Type.Object({
    collection,
    force: optional(Type.Boolean({ description: 'Embeds unchanged documents too.', default: false })),
  }),
  output: shape('Number of documents by outcome.', {
    embedded: Type.Integer(),
    skipped: Type.Integer({ description: 'Documents whose vectors are current.' }),
    failed: Type.Integer(),
    errors: Type.Array(Type.String(), { description: 'Error messages, at most 50.' }),
    totalChunks: required(Type.Integer({ description: 'Number of chunks of the embedded documents.' }), { grpc: 100 }),
  }),
  errors: ['noEmbeddingProvider'],
  deadlineMs: DEADLINE_REINDEX_MS,
  audit: 'write./v1/vector-reindex',
})

export const vectorStats = operation({
  name: 'vectorStats',
  client: 'indexes.vectorStats',
  boundedBy: ['EMBEDDINGS_WANTED_MAX'],
  protocols: { grpc: 'VectorStats', graphql: 'vectorStats', mcp: 'vector_stats' },
  group: 'Vector search',
  description: 'Returns the embedding provider, the number of embedded documents and the number of waiting ones',
  effect: 'read',
  permission: 'read',
  collections: READABLE,
  cost: 'point',
  http: { routes: [{ method: 'GET', path: '/v1/vector-stats' }] },
  input: Type.Object({}),
  output: shape('State of the embeddings.', {
    enabled: Type.Boolean({ description: 'Whether there is an embedding provider.' }),
    provider: Type.String({ examples: ['openai'] }),
    model: Type.String({ examples: ['text-embedding-3-small'] }),
    dimensions: Type.Integer(),
    index_ready: required(Type.Boolean(), { grpc: 100 }),
    chunking: required(
      Type.Object({
        enabled: required(Type.Boolean(), { grpc: 1 }),
        chunkSize: required(Type.Integer({ description: 'Size of a chunk in characters.' }), { grpc: 2 }),
      }),
      { grpc: { number: 101, message: 'VectorChunking' } },
    ),
    collections: mapOf(
      Type.Object({
        total_documents: Type.Integer(),
        embedded_documents: Type.Integer(),
        total_chunks: required(Type.Integer(), { grpc: 100 }),
        stale_embeddings: Type.Integer({
          description: 'Number of documents whose vectors were made by another provider, model or variant. A reindex replaces them.',
        }),
      }),
      { description: 'Counts by name of the collection.' },
    ),
    queue: required(
      Type.Object({
        size: required(Type.Integer({ description: 'Number of documents that may wait; above it, writes wait.' }), { grpc: 1 }),
        depth: required(Type.Integer({ description: 'Number of waiting documents.' }), { grpc: 2 }),
        dropped: required(Type.Integer({ description: 'Number of documents stored without a vector since the start.' }), { grpc: 3 }),
        wait: required(Type.String({ description: 'Maximum time that a write waits for capacity.', examples: ['5s'] }), { grpc: 4 }),
      }),
      { grpc: { number: 102, message: 'VectorQueue' } },
    ),
  }),
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
})

export const embeddingOperations = [vectorReindex, vectorStats] as const

const epoch = Type.String({ description: 'Epoch of the store, hexadecimal.' })
const documents = Type.Array(Type.Unsafe<{ collection: number; docid: number; queued: number; force: boolean }>({ type: 'object' }))

export const queuedEmbeddings = internal({
  name: 'queuedEmbeddings',
  boundedBy: ['EMBEDDINGS_WANTED_MAX'],
  description: 'Lists documents that wait for vectors, in FIFO order',
  effect: 'read',
  cost: 'point',
  input: Type.Object({ after: wholeNumber('LSN.'), count: wholeNumber('Maximum number of documents.') }),
  output: Type.Object({ epoch, documents }),
  deadlineMs: DEADLINE_POINT_MS,
})

export const unembedded = internal({
  name: 'unembedded',
  boundedBy: ['EMBEDDINGS_WANTED_MAX'],
  description: 'Lists documents of a collection that lack current vectors',
  effect: 'read',
  cost: 'heavy',
  input: Type.Object({
    collection: wholeNumber('Id of the collection.'),
    docid: wholeNumber('First docid to examine.'),
    force: Type.Boolean(),
    variant: Type.String(),
    dimensions: Type.Integer(),
    name: Type.String({ description: 'Name of the collection.' }),
    submitter: Type.String({ description: 'Name of the user who asked for the reindex; empty: access control is off.' }),
  }),
  output: Type.Object({
    epoch,
    documents,
    ids: Type.Array(Type.String(), { description: 'Ids of the documents, as clients know them.' }),
    skipped: Type.Integer(),
    next: wholeNumber('Docid at which to continue; 0: end.'),
  }),
  deadlineMs: DEADLINE_HEAVY_MS,
})

export const embeddingInputs = internal({
  name: 'embeddingInputs',
  boundedBy: ['EMBEDDINGS_WANTED_MAX'],
  description: 'Splits documents into chunks and returns the texts that lack vectors',
  effect: 'read',
  cost: 'heavy',
  input: Type.Object({
    epoch,
    documents,
    texts: wholeNumber('Number of requested texts.'),
    variant: Type.String(),
    dimensions: Type.Integer(),
  }),
  output: Type.Object({}, { description: 'Bytes: CutDocuments of src/wire/messages/embedding_messages.ts.' }),
  deadlineMs: DEADLINE_HEAVY_MS,
})

export const storeVectors = internal({
  name: 'storeVectors',
  boundedBy: ['EMBEDDINGS_WANTED_MAX'],
  description: 'Stores vectors of documents',
  effect: 'write',
  cost: 'write',
  input: Type.Object({ message: Type.Unsafe<Uint8Array>({}) }),
  output: Type.Object({ settled: Type.Integer(), isOther: Type.Boolean() }),
  deadlineMs: DEADLINE_HEAVY_MS,
})

export const staleVectors = internal({
  name: 'staleVectors',
  boundedBy: ['EMBEDDINGS_WANTED_MAX'],
  description: 'Lists collections with vectors that cannot be compared with new ones',
  effect: 'read',
  cost: 'point',
  input: Type.Object({ variant: Type.String() }),
  output: Type.Object({
    stale: Type.Array(Type.Object({ collection: Type.String(), variant: Type.String(), documents: Type.Integer() })),
  }),
  deadlineMs: DEADLINE_POINT_MS,
})

export const internalEmbeddingOperations = [staleVectors, queuedEmbeddings, unembedded, embeddingInputs, storeVectors] as const
