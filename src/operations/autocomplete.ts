/** Row of autocomplete. Pure data; rules in src/domain/fulltext/autocomplete.ts. */
import { SURFACE_SECONDS_MAX } from '../limits/autocomplete.js'
import { DEADLINE_SEARCH_MS } from '../limits/deadlines.js'
import { named } from './collection_access.js'
import { Type } from './json_schema.js'
import { collection, operation, optional, shape, wholeNumber } from './schema.js'

export const autocomplete = operation({
  name: 'autocomplete',
  group: 'Full-text search',
  description: 'Words of a collection that begin as typed, commonest first',
  effect: 'read',
  permission: 'read',
  collections: named('collection'),
  cost: 'search',
  http: { routes: [{ method: 'GET', path: '/v1/autocomplete' }] },
  input: Type.Object({
    collection,
    q: Type.String({
      description:
        'The beginning of a word. Compared in lower case; what is neither letter nor digit is left out, and what comes after 32 characters. Empty: no completions.',
      examples: ['mark'],
    }),
    field: optional(
      Type.String({
        description: '`title`, `content`, `meta.tags` or another metadata key; empty: all that a search looks in.',
        examples: ['title'],
      }),
    ),
    topN: optional(wholeNumber('Most completions wanted. Above 100 counts as 100.', { default: 10 })),
  }),
  output: shape('Completions.', {
    items: Type.Array(
      Type.Object({
        term: Type.String({ description: 'A word as it stands in documents, in lower case.', examples: ['markdown'] }),
        field: Type.String({ description: 'Where most documents have it.', examples: ['content'] }),
        docCount: Type.Integer({ description: 'Documents that have it in this field, words of the same stem included.' }),
      }),
    ),
    total: Type.Integer({ description: 'Number of items.' }),
    query: Type.String({ description: '`q` as it was compared.' }),
    field: Type.String({ description: 'As asked.' }),
  }),
  keptSeconds: SURFACE_SECONDS_MAX,
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
})

export const autocompleteOperations = [autocomplete] as const
