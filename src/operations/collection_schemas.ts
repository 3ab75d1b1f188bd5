/** Rows of the schemas of collections. Pure data; rules in src/domain/schemas. */
import { DEADLINE_SEARCH_MS } from '../limits/deadlines.js'
import { READABLE } from './collection_access.js'
import { Type } from './json_schema.js'
import { collection, metaMap, operation, optional, shape } from './schema.js'
import { asked, changed, inCollection } from './settings_common.js'

const schemaText = Type.String({
  description: 'JSON text, as it was set.',
  examples: ['{"required":["status"],"properties":{"status":{"enum":["draft","published"]}}}'],
})
/** In OpenAPI 3.1, null is a separate type. */
const schemaOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'], description: 'As it was set; null where there is none.' })

export const setSchema = operation({
  ...inCollection,
  ...changed,
  name: 'setSchema',
  description: 'Sets the schema of a collection: from then on every write is held to it. Documents that are there already stay.',
  http: { routes: [{ method: 'POST', path: '/v1/schema/set' }] },
  input: Type.Object({
    collection,
    schema: Type.Unsafe<unknown>({
      anyOf: [
        Type.Object({
          required: optional(Type.Array(Type.String(), { description: 'Keys that must have a value.' })),
          properties: optional(
            Type.Unsafe<unknown>({
              type: 'object',
              description:
                'By key: `type` (string, number, integer, boolean), `enum`, `pattern` (RE2), `minItems`, `maxItems` (0: no bound).',
            }),
          ),
        }),
        Type.String(),
        // The operation reports errors itself, with their position.
        {},
      ],
      description: 'An object, or its JSON text.',
      examples: [{ required: ['status'], properties: { status: { enum: ['draft', 'published'], maxItems: 1 } } }],
    }),
  }),
  output: shape('Done.', { status: Type.String({ examples: ['ok'] }), collection: Type.String() }),
  audit: 'write./v1/schema/set',
})

export const getSchema = operation({
  ...inCollection,
  ...asked,
  name: 'getSchema',
  description: 'The schema of a collection',
  cost: 'point',
  http: { routes: [{ method: 'POST', path: '/v1/schema/get' }] },
  input: Type.Object({ collection }),
  output: shape('The schema.', {
    collection: Type.String(),
    schema: schemaOrNull,
    enabled: Type.Boolean({ description: 'Is there a schema that writes are held to?' }),
  }),
})

export const deleteSchema = operation({
  ...inCollection,
  ...changed,
  name: 'deleteSchema',
  description: 'Removes the schema of a collection; its documents stay',
  http: { routes: [{ method: 'POST', path: '/v1/schema/delete' }] },
  input: Type.Object({ collection }),
  output: shape('Done, also where there was none.', { status: Type.String({ examples: ['deleted'] }), collection: Type.String() }),
  audit: 'write./v1/schema/delete',
})

export const listSchemas = operation({
  group: 'Collection settings',
  collections: READABLE,
  name: 'listSchemas',
  description: 'The schemas of all collections that have one',
  effect: 'read',
  permission: 'read',
  cost: 'search',
  http: { routes: [{ method: 'POST', path: '/v1/schema/list' }] },
  input: Type.Object({}),
  output: shape('Ordered by name.', { schemas: Type.Array(Type.Object({ collection: Type.String(), schema: schemaText })) }),
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
})

export const validate = operation({
  ...inCollection,
  ...asked,
  name: 'validate',
  description: 'Holds metadata to the schema of a collection, and stores nothing',
  cost: 'point',
  http: { routes: [{ method: 'POST', path: '/v1/validate' }] },
  input: Type.Object({ collection, meta: optional(metaMap) }),
  output: shape('What a write would say.', {
    valid: Type.Boolean(),
    errors: Type.Array(Type.String(), { description: 'Each names the key and the rule; at most 50.' }),
    warnings: Type.Array(Type.String(), {
      description: 'Values that look like stringified maps or lists of maps; never an error, and told without a schema, too.',
    }),
  }),
})

export const schemaOperations = [setSchema, getSchema, deleteSchema, listSchemas, validate] as const
