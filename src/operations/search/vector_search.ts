/**
 * Rows of vector search: nearest documents, classification, several collections, duplicates, projection. Pure
 * data; rules in src/domain/vectors.
 */
import { DEADLINE_EMBEDDED_MS, DEADLINE_HEAVY_MS } from '../../limits/lanes.js'
import { named, namedOrReadable } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { includeContent, passageFields, retrievalFields } from '../row/retrieval.js'
import {
  also,
  collection,
  Document,
  HTTP_ONLY,
  metaFilters,
  operation,
  optional,
  required,
  shape,
  wholeNumber,
  word,
} from '../row/schema.js'

export const vectorFields = {
  queryVector: Type.Array(Type.Number(), {
    description: 'Query vector instead of a text, with as many numbers as the model has dimensions.',
    examples: [[0.12, -0.4, 0.9]],
  }),
  algorithm: word(
    ['flat', 'hnsw', 'ivf', 'pq', 'opq', 'sq', 'sq4', 'bq', 'quantized'],
    'Search algorithm. `flat` is exact; the others are nearly exact, and faster on large collections. The default of collections with `quantization` is `quantized`.',
    'flat',
  ),
  metric: word(
    ['cosine', 'dot_product', 'euclidean'],
    'Similarity metric. Larger scores are nearer: `euclidean` is 1 / (1 + distance).',
    'cosine',
  ),
  oversample: Type.Number({ description: 'Candidates per result for approximate algorithms, 1 to 10.', default: 3 }),
}

export const searchStats = Type.Optional(Type.Object({ durationMs: Type.Number() }, { description: 'Absent with SVC_SEARCH_STATS=false.' }))

const threshold = (of: string): ReturnType<typeof Type.Number> => Type.Number({ description: `Minimum score of a ${of}.`, default: 0 })
const query = Type.String({
  description: 'Search query, at most 4 KB; empty counts as absent.',
  examples: ['how do I restore a backup'],
})
const collectionName = Type.String({ minLength: 1 })
const common = { group: 'Vector search', effect: 'read', permission: 'read', audit: null } as const

export const vectorSearch = operation({
  ...common,
  searchesVectors: true,
  name: 'vectorSearch',
  client: 'search.vector',
  polledIn: 'domain/vectors/vector_search.ts',
  boundedBy: ['CROSS_COLLECTIONS_MAX', 'CLASSIFY_LABELS_MAX'],
  protocols: { grpc: 'VectorSearch', graphql: 'vectorSearch', mcp: 'semantic_search' },
  description: 'Finds the documents whose meaning is nearest to a text or a vector',
  collections: named('collection'),
  cost: 'search',
  http: { routes: [{ method: 'POST', path: '/v1/vector-search' }] },
  input: Type.Object({
    collection,
    query: optional(query),
    queryVector: optional(vectorFields.queryVector),
    topK: optional(wholeNumber('Maximum number of results.', { default: 5 })),
    threshold: optional(threshold('result')),
    ...metaFilters,
    hasMeta: also(metaFilters.hasMeta, { graphql: true }),
    includeContent,
    algorithm: optional(vectorFields.algorithm),
    distanceMetric: optional(vectorFields.metric),
    ...retrievalFields,
    mmr: optional(
      Type.Boolean({ description: 'Selects results that differ from each other (maximal marginal relevance).', default: false }),
    ),
    mmrLambda: optional(Type.Number({ description: 'With `mmr`: 1 selects by score only, 0 by difference only.', default: 0.5 })),
    oversample: optional(vectorFields.oversample),
  }),
  output: shape('Results, nearest first, each document once.', {
    results: Type.Array(
      Type.Object(
        { document: Document, score: Type.Number(), rank: Type.Integer({ description: 'Rank from 1.' }), ...passageFields },
        { title: 'VectorHit' },
      ),
    ),
    total: Type.Integer({ description: 'Number of results in this response.' }),
    model: Type.String({ examples: ['text-embedding-3-small'] }),
    dimensions: Type.Integer({ examples: [1536] }),
    algorithm: Type.String(),
    distanceMetric: Type.String(),
    embedded: Type.Optional(
      Type.String({
        description: 'Number of embedded documents, such as `0 of 5`; present if no document of the collection has vectors.',
        examples: ['0 of 5'],
      }),
    ),
    hint: Type.Optional(Type.String({ description: 'With `embedded`: which operation to call.' })),
    searchStats,
    contextTruncated: Type.Optional(
      Type.Boolean({ description: 'True if results were omitted because of the token budget of the collection.' }),
    ),
  }),
  errors: ['noEmbeddingProvider', 'invalidOversample', 'vectorsLoading'],
  deadlineMs: DEADLINE_EMBEDDED_MS,
})

export const crossSearch = operation({
  ...common,
  searchesVectors: true,
  name: 'crossSearch',
  client: 'search.cross',
  polledIn: 'domain/vectors/vector_search.ts',
  boundedBy: ['CROSS_COLLECTIONS_MAX', 'CLASSIFY_LABELS_MAX'],
  protocols: { grpc: 'CrossSearch', graphql: null, mcp: 'cross_search' },
  description: 'Finds the documents of several collections that are nearest to a text, a vector or a document',
  collections: namedOrReadable('sourceCollection', 'targetCollections'),
  cost: 'search',
  http: { routes: [{ method: 'POST', path: '/v1/cross-search' }] },
  input: Type.Object({
    query: optional(query),
    queryVector: optional(vectorFields.queryVector),
    sourceCollection: optional(Type.String({ description: 'With `sourceDocID`: searches for documents similar to that one.' })),
    sourceDocID: optional(
      Type.String({ description: 'The `id` of that document, such as `blog|hello-world|en`.', examples: ['blog|hello-world|en'] }),
    ),
    targetCollections: optional(Type.Array(collectionName, { description: 'Collections to search; empty: all that the caller may read.' })),
    topK: optional(wholeNumber('Maximum number of results.', { default: 10 })),
    threshold: optional(threshold('result')),
    algorithm: optional(vectorFields.algorithm),
    distanceMetric: optional(vectorFields.metric),
    ...metaFilters,
    includeContent,
    ...retrievalFields,
    oversample: optional(vectorFields.oversample),
  }),
  output: shape('Results of all collections, nearest first.', {
    results: Type.Array(
      Type.Object(
        {
          ...{ collection: Type.String(), document: Document, score: Type.Number() },
          ...{ rank: Type.Integer({ description: 'Rank from 1.' }), ...passageFields },
        },
        { title: 'CrossSearchHit' },
      ),
    ),
    total: Type.Integer({ description: 'Number of results in this response.' }),
    targetCollections: Type.Array(Type.String(), { description: 'Collections that were searched.' }),
    collectionsSearched: required(Type.Integer({ description: 'Number of collections that were searched.' }), { grpc: 100 }),
    collectionsTotal: required(
      Type.Integer({
        description:
          'Number of those named that exist, or of all that the caller may read. It is larger than `collectionsSearched` where those are too many for one request.',
      }),
      { grpc: 101 },
    ),
    algorithm: Type.String(),
    distanceMetric: Type.String(),
    sourceCollection: Type.Optional(Type.String()),
    sourceDocID: Type.Optional(Type.String()),
    searchStats: Type.Optional(Type.Object({ durationMs: Type.Number(), collectionsSearched: Type.Integer() })),
  }),
  errors: ['notFound', 'noEmbeddingProvider', 'invalidOversample', 'vectorsLoading'],
  deadlineMs: DEADLINE_EMBEDDED_MS,
})

export const classify = operation({
  ...common,
  name: 'classify',
  client: 'search.classify',
  polledIn: 'domain/vectors/vector_search.ts',
  boundedBy: ['CROSS_COLLECTIONS_MAX', 'CLASSIFY_LABELS_MAX'],
  protocols: { grpc: 'Classify', graphql: null, mcp: 'classify_document' },
  description: 'Scores how near a text or a document is to each of the given labels',
  collections: named('collection'),
  cost: 'search',
  http: { routes: [{ method: 'POST', path: '/v1/classify' }] },
  input: Type.Object({
    labels: Type.Array(Type.String(), { description: 'Labels, at most 100.', examples: [['sports', 'politics']] }),
    text: optional(Type.String({ description: 'Text to classify, instead of a document.' })),
    collection: optional(Type.String({ description: 'With `key`: classifies a document by its stored vectors.' })),
    key: optional(Type.String({ description: 'Key of the document to classify.' })),
    lang: optional(Type.String({ description: 'Its language code.', default: 'en' })),
    topK: optional(wholeNumber('Maximum number of labels; 0: all.', { default: 0 })),
    multi: optional(Type.Boolean({ description: 'Returns all labels above the threshold, not only the first ones.', default: false })),
    threshold: optional(Type.Number({ description: 'Minimum score of a label; 0: no minimum.', default: 0 })),
  }),
  output: shape('Labels, nearest first.', {
    results: Type.Array(Type.Object({ label: Type.String(), score: Type.Number() }, { title: 'LabelScore' })),
    model: Type.String(),
    dimensions: Type.Integer(),
  }),
  errors: ['notFound', 'noEmbeddingProvider'],
  deadlineMs: DEADLINE_EMBEDDED_MS,
})

const DuplicateGroup = Type.Object(
  {
    groupId: Type.String(),
    type: Type.String({ description: '`exact` or `similar`.' }),
    documents: Type.Array(
      Type.Object(
        {
          docId: Type.String({ examples: ['blog|hello-world|en'] }),
          key: Type.String(),
          contentHash: Type.String({ description: 'SHA-256 of the content, hexadecimal.' }),
          contentMd: Type.Optional(Type.String()),
          score: Type.Optional(
            Type.Number({ description: 'Similar documents only: the highest score with another document of the group.' }),
          ),
        },
        { title: 'DuplicateDocument' },
      ),
    ),
    score: Type.Optional(Type.Number({ description: 'Similar documents only: the mean score of the pairs that were found.' })),
  },
  { title: 'DuplicateGroup' },
)

export const findDuplicates = operation({
  ...common,
  searchesVectors: true,
  name: 'findDuplicates',
  client: 'search.duplicates',
  polledIn: 'domain/vectors/duplicates.ts',
  boundedBy: ['DUPLICATES_DOCUMENTS_MAX'],
  protocols: { grpc: 'FindDuplicates', graphql: null, mcp: 'find_duplicates' },
  description: 'Finds documents with the same content, and documents with nearly the same meaning',
  collections: named('collection'),
  cost: 'heavy',
  http: { routes: [{ method: 'POST', path: '/v1/find-duplicates' }] },
  input: Type.Object({
    collection,
    mode: optional(word(['exact', 'similar', 'both'], '`exact` needs no vectors.', 'both')),
    threshold: optional(Type.Number({ description: 'Minimum score of similar documents.', default: 0.9 })),
    maxDocs: optional(wholeNumber('Maximum number of documents to examine, oldest first.', { default: 5000 })),
    distanceMetric: optional(vectorFields.metric),
    includeContent,
  }),
  output: shape('Groups of at least two documents.', {
    collection: Type.String(),
    mode: Type.String(),
    threshold: Type.Number(),
    distanceMetric: Type.String(),
    totalDocuments: Type.Integer({ description: 'Number of documents examined.' }),
    totalEmbedded: Type.Integer({ description: 'Number of these that have vectors.' }),
    exactGroups: Type.Array(DuplicateGroup),
    similarGroups: Type.Array(DuplicateGroup),
    exactDuplicates: Type.Integer({ description: 'Number of documents in exact groups.' }),
    similarPairs: Type.Integer({ description: 'Number of pairs in similar groups.' }),
  }),
  deadlineMs: DEADLINE_HEAVY_MS,
})

export const vectorProjection = operation({
  ...common,
  name: 'vectorProjection',
  client: 'search.projection',
  polledIn: 'domain/vectors/projection.ts',
  boundedBy: ['PROJECTION_POINTS_MAX'],
  protocols: HTTP_ONLY,
  description: 'Projects vectors of a collection onto a plane by their two principal components',
  collections: named('collection'),
  cost: 'heavy',
  http: { routes: [{ method: 'POST', path: '/v1/vector-projection' }] },
  input: Type.Object({
    collection,
    sample: optional(wholeNumber('Number of vectors to return, at most 2 000.', { default: 1000 })),
    query: optional(query),
    queryVector: optional(vectorFields.queryVector),
  }),
  output: shape('Points.', {
    points: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          key: Type.String(),
          docId: Type.String(),
          chunkIndex: Type.Integer(),
          x: Type.Number(),
          y: Type.Number(),
        },
        { title: 'ProjectedPoint' },
      ),
    ),
    query: Type.Optional(Type.Object({ x: Type.Number(), y: Type.Number() })),
    total: Type.Integer({ description: 'Total number of vectors.' }),
    sampled: Type.Integer(),
    dimensions: Type.Integer(),
  }),
  errors: ['noEmbeddingProvider'],
  deadlineMs: DEADLINE_HEAVY_MS,
})

export const vectorSearchOperations = [vectorSearch, crossSearch, classify, findDuplicates, vectorProjection] as const
