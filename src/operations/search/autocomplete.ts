/** Row of autocomplete. Pure data; rules in src/domain/fulltext/autocomplete.ts. */
import { DEADLINE_SEARCH_MS } from '../../limits/lanes.js'
import { SURFACE_SECONDS_MAX } from '../../limits/search.js'
import { named } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { collection, operation, optional, shape, wholeNumber } from '../row/schema.js'

export const autocomplete = operation({
  name: 'autocomplete',
  client: 'search.autocomplete',
  boundedBy: ['AUTOCOMPLETE_LOOK_UPS_MAX'],
  protocols: { grpc: null, graphql: null, mcp: 'autocomplete' },
  group: 'Full-text search',
  description: 'Completes a prefix with words of a collection, most frequent first',
  effect: 'read',
  permission: 'read',
  collections: named('collection'),
  cost: 'search',
  http: { routes: [{ method: 'GET', path: '/v1/autocomplete' }] },
  input: Type.Object({
    collection,
    q: Type.String({
      description:
        'Prefix of a word. It is lower-cased, stripped of characters other than letters and digits, and truncated to 32 characters. Empty: no completions.',
      examples: ['mark'],
    }),
    field: optional(
      Type.String({
        description:
          'Field to complete from: `title`, `content`, `meta.tags` or another metadata key. Empty: all fields that a search covers.',
        examples: ['title'],
      }),
    ),
    topN: optional(wholeNumber('Maximum number of completions. Values above 100 count as 100.', { default: 10 })),
  }),
  output: shape('Completions.', {
    items: Type.Array(
      Type.Object({
        term: Type.String({ description: 'Word as it occurs in documents, in lower case.', examples: ['markdown'] }),
        field: Type.String({ description: 'Field in which most documents contain the word.', examples: ['content'] }),
        docCount: Type.Integer({ description: 'Number of documents that contain the word, or a word of the same stem, in this field.' }),
      }),
    ),
    total: Type.Integer({ description: 'Number of items.' }),
    query: Type.String({ description: '`q` as it was compared, after normalization.' }),
    field: Type.String({ description: '`field` of the request.' }),
  }),
  keptSeconds: SURFACE_SECONDS_MAX,
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
})

export const autocompleteOperations = [autocomplete] as const
