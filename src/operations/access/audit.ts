/** Rows of the audit log. Pure data; the log is src/audit. */
import { DEADLINE_SEARCH_MS } from '../../limits/lanes.js'
import { AUDIT_LIMIT_DEFAULT, AUDIT_LIMIT_MAX } from '../../limits/process.js'
import { SERVER } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { HTTP_ONLY, operation, optional, shape, wholeNumber, word } from '../row/schema.js'

const asked = {
  group: 'System',
  effect: 'system',
  permission: 'admin',
  collections: SERVER,
  cost: 'point',
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
} as const

const AuditEvent = shape(
  'One event.',
  {
    ts: Type.Integer({ minimum: 0, description: 'Unix nanoseconds with all digits. They increase strictly while a process runs.' }),
    actor: Type.String({ description: 'Name of the user; of a failed login the name that was tried, cut to 64 characters. Empty: none.' }),
    action: Type.String({ examples: ['auth.login', 'auth.jwt', 'auth.apikey', 'auth.missing', 'write./v1/add'] }),
    resource: Type.String({ description: 'The collections that the request names, separated by commas; else its path.' }),
    collection: optional(Type.String({ description: 'The collection, where the request names one.' })),
    key: optional(
      Type.String({
        description: 'The key of the document, where the request names one; `hmac:` and a hash of it where the collection is encrypted.',
      }),
    ),
    result: Type.String({ description: '`ok` or `fail`.' }),
    ip: Type.String({ description: 'Address of the client, behind the trusted proxies. Empty: not known.' }),
    userAgent: Type.String(),
    count: optional(
      wholeNumber('Number of failures of one client that this event stands for, besides those that are events of their own.'),
    ),
    detail: optional(Type.String({ description: 'For example the id of the job that the request has started.' })),
  },
  'AuditEvent',
)

export const auditEvents = operation({
  ...asked,
  name: 'auditEvents',
  client: 'admin.auditEvents',
  boundedBy: ['AUDIT_LIMIT_MAX', 'AUDIT_QUERY_MS_MAX'],
  protocols: HTTP_ONLY,
  description: 'Lists the last audit events, newest first',
  http: { routes: [{ method: 'GET', path: '/v1/audit' }] },
  input: Type.Object({
    from: optional(Type.String({ description: 'First time, RFC 3339, inclusive.', examples: ['2026-01-02T15:04:05Z'] })),
    to: optional(Type.String({ description: 'Last time, RFC 3339, inclusive.' })),
    fromNanos: optional(Type.String({ description: 'First time in Unix nanoseconds, inclusive. Takes precedence over `from`.' })),
    toNanos: optional(Type.String({ description: 'Last time in Unix nanoseconds, inclusive. Takes precedence over `to`.' })),
    actor: optional(Type.String({ description: 'Only events of this actor.' })),
    action: optional(Type.String({ description: 'Only events of this action.' })),
    collection: optional(Type.String({ description: 'Only events that name this collection alone, as the request wrote it.' })),
    key: optional(
      Type.String({
        description: 'Only events of this document; needs `collection`. Finds the hashes of the key where the collection is encrypted.',
      }),
    ),
    result: optional(word(['ok', 'fail'], 'Only events with this result.')),
    limit: optional(Type.Integer({ default: AUDIT_LIMIT_DEFAULT, description: `Maximum number of events, from 1 to ${AUDIT_LIMIT_MAX}.` })),
  }),
  output: shape('Events.', {
    events: Type.Array(AuditEvent),
    count: wholeNumber('Number of events in this response.'),
    dropped: wholeNumber('Events that were lost since the start of the server, because too many waited for the file of the log.'),
  }),
  errors: ['auditOff', 'invalidLimit', 'overloaded'],
})

export const auditExporters = operation({
  ...asked,
  name: 'auditExporters',
  client: 'admin.auditExporters',
  boundedBy: ['AUDIT_LIMIT_MAX', 'AUDIT_QUERY_MS_MAX'],
  protocols: HTTP_ONLY,
  description: 'Returns the exporters of the audit log with their queues and counters',
  http: { routes: [{ method: 'GET', path: '/v1/audit/exporters' }] },
  input: Type.Object({}),
  output: shape('Exporters.', {
    exporters: Type.Array(
      Type.Object({
        name: Type.String({ description: '`webhook` or `syslog`.' }),
        target: Type.String({ description: 'Where the events go, without credentials.' }),
        queued: wholeNumber('Number of events that wait.'),
        delivered: wholeNumber('Number of events that were delivered.'),
        failed: wholeNumber('Number of deliveries that failed. Their events are tried again.'),
        dropped: wholeNumber('Number of events that were lost because the queue was full.'),
        lastError: Type.String({ description: 'Empty after a delivery that succeeded.' }),
        bufferSize: wholeNumber('Number of events that may wait.'),
      }),
    ),
    count: wholeNumber('Number of exporters.'),
  }),
  errors: ['auditOff', 'overloaded'],
})

export const auditOperations = [auditEvents, auditExporters] as const
