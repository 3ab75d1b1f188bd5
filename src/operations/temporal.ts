/**
 * Rows of tracking, which records the history of documents. Offered only if it is enabled. Pure data; rules
 * in src/domain/temporal.
 */
import { DEADLINE_POINT_MS, DEADLINE_SEARCH_MS } from '../limits/deadlines.js'
import { named } from './collection_access.js'
import { Type } from './json_schema.js'
import { collection, Document, identity, operation, optional, shape, unixSeconds, wholeNumber, word } from './schema.js'

const common = {
  group: 'Documents',
  collections: named('collection'),
  feature: 'temporal',
  effect: 'read',
  permission: 'read',
  audit: null,
} as const
const range = {
  from: optional(unixSeconds('Not before. Default: 30 days ago.')),
  to: optional(unixSeconds('Before. Default: now, the present second included.')),
}
const docId = Type.String({ description: 'As `id` of the document.', examples: ['blog|hello-world|en'] })
const types = ['create', 'update', 'access']

export const temporalQuery = operation({
  ...common,
  name: 'temporalQuery',
  description: 'What a document has gone through, by time: writes, and reads where the collection tracks them (`trackAccess`)',
  cost: 'point',
  deadlineMs: DEADLINE_POINT_MS,
  http: { routes: [{ method: 'POST', path: '/v1/temporal/query' }] },
  input: Type.Object({
    ...identity,
    eventType: optional(word(types, 'Only events of this type.')),
    ...range,
    limit: optional(wholeNumber('Most events wanted, the earliest. Above 10 000 counts as 10 000.', { default: 100 })),
  }),
  output: shape('Events, ascending by time.', {
    collection: Type.String(),
    docId,
    events: Type.Array(
      Type.Object({
        docId,
        eventType: Type.String({ examples: types }),
        timestamp: unixSeconds('When.'),
        actor: Type.Optional(Type.String({ description: 'Who, where that is known.' })),
      }),
    ),
    total: Type.Integer({ description: 'Events in the range, before the limit.' }),
  }),
  errors: ['notFound'],
})

export const temporalHot = operation({
  ...common,
  name: 'temporalHot',
  description: 'The documents of a collection that were read most, where it counts reads (`trackHot`, `trackAccess`)',
  cost: 'search',
  deadlineMs: DEADLINE_SEARCH_MS,
  http: { routes: [{ method: 'POST', path: '/v1/temporal/hot' }] },
  input: Type.Object({
    collection,
    topN: optional(wholeNumber('Most documents wanted. Above 1 000 counts as 1 000.', { default: 10 })),
    since: optional(unixSeconds('Only documents that were read then or later.')),
  }),
  output: shape('Most read first; of equals the older document.', {
    collection: Type.String(),
    entries: Type.Array(
      Type.Object({
        docId,
        accessCount: Type.Integer({ description: 'Reads since the document was made or tracking began.' }),
        lastAccessAt: unixSeconds('The last of them.'),
        document: Type.Optional(Document),
      }),
    ),
  }),
})

export const temporalHistogram = operation({
  ...common,
  name: 'temporalHistogram',
  description: 'Events of a collection by day, week or month',
  cost: 'search',
  deadlineMs: DEADLINE_SEARCH_MS,
  http: { routes: [{ method: 'POST', path: '/v1/temporal/histogram' }] },
  input: Type.Object({
    collection,
    eventType: optional(word(types, 'Events of this type.', 'access')),
    interval: optional(word(['day', 'week', 'month'], 'UTC; weeks begin on Monday.', 'day')),
    ...range,
  }),
  output: shape('Counted by whole minutes, kept for 400 days.', {
    collection: Type.String(),
    eventType: Type.String(),
    interval: Type.String(),
    buckets: Type.Array(
      Type.Object({
        label: Type.String({ examples: ['2024-01-31', '2024-W05', '2024-01'] }),
        from: unixSeconds('Where the bucket begins.'),
        to: unixSeconds('Where the next one begins.'),
        count: Type.Integer(),
      }),
      { description: 'Those in which something happened, ascending.' },
    ),
  }),
})

export const temporalOperations = [temporalQuery, temporalHot, temporalHistogram] as const
