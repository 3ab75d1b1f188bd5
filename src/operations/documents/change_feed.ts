/** Rows of the change feed. Pure data; rules in src/domain/feed and src/background/feed. */
import { DEADLINE_POINT_MS } from '../../limits/lanes.js'
import { namedOrReadable } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { HTTP_ONLY, internal, operation, optional, wholeNumber } from '../row/schema.js'

export const watchChanges = operation({
  name: 'watchChanges',
  client: null,
  boundedBy: ['FEED_PAGE_ENTRIES_MAX', 'FEED_DOCUMENT_BYTES_MAX'],
  protocols: HTTP_ONLY,
  group: 'Documents',
  description: 'Streams what happens to documents and jobs, as server-sent events',
  effect: 'read',
  permission: 'read',
  collections: namedOrReadable('collection'),
  cost: 'point',
  http: { routes: [{ method: 'GET', path: '/v1/events' }], resumesBy: 'since' },
  feature: 'sseEnabled',
  needsAddress: true,
  input: Type.Object({
    collection: optional(
      Type.String({ description: 'Only what happens in this collection. Default: in all that the caller may read, but for `memory_*`.' }),
    ),
    events: optional(
      Type.String({
        description:
          'Only these events, separated by commas: `doc.added` or `insert`, `doc.updated` or `update`, `doc.deleted` or `delete`, `job.started`, `job.progress`, `job.completed`, `job.failed`, `job.cancelled`.',
        examples: ['doc.added,doc.deleted'],
      }),
    ),
    key: optional(Type.String({ description: 'Only documents whose key begins with this text.' })),
    job: optional(Type.String({ description: 'Only what happens to this job.' })),
    include: optional(Type.String({ description: '`document`: events have the document as it is when they are sent.' })),
    since: optional(
      Type.String({
        description:
          'Id of the last event that the client has seen: the stream goes on behind it. `0`: from the oldest change that is kept. Over HTTP the header `Last-Event-ID` goes before.',
      }),
    ),
  }),
  output: Type.String({
    description:
      'Events without end: `id` (absent for jobs), `event`, and `data` with `event`, `type`, `collection`, `key`, `lang`, `timestamp`, `document`, `detail`, or with `event`, `timestamp`, `job`. `reset`: changes were missed.',
  }),
  contentType: 'text/event-stream',
  errors: ['notFound', 'tooManyStreams'],
  deadlineMs: DEADLINE_POINT_MS,
  audit: null,
})

/** Requested by the front end for the clients of the feed. Not available to clients. */
export const changePage = internal({
  name: 'changePage',
  boundedBy: ['FEED_PAGE_ENTRIES_MAX', 'FEED_DOCUMENT_BYTES_MAX'],
  description: 'Returns what a range of the binlog has changed',
  effect: 'read',
  cost: 'point',
  input: Type.Object({
    lsn: wholeNumber('The page begins behind it.'),
    epoch: Type.String({ description: 'Of the LSN; empty: not known.' }),
    withDocuments: Type.Boolean(),
  }),
  output: Type.Object({}),
  deadlineMs: DEADLINE_POINT_MS,
})

export const changeFeedOperations = [watchChanges] as const
