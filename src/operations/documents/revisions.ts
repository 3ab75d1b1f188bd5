/** Rows of the revisions of a document. Pure data; rules in src/domain. */
import { DEADLINE_HEAVY_MS, DEADLINE_SEARCH_MS, DEADLINE_WRITE_MS } from '../../limits/lanes.js'
import { named } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import {
  collection,
  Document,
  HTTP_ONLY,
  identity,
  mapOf,
  metaMap,
  operation,
  optional,
  shape,
  unixSeconds,
  wholeNumber,
} from '../row/schema.js'

const common = { collections: named('collection'), group: 'Revisions', errors: ['notFound'] } as const

export const revisions = operation({
  ...common,
  name: 'revisions',
  client: 'revisions.list',
  polledIn: 'worker/handlers/revisions.ts',
  boundedBy: ['ANSWER_BYTES_MAX', 'DIFF_MS_MAX'],
  protocols: { grpc: 'ListRevisions', graphql: null, mcp: 'list_revisions' },
  description: 'Lists all kept versions of a document, newest first',
  effect: 'read',
  permission: 'read',
  cost: 'search',
  http: { routes: [{ method: 'POST', path: '/v1/revisions' }] },
  input: Type.Object({ ...identity }),
  output: shape('The versions.', {
    collection: Type.String(),
    key: Type.String(),
    lang: Type.String(),
    revisions: Type.Array(
      Type.Object(
        {
          timestamp: unixSeconds('When this version was written; identifies it in a restore.'),
          revision: Type.Integer({ description: 'Number of the version; distinguishes versions of the same second.' }),
          updatedAt: unixSeconds('`updatedAt` of the document in this version.'),
          contentMd: Type.String(),
          meta: metaMap,
        },
        { title: 'Revision' },
      ),
    ),
    total: Type.Integer(),
  }),
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
})

export const restoreRevision = operation({
  ...common,
  name: 'restoreRevision',
  client: 'revisions.restore',
  boundedBy: ['DOCUMENT_BYTES_MAX', 'META_KEYS_MAX', 'META_VALUES_MAX'],
  protocols: { grpc: 'RestoreRevision', graphql: null, mcp: 'restore_revision' },
  description: 'Restores an earlier version of a document by writing it as a new version',
  effect: 'write',
  permission: 'write',
  cost: 'write',
  http: { routes: [{ method: 'POST', path: '/v1/revisions/restore' }] },
  input: Type.Object({
    ...identity,
    timestamp: unixSeconds('`timestamp` of the version. If several versions have the same second, the newest is restored.'),
    revision: optional(wholeNumber('Number of the version, if several have the same second.')),
  }),
  output: Document,
  deadlineMs: DEADLINE_WRITE_MS,
  audit: 'write./v1/revisions/restore',
})

const state = Type.Object({
  revision: Type.Integer({ description: 'Number of the version.' }),
  timestamp: unixSeconds('When the version was written.'),
})

export const revisionDiff = operation({
  ...common,
  name: 'revisionDiff',
  client: 'revisions.diff',
  polledIn: 'worker/handlers/revisions.ts',
  boundedBy: ['ANSWER_BYTES_MAX', 'DIFF_MS_MAX'],
  protocols: HTTP_ONLY,
  description: 'Compares two versions of a document: content as a unified diff, metadata by key',
  effect: 'read',
  permission: 'read',
  cost: 'search',
  http: { routes: [{ method: 'POST', path: '/v1/revisions/diff' }] },
  input: Type.Object({
    ...identity,
    from: optional(wholeNumber('Number of the older version. Default: the one kept before `to`.')),
    to: optional(wholeNumber('Number of the newer version. Default: the current one.')),
  }),
  output: shape('The differences.', {
    collection: Type.String(),
    key: Type.String(),
    lang: Type.String(),
    from: state,
    to: state,
    diff: Type.String({ description: 'Unified diff with three lines of context; empty if the contents are equal.' }),
    added: Type.Integer({ description: 'Number of added lines.' }),
    removed: Type.Integer({ description: 'Number of removed lines.' }),
    isMinimal: Type.Boolean({ description: 'False if the versions differ so much that a shorter diff was not searched for.' }),
    meta: Type.Object({
      added: metaMap,
      removed: metaMap,
      changed: mapOf(Type.Object({ from: Type.Array(Type.String()), to: Type.Array(Type.String()) }), {
        description: 'Old and new values by key.',
      }),
    }),
  }),
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
})

export const truncate = operation({
  collections: common.collections,
  group: common.group,
  name: 'truncate',
  client: 'revisions.truncate',
  boundedBy: ['GROUP_DOCUMENTS_MAX'],
  protocols: { grpc: 'Truncate', graphql: null, mcp: 'truncate_revisions' },
  description: 'Permanently deletes the older revisions of all documents of a collection',
  effect: 'write',
  freesSpace: true,
  permission: 'write',
  cost: 'heavy',
  http: { routes: [{ method: 'POST', path: '/v1/truncate' }] },
  input: Type.Object({
    collection,
    keepRevs: wholeNumber(
      'Number of newest revisions that each document keeps, including the current state. 0: no history, only the current states.',
      {
        examples: [5],
      },
    ),
    dropCache: optional(Type.Boolean({ description: 'Accepted without effect: the caches of documents follow every write.' })),
  }),
  output: shape('What was deleted.', {
    status: Type.String({ examples: ['truncated'] }),
    deleted: Type.Integer({ description: 'Number of deleted revisions.' }),
    errors: optional(Type.Array(Type.String(), { description: 'Damaged documents, which were left unchanged; at most 50.' })),
  }),
  deadlineMs: DEADLINE_HEAVY_MS,
  audit: 'write./v1/truncate',
})

export const revisionOperations = [revisions, restoreRevision, revisionDiff, truncate] as const
