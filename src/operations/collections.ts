/** Rows of operations on whole collections. Pure data; rules in src/domain. */
import { DEADLINE_HEAVY_MS, DEADLINE_POINT_MS, DEADLINE_SEARCH_MS } from '../limits/deadlines.js'
import { named } from './collection_access.js'
import { Type } from './json_schema.js'
import { collection, filterMeta, mapOf, operation, optional, shape, unixSeconds, wholeNumber, word } from './schema.js'

const common = { collections: named('collection'), group: 'Collections', input: Type.Object({ collection }) } as const

export const deleteCollection = operation({
  ...common,
  name: 'deleteCollection',
  description: 'Deletes a collection with all that belongs to it',
  effect: 'write',
  freesSpace: true,
  permission: 'write',
  cost: 'heavy',
  http: { routes: [{ method: 'POST', path: '/v1/delete-collection' }] },
  output: shape('Both documented forms at once.', {
    status: Type.String({ examples: ['deleted'] }),
    collection: Type.String(),
    deleted: Type.Integer({ description: 'Documents that were in it.' }),
    deletedCount: Type.Integer({ description: 'The same.' }),
  }),
  deadlineMs: DEADLINE_HEAVY_MS,
  audit: 'write./v1/delete-collection',
})

export const metaKeys = operation({
  ...common,
  name: 'metaKeys',
  description: 'Metadata keys in use, each with its values',
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
  description: 'A checksum over a collection, equal for equal contents',
  effect: 'read',
  permission: 'read',
  cost: 'point',
  http: { routes: [{ method: 'GET', path: '/v1/checksum' }] },
  output: shape('Checksum of a collection.', {
    collection: Type.String(),
    checksum: Type.String({ description: 'Eight hexadecimal digits.', examples: ['9ae0daaf'] }),
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
  description: 'Counts over a collection: values of metadata keys, and documents by day, week, month or year',
  effect: 'read',
  permission: 'read',
  cost: 'search',
  http: { routes: [{ method: 'POST', path: '/v1/aggregate' }] },
  input: Type.Object({
    collection,
    filterMeta: optional(filterMeta),
    facets: optional(
      Type.Array(
        Type.Object({ field: fieldOf('A metadata key.'), orderBy: optional(word(['count', 'value'], 'Order of the values.', 'count')) }),
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
    maxFacetSize: optional(wholeNumber('Most values of a facet.', { default: 50 })),
  }),
  output: shape('Counts of the documents that pass the filter.', {
    collection: Type.String(),
    totalDocs: Type.Integer(),
    facets: mapOf(Type.Array(Type.Object({ value: Type.String(), count: Type.Integer() })), { description: 'By field.' }),
    histograms: mapOf(
      Type.Array(
        Type.Object({
          key: Type.String({ examples: ['2024-W05'] }),
          from: unixSeconds('First second.'),
          to: unixSeconds('First second behind.'),
          count: Type.Integer(),
        }),
      ),
      { description: 'By field, in time order; empty buckets are left out, and of more than 1 000 the newest are shown.' },
    ),
    durationMs: Type.Number(),
  }),
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
})

export const collectionOperations = [deleteCollection, metaKeys, checksum, aggregate] as const
