/** The row of hybrid search. Pure data; rules in src/domain/hybrid. */
import { DEADLINE_EMBEDDED_MS } from '../../limits/lanes.js'
import { named } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { includeContent, passageFields, retrievalFields } from '../row/retrieval.js'
import { collection, Document, facets, mapOf, metaFilters, operation, optional, shape, text, wholeNumber, word } from '../row/schema.js'
import { searchStats, vectorFields } from './vector_search.js'

export const hybridSearch = operation({
  name: 'hybridSearch',
  client: 'search.hybrid',
  polledIn: 'domain/hybrid/hybrid_search.ts',
  boundedBy: ['HYBRID_CANDIDATES_MAX'],
  protocols: { grpc: 'HybridSearch', graphql: null, mcp: 'hybrid_search' },
  searchesVectors: true,
  group: 'Vector search',
  description: 'Searches by full text and by vectors, and fuses the results into one list',
  effect: 'read',
  permission: 'read',
  collections: named('collection'),
  cost: 'search',
  http: { routes: [{ method: 'POST', path: '/v1/hybrid-search' }] },
  input: Type.Object({
    collection,
    query: text('Search query, at most 4 KB.', 'how do I restore a backup'),
    topK: optional(wholeNumber('Maximum number of results.', { default: 10 })),
    algorithm: optional(word(['bm25', 'bm25f'], 'Scoring algorithm of the full-text search.', 'bm25')),
    fieldWeights: optional(mapOf(Type.Number(), { description: 'With bm25f: weight of each field. Replaces the default weights.' })),
    lang: optional(Type.String({ description: 'Language of the query. Default: that of the server.', examples: ['en'] })),
    vectorAlgorithm: optional(vectorFields.algorithm),
    distanceMetric: optional(vectorFields.metric),
    strategy: optional(word(['alpha', 'rrf'], '`alpha` weights scores, `rrf` (reciprocal rank fusion) uses only ranks.', 'alpha')),
    alpha: optional(Type.Number({ description: 'Weight of the vector score. 0: full text only, 1: vectors only.', default: 0.5 })),
    rrfK: optional(wholeNumber('Constant of `rrf`: a result of rank r scores 1 / (rrfK + r).', { default: 60 })),
    fuzzy: optional(wholeNumber('Maximum edit distance of a word, 0 to 2.', { default: 0 })),
    threshold: optional(
      Type.Number({ description: 'Minimum vector score. Documents below it count as not found by the vector search.', default: 0 }),
    ),
    oversample: optional(vectorFields.oversample),
    ...metaFilters,
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
    geo: optional(Type.Unsafe<object>({ type: 'object', description: 'Not yet supported: the service has no geo index.' })),
    sort: optional(word(['combined'], 'Order of the results.', 'combined')),
    facetBy: optional(Type.Array(Type.String(), { description: 'Metadata keys whose values are counted over the results.' })),
    facetMaxValues: optional(wholeNumber('Maximum number of values per key; 0: all.', { default: 0 })),
  }),
  output: shape('Results, best first.', {
    results: Type.Array(
      Type.Object(
        {
          document: Document,
          combinedScore: Type.Number(),
          ftsScore: Type.Number({ description: 'Score of the full-text search, as in /v1/fts; 0: not found by it.' }),
          vectorScore: Type.Number({ description: 'Score of the vector search; 0: not found by it.' }),
          matchedTerms: Type.Array(Type.String()),
          rank: Type.Integer({ description: 'Rank from 1.' }),
          pinned: Type.Optional(Type.Boolean({ description: 'True if a curation rule placed the document here.' })),
          ...passageFields,
        },
        { title: 'HybridHit' },
      ),
    ),
    total: Type.Integer({ description: 'Number of results in this response.' }),
    strategy: Type.String(),
    alpha: Type.Optional(Type.Number()),
    rrfK: Type.Optional(Type.Integer()),
    ftsAlgorithm: Type.String(),
    vectorAlgorithm: Type.String(),
    distanceMetric: Type.String(),
    vectorsUsed: Type.Boolean({
      description:
        'False if only the full-text search found the results: the query could not be embedded, no vector search was requested, or no document near the query has vectors.',
    }),
    searchStats,
    facets: Type.Optional(facets),
    contextTruncated: Type.Optional(
      Type.Boolean({ description: 'True if results were omitted because of the token budget of the collection.' }),
    ),
  }),
  errors: ['invalidOversample', 'vectorsLoading'],
  deadlineMs: DEADLINE_EMBEDDED_MS,
  audit: null,
})

export const hybridOperations = [hybridSearch] as const
