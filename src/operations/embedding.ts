/**
 * Rows of embedding: operations for clients, and internal operations that the front end requests from the
 * lanes (src/background/embedding/worker.ts). Pure data; rules in src/domain/embedding.
 */
import { DEADLINE_HEAVY_MS, DEADLINE_POINT_MS, DEADLINE_REINDEX_MS, DEADLINE_SEARCH_MS } from '../limits/deadlines.js'
import { named, READABLE } from './collection_access.js'
import { Type } from './json_schema.js'
import { collection, mapOf, internal, operation, optional, shape, wholeNumber } from './schema.js'

export const vectorReindex = operation({
  name: 'vectorReindex',
  group: 'Vector search',
  description: 'Embeds the documents of a collection that lack current vectors, and answers when that is done',
  effect: 'write',
  permission: 'write',
  collections: named('collection'),
  cost: 'heavy',
  http: { routes: [{ method: 'POST', path: '/v1/vector-reindex' }] },
  input: Type.Object({
    collection,
    force: optional(Type.Boolean({ description: 'Embeds unchanged documents, too.', default: false })),
  }),
  output: shape('What became of the documents.', {
    embedded: Type.Integer(),
    skipped: Type.Integer({ description: 'Their vectors are current.' }),
    failed: Type.Integer(),
    errors: Type.Array(Type.String(), { description: 'At most 50.' }),
    totalChunks: Type.Integer({ description: 'Of those that were embedded.' }),
  }),
  errors: ['noEmbeddingProvider'],
  deadlineMs: DEADLINE_REINDEX_MS,
  audit: 'write./v1/vector-reindex',
})

export const vectorStats = operation({
  name: 'vectorStats',
  group: 'Vector search',
  description: 'Which provider makes vectors, how many documents have theirs, and how many wait',
  effect: 'read',
  permission: 'read',
  collections: READABLE,
  cost: 'point',
  http: { routes: [{ method: 'GET', path: '/v1/vector-stats' }] },
  input: Type.Object({}),
  output: shape('The state of vectors.', {
    enabled: Type.Boolean({ description: 'There is an embedding provider.' }),
    provider: Type.String({ examples: ['openai'] }),
    model: Type.String({ examples: ['text-embedding-3-small'] }),
    dimensions: Type.Integer(),
    index_ready: Type.Boolean(),
    chunking: Type.Object({ enabled: Type.Boolean(), chunkSize: Type.Integer({ description: 'Characters of a chunk.' }) }),
    collections: mapOf(
      Type.Object({
        total_documents: Type.Integer(),
        embedded_documents: Type.Integer(),
        total_chunks: Type.Integer(),
        stale_embeddings: Type.Integer({
          description: 'Documents whose vectors another provider, model or variant made: a reindex makes them anew.',
        }),
      }),
      { description: 'By name.' },
    ),
    queue: Type.Object({
      size: Type.Integer({ description: 'Documents that may wait before writes do.' }),
      depth: Type.Integer({ description: 'Documents that wait.' }),
      dropped: Type.Integer({ description: 'Since the start.' }),
      wait: Type.String({ description: 'How long a write waits for room.', examples: ['5s'] }),
    }),
  }),
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
})

export const embeddingOperations = [vectorReindex, vectorStats] as const

const epoch = Type.String({ description: 'Of the store, hexadecimal.' })
const documents = Type.Array(Type.Unsafe<{ collection: number; docid: number; queued: number; force: boolean }>({ type: 'object' }))

export const queuedEmbeddings = internal({
  name: 'queuedEmbeddings',
  description: 'Documents that wait for their vectors, first come first',
  effect: 'read',
  cost: 'point',
  input: Type.Object({ after: wholeNumber('LSN.'), count: wholeNumber('At most so many.') }),
  output: Type.Object({ epoch, documents }),
  deadlineMs: DEADLINE_POINT_MS,
})

export const unembedded = internal({
  name: 'unembedded',
  description: 'Documents of a collection that lack current vectors',
  effect: 'read',
  cost: 'heavy',
  input: Type.Object({
    collection: wholeNumber('Id.'),
    docid: wholeNumber('The first to look at.'),
    force: Type.Boolean(),
    variant: Type.String(),
    dimensions: Type.Integer(),
  }),
  output: Type.Object({
    epoch,
    documents,
    ids: Type.Array(Type.String(), { description: 'Of the documents, as clients know them.' }),
    skipped: Type.Integer(),
    next: wholeNumber('Docid to go on with, 0: that was the end.'),
  }),
  deadlineMs: DEADLINE_HEAVY_MS,
})

export const embeddingInputs = internal({
  name: 'embeddingInputs',
  description: 'Cuts documents and hands out the texts that lack vectors',
  effect: 'read',
  cost: 'heavy',
  input: Type.Object({ epoch, documents, texts: wholeNumber('So many are wanted.'), variant: Type.String(), dimensions: Type.Integer() }),
  output: Type.Object({}, { description: 'Bytes: src/wire/embedding_codec.ts.' }),
  deadlineMs: DEADLINE_HEAVY_MS,
})

export const storeVectors = internal({
  name: 'storeVectors',
  description: 'Stores vectors that were made',
  effect: 'write',
  cost: 'write',
  input: Type.Object({ message: Type.Unsafe<Uint8Array>({}) }),
  output: Type.Object({ settled: Type.Integer(), isOther: Type.Boolean() }),
  deadlineMs: DEADLINE_HEAVY_MS,
})

export const staleVectors = internal({
  name: 'staleVectors',
  description: 'Collections with vectors that can not be compared with those that are made now',
  effect: 'read',
  cost: 'point',
  input: Type.Object({ variant: Type.String() }),
  output: Type.Object({
    stale: Type.Array(Type.Object({ collection: Type.String(), variant: Type.String(), documents: Type.Integer() })),
  }),
  deadlineMs: DEADLINE_POINT_MS,
})

export const internalEmbeddingOperations = [staleVectors, queuedEmbeddings, unembedded, embeddingInputs, storeVectors] as const
