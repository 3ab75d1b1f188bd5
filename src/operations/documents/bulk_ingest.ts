/**
 * Rows of bulk ingest: jobs that add documents after the request has been answered. Pure data; rules in
 * src/domain/bulk_ingest.ts.
 */
import { DEADLINE_HEAVY_MS, DEADLINE_POINT_MS, DEADLINE_SEARCH_MS, DEADLINE_WRITE_MS } from '../../limits/lanes.js'
import { named, namedOrReadable, OF_JOB } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { collection, internal, operation, optional, shape, text, unixSeconds, wholeNumber } from '../row/schema.js'
import { batchItem, keepTimes } from './documents.js'

/**
 * A chunk of a bulk ingest. It waits behind the other work of the bulk lane. 64 requests of up to 2 minutes
 * take longer than any client waits; a few requests do not.
 */
const DEADLINE_INGEST_CHUNK_MS = 600_000

const id = text('Id of the job.', 'bulk_1735689600000000000_0f3a9c')
const seconds = (description: string) => Type.Optional(unixSeconds(description))

const BulkIngestJob = shape('A job.', {
  id: Type.String(),
  collection: Type.String(),
  status: Type.String({
    description:
      '`pending`, `processing`, `completed`, `failed` (no document was stored, the server was restarted, or a wiki was not read to its end) or `cancelled`.',
  }),
  total: wholeNumber('Number of documents in the request. Of an import of a wiki: pages that were read so far.'),
  processed: wholeNumber('Number of processed documents: the sum of `added`, `updated`, `failed` and `skipped`.'),
  added: Type.Integer(),
  updated: Type.Integer(),
  failed: Type.Integer(),
  skipped: Type.Optional(Type.Integer({ description: 'Of an import of a wiki: pages that were left out.' })),
  errors: Type.Optional(Type.Array(Type.String(), { description: 'Error messages, at most 50.' })),
  embeddingDropped: Type.Optional(Type.Integer({ description: 'Number of documents stored without a vector; present if not 0.' })),
  callbackUrl: Type.Optional(Type.String()),
  submittedAt: unixSeconds('When the job was accepted.'),
  startedAt: seconds('When the first documents were stored.'),
  completedAt: seconds('When the job ended.'),
})

export const submitBulkIngest = operation({
  name: 'submitBulkIngest',
  client: 'ingestJobs.submit',
  polledIn: 'worker/handlers/ingest/bulk_ingest.ts',
  boundedBy: ['INGEST_CHUNK_DOCUMENTS_MAX', 'JSON_VALUES_MAX'],
  protocols: { grpc: null, graphql: null, mcp: 'bulk_ingest_submit' },
  group: 'Documents',
  description: 'Accepts documents and adds them in the background, as add-batch does, one job after the other',
  effect: 'write',
  permission: 'write',
  collections: named('collection'),
  cost: 'heavy',
  http: { routes: [{ method: 'POST', path: '/v1/bulk-ingest-job' }], successStatus: 202 },
  input: Type.Object({
    collection,
    documents: Type.Array(batchItem, {
      description: 'Documents as in add-batch, but any number.',
      examples: [[{ key: 'a', lang: 'en', contentMd: '# A' }]],
    }),
    keepTimes: optional(keepTimes),
    callbackUrl: optional(
      Type.String({
        description:
          'Public http or https URL. The final record of the job is sent to it once, by POST with the header `X-MDDB-Event: bulk_ingest.completed`.',
      }),
    ),
  }),
  output: shape('The job is queued.', {
    id: Type.String(),
    collection: Type.String(),
    status: Type.String({ examples: ['pending'] }),
    total: Type.Integer(),
    submittedAt: unixSeconds('When the job was accepted.'),
  }),
  errors: ['noDocuments', 'ingestQueueFull'],
  deadlineMs: DEADLINE_HEAVY_MS,
  audit: 'write./v1/bulk-ingest-job',
})

export const getBulkIngest = operation({
  name: 'getBulkIngest',
  client: 'ingestJobs.get',
  boundedBy: ['INGESTS_QUEUED_MAX'],
  protocols: { grpc: null, graphql: null, mcp: 'bulk_ingest_status' },
  group: 'Documents',
  description: 'Returns a bulk ingest job',
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
  client: 'ingestJobs.cancel',
  boundedBy: ['INGESTS_QUEUED_MAX'],
  protocols: { grpc: null, graphql: null, mcp: 'bulk_ingest_cancel' },
  group: 'Documents',
  description: 'Cancels a bulk ingest job that has not started, or an import of a wiki',
  effect: 'write',
  freesSpace: true,
  permission: 'write',
  collections: OF_JOB,
  cost: 'write',
  http: { routes: [{ method: 'DELETE', path: '/v1/bulk-ingest-job/:id' }] },
  input: Type.Object({ id }),
  output: shape('The job is cancelled.', { status: Type.String({ examples: ['cancelled'] }), id: Type.String() }),
  errors: ['notFound', 'ingestStarted'],
  deadlineMs: DEADLINE_WRITE_MS,
  audit: 'write./v1/bulk-ingest-job/:id',
})

export const listBulkIngests = operation({
  name: 'listBulkIngests',
  client: 'ingestJobs.list',
  boundedBy: ['INGESTS_QUEUED_MAX'],
  protocols: { grpc: null, graphql: null, mcp: 'bulk_ingest_list' },
  group: 'Documents',
  description: 'Lists bulk ingest jobs, newest first',
  effect: 'read',
  permission: 'read',
  collections: namedOrReadable('collection'),
  cost: 'search',
  http: { routes: [{ method: 'GET', path: '/v1/bulk-ingest-jobs' }] },
  input: Type.Object({ collection: optional(Type.String({ description: 'Only jobs of this collection. Default: all.' })) }),
  output: shape('The unfinished jobs and the most recently finished ones.', { jobs: Type.Array(BulkIngestJob), total: Type.Integer() }),
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
})

/** Requested by the front end from the bulk lane for a running job. Not available to clients. */
export const ingestChunk = internal({
  name: 'ingestChunk',
  polledIn: 'worker/handlers/ingest/bulk_ingest.ts',
  boundedBy: ['INGEST_CHUNK_DOCUMENTS_MAX', 'JSON_VALUES_MAX'],
  description: 'Stores a part of a bulk ingest job',
  effect: 'write',
  cost: 'heavy',
  input: Type.Object({
    id,
    collection,
    first: wholeNumber('Number of documents of the job before this part.'),
    last: Type.Boolean({ description: 'Whether this is the last part.' }),
    chunk: optional(Type.Unsafe<Uint8Array>({ description: 'JSON with `keepTimes` and `documents`, as split by the lane.' })),
    lost: optional(wholeNumber('Instead of documents: the number of documents that could not be prepared.')),
  }),
  output: BulkIngestJob,
  deadlineMs: DEADLINE_INGEST_CHUNK_MS,
})

export const bulkIngestOperations = [submitBulkIngest, getBulkIngest, cancelBulkIngest, listBulkIngests] as const
