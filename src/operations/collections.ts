/** Rows about whole collections. Pure data; rules in src/domain. */
import { DEADLINE_HEAVY_MS, DEADLINE_POINT_MS, DEADLINE_SEARCH_MS } from '../limits.js'
import { Type } from './json_schema.js'
import { collection, mapOf, operation, shape } from './schema.js'

const common = { collection: { field: 'collection' }, group: 'Collections', input: Type.Object({ collection }) } as const

export const deleteCollection = operation({
  ...common,
  name: 'deleteCollection',
  description: 'Deletes a collection with all that belongs to it',
  effect: 'write',
  permission: 'write',
  cost: 'heavy',
  http: [{ method: 'POST', path: '/v1/delete-collection' }],
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
  http: [{ method: 'GET', path: '/v1/meta-keys' }],
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
  http: [{ method: 'GET', path: '/v1/checksum' }],
  output: shape('Checksum of a collection.', {
    collection: Type.String(),
    checksum: Type.String({ description: 'Eight hexadecimal digits.', examples: ['9ae0daaf'] }),
    documentCount: Type.Integer(),
  }),
  deadlineMs: DEADLINE_POINT_MS,
  audit: null,
})

export const collectionOperations = [deleteCollection, metaKeys, checksum] as const
