/**
 * Rows of bulk ingest: jobs that add documents after the request has been answered. Pure data; rules in
 * src/domain/bulk_ingest.ts.
 */
import {
  DEADLINE_HEAVY_MS,
  DEADLINE_INGEST_CHUNK_MS,
  DEADLINE_POINT_MS,
  DEADLINE_SEARCH_MS,
  DEADLINE_WRITE_MS,
} from '../limits/deadlines.js'
import { batchItem, keepTimes } from './documents.js'
import { named, namedOrReadable, OF_JOB } from './collection_access.js'
import { Type } from './json_schema.js'
import { collection, internal, operation, optional, shape, text, unixSeconds, wholeNumber } from './schema.js'

const id = text('Id of the job.', 'bulk_1735689600000000000_0f3a9c')
const seconds = (description: string) => Type.Optional(unixSeconds(description))

const BulkIngestJob = shape('A job.', {
  id: Type.String(),
  collection: Type.String(),
  status: Type.String({
    description: '`pending`, `processing`, `completed`, `failed` (no document was stored, or the server was restarted) or `cancelled`.',
  }),
  total: wholeNumber('Documents of the request.'),
  processed: wholeNumber('Documents that are done: the sum of the next three.'),
  added: Type.Integer(),
  updated: Type.Integer(),
  failed: Type.Integer(),
  errors: Type.Optional(Type.Array(Type.String(), { description: 'What went wrong, at most 50 messages.' })),
  embeddingDropped: Type.Optional(Type.Integer({ description: 'Documents stored without a vector; present when not 0.' })),
  callbackUrl: Type.Optional(Type.String()),
  submittedAt: unixSeconds('When it was accepted.'),
  startedAt: seconds('When its first documents were stored.'),
  completedAt: seconds('When it ended.'),
})

export const submitBulkIngest = operation({
  name: 'submitBulkIngest',
  group: 'Documents',
  description: 'Accepts documents of which each is then added as by add-batch, one job after the other',
  effect: 'write',
  permission: 'write',
  collections: named('collection'),
  cost: 'heavy',
  http: { routes: [{ method: 'POST', path: '/v1/bulk-ingest-job' }], successStatus: 202 },
  input: Type.Object({
    collection,
    documents: Type.Array(batchItem, {
      description: 'As of add-batch, but any number.',
      examples: [[{ key: 'a', lang: 'en', contentMd: '# A' }]],
    }),
    keepTimes: optional(keepTimes),
    callbackUrl: optional(
      Type.String({
        description:
          'The final record is sent there, once, by POST with the header `X-MDDB-Event: bulk_ingest.completed`. A public http or https address.',
      }),
    ),
  }),
  output: shape('The job waits for its turn.', {
    id: Type.String(),
    collection: Type.String(),
    status: Type.String({ examples: ['pending'] }),
    total: Type.Integer(),
    submittedAt: unixSeconds('Now.'),
  }),
  errors: ['noDocuments', 'ingestQueueFull'],
  deadlineMs: DEADLINE_HEAVY_MS,
  audit: 'write./v1/bulk-ingest-job',
})

export const getBulkIngest = operation({
  name: 'getBulkIngest',
  group: 'Documents',
  description: 'A bulk ingest job',
  effect: 'read',
  permission: 'read',
  collections: OF_JOB,
  cost: 'point',
  http: { routes: [{ method: 'GET', path: '/v1/bulk-ingest-job/:id' }] },
  input: Type.Object({ id }),
  output: BulkIngestJob,
  errors: ['notFound'],
  deadlineMs: DEADLINE_POINT_MS,
  audit: null,
})

export const cancelBulkIngest = operation({
  name: 'cancelBulkIngest',
  group: 'Documents',
  description: 'Cancels a bulk ingest job that has not started',
  effect: 'write',
  freesSpace: true,
  permission: 'write',
  collections: OF_JOB,
  cost: 'write',
  http: { routes: [{ method: 'DELETE', path: '/v1/bulk-ingest-job/:id' }] },
  input: Type.Object({ id }),
  output: shape('It will not run.', { status: Type.String({ examples: ['cancelled'] }), id: Type.String() }),
  errors: ['notFound', 'ingestStarted'],
  deadlineMs: DEADLINE_WRITE_MS,
  audit: 'write./v1/bulk-ingest-job/:id',
})

export const listBulkIngests = operation({
  name: 'listBulkIngests',
  group: 'Documents',
  description: 'Bulk ingest jobs, newest first',
  effect: 'read',
  permission: 'read',
  collections: namedOrReadable('collection'),
  cost: 'search',
  http: { routes: [{ method: 'GET', path: '/v1/bulk-ingest-jobs' }] },
  input: Type.Object({ collection: optional(Type.String({ description: 'Only jobs of this collection.' })) }),
  output: shape('The unfinished jobs and the last finished ones.', { jobs: Type.Array(BulkIngestJob), total: Type.Integer() }),
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
})

/** Requested by the front end from the bulk lane for a running job. Not available to clients. */
export const ingestChunk = internal({
  name: 'ingestChunk',
  description: 'Stores a part of a bulk ingest job',
  effect: 'write',
  cost: 'heavy',
  input: Type.Object({
    id,
    collection,
    first: wholeNumber('Documents of the job before this part.'),
    last: Type.Boolean({ description: 'Nothing comes after.' }),
    chunk: optional(Type.Unsafe<Uint8Array>({ description: 'JSON: `keepTimes` and `documents`, as the lane has cut them.' })),
    lost: optional(wholeNumber('In place of documents: so many that could not be prepared.')),
  }),
  output: BulkIngestJob,
  deadlineMs: DEADLINE_INGEST_CHUNK_MS,
})

export const bulkIngestOperations = [submitBulkIngest, getBulkIngest, cancelBulkIngest, listBulkIngests] as const
