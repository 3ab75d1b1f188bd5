/** Rows of the schemas of collections. Pure data; rules in src/domain/schemas. */
import { DEADLINE_SEARCH_MS } from '../../limits/lanes.js'
import { READABLE } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { collection, metaMap, operation, optional, shape } from '../row/schema.js'
import { asked, changed, inCollection } from './settings_common.js'

const schemaText = Type.String({
  description: 'JSON text, as it was set.',
  examples: ['{"required":["status"],"properties":{"status":{"enum":["draft","published"]}}}'],
})
/** In OpenAPI 3.1, null is a separate type. */
const schemaOrNull = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  description: 'The schema as it was set; null if there is none.',
})

export const setSchema = operation({
  ...inCollection,
  ...changed,
  name: 'setSchema',
  client: 'schemas.set',
  isIdempotent: true,
  boundedBy: ['SCHEMA_BYTES_MAX', 'SCHEMA_PATTERN_STEPS_MAX'],
  protocols: { grpc: 'SetSchema', graphql: 'setSchema', mcp: 'set_schema' },
  description: 'Sets the schema of a collection. Every later write is validated against it; existing documents are kept.',
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
                'Rules by key: `type` (string, number, integer, boolean), `enum`, `pattern` (RE2), `minItems`, `maxItems` (0: no limit).',
            }),
          ),
        }),
        Type.String(),
        // The operation reports errors itself, with their position.
        {},
      ],
      description: 'The schema, as an object or as JSON text.',
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
  client: 'schemas.get',
  boundedBy: ['SCHEMA_BYTES_MAX', 'SCHEMA_PATTERN_STEPS_MAX'],
  protocols: { grpc: 'GetSchema', graphql: 'schema', mcp: 'get_schema' },
  description: 'Returns the schema of a collection',
  cost: 'point',
  http: { routes: [{ method: 'POST', path: '/v1/schema/get' }] },
  input: Type.Object({ collection }),
  output: shape('The schema.', {
    collection: Type.String(),
    schema: schemaOrNull,
    enabled: Type.Boolean({ description: 'Whether there is a schema that writes are validated against.' }),
  }),
})

export const deleteSchema = operation({
  ...inCollection,
  ...changed,
  name: 'deleteSchema',
  client: 'schemas.delete',
  boundedBy: ['SCHEMA_BYTES_MAX', 'SCHEMA_PATTERN_STEPS_MAX'],
  protocols: { grpc: 'DeleteSchema', graphql: 'deleteSchema', mcp: 'delete_schema' },
  description: 'Deletes the schema of a collection; its documents are kept',
  http: { routes: [{ method: 'POST', path: '/v1/schema/delete' }] },
  input: Type.Object({ collection }),
  output: shape('Done, even if there was no schema.', { status: Type.String({ examples: ['deleted'] }), collection: Type.String() }),
  audit: 'write./v1/schema/delete',
})

export const listSchemas = operation({
  group: 'Collection settings',
  collections: READABLE,
  name: 'listSchemas',
  client: 'schemas.list',
  boundedBy: ['SCHEMA_BYTES_MAX', 'SCHEMA_PATTERN_STEPS_MAX'],
  protocols: { grpc: 'ListSchemas', graphql: 'schemas', mcp: 'list_schemas' },
  description: 'Lists the schemas of all collections that have one',
  effect: 'read',
  permission: 'read',
  cost: 'search',
  http: { routes: [{ method: 'POST', path: '/v1/schema/list' }] },
  input: Type.Object({}),
  output: shape('Schemas, ordered by name of the collection.', {
    schemas: Type.Array(Type.Object({ collection: Type.String(), schema: schemaText })),
  }),
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
})

export const validate = operation({
  ...inCollection,
  ...asked,
  name: 'validate',
  client: 'schemas.validate',
  boundedBy: ['SCHEMA_BYTES_MAX', 'SCHEMA_PATTERN_STEPS_MAX'],
  protocols: { grpc: 'ValidateDocument', graphql: 'validateDocument', mcp: 'validate_document' },
  description: 'Validates metadata against the schema of a collection, without storing anything',
  cost: 'point',
  http: { routes: [{ method: 'POST', path: '/v1/validate' }] },
  input: Type.Object({ collection, meta: optional(metaMap) }),
  output: shape('Result of the validation, as a write would report it.', {
    valid: Type.Boolean(),
    errors: Type.Array(Type.String(), { description: 'Violations, each with the key and the rule; at most 50.' }),
    warnings: Type.Array(Type.String(), {
      description:
        'Values that look like stringified maps or lists of maps. They are never errors, and are reported even without a schema.',
    }),
  }),
})

export const schemaOperations = [setSchema, getSchema, deleteSchema, listSchemas, validate] as const
