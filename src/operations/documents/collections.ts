/** Rows of operations on whole collections. Pure data; rules in src/domain. */
import { DEADLINE_HEAVY_MS, DEADLINE_POINT_MS, DEADLINE_SEARCH_MS } from '../../limits/lanes.js'
import { named } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { collection, mapOf, metaFilters, operation, optional, required, shape, unixSeconds, wholeNumber, word } from '../row/schema.js'

const common = { collections: named('collection'), group: 'Collections', input: Type.Object({ collection }) } as const

export const deleteCollection = operation({
  ...common,
  name: 'deleteCollection',
  client: 'collections.delete',
  boundedBy: ['KEY_BYTES_MAX'],
  protocols: { grpc: 'DeleteCollection', graphql: 'deleteCollection', mcp: 'delete_collection' },
  description: 'Deletes a collection and everything in it',
  effect: 'write',
  freesSpace: true,
  permission: 'write',
  cost: 'heavy',
  http: { routes: [{ method: 'POST', path: '/v1/delete-collection' }] },
  output: shape('An object with the fields of both documented forms.', {
    status: Type.String({ examples: ['deleted'] }),
    collection: Type.String(),
    deleted: Type.Integer({ description: 'Number of documents that were in the collection.' }),
    deletedCount: Type.Integer({ description: 'Same as `deleted`.' }),
  }),
  deadlineMs: DEADLINE_HEAVY_MS,
  audit: 'write./v1/delete-collection',
})

export const metaKeys = operation({
  ...common,
  name: 'metaKeys',
  client: 'collections.metaKeys',
  boundedBy: ['META_KEY_BYTES_MAX'],
  protocols: { grpc: 'GetMetaKeys', graphql: null, mcp: 'get_meta_keys' },
  description: 'Lists the metadata keys in use, each with its values',
  effect: 'read',
  permission: 'read',
  cost: 'search',
  http: { routes: [{ method: 'GET', path: '/v1/meta-keys' }] },
  output: shape('Keys and values, both sorted.', {
    meta: mapOf(Type.Array(Type.String()), { examples: [{ category: ['guide', 'tutorial'] }] }),
  }),
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
})

export const checksum = operation({
  ...common,
  name: 'checksum',
  client: 'collections.checksum',
  boundedBy: ['KEY_BYTES_MAX'],
  protocols: { grpc: 'GetChecksum', graphql: null, mcp: 'get_checksum' },
  description: 'Returns checksums of a collection, equal for equal contents',
  effect: 'read',
  permission: 'read',
  cost: 'point',
  http: { routes: [{ method: 'GET', path: '/v1/checksum' }] },
  output: shape('Checksums of a collection.', {
    collection: Type.String(),
    checksum: Type.String({
      description: 'Eight hexadecimal digits, over keys, languages, metadata and contents of all documents, not their times.',
      examples: ['9ae0daaf'],
    }),
    checksum64: required(
      Type.String({
        description: 'Sixteen hexadecimal digits, also over the times: `addedAt`, `updatedAt` and `expiresAt`.',
        examples: ['5d1f0c6a9ae0daaf'],
      }),
      { grpc: 100 },
    ),
    documentCount: Type.Integer(),
  }),
  deadlineMs: DEADLINE_POINT_MS,
  audit: null,
})

const fieldOf = (description: string) => optional(Type.String({ description }))

export const aggregate = operation({
  collections: common.collections,
  group: common.group,
  name: 'aggregate',
  client: 'collections.aggregate',
  polledIn: 'worker/handlers/aggregate.ts',
  boundedBy: ['FACETS_MAX', 'FACET_VALUES_COUNTED_MAX'],
  protocols: { grpc: null, graphql: null, mcp: 'aggregate' },
  description: 'Counts values of metadata keys in a collection, and documents by day, week, month or year',
  effect: 'read',
  permission: 'read',
  cost: 'search',
  http: { routes: [{ method: 'POST', path: '/v1/aggregate' }] },
  input: Type.Object({
    collection,
    ...metaFilters,
    facets: optional(
      Type.Array(
        Type.Object({ field: fieldOf('Metadata key.'), orderBy: optional(word(['count', 'value'], 'Order of the values.', 'count')) }),
        { examples: [[{ field: 'category' }]] },
      ),
    ),
    histograms: optional(
      Type.Array(
        Type.Object({
          field: fieldOf('`addedAt` or `updatedAt`.'),
          interval: optional(word(['day', 'week', 'month', 'year'], 'In UTC; weeks begin on Monday.', 'month')),
        }),
        { examples: [[{ field: 'addedAt', interval: 'day' }]] },
      ),
    ),
    maxFacetSize: optional(wholeNumber('Maximum number of values per facet.', { default: 50 })),
  }),
  output: shape('Counts of the documents that match the filter.', {
    collection: Type.String(),
    totalDocs: Type.Integer(),
    facets: mapOf(Type.Array(Type.Object({ value: Type.String(), count: Type.Integer() })), { description: 'Values by field.' }),
    histograms: mapOf(
      Type.Array(
        Type.Object({
          key: Type.String({ examples: ['2024-W05'] }),
          from: unixSeconds('First second of the bucket.'),
          to: unixSeconds('First second after the bucket.'),
          count: Type.Integer(),
        }),
      ),
      {
        description:
          'Buckets by field, in chronological order. Empty buckets are omitted; of more than 1 000 buckets only the newest are returned.',
      },
    ),
    durationMs: Type.Number(),
  }),
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
})

export const collectionOperations = [deleteCollection, metaKeys, checksum, aggregate] as const
