/** Rows of documents: write, read, find by metadata, delete. Pure data; rules in src/domain. */
import { DEADLINE_HEAVY_MS, DEADLINE_POINT_MS, DEADLINE_SEARCH_MS, DEADLINE_WRITE_MS } from '../limits/deadlines.js'
import { named } from './collection_access.js'
import { Type } from './json_schema.js'
import { contentBesidePassage, retrievalFields } from './retrieval.js'
import {
  collection,
  Document,
  filterMeta,
  identity,
  key,
  lang,
  limit,
  mapOf,
  metaMap,
  offset,
  operation,
  optional,
  ownItem,
  shape,
  ttl,
  unixSeconds,
  word,
} from './schema.js'

const inCollection = { collections: named('collection'), group: 'Documents' } as const
const contentMd = Type.String({ description: 'The markdown text; may be empty.', examples: ['# Hello\n\nA first document.'] })
const saveRevision = Type.Boolean({ description: 'False keeps no revision of this write.', default: true })

export const add = operation({
  ...inCollection,
  name: 'add',
  description: 'Writes a document, replacing the one of the same identity, and keeps a revision',
  effect: 'write',
  permission: 'write',
  cost: 'write',
  http: { routes: [{ method: 'POST', path: '/v1/add' }] },
  input: Type.Object({
    ...identity,
    contentMd,
    meta: optional(metaMap),
    ttl: optional(ttl),
  }),
  output: Document,
  deadlineMs: DEADLINE_WRITE_MS,
  audit: 'write./v1/add',
})

/** An invalid document fails alone in its batch, so the schema accepts every item. */
export const batchItem = ownItem(
  'BatchDocument',
  Type.Object({
    key,
    lang,
    contentMd,
    meta: optional(metaMap),
    saveRevision: optional(saveRevision),
    ttl: optional(ttl),
    expiresAt: optional(unixSeconds('When the document expires, as an export says it, in place of `ttl`. 0: as `ttl` says.')),
    addedAt: optional(unixSeconds('With `keepTimes`: the first write.')),
    updatedAt: optional(unixSeconds('With `keepTimes`: the last write; not before that of the state which is there.')),
  }),
)
export const keepTimes = Type.Boolean({
  description:
    'Documents keep the `addedAt` and `updatedAt` that they come with, as lines of an export do; without it, times are those of this write.',
  default: false,
})
const batchIdentity = ownItem('BatchIdentity', Type.Object({ key, lang }))

export const addBatch = operation({
  ...inCollection,
  name: 'addBatch',
  description: 'Writes many documents. Each stands alone: a bad one is counted and named, the others are written.',
  effect: 'write',
  permission: 'write',
  cost: 'heavy',
  http: { routes: [{ method: 'POST', path: '/v1/add-batch' }] },
  input: Type.Object({
    collection,
    documents: Type.Array(batchItem, {
      description: 'At most 10 000. `key`, `lang` and `contentMd` are required in each.',
      examples: [[{ key: 'a', lang: 'en', contentMd: '# A' }]],
    }),
    keepTimes: optional(keepTimes),
  }),
  output: shape('What became of the documents.', {
    added: Type.Integer(),
    updated: Type.Integer(),
    failed: Type.Integer(),
    errors: Type.Optional(Type.Array(Type.String(), { description: 'Present when some failed; at most 50.' })),
    embeddingDropped: Type.Optional(Type.Integer({ description: 'Documents stored without a vector; present when not 0.' })),
  }),
  deadlineMs: DEADLINE_HEAVY_MS,
  audit: 'write./v1/add-batch',
})

export const get = operation({
  ...inCollection,
  name: 'get',
  description: 'The latest version of a document',
  effect: 'read',
  permission: 'read',
  cost: 'point',
  http: { routes: [{ method: 'POST', path: '/v1/get' }] },
  input: Type.Object({
    ...identity,
    env: optional(
      mapOf(Type.String(), {
        description: 'Each `%%name%%` in the content is replaced by the value of that name.',
        examples: [{ name: 'Ada' }],
      }),
    ),
    asOf: optional(
      Type.Unsafe<number | string>({
        // The operation reports errors itself, with the expected form.
        anyOf: [{ type: 'integer' }, { type: 'string' }, {}],
        description:
          'The state that was current then: unix seconds, or a time like 2024-01-31T12:00:00Z. 404 where the document was not there, or that state was not kept.',
      }),
    ),
  }),
  output: Document,
  errors: ['notFound'],
  deadlineMs: DEADLINE_POINT_MS,
  audit: null,
})

export const search = operation({
  ...inCollection,
  name: 'search',
  description: 'Documents of a collection by metadata, sorted and paged',
  effect: 'read',
  permission: 'read',
  cost: 'search',
  http: {
    routes: [{ method: 'POST', path: '/v1/search' }],
    headers: [
      ['X-Total-Count', 'Documents that match, before paging.'],
      ['X-Context-Truncated', '1 where the token budget of the collection left documents out; otherwise absent.'],
    ],
  },
  input: Type.Object({
    collection,
    filterMeta: optional(filterMeta),
    sort: optional(word(['addedAt', 'updatedAt', 'key'], 'Order; without it the order of storage.')),
    asc: optional(Type.Boolean({ description: 'Ascending.', default: false })),
    limit: optional(limit),
    offset: optional(offset),
    ...retrievalFields,
    includeContent: contentBesidePassage,
  }),
  output: Type.Array(Document, {
    description: 'In the modes `chunk` and `window` with `chunkIndex` and `chunkText`, the beginning of each document.',
  }),
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
})

export const update = operation({
  ...inCollection,
  name: 'update',
  description: 'Changes parts of a document: metadata, content, TTL, each independent of the others',
  effect: 'write',
  permission: 'write',
  cost: 'write',
  http: { routes: [{ method: 'PATCH', path: '/v1/update' }] },
  input: Type.Object({
    ...identity,
    meta: optional(
      mapOf(Type.Array(Type.String()), { description: 'Replaces all metadata; `{}` clears it.', examples: [{ status: ['draft'] }] }),
    ),
    contentMd: optional(contentMd),
    ttl: optional(ttl),
  }),
  output: Document,
  errors: ['notFound', 'nothingToUpdate'],
  deadlineMs: DEADLINE_WRITE_MS,
  audit: 'write./v1/update',
})

export const docMeta = operation({
  ...inCollection,
  name: 'docMeta',
  description: 'A document without its content',
  effect: 'read',
  permission: 'read',
  cost: 'point',
  http: {
    routes: [
      { method: 'GET', path: '/v1/doc-meta' },
      { method: 'POST', path: '/v1/doc-meta' },
    ],
  },
  input: Type.Object({ collection, key, lang: optional(Type.String({ description: 'Language code.', default: 'en', examples: ['en'] })) }),
  output: shape('A document without its content.', {
    key: Type.String(),
    lang: Type.String(),
    meta: metaMap,
    addedAt: unixSeconds('First write.'),
    updatedAt: unixSeconds('Last write.'),
    expiresAt: Type.Optional(unixSeconds('Present when a TTL is set.')),
  }),
  errors: ['notFound'],
  deadlineMs: DEADLINE_POINT_MS,
  audit: null,
})

export const deleteDocument = operation({
  ...inCollection,
  name: 'delete',
  description: 'Deletes a document with its revisions',
  effect: 'write',
  freesSpace: true,
  permission: 'write',
  cost: 'write',
  http: { routes: [{ method: 'POST', path: '/v1/delete' }] },
  input: Type.Object({ ...identity }),
  output: shape('Both documented forms at once.', {
    status: Type.String({ examples: ['deleted'] }),
    deleted: Type.Boolean(),
    collection: Type.String(),
    key: Type.String(),
    lang: Type.String(),
  }),
  errors: ['notFound'],
  deadlineMs: DEADLINE_WRITE_MS,
  audit: 'write./v1/delete',
})

export const deleteBatch = operation({
  ...inCollection,
  name: 'deleteBatch',
  description: 'Deletes many documents',
  effect: 'write',
  freesSpace: true,
  permission: 'write',
  cost: 'heavy',
  http: { routes: [{ method: 'POST', path: '/v1/delete-batch' }] },
  input: Type.Object({
    collection,
    documents: Type.Array(batchIdentity, {
      description: 'At most 10 000. `key` and `lang` are required in each.',
      examples: [[{ key: 'a', lang: 'en' }]],
    }),
  }),
  output: shape('What became of the documents.', {
    deleted: Type.Integer(),
    not_found: Type.Integer(),
    failed: Type.Integer(),
    errors: Type.Unsafe<readonly string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string' },
      description: 'Null when none failed; at most 50.',
    }),
  }),
  deadlineMs: DEADLINE_HEAVY_MS,
  audit: 'write./v1/delete-batch',
})

export const setTtl = operation({
  ...inCollection,
  name: 'setTtl',
  description: 'Sets or removes the expiry of a document',
  effect: 'write',
  permission: 'write',
  cost: 'write',
  http: { routes: [{ method: 'POST', path: '/v1/set-ttl' }] },
  input: Type.Object({ ...identity, ttl }),
  output: Document,
  errors: ['notFound'],
  deadlineMs: DEADLINE_WRITE_MS,
  audit: 'write./v1/set-ttl',
})

export const documentOperations = [add, addBatch, get, search, update, docMeta, deleteDocument, deleteBatch, setTtl] as const
