/**
 * The row of the search advisor, offered only where searches are counted. Pure data; rules in
 * src/domain/advice.
 */
import { DEADLINE_WRITE_MS } from '../../limits/lanes.js'
import { named } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { collection, mapOf, operation, optional, required, shape } from '../row/schema.js'

export const searchAdvisor = operation({
  group: 'Full-text search',
  name: 'searchAdvisor',
  client: 'search.advise',
  boundedBy: ['ADVICE_EXAMINED_MAX', 'ADVICE_COMPARED_MAX', 'SPELL_WORDS_MAX'],
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
    collection: required(collection, { grpc: 1 }),
    apply: optional(
      Type.Boolean({
        default: false,
        description: 'Changes the settings of the collection that the server can change safely (`spellCorrect`). Needs write permission.',
      }),
      { grpc: 2 },
    ),
  }),
  output: shape('Suggestions, the most useful kind first.', {
    collection: required(Type.String(), { grpc: 1 }),
    suggestions: required(
      Type.Array(
        Type.Object(
          {
            kind: required(Type.String({ examples: ['setting'], description: '`setting`, `synonym`, `emptyQuery` or `slowQuery`.' }), {
              grpc: 1,
            }),
            text: required(Type.String({ description: 'What to do, or what was seen.' }), { grpc: 2 }),
            evidence: required(
              mapOf(Type.Unsafe<unknown>({}), { description: 'The queries with their counts, and what the suggestion names.' }),
              { grpc: { number: 3, name: 'evidence_json' } },
            ),
          },
          { title: 'SearchSuggestion' },
        ),
      ),
      { grpc: 2 },
    ),
    applied: required(Type.Array(Type.String(), { description: 'Settings of the collection that were changed.' }), { grpc: 3 }),
  }),
  errors: ['readOnlyMode'],
})

export const adviceOperations = [searchAdvisor] as const
