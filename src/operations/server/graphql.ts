/** Rows of GraphQL as HTTP offers it: its endpoint, and the page for its queries. Pure data. */
import { DEADLINE_POINT_MS, DEADLINE_REINDEX_MS } from '../../limits/lanes.js'
import { SERVER } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { HTTP_ONLY, operation, optional, shape } from '../row/schema.js'

const common = { group: 'System', effect: 'system', collections: SERVER, permission: 'public', audit: null, protocols: HTTP_ONLY } as const

export const graphql = operation({
  ...common,
  name: 'graphql',
  client: null,
  mayWrite: true,
  boundedBy: ['GRAPHQL_COMPLEXITY_MAX', 'GRAPHQL_ANSWERS_BYTES_MAX'],
  description:
    'Runs a GraphQL document. Each field asks for the permission that its operation needs. A document that can not be run is answered 400, errors of fields with 200.',
  knowsCaller: true,
  // The longest of the operations that it may run.
  cost: 'thread',
  deadlineMs: DEADLINE_REINDEX_MS,
  feature: 'graphqlEnabled',
  http: { routes: [{ method: 'POST', path: '/graphql' }], refusesInOutput: true },
  input: Type.Object({
    query: Type.String({ description: 'The document.', examples: ['{ __typename }'] }),
    variables: optional(
      Type.Unsafe<Readonly<Record<string, unknown>>>({ type: 'object', description: 'Values of its variables.', examples: [{}] }),
    ),
    operationName: optional(Type.String({ description: 'Which of the operations of the document runs, if it has several.' })),
  }),
  output: shape('The result.', {
    data: Type.Optional(Type.Unsafe<unknown>({ type: ['object', 'null'], description: 'Fields by name; absent if nothing was run.' })),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          message: Type.String(),
          path: Type.Optional(Type.Array(Type.Unsafe<unknown>({ anyOf: [{ type: 'string' }, { type: 'integer' }] }))),
          extensions: Type.Optional(Type.Object({ code: Type.String({ examples: ['NOT_FOUND'] }) })),
        }),
      ),
    ),
  }),
})

export const playground = operation({
  ...common,
  name: 'playground',
  client: 'server.playground',
  description: 'Returns GraphiQL, a page for GraphQL queries to this server, which needs nothing from elsewhere',
  cost: 'loop',
  deadlineMs: DEADLINE_POINT_MS,
  feature: 'graphqlPlayground',
  http: { routes: [{ method: 'GET', path: '/playground' }] },
  input: Type.Object({}),
  output: Type.String({ description: 'HTML.' }),
  contentType: 'text/html; charset=utf-8',
})

export const graphqlOperations = [graphql, playground] as const
