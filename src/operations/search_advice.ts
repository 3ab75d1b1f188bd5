/**
 * The row of the search advisor, offered only where searches are counted. Pure data; rules in
 * src/domain/advice.
 */
import { DEADLINE_WRITE_MS } from '../limits/deadlines.js'
import { named } from './collection_access.js'
import { Type } from './json_schema.js'
import { collection, mapOf, operation, optional, shape } from './schema.js'

export const searchAdvisor = operation({
  group: 'Full-text search',
  name: 'searchAdvisor',
  protocols: { grpc: 'SearchAdvisor', graphql: null, mcp: 'search_advisor' },
  description: 'Suggests what would help the searches of a collection, from the queries counted since the start of the server',
  effect: 'read',
  permission: 'read',
  collections: named('collection'),
  cost: 'search',
  deadlineMs: DEADLINE_WRITE_MS,
  audit: null,
  feature: 'searchStats',
  http: {
    routes: [
      { method: 'POST', path: '/v1/search-advisor' },
      { method: 'GET', path: '/v1/search-advisor' },
    ],
  },
  input: Type.Object({
    collection,
    apply: optional(
      Type.Boolean({
        default: false,
        description: 'Changes the settings of the collection that the server can change safely (`spellCorrect`). Needs write permission.',
      }),
    ),
  }),
  output: shape('Suggestions, the most useful kind first.', {
    collection: Type.String(),
    suggestions: Type.Array(
      Type.Object(
        {
          kind: Type.String({ examples: ['setting'], description: '`setting`, `synonym`, `emptyQuery` or `slowQuery`.' }),
          text: Type.String({ description: 'What to do, or what was seen.' }),
          evidence: mapOf(Type.Unsafe<unknown>({}), { description: 'The queries with their counts, and what the suggestion names.' }),
        },
        { title: 'SearchSuggestion' },
      ),
    ),
    applied: Type.Array(Type.String(), { description: 'Settings of the collection that were changed.' }),
  }),
  errors: ['readOnlyMode'],
})

export const adviceOperations = [searchAdvisor] as const
