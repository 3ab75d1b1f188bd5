/** Rows of the revisions of a document. Pure data; rules in src/domain. */
import { DEADLINE_HEAVY_MS, DEADLINE_SEARCH_MS, DEADLINE_WRITE_MS } from '../limits/deadlines.js'
import { named } from './collection_access.js'
import { Type } from './json_schema.js'
import { collection, Document, identity, mapOf, metaMap, operation, optional, shape, unixSeconds, wholeNumber } from './schema.js'

const common = { collections: named('collection'), group: 'Revisions', errors: ['notFound'] } as const

export const revisions = operation({
  ...common,
  name: 'revisions',
  description: 'All kept versions of a document, newest first',
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
          timestamp: unixSeconds('When this version was written; what a restore takes.'),
          revision: Type.Integer({ description: 'Number of the version, which tells those of one second apart.' }),
          updatedAt: unixSeconds('Of the document in this version.'),
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
  description: 'Writes an earlier version again, as a new one',
  effect: 'write',
  permission: 'write',
  cost: 'write',
  http: { routes: [{ method: 'POST', path: '/v1/revisions/restore' }] },
  input: Type.Object({
    ...identity,
    timestamp: unixSeconds('Of the version wanted; of several in that second the newest.'),
    revision: optional(wholeNumber('Number of the version, where several share the second.')),
  }),
  output: Document,
  deadlineMs: DEADLINE_WRITE_MS,
  audit: 'write./v1/revisions/restore',
})

const state = Type.Object({
  revision: Type.Integer({ description: 'Number of the version.' }),
  timestamp: unixSeconds('When it was written.'),
})

export const revisionDiff = operation({
  ...common,
  name: 'revisionDiff',
  description: 'What changed between two versions of a document: content as a unified diff, metadata by key',
  effect: 'read',
  permission: 'read',
  cost: 'search',
  http: { routes: [{ method: 'POST', path: '/v1/revisions/diff' }] },
  input: Type.Object({
    ...identity,
    from: optional(wholeNumber('Number of the older version. Default: the one kept before `to`.')),
    to: optional(wholeNumber('Number of the newer version. Default: the present one.')),
  }),
  output: shape('The differences.', {
    collection: Type.String(),
    key: Type.String(),
    lang: Type.String(),
    from: state,
    to: state,
    diff: Type.String({ description: 'Unified, three lines of context; empty where the contents are the same.' }),
    added: Type.Integer({ description: 'Lines.' }),
    removed: Type.Integer({ description: 'Lines.' }),
    isMinimal: Type.Boolean({ description: 'False where so much differs that a shorter diff was not looked for.' }),
    meta: Type.Object({
      added: metaMap,
      removed: metaMap,
      changed: mapOf(Type.Object({ from: Type.Array(Type.String()), to: Type.Array(Type.String()) }), { description: 'By key.' }),
    }),
  }),
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
})

export const truncate = operation({
  collections: common.collections,
  group: common.group,
  name: 'truncate',
  description: 'Deletes the older revisions of all documents of a collection, for good',
  effect: 'write',
  freesSpace: true,
  permission: 'write',
  cost: 'heavy',
  http: { routes: [{ method: 'POST', path: '/v1/truncate' }] },
  input: Type.Object({
    collection,
    keepRevs: wholeNumber(
      'Revisions that each document keeps, the newest; the present state is one of them. 0: no history at all, only the present states.',
      {
        examples: [5],
      },
    ),
    dropCache: optional(
      Type.Boolean({ description: 'Accepted; there is nothing to drop: what is remembered of documents follows every write.' }),
    ),
  }),
  output: shape('What was deleted.', {
    status: Type.String({ examples: ['truncated'] }),
    deleted: Type.Integer({ description: 'Revisions.' }),
    errors: optional(Type.Array(Type.String(), { description: 'Damaged documents, which were left as they are; at most 50.' })),
  }),
  deadlineMs: DEADLINE_HEAVY_MS,
  audit: 'write./v1/truncate',
})

export const revisionOperations = [revisions, restoreRevision, revisionDiff, truncate] as const
