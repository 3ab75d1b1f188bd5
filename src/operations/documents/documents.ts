/** Rows of documents: write, read, find by metadata, delete. Pure data; rules in src/domain. */
import { DEADLINE_HEAVY_MS, DEADLINE_POINT_MS, DEADLINE_SEARCH_MS, DEADLINE_WRITE_MS } from '../../limits/lanes.js'
import { named } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { contentBesidePassage, retrievalFields } from '../row/retrieval.js'
import {
  also,
  collection,
  Document,
  documentId,
  identity,
  key,
  lang,
  limit,
  mapOf,
  metaFilters,
  metaMap,
  offset,
  operation,
  optional,
  ownItem,
  shape,
  ttl,
  unixSeconds,
  word,
} from '../row/schema.js'

const inCollection = { collections: named('collection'), group: 'Documents' } as const
const contentMd = Type.String({ description: 'Markdown text; may be empty.', examples: ['# Hello\n\nA first document.'] })
const saveRevision = Type.Boolean({ description: 'If false, no revision of this write is kept.', default: true })

export const add = operation({
  ...inCollection,
  name: 'add',
  client: 'documents.add',
  boundedBy: ['DOCUMENT_BYTES_MAX', 'META_KEYS_MAX', 'META_VALUES_MAX'],
  protocols: { grpc: 'Add', graphql: 'addDocument', mcp: 'add_document' },
  description: 'Writes a document, replacing an existing one of the same identity, and keeps a revision',
  effect: 'write',
  permission: 'write',
  cost: 'write',
  http: { routes: [{ method: 'POST', path: '/v1/add' }] },
  input: Type.Object({
    ...identity,
    contentMd,
    meta: optional(metaMap),
    ttl: optional(ttl),
    // Not `saveRevision`, which clients of HTTP send, and which has no effect there by contract.
    skipRevision: optional(Type.Boolean({ description: 'If true, no revision of this write is kept.', default: false })),
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
    expiresAt: optional(unixSeconds('When the document expires, as in an export, instead of `ttl`. 0: `ttl` applies.')),
    addedAt: optional(unixSeconds('With `keepTimes`: time of the first write.')),
    updatedAt: optional(
      unixSeconds('With `keepTimes`: time of the last write. If it is before that of the existing document, that one is kept.'),
    ),
  }),
)
export const keepTimes = Type.Boolean({
  description:
    'Keeps the given `addedAt` and `updatedAt` of documents, such as those of an export. Otherwise times are those of this write.',
  default: false,
})
const batchIdentity = ownItem('BatchIdentity', Type.Object({ key, lang }))

export const addBatch = operation({
  ...inCollection,
  name: 'addBatch',
  client: 'documents.addBatch',
  polledIn: 'worker/handlers/documents.ts',
  boundedBy: ['BATCH_DOCUMENTS_MAX'],
  protocols: { grpc: 'AddBatch', graphql: 'addBatch', mcp: 'add_documents_batch' },
  description: 'Writes many documents. Each is handled independently: an invalid one is counted and reported, the others are written.',
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
  output: shape('Number of documents by outcome.', {
    added: Type.Integer(),
    updated: Type.Integer(),
    failed: Type.Integer(),
    errors: Type.Optional(Type.Array(Type.String(), { description: 'Error messages, at most 50; present if any document failed.' })),
    embeddingDropped: Type.Optional(Type.Integer({ description: 'Number of documents stored without a vector; present if not 0.' }), {
      grpc: 100,
    }),
  }),
  deadlineMs: DEADLINE_HEAVY_MS,
  audit: 'write./v1/add-batch',
})

export const get = operation({
  ...inCollection,
  name: 'get',
  client: 'documents.get',
  polledIn: 'worker/handlers/documents.ts',
  boundedBy: ['TEMPLATE_NAMES_BYTES_MAX', 'ANSWER_BYTES_MAX'],
  protocols: { grpc: 'Get', graphql: 'document', mcp: 'mddb://{collection}/{key}?lang={lang}' },
  description: 'Returns the latest version of a document',
  effect: 'read',
  permission: 'read',
  cost: 'point',
  http: { routes: [{ method: 'POST', path: '/v1/get' }] },
  input: Type.Object({
    ...identity,
    env: optional(
      mapOf(Type.String(), {
        description: 'Template variables. Each `%%name%%` in the content is replaced by the value of that name.',
        examples: [{ name: 'Ada' }],
      }),
    ),
    asOf: optional(
      Type.Unsafe<number | string>({
        // The operation reports errors itself, with the expected form.
        anyOf: [{ type: 'integer' }, { type: 'string' }, {}],
        description:
          'Returns the state that was current at this time: Unix seconds, or a time such as 2024-01-31T12:00:00Z. 404 if the document did not exist then, or if that state was not kept.',
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
  client: null,
  polledIn: 'domain/listing/listing.ts',
  boundedBy: ['LIMIT_MAX', 'LISTING_ROUNDS_MAX'],
  protocols: { grpc: 'Search', graphql: 'search', mcp: 'search_documents' },
  description: 'Finds documents of a collection by metadata, sorted and paginated',
  effect: 'read',
  permission: 'read',
  cost: 'search',
  http: {
    routes: [{ method: 'POST', path: '/v1/search' }],
    headers: [
      ['X-Total-Count', 'Number of matching documents, before pagination.'],
      ['X-Context-Truncated', '1 if documents were omitted because of the token budget of the collection; otherwise absent.'],
    ],
  },
  input: Type.Object({
    collection,
    ...metaFilters,
    hasMeta: also(metaFilters.hasMeta, { graphql: true }),
    sort: optional(word(['addedAt', 'updatedAt', 'key'], 'Sort key. Default: storage order.')),
    asc: optional(Type.Boolean({ description: 'Sorts in ascending order.', default: false })),
    limit: optional(limit),
    offset: optional(offset),
    ...retrievalFields,
    includeContent: contentBesidePassage,
  }),
  output: Type.Array(Document, {
    description: 'The documents. In the modes `chunk` and `window`, `chunkIndex` and `chunkText` contain the beginning of each document.',
  }),
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
})

export const update = operation({
  ...inCollection,
  name: 'update',
  client: 'documents.update',
  boundedBy: ['DOCUMENT_BYTES_MAX', 'META_KEYS_MAX', 'META_VALUES_MAX'],
  protocols: { grpc: 'UpdateDocument', graphql: 'updateDocument', mcp: 'update_document' },
  description: 'Updates metadata, content and TTL of a document, each independently of the others',
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
  client: 'documents.getMeta',
  boundedBy: ['KEY_BYTES_MAX'],
  protocols: { grpc: 'GetDocumentMeta', graphql: null, mcp: 'get_document_meta' },
  description: 'Returns a document without its content',
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
    id: documentId,
    key: Type.String(),
    lang: Type.String(),
    meta: metaMap,
    addedAt: unixSeconds('Time of the first write.'),
    updatedAt: unixSeconds('Time of the last write.'),
    expiresAt: Type.Optional(unixSeconds('When the document expires; present if a TTL is set.')),
  }),
  errors: ['notFound'],
  deadlineMs: DEADLINE_POINT_MS,
  audit: null,
})

export const deleteDocument = operation({
  ...inCollection,
  name: 'delete',
  client: 'documents.delete',
  boundedBy: ['KEY_BYTES_MAX'],
  protocols: { grpc: 'DeleteDocument', graphql: 'deleteDocument', mcp: 'delete_document' },
  description: 'Deletes a document and its revisions',
  effect: 'write',
  freesSpace: true,
  permission: 'write',
  cost: 'write',
  http: { routes: [{ method: 'POST', path: '/v1/delete' }] },
  input: Type.Object({ ...identity }),
  output: shape('An object with the fields of both documented forms.', {
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
  client: 'documents.deleteBatch',
  polledIn: 'worker/handlers/documents.ts',
  boundedBy: ['BATCH_DOCUMENTS_MAX'],
  protocols: { grpc: 'DeleteBatch', graphql: null, mcp: 'delete_documents_batch' },
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
  output: shape('Number of documents by outcome.', {
    deleted: Type.Integer(),
    not_found: Type.Integer(),
    failed: Type.Integer(),
    errors: Type.Unsafe<readonly string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string' },
      description: 'Error messages, at most 50; null if no document failed.',
    }),
  }),
  deadlineMs: DEADLINE_HEAVY_MS,
  audit: 'write./v1/delete-batch',
})

/** An invalid update fails alone in its batch, so the schema accepts every item. */
const batchUpdate = ownItem(
  'BatchUpdate',
  Type.Object({
    key,
    lang,
    contentMd: optional(contentMd),
    meta: optional(metaMap),
    saveRevision: optional(saveRevision),
  }),
)

export const updateBatch = operation({
  ...inCollection,
  name: 'updateBatch',
  polledIn: 'worker/handlers/documents.ts',
  boundedBy: ['BATCH_DOCUMENTS_MAX'],
  protocols: { grpc: 'UpdateBatch', graphql: null, mcp: null },
  description: 'Updates many documents that exist. Each is handled independently; absent parts stay as they are.',
  effect: 'write',
  permission: 'write',
  cost: 'heavy',
  input: Type.Object({
    collection,
    documents: Type.Array(batchUpdate, {
      description: 'At most 10 000. `key` and `lang` are required in each, and content or metadata.',
      examples: [[{ key: 'a', lang: 'en', contentMd: '# A' }]],
    }),
  }),
  output: shape('Number of documents by outcome.', {
    updated: Type.Integer(),
    not_found: Type.Integer(),
    failed: Type.Integer(),
    errors: Type.Array(Type.String(), { description: 'Error messages, at most 50.' }),
  }),
  deadlineMs: DEADLINE_HEAVY_MS,
  audit: 'write.UpdateBatch',
})

export const setTtl = operation({
  ...inCollection,
  name: 'setTtl',
  client: 'documents.setTtl',
  isIdempotent: true,
  boundedBy: ['KEY_BYTES_MAX'],
  protocols: { grpc: 'SetTTL', graphql: 'setTTL', mcp: 'set_ttl' },
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

export const documentOperations = [add, addBatch, get, search, update, docMeta, deleteDocument, deleteBatch, updateBatch, setTtl] as const
