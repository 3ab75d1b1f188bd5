/** Rows of full-text search. Pure data; the query side is src/domain/fulltext. */
import { DEADLINE_HEAVY_MS, DEADLINE_POINT_MS, DEADLINE_SEARCH_MS } from '../limits/deadlines.js'
import { cacheHeaders } from './cache_headers.js'
import { named, SERVER } from './collection_access.js'
import { Type } from './json_schema.js'
import type { ValueOf } from './json_schema.js'
import { contentBesidePassage, passageFields, retrievalFields } from './retrieval.js'
import type { RangesInput } from './ranges.js'
import {
  collection,
  Document,
  facets,
  filterMeta,
  limit,
  mapOf,
  offset,
  operation,
  optional,
  shape,
  text,
  wholeNumber,
  word,
} from './schema.js'

const common = { collections: named('collection'), group: 'Full-text search' } as const
const found = { effect: 'read', permission: 'read', cost: 'search', deadlineMs: DEADLINE_SEARCH_MS, audit: null } as const

const query = text('What to look for, at most 4 KB. Its syntax is that of the mode.', 'markdown search')
const algorithm = word(
  ['tfidf', 'bm25', 'bm25f', 'pmisparse'],
  'How documents are scored. `pmisparse` is bm25 with words that often stand beside those of the query.',
  'tfidf',
)
const mode = word(
  ['auto', 'simple', 'boolean', 'phrase', 'wildcard', 'proximity', 'expression'],
  '`auto` tells the mode by the syntax: quotes, AND, OR, NOT, `+`, `-`, `*`, `?`, `"…"~N`.',
  'auto',
)
const fuzzy = wholeNumber('In simple mode: letters by which a word may differ, 0 to 2.', { default: 0 })
const distance = wholeNumber('In proximity mode: words between the first and the last one at most.', { default: 5 })
const explain = Type.Boolean({ description: 'Adds `explanation` to each result: what its score is made of.', default: false })
const cacheTtl = wholeNumber(
  'Seconds, 3600 at most, for which the same answer may be given again as long as nothing is written. 0: never.',
  { default: 0 },
)
const queryLang = Type.String({ description: 'Language of the query; without it the server’s default.', examples: ['en'] })
const disableStem = Type.Boolean({ description: 'Words are looked for as they are written.', default: false })
const disableSynonyms = Type.Boolean({ description: 'The synonyms of the collection are not looked for.', default: false })
const bound = Type.Unsafe<string | number>({ anyOf: [{ type: 'string' }, { type: 'number' }] })
const bounds = { gte: optional(bound), lte: optional(bound), gt: optional(bound), lt: optional(bound) }
const rangesByField = mapOf(Type.Object(bounds, { title: 'Bounds' }), { description: 'Ranges that documents must lie in, by field.' })
const rangeMeta = Type.Unsafe<RangesInput>({
  anyOf: [
    Type.Array(
      Type.Object({ field: Type.String({ description: '`addedAt`, `updatedAt` or a metadata key.' }), ...bounds }, { title: 'FieldRange' }),
    ),
    rangesByField,
  ],
  description: 'Ranges that documents must lie in. Bounds are numbers, Unix seconds, ISO dates or texts.',
  examples: [[{ field: 'addedAt', gte: '2024-01-01' }]],
})
const boost = mapOf(Type.Number(), {
  description: 'Factors by `metaKey:metaValue`: n multiplies the score, -n divides it. Together at least 0.001.',
  examples: [{ 'category:guide': 2 }],
})
const facetBy = Type.Array(Type.String(), {
  description: 'Metadata keys whose values are counted over the results of this answer.',
  examples: [['category']],
})
const facetMaxValues = wholeNumber('Values shown of each; 0: all.', { default: 0 })
const spellCorrect = Type.Boolean({
  description:
    'Words that the collection lacks are corrected before the search, where the server has spell correction. Default: as the collection is configured.',
})
const Explanation = shape(
  'Only with `explain`: what the score is made of.',
  {
    score: Type.Number({ description: 'The sum of the parts, times the factor.' }),
    factor: Type.Number({ description: 'What `boost` makes of the sum.' }),
    parts: Type.Array(
      Type.Object(
        {
          terms: Type.Array(Type.String(), { description: 'As indexed; several of a phrase.' }),
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
const count = Type.Boolean({ description: 'Adds `totalMatches`, the number of all documents that match.', default: false })

const Highlight = Type.Object(
  {
    fragment: Type.String({ description: 'The piece, with matched terms in tags and `…` where it was cut.' }),
    matchedTerms: Type.Array(Type.String()),
    startOffset: Type.Integer({ description: 'First byte of the piece in `contentMd` as UTF-8.' }),
    endOffset: Type.Integer({ description: 'Behind its last byte.' }),
    startLine: Type.Optional(Type.Integer({ description: 'Code documents: the line it begins in, from 1.' })),
    endLine: Type.Optional(Type.Integer({ description: 'Code documents: the line it ends in.' })),
  },
  { title: 'Highlight' },
)
const highlights = Type.Optional(Type.Array(Highlight, { description: 'With `highlight`: the best pieces of the content, in text order.' }))
const highlight = {
  highlight: optional(
    Type.Boolean({ description: 'Adds `highlights` to each result: pieces of its content that show why it matched.', default: false }),
  ),
  highlightTag: optional(
    Type.String({ description: 'What stands before a matched term; what stands behind it is derived.', default: '<mark>' }),
  ),
  maxHighlights: optional(wholeNumber('Pieces of each result; 0: 3.', { default: 3 })),
  fragmentSize: optional(wholeNumber('Bytes of a piece, about; 0: 150.', { default: 150 })),
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
              'Words of the query, as indexed, that the document has; `asked~found` where it has a similar one, `~word` where the collection suggested it.',
          }),
          highlights,
          ...passageFields,
          pinned: Type.Optional(Type.Boolean({ description: 'A curation rule put the document here.' })),
          explanation: Type.Optional(Explanation),
        },
        { title: 'FtsHit' },
      ),
    ),
    total: Type.Integer({ description: 'Number of results in this answer.' }),
    totalMatches: Type.Optional(Type.Integer({ description: 'Number of all documents that match; only with `count`.' })),
    algorithm: Type.String(),
    mode: Type.String({ description: 'The mode that was used.' }),
    lang: Type.String(),
    stemmingActive: Type.Boolean(),
    synonymsActive: Type.Boolean(),
    fuzzy: Type.Integer(),
    offset: Type.Optional(Type.Integer({ description: 'Results passed over, where there are any.' })),
    took: Type.Number({ description: 'Milliseconds.' }),
    fieldWeights: Type.Optional(mapOf(Type.Number(), { description: 'With bm25f.' })),
    searchStats: Type.Object({
      durationMs: Type.Number(),
      queryTerms: Type.Integer(),
      indexSize: Type.Integer(),
      totalTokens: Type.Integer(),
    }),
    facets: Type.Optional(facets),
    spellCorrected: Type.Optional(
      Type.Object(
        { original: Type.String(), corrected: Type.String() },
        { description: 'The query was corrected and the results are those of the corrected one.' },
      ),
    ),
    expansionsCut: Type.Optional(
      Type.Boolean({
        description: 'A pattern or a fuzzy word has more terms in the index than it may stand for: the commonest were taken.',
      }),
    ),
    contextTruncated: Type.Optional(Type.Boolean({ description: 'The token budget of the collection left results out.' })),
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
        description: 'With bm25f: weight of each field. Replaces the standard weights.',
        default: { content: 1, 'meta.title': 3, 'meta.tags': 2, 'meta.category': 2, 'meta.description': 1.5 },
      }),
    ),
    filterMeta: optional(filterMeta),
    rangeMeta: optional(rangeMeta),
  },
  { title: 'FtsRequest' },
)

export const fts = operation({
  ...common,
  ...found,
  name: 'fts',
  description: 'Full-text search',
  http: { routes: [{ method: 'POST', path: '/v1/fts' }], headers: cacheHeaders },
  isRepeatable: true,
  input: FtsRequest,
  output: FtsResponse,
})

const FtsParameters = Type.Object({ collection, q: query, ...options, rangeMeta: optional(rangesByField) })

/** Input of the GET form. Metadata filters are `meta.<key>=<value>`, repeated for several values. */
export type FtsQueryInput = ValueOf<typeof FtsParameters> & { readonly [filter: `meta.${string}`]: string | readonly string[] }

export const ftsQuery = operation({
  ...common,
  ...found,
  name: 'ftsQuery',
  description: 'Full-text search by query string; `meta.<key>=<value>` filters',
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
    score: Type.Number({ description: 'Sum of 1 / (rrfK + rank) over the searches that found it.' }),
    rank: Type.Integer(),
    matchedTerms: Type.Array(Type.String()),
    highlights,
    searches: Type.Array(
      Type.Object({ search: Type.Integer({ description: 'Index in the request.' }), rank: Type.Integer(), score: Type.Number() }),
      { description: 'Which searches found it, and where.' },
    ),
  },
  { title: 'MergedHit' },
)

export const multiSearch = operation({
  ...found,
  name: 'multiSearch',
  group: 'Full-text search',
  collections: named('searches.collection'),
  description: 'Several full-text searches in one request, side by side or merged',
  http: { routes: [{ method: 'POST', path: '/v1/multi-search' }] },
  input: Type.Object({
    searches: Type.Array(FtsRequest, {
      description: 'Bodies of /v1/fts, 16 at most.',
      examples: [[{ collection: 'blog', query: 'markdown search' }]],
    }),
    merge: optional(Type.Boolean({ description: 'One list of all results, by reciprocal rank fusion.', default: false })),
    limit: optional(limit),
    rrfK: optional(wholeNumber('With `merge`: the constant of the fusion.', { default: 60 })),
  }),
  output: shape('`responses`, or with `merge` `results`.', {
    responses: Type.Optional(
      Type.Array(
        Type.Unsafe<object>({
          anyOf: [FtsResponse, Type.Object({ error: Type.String(), status: Type.Integer() }, { title: 'SearchError' })],
        }),
        {
          description: 'Answers in the order of the searches; a search that is wrong has an error, the others their results.',
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
  description: 'Indexes every document of a collection again, in its stored language',
  effect: 'write',
  permission: 'write',
  cost: 'heavy',
  http: { routes: [{ method: 'POST', path: '/v1/fts-reindex' }] },
  input: Type.Object({ collection }),
  output: shape('What was indexed.', {
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
  group: 'Full-text search',
  description: 'Languages with stemming and stop words',
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
