/**
 * Rows of vector search: nearest documents, classification, several collections, duplicates, projection. Pure
 * data; rules in src/domain/vectors.
 */
import { DEADLINE_EMBEDDED_MS, DEADLINE_HEAVY_MS } from '../limits/deadlines.js'
import { named, namedOrReadable } from './collection_access.js'
import { Type } from './json_schema.js'
import { includeContent, passageFields, retrievalFields } from './retrieval.js'
import { collection, Document, filterMeta, operation, optional, shape, wholeNumber, word } from './schema.js'

export const vectorFields = {
  queryVector: Type.Array(Type.Number(), {
    description: 'A vector in place of the text, of as many numbers as the model has dimensions.',
    examples: [[0.12, -0.4, 0.9]],
  }),
  algorithm: word(
    ['flat', 'hnsw', 'ivf', 'pq', 'opq', 'sq', 'sq4', 'bq', 'quantized'],
    'How vectors are looked up. `flat` is exact; the others are faster on large collections and nearly so. Collections with `quantization` have `quantized` as their default.',
    'flat',
  ),
  metric: word(
    ['cosine', 'dot_product', 'euclidean'],
    'What nearness is. Larger scores are nearer: `euclidean` is 1 / (1 + distance).',
    'cosine',
  ),
  oversample: Type.Number({ description: 'Candidates for each result, 1 to 10, where the way of searching may err.', default: 3 }),
}

export const searchStats = Type.Object({ durationMs: Type.Number() })

const threshold = (of: string): ReturnType<typeof Type.Number> => Type.Number({ description: `No ${of} scores less.`, default: 0 })
const query = Type.String({
  description: 'What to look for, at most 4 KB; empty counts as absent.',
  examples: ['how do I restore a backup'],
})
const collectionName = Type.String({ minLength: 1 })
const common = { group: 'Vector search', effect: 'read', permission: 'read', audit: null } as const

export const vectorSearch = operation({
  ...common,
  searchesVectors: true,
  name: 'vectorSearch',
  description: 'Documents whose meaning is nearest to a text or a vector',
  collections: named('collection'),
  cost: 'search',
  http: { routes: [{ method: 'POST', path: '/v1/vector-search' }] },
  input: Type.Object({
    collection,
    query: optional(query),
    queryVector: optional(vectorFields.queryVector),
    topK: optional(wholeNumber('Results wanted.', { default: 5 })),
    threshold: optional(threshold('result')),
    filterMeta: optional(filterMeta),
    includeContent,
    algorithm: optional(vectorFields.algorithm),
    distanceMetric: optional(vectorFields.metric),
    ...retrievalFields,
    mmr: optional(Type.Boolean({ description: 'Chooses results that differ from each other.', default: false })),
    mmrLambda: optional(Type.Number({ description: 'With `mmr`: 1 by score alone, 0 by difference alone.', default: 0.5 })),
    oversample: optional(vectorFields.oversample),
  }),
  output: shape('Results, nearest first, each document once.', {
    results: Type.Array(
      Type.Object(
        { document: Document, score: Type.Number(), rank: Type.Integer({ description: 'From 1.' }), ...passageFields },
        { title: 'VectorHit' },
      ),
    ),
    total: Type.Integer({ description: 'Number of results in this answer.' }),
    model: Type.String({ examples: ['text-embedding-3-small'] }),
    dimensions: Type.Integer({ examples: [1536] }),
    algorithm: Type.String(),
    distanceMetric: Type.String(),
    embedded: Type.Optional(
      Type.String({ description: 'Where no document of the collection has vectors: `0 of 5`.', examples: ['0 of 5'] }),
    ),
    hint: Type.Optional(Type.String({ description: 'Beside `embedded`: what to call.' })),
    searchStats,
    contextTruncated: Type.Optional(Type.Boolean({ description: 'The token budget of the collection left results out.' })),
  }),
  errors: ['noEmbeddingProvider', 'invalidOversample', 'vectorsLoading'],
  deadlineMs: DEADLINE_EMBEDDED_MS,
})

export const crossSearch = operation({
  ...common,
  searchesVectors: true,
  name: 'crossSearch',
  description: 'Documents of several collections that are nearest to a text, a vector or a document',
  collections: namedOrReadable('sourceCollection', 'targetCollections'),
  cost: 'search',
  http: { routes: [{ method: 'POST', path: '/v1/cross-search' }] },
  input: Type.Object({
    query: optional(query),
    queryVector: optional(vectorFields.queryVector),
    sourceCollection: optional(Type.String({ description: 'With `sourceDocID`: documents like that one.' })),
    sourceDocID: optional(Type.String({ description: 'The `id` of a document.', examples: ['blog|hello-world|en'] })),
    targetCollections: optional(Type.Array(collectionName, { description: 'Where to look; empty: everywhere.' })),
    topK: optional(wholeNumber('Results wanted.', { default: 10 })),
    threshold: optional(threshold('result')),
    algorithm: optional(vectorFields.algorithm),
    distanceMetric: optional(vectorFields.metric),
    filterMeta: optional(filterMeta),
    includeContent,
    oversample: optional(vectorFields.oversample),
  }),
  output: shape('Results of all collections, nearest first.', {
    results: Type.Array(
      Type.Object(
        { collection: Type.String(), document: Document, score: Type.Number(), rank: Type.Integer({ description: 'From 1.' }) },
        { title: 'CrossSearchHit' },
      ),
    ),
    total: Type.Integer({ description: 'Number of results in this answer.' }),
    targetCollections: Type.Array(Type.String(), { description: 'Where it was looked.' }),
    algorithm: Type.String(),
    distanceMetric: Type.String(),
    sourceCollection: Type.Optional(Type.String()),
    sourceDocID: Type.Optional(Type.String()),
    searchStats: Type.Object({ durationMs: Type.Number(), collectionsSearched: Type.Integer() }),
  }),
  errors: ['notFound', 'noEmbeddingProvider', 'invalidOversample', 'vectorsLoading'],
  deadlineMs: DEADLINE_EMBEDDED_MS,
})

export const classify = operation({
  ...common,
  name: 'classify',
  description: 'How near a text or a document is to each of some labels',
  collections: named('collection'),
  cost: 'search',
  http: { routes: [{ method: 'POST', path: '/v1/classify' }] },
  input: Type.Object({
    labels: Type.Array(Type.String(), { description: 'At most 100.', examples: [['sports', 'politics']] }),
    text: optional(Type.String({ description: 'What is classified.' })),
    collection: optional(Type.String({ description: 'With `key`: a document is classified, by the vectors that it has.' })),
    key: optional(Type.String()),
    lang: optional(Type.String({ default: 'en' })),
    topK: optional(wholeNumber('Labels wanted; 0: all.', { default: 0 })),
    multi: optional(Type.Boolean({ description: 'All labels above the threshold, and not only the first ones.', default: false })),
    threshold: optional(Type.Number({ description: 'No label scores less; 0: any score will do.', default: 0 })),
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
          score: Type.Optional(Type.Number({ description: 'Of similar documents: the highest with another one of the group.' })),
        },
        { title: 'DuplicateDocument' },
      ),
    ),
    score: Type.Optional(Type.Number({ description: 'Of similar documents: the mean of the pairs that were found.' })),
  },
  { title: 'DuplicateGroup' },
)

export const findDuplicates = operation({
  ...common,
  searchesVectors: true,
  name: 'findDuplicates',
  description: 'Documents with the same content, and documents that say nearly the same',
  collections: named('collection'),
  cost: 'heavy',
  http: { routes: [{ method: 'POST', path: '/v1/find-duplicates' }] },
  input: Type.Object({
    collection,
    mode: optional(word(['exact', 'similar', 'both'], '`exact` needs no vectors.', 'both')),
    threshold: optional(Type.Number({ description: 'Similar are documents with at least this score.', default: 0.9 })),
    maxDocs: optional(wholeNumber('Documents looked at, oldest first.', { default: 5000 })),
    distanceMetric: optional(vectorFields.metric),
    includeContent,
  }),
  output: shape('Groups of at least two documents.', {
    collection: Type.String(),
    mode: Type.String(),
    threshold: Type.Number(),
    distanceMetric: Type.String(),
    totalDocuments: Type.Integer({ description: 'Documents looked at.' }),
    totalEmbedded: Type.Integer({ description: 'Of these, those with vectors.' }),
    exactGroups: Type.Array(DuplicateGroup),
    similarGroups: Type.Array(DuplicateGroup),
    exactDuplicates: Type.Integer({ description: 'Documents in exact groups.' }),
    similarPairs: Type.Integer({ description: 'Pairs in similar groups.' }),
  }),
  deadlineMs: DEADLINE_HEAVY_MS,
})

export const vectorProjection = operation({
  ...common,
  name: 'vectorProjection',
  description: 'Vectors of a collection as points of a plane, by their two principal components',
  collections: named('collection'),
  cost: 'heavy',
  http: { routes: [{ method: 'POST', path: '/v1/vector-projection' }] },
  input: Type.Object({
    collection,
    sample: optional(wholeNumber('Vectors shown, 2 000 at most.', { default: 1000 })),
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
    total: Type.Integer({ description: 'Vectors that there are.' }),
    sampled: Type.Integer(),
    dimensions: Type.Integer(),
  }),
  errors: ['noEmbeddingProvider'],
  deadlineMs: DEADLINE_HEAVY_MS,
})

export const vectorSearchOperations = [vectorSearch, crossSearch, classify, findDuplicates, vectorProjection] as const
