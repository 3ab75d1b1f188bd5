/** The row of hybrid search. Pure data; rules in src/domain/hybrid. */
import { DEADLINE_EMBEDDED_MS } from '../limits/deadlines.js'
import { named } from './collection_access.js'
import { Type } from './json_schema.js'
import { collection, Document, facets, filterMeta, mapOf, operation, optional, shape, text, wholeNumber, word } from './schema.js'
import { includeContent, passageFields, retrievalFields } from './retrieval.js'
import { searchStats, vectorFields } from './vector_search.js'

export const hybridSearch = operation({
  name: 'hybridSearch',
  searchesVectors: true,
  group: 'Vector search',
  description: 'Documents by their words and by their meaning, fused into one list',
  effect: 'read',
  permission: 'read',
  collections: named('collection'),
  cost: 'search',
  http: { routes: [{ method: 'POST', path: '/v1/hybrid-search' }] },
  input: Type.Object({
    collection,
    query: text('What to look for, at most 4 KB.', 'how do I restore a backup'),
    topK: optional(wholeNumber('Results wanted.', { default: 10 })),
    algorithm: optional(word(['bm25', 'bm25f'], 'How words are scored.', 'bm25')),
    fieldWeights: optional(mapOf(Type.Number(), { description: 'With bm25f: weight of each field. Replaces the standard weights.' })),
    lang: optional(Type.String({ description: 'Language of the query; without it the server’s default.', examples: ['en'] })),
    vectorAlgorithm: optional(vectorFields.algorithm),
    distanceMetric: optional(vectorFields.metric),
    strategy: optional(word(['alpha', 'rrf'], '`alpha` weighs scores, `rrf` (reciprocal rank fusion) looks at ranks alone.', 'alpha')),
    alpha: optional(Type.Number({ description: '0: words alone, 1: meaning alone.', default: 0.5 })),
    rrfK: optional(wholeNumber('The constant of `rrf`: a result of rank r counts 1 / (rrfK + r).', { default: 60 })),
    fuzzy: optional(wholeNumber('Letters by which a word may differ, 0 to 2.', { default: 0 })),
    threshold: optional(Type.Number({ description: 'What is less near in meaning counts as not found by it.', default: 0 })),
    oversample: optional(vectorFields.oversample),
    filterMeta: optional(filterMeta),
    boost: optional(
      mapOf(Type.Number(), {
        description: 'Factors by `metaKey:metaValue`, applied to the fused score.',
        examples: [{ 'category:guide': 2 }],
      }),
    ),
    includeContent,
    ...retrievalFields,
    disableStem: optional(Type.Boolean({ default: false })),
    disableSynonyms: optional(Type.Boolean({ default: false })),
    geo: optional(Type.Unsafe<object>({ type: 'object', description: 'Not yet: the service has no geo index.' })),
    sort: optional(word(['combined'], 'The order of the results.', 'combined')),
    facetBy: optional(Type.Array(Type.String(), { description: 'Metadata keys whose values are counted over the results.' })),
    facetMaxValues: optional(wholeNumber('Values shown of each; 0: all.', { default: 0 })),
  }),
  output: shape('Results, best first.', {
    results: Type.Array(
      Type.Object(
        {
          document: Document,
          combinedScore: Type.Number(),
          ftsScore: Type.Number({ description: 'Of the words, as /v1/fts scores them; 0: not found by them.' }),
          vectorScore: Type.Number({ description: 'Of the meaning; 0: not found by it.' }),
          matchedTerms: Type.Array(Type.String()),
          rank: Type.Integer({ description: 'From 1.' }),
          pinned: Type.Optional(Type.Boolean({ description: 'A curation rule put the document here.' })),
          ...passageFields,
        },
        { title: 'HybridHit' },
      ),
    ),
    total: Type.Integer({ description: 'Number of results in this answer.' }),
    strategy: Type.String(),
    alpha: Type.Optional(Type.Number()),
    rrfK: Type.Optional(Type.Integer()),
    ftsAlgorithm: Type.String(),
    vectorAlgorithm: Type.String(),
    distanceMetric: Type.String(),
    vectorsUsed: Type.Boolean({
      description:
        'False where words alone have found the results: no vector of the query could be had, none was asked for, or nothing near it has vectors.',
    }),
    searchStats,
    facets: Type.Optional(facets),
    contextTruncated: Type.Optional(Type.Boolean({ description: 'The token budget of the collection left results out.' })),
  }),
  errors: ['invalidOversample', 'vectorsLoading'],
  deadlineMs: DEADLINE_EMBEDDED_MS,
  audit: null,
})

export const hybridOperations = [hybridSearch] as const
