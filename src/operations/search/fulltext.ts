/** Rows of full-text search. Pure data; the query side is src/domain/fulltext. */
import { DEADLINE_HEAVY_MS, DEADLINE_POINT_MS, DEADLINE_SEARCH_MS } from '../../limits/lanes.js'
import { named, SERVER } from '../row/collection_access.js'
import { cacheHeaders } from '../row/http_form.js'
import type { ValueOf } from '../row/json_schema.js'
import { Type } from '../row/json_schema.js'
import type { RangesInput } from '../row/ranges.js'
import { contentBesidePassage, passageFields, retrievalFields } from '../row/retrieval.js'
import {
  collection,
  Document,
  facets,
  HTTP_ONLY,
  limit,
  mapOf,
  metaFilters,
  offset,
  operation,
  optional,
  shape,
  text,
  wholeNumber,
  word,
} from '../row/schema.js'

const common = { collections: named('collection'), group: 'Full-text search' } as const
const found = { effect: 'read', permission: 'read', cost: 'search', deadlineMs: DEADLINE_SEARCH_MS, audit: null } as const

const query = text('Search query, at most 4 KB. Its syntax depends on the mode.', 'markdown search')
const algorithm = word(
  ['tfidf', 'bm25', 'bm25f', 'pmisparse'],
  'Scoring algorithm. `pmisparse` is bm25 with the query expanded by words that often occur next to its words.',
  'tfidf',
)
const mode = word(
  ['auto', 'simple', 'boolean', 'phrase', 'wildcard', 'proximity', 'expression'],
  '`auto` detects the mode from the syntax: quotes, AND, OR, NOT, `+`, `-`, `*`, `?`, `"…"~N`.',
  'auto',
)
const fuzzy = wholeNumber('In simple mode: maximum edit distance of a word, 0 to 2.', { default: 0 })
const distance = wholeNumber('In proximity mode: maximum distance in words between the first and the last word.', { default: 5 })
const explain = Type.Boolean({ description: 'Adds `explanation` to each result: how its score is computed.', default: false })
const cacheTtl = wholeNumber(
  'Seconds for which the response may be cached, at most 3600. Any write ends the caching earlier. 0: not cached.',
  { default: 0 },
)
const queryLang = Type.String({ description: 'Language of the query. Default: that of the server.', examples: ['en'] })
const disableStem = Type.Boolean({ description: 'Searches for words as they are written.', default: false })
const disableSynonyms = Type.Boolean({ description: 'Does not search for the synonyms of the collection.', default: false })
const bound = Type.Unsafe<string | number>({ anyOf: [{ type: 'string' }, { type: 'number' }] })
const bounds = { gte: optional(bound), lte: optional(bound), gt: optional(bound), lt: optional(bound) }
const rangesByField = mapOf(Type.Object(bounds, { title: 'Bounds' }), { description: 'Ranges within which documents must be, by field.' })
const rangeMeta = Type.Unsafe<RangesInput>({
  anyOf: [
    Type.Array(
      Type.Object({ field: Type.String({ description: '`addedAt`, `updatedAt` or a metadata key.' }), ...bounds }, { title: 'FieldRange' }),
    ),
    rangesByField,
  ],
  description: 'Ranges within which documents must be. Bounds are numbers, Unix seconds, ISO dates or strings.',
  examples: [[{ field: 'addedAt', gte: '2024-01-01' }]],
})
const boost = mapOf(Type.Number(), {
  description: 'Factors by `metaKey:metaValue`: n multiplies the score, -n divides it. The combined factor is at least 0.001.',
  examples: [{ 'category:guide': 2 }],
})
const facetBy = Type.Array(Type.String(), {
  description: 'Metadata keys whose values are counted over the results of this response.',
  examples: [['category']],
})
const facetMaxValues = wholeNumber('Maximum number of values per key; 0: all.', { default: 0 })
const spellCorrect = Type.Boolean({
  description:
    'Corrects words that are not in the collection before the search, if the server has spell correction. Default: as the collection is configured.',
})
const Explanation = shape(
  'Only with `explain`: how the score is computed.',
  {
    score: Type.Number({ description: 'Sum of the parts, multiplied by the factor.' }),
    factor: Type.Number({ description: 'Factor that `boost` applies to the sum.' }),
    parts: Type.Array(
      Type.Object(
        {
          terms: Type.Array(Type.String(), { description: 'Terms as indexed; several for a phrase.' }),
          field: Type.String({ description: 'Empty for phrases and proximity, which are scored over all fields.' }),
          tf: Type.Integer(),
          idf: Type.Number(),
          score: Type.Number(),
        },
        { title: 'ExplanationPart' },
      ),
    ),
  },
  'Explanation',
)
const count = Type.Boolean({ description: 'Adds `totalMatches`, the total number of matching documents.', default: false })

const Highlight = Type.Object(
  {
    fragment: Type.String({ description: 'The fragment, with matched terms in tags and `…` where it was cut.' }),
    matchedTerms: Type.Array(Type.String()),
    startOffset: Type.Integer({ description: 'First byte of the fragment in `contentMd` as UTF-8.' }),
    endOffset: Type.Integer({ description: 'First byte after the fragment.' }),
    startLine: Type.Optional(Type.Integer({ description: 'Code documents only: line in which the fragment begins, from 1.' })),
    endLine: Type.Optional(Type.Integer({ description: 'Code documents only: line in which the fragment ends.' })),
  },
  { title: 'Highlight' },
)
const highlights = Type.Optional(
  Type.Array(Highlight, { description: 'With `highlight`: the best fragments of the content, in text order.' }),
)
const highlight = {
  highlight: optional(
    Type.Boolean({ description: 'Adds `highlights` to each result: fragments of its content that show why it matched.', default: false }),
  ),
  highlightTag: optional(Type.String({ description: 'Tag before a matched term; the closing tag is derived from it.', default: '<mark>' })),
  maxHighlights: optional(wholeNumber('Maximum number of fragments per result; 0: 3.', { default: 3 })),
  fragmentSize: optional(wholeNumber('Approximate size of a fragment in bytes; 0: 150.', { default: 150 })),
}

const FtsResponse = shape(
  'Results, best first.',
  {
    results: Type.Array(
      Type.Object(
        {
          document: Document,
          score: Type.Number(),
          matchedTerms: Type.Array(Type.String(), {
            description:
              'Query words, as indexed, that the document contains; `asked~found` if it contains a similar word, `~word` if the word was added to the query from the collection.',
          }),
          highlights,
          ...passageFields,
          pinned: Type.Optional(Type.Boolean({ description: 'True if a curation rule placed the document here.' })),
          explanation: Type.Optional(Explanation),
        },
        { title: 'FtsHit' },
      ),
    ),
    total: Type.Integer({ description: 'Number of results in this response.' }),
    totalMatches: Type.Optional(Type.Integer({ description: 'Total number of matching documents; only with `count`.' })),
    algorithm: Type.String(),
    mode: Type.String({ description: 'The mode that was used.' }),
    lang: Type.String(),
    stemmingActive: Type.Boolean(),
    synonymsActive: Type.Boolean(),
    fuzzy: Type.Integer(),
    offset: Type.Optional(Type.Integer({ description: 'Number of skipped results, if any.' })),
    took: Type.Number({ description: 'Milliseconds.' }),
    fieldWeights: Type.Optional(mapOf(Type.Number(), { description: 'With bm25f: the weights that were used.' })),
    searchStats: Type.Optional(
      Type.Object(
        { durationMs: Type.Number(), queryTerms: Type.Integer(), indexSize: Type.Integer(), totalTokens: Type.Integer() },
        { description: 'Absent with SVC_SEARCH_STATS=false.' },
      ),
    ),
    facets: Type.Optional(facets),
    spellCorrected: Type.Optional(
      Type.Object(
        { original: Type.String(), corrected: Type.String() },
        { description: 'Present if the query was corrected; the results are those of the corrected query.' },
      ),
    ),
    expansionsCut: Type.Optional(
      Type.Boolean({
        description: 'True if a pattern or a fuzzy word matches more index terms than allowed; the most frequent ones were used.',
      }),
    ),
    contextTruncated: Type.Optional(
      Type.Boolean({ description: 'True if results were omitted because of the token budget of the collection.' }),
    ),
  },
  'FtsAnswer',
)

/** Options common to both forms of the request. */
const options = {
  limit: optional(limit),
  offset: optional(offset),
  algorithm: optional(algorithm),
  mode: optional(mode),
  distance: optional(distance),
  fuzzy: optional(fuzzy),
  lang: optional(queryLang),
  disableStem: optional(disableStem),
  disableSynonyms: optional(disableSynonyms),
  boost: optional(boost),
  facetBy: optional(facetBy),
  facetMaxValues: optional(facetMaxValues),
  count: optional(count),
  spellCorrect: optional(spellCorrect),
  explain: optional(explain),
  cacheTtl: optional(cacheTtl),
  ...highlight,
  ...retrievalFields,
  includeContent: contentBesidePassage,
}

const FtsRequest = Type.Object(
  {
    collection,
    query,
    ...options,
    fieldWeights: optional(
      mapOf(Type.Number(), {
        description: 'With bm25f: weight of each field. Replaces the default weights.',
        default: { content: 1, 'meta.title': 3, 'meta.tags': 2, 'meta.category': 2, 'meta.description': 1.5 },
      }),
    ),
    ...metaFilters,
    rangeMeta: optional(rangeMeta),
  },
  { title: 'FtsRequest' },
)

export const fts = operation({
  ...common,
  ...found,
  name: 'fts',
  client: 'search.fulltext',
  polledIn: 'domain/fulltext/fulltext_search.ts',
  boundedBy: ['PLAN_CURSORS_MAX', 'HIGHLIGHT_ANSWER_BYTES_MAX'],
  protocols: { grpc: 'FTS', graphql: 'fts', mcp: 'full_text_search' },
  description: 'Full-text search',
  http: { routes: [{ method: 'POST', path: '/v1/fts' }], headers: cacheHeaders },
  isRepeatable: true,
  input: FtsRequest,
  output: FtsResponse,
})

const FtsParameters = Type.Object({ collection, q: query, ...options, hasMeta: metaFilters.hasMeta, rangeMeta: optional(rangesByField) })

/** Input of the GET form. Metadata filters are `meta.<key>=<value>`, repeated for several values. */
export type FtsQueryInput = ValueOf<typeof FtsParameters> & { readonly [filter: `meta.${string}`]: string | readonly string[] }

export const ftsQuery = operation({
  ...common,
  ...found,
  name: 'ftsQuery',
  client: 'search.fulltextByUrl',
  polledIn: 'domain/fulltext/fulltext_search.ts',
  boundedBy: ['PLAN_CURSORS_MAX', 'HIGHLIGHT_ANSWER_BYTES_MAX'],
  protocols: HTTP_ONLY,
  description: 'Full-text search by query string; `meta.<key>=<value>` filters by metadata',
  http: { routes: [{ method: 'GET', path: '/v1/fts' }], headers: cacheHeaders },
  isRepeatable: true,
  input: Type.Unsafe<FtsQueryInput>({
    ...FtsParameters,
    patternProperties: { '^meta\\.': { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] } },
  }),
  output: FtsResponse,
})

const MergedResult = Type.Object(
  {
    collection: Type.String(),
    document: Document,
    score: Type.Number({ description: 'Sum of 1 / (rrfK + rank) over the searches that found the document.' }),
    rank: Type.Integer(),
    matchedTerms: Type.Array(Type.String()),
    highlights,
    searches: Type.Array(
      Type.Object({
        search: Type.Integer({ description: 'Index of the search in the request.' }),
        rank: Type.Integer(),
        score: Type.Number(),
      }),
      { description: 'Searches that found the document, with its rank and score in each.' },
    ),
  },
  { title: 'MergedHit' },
)

export const multiSearch = operation({
  ...found,
  name: 'multiSearch',
  client: 'search.multi',
  polledIn: 'domain/fulltext/fulltext_search.ts',
  boundedBy: ['PLAN_CURSORS_MAX', 'HIGHLIGHT_ANSWER_BYTES_MAX'],
  protocols: HTTP_ONLY,
  group: 'Full-text search',
  collections: named('searches.collection'),
  description: 'Runs several full-text searches in one request, with separate or merged results',
  http: { routes: [{ method: 'POST', path: '/v1/multi-search' }] },
  input: Type.Object({
    searches: Type.Array(FtsRequest, {
      description: 'Request bodies of /v1/fts, at most 16.',
      examples: [[{ collection: 'blog', query: 'markdown search' }]],
    }),
    merge: optional(Type.Boolean({ description: 'Merges all results into one list by reciprocal rank fusion.', default: false })),
    limit: optional(limit),
    rrfK: optional(wholeNumber('With `merge`: constant of the rank fusion.', { default: 60 })),
  }),
  output: shape('`responses`, or `results` with `merge`.', {
    responses: Type.Optional(
      Type.Array(
        Type.Unsafe<object>({
          anyOf: [FtsResponse, Type.Object({ error: Type.String(), status: Type.Integer() }, { title: 'SearchError' })],
        }),
        {
          description: 'Responses in the order of the searches. An invalid search has an error, the others have their results.',
        },
      ),
    ),
    results: Type.Optional(Type.Array(MergedResult, { description: 'Best first, each document once.' })),
    total: Type.Integer({ description: 'Number of responses, or of results.' }),
    took: Type.Number({ description: 'Milliseconds.' }),
  }),
})

export const ftsReindex = operation({
  ...common,
  name: 'ftsReindex',
  client: 'indexes.rebuildFulltext',
  polledIn: 'worker/handlers/collections.ts',
  boundedBy: ['REBUILD_PAGE_DOCUMENTS'],
  protocols: { grpc: 'FTSReindex', graphql: null, mcp: 'fts_reindex' },
  description: 'Reindexes every document of a collection in its stored language',
  effect: 'write',
  permission: 'write',
  cost: 'heavy',
  http: { routes: [{ method: 'POST', path: '/v1/fts-reindex' }] },
  input: Type.Object({ collection }),
  output: shape('Result of the reindexing.', {
    status: Type.String(),
    reindexed: Type.Integer(),
    skipped: Type.Optional(Type.Integer()),
    collection: Type.String(),
  }),
  deadlineMs: DEADLINE_HEAVY_MS,
  audit: 'write./v1/fts-reindex',
})

export const ftsLanguages = operation({
  name: 'ftsLanguages',
  client: 'search.languages',
  boundedBy: ['AUTOCOMPLETE_LOOK_UPS_MAX'],
  protocols: { grpc: 'FTSLanguages', graphql: null, mcp: 'fts_languages' },
  group: 'Full-text search',
  description: 'Lists the languages with stemming and stop words',
  effect: 'system',
  permission: 'read',
  collections: SERVER,
  cost: 'point',
  http: { routes: [{ method: 'GET', path: '/v1/fts-languages' }] },
  input: Type.Object({}),
  output: shape('Languages.', {
    languages: Type.Array(
      Type.Object({ code: Type.String({ examples: ['en'] }), name: Type.String({ examples: ['English'] }) }, { title: 'Language' }),
    ),
    defaultLang: Type.String({ examples: ['en'] }),
  }),
  deadlineMs: DEADLINE_POINT_MS,
  audit: null,
})

export const fulltextOperations = [fts, ftsQuery, multiSearch, ftsReindex, ftsLanguages] as const
