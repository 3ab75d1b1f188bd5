/**
 * Rows of tracking, which records the history of documents. Offered only if it is enabled. Pure data; rules
 * in src/domain/temporal.
 */
import { DEADLINE_POINT_MS, DEADLINE_SEARCH_MS } from '../../limits/lanes.js'
import { named } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { collection, Document, HTTP_ONLY, identity, operation, optional, shape, unixSeconds, wholeNumber, word } from '../row/schema.js'

const common = {
  group: 'Documents',
  collections: named('collection'),
  feature: 'temporal',
  effect: 'read',
  permission: 'read',
  audit: null,
} as const
const range = {
  from: optional(unixSeconds('Start of the range, inclusive. Default: 30 days ago.')),
  to: optional(unixSeconds('End of the range, exclusive. Default: now, including the current second.')),
}
const docId = Type.String({ description: '`id` of the document.', examples: ['blog|hello-world|en'] })
const types = ['create', 'update', 'access']

export const temporalQuery = operation({
  ...common,
  name: 'temporalQuery',
  client: 'temporal.events',
  boundedBy: ['EVENTS_LIMIT_DEFAULT', 'EVENT_BUCKETS_MAX'],
  protocols: { grpc: 'TemporalQuery', graphql: null, mcp: null },
  description: 'Lists the events of a document by time: writes, and reads if the collection tracks them (`trackAccess`)',
  cost: 'point',
  deadlineMs: DEADLINE_POINT_MS,
  http: { routes: [{ method: 'POST', path: '/v1/temporal/query' }] },
  input: Type.Object({
    ...identity,
    eventType: optional(word(types, 'Only events of this type.')),
    ...range,
    limit: optional(
      wholeNumber('Maximum number of events; the earliest are returned. Values above 10 000 count as 10 000.', { default: 100 }),
    ),
  }),
  output: shape('Events, ascending by time.', {
    collection: Type.String(),
    docId,
    events: Type.Array(
      Type.Object({
        docId,
        eventType: Type.String({ examples: types }),
        timestamp: unixSeconds('Time of the event.'),
        actor: Type.Optional(Type.String({ description: 'Who caused the event, if known.' })),
      }),
    ),
    total: Type.Integer({ description: 'Number of events in the range, before the limit is applied.' }),
  }),
  errors: ['notFound'],
})

export const temporalHot = operation({
  ...common,
  name: 'temporalHot',
  client: 'temporal.hot',
  polledIn: 'worker/handlers/temporal.ts',
  boundedBy: ['HOT_DOCUMENTS_SEEN_MAX'],
  protocols: { grpc: 'TemporalHot', graphql: null, mcp: null },
  description: 'Lists the most read documents of a collection, if it counts reads (`trackHot`, `trackAccess`)',
  cost: 'search',
  deadlineMs: DEADLINE_SEARCH_MS,
  http: { routes: [{ method: 'POST', path: '/v1/temporal/hot' }] },
  input: Type.Object({
    collection,
    topN: optional(wholeNumber('Maximum number of documents. Values above 1 000 count as 1 000.', { default: 10 })),
    since: optional(unixSeconds('Only documents that were read at this time or later.')),
  }),
  output: shape('Most read documents first; with equal counts, older documents first.', {
    collection: Type.String(),
    entries: Type.Array(
      Type.Object({
        docId,
        accessCount: Type.Integer({ description: 'Number of reads since the document was created or tracking began.' }),
        lastAccessAt: unixSeconds('Time of the last read.'),
        document: Type.Optional(Document),
      }),
    ),
  }),
})

export const temporalHistogram = operation({
  ...common,
  name: 'temporalHistogram',
  client: 'temporal.histogram',
  boundedBy: ['EVENTS_LIMIT_DEFAULT', 'EVENT_BUCKETS_MAX'],
  protocols: HTTP_ONLY,
  description: 'Counts the events of a collection by day, week or month',
  cost: 'search',
  deadlineMs: DEADLINE_SEARCH_MS,
  http: { routes: [{ method: 'POST', path: '/v1/temporal/histogram' }] },
  input: Type.Object({
    collection,
    eventType: optional(word(types, 'Type of the events to count.', 'access')),
    interval: optional(word(['day', 'week', 'month'], 'UTC; weeks begin on Monday.', 'day')),
    ...range,
  }),
  output: shape('Event counts by bucket. They are counted by whole minutes and kept for 400 days.', {
    collection: Type.String(),
    eventType: Type.String(),
    interval: Type.String(),
    buckets: Type.Array(
      Type.Object({
        label: Type.String({ examples: ['2024-01-31', '2024-W05', '2024-01'] }),
        from: unixSeconds('Start of the bucket.'),
        to: unixSeconds('Start of the next bucket.'),
        count: Type.Integer(),
      }),
      { description: 'Buckets with events, in ascending order.' },
    ),
  }),
})

export const temporalOperations = [temporalQuery, temporalHot, temporalHistogram] as const
