/** Rows of webhooks and their deliveries. Pure data; rules in src/domain/webhooks. */
import { DEADLINE_POINT_MS, DEADLINE_SEARCH_MS, DEADLINE_WRITE_MS } from '../../limits/lanes.js'
import { named, OF_WEBHOOK } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { HTTP_ONLY, internal, mapOf, operation, optional, shape, text, unixSeconds, wholeNumber, word } from '../row/schema.js'

const offered = { group: 'Webhooks', permission: 'admin', boundedBy: ['WEBHOOKS_MAX'] } as const
const asked = { ...offered, effect: 'read', audit: null } as const
const changed = { ...offered, effect: 'write', cost: 'write', deadlineMs: DEADLINE_WRITE_MS } as const

/** The names of webhooks and of triggers. An event of either name is the same change. */
const EVENTS = ['doc.added', 'doc.updated', 'doc.deleted', 'insert', 'update', 'delete'] as const

const id = text('Id of the webhook.', '5f0c7d3a9b1e2f4c')
const hookFields = {
  id: Type.String({ examples: ['5f0c7d3a9b1e2f4c'] }),
  url: Type.String({ examples: ['https://example.com/hook'] }),
  events: Type.Array(Type.String(), { examples: [['doc.added']] }),
  collection: Type.String({ description: 'Empty: all collections.', examples: ['blog'] }),
  createdAt: unixSeconds('When it was registered.'),
  includeSealed: Type.Optional(Type.Boolean({ description: 'Documents of encrypted collections are sent with text and metadata.' }), {
    grpc: 101,
  }),
  headers: Type.Optional(Type.Array(Type.String(), { description: 'Names of its own headers. Their values are not shown.' }), {
    grpc: 102,
  }),
  suspended: Type.Optional(Type.String({ description: 'Why changes are not recorded or sent any more; absent: they are.' }), {
    grpc: 103,
    graphql: true,
  }),
}
const secret = Type.String({ description: 'Key of the signatures. Shown once.', examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'] })
const Webhook = Type.Object(hookFields, { title: 'Webhook' })

export const listWebhooks = operation({
  ...asked,
  name: 'listWebhooks',
  client: 'webhooks.list',
  protocols: { grpc: 'ListWebhooks', graphql: 'webhooks', mcp: 'list_webhooks' },
  collections: named('collection'),
  description: 'Lists webhooks: those of a collection, or all',
  cost: 'search',
  deadlineMs: DEADLINE_SEARCH_MS,
  http: { routes: [{ method: 'GET', path: '/v1/webhooks' }] },
  input: Type.Object({
    collection: optional(Type.String({ description: 'Only webhooks of this collection. Default: all.', examples: ['blog'] })),
  }),
  output: Type.Array(Webhook, { description: 'In order of registration.' }),
})

export const registerWebhook = operation({
  ...changed,
  name: 'registerWebhook',
  client: 'webhooks.register',
  protocols: { grpc: 'RegisterWebhook', graphql: 'registerWebhook', mcp: 'register_webhook' },
  collections: named('collection'),
  description: 'Registers a webhook: each later change of documents is posted to its URL, signed, at least once',
  http: { routes: [{ method: 'POST', path: '/v1/webhooks' }] },
  input: Type.Object({
    url: text('Where events are posted: http or https, at a public address.', 'https://example.com/hook'),
    events: Type.Array(word(EVENTS, 'Name of an event.'), { description: 'At least one.', examples: [['doc.added', 'doc.deleted']] }),
    collection: optional(Type.String({ description: 'Default: all collections.', examples: ['blog'] })),
    headers: optional(mapOf(Type.String(), { description: 'Headers of its own, e.g. of an authorization.' }), { grpc: 100 }),
    includeSealed: optional(
      Type.Boolean({ description: 'Documents of encrypted collections are sent with text and metadata.', default: false }),
      { grpc: 101 },
    ),
  }),
  output: Type.Object({ ...hookFields, secret: Type.Optional(secret, { grpc: 100, graphql: true }) }, { title: 'RegisteredWebhook' }),
  audit: 'write./v1/webhooks',
})

export const deleteWebhook = operation({
  ...changed,
  name: 'deleteWebhook',
  client: 'webhooks.delete',
  protocols: { grpc: 'DeleteWebhook', graphql: 'deleteWebhook', mcp: 'delete_webhook' },
  collections: OF_WEBHOOK,
  freesSpace: true,
  description: 'Deletes a webhook with what was not delivered yet',
  http: { routes: [{ method: 'POST', path: '/v1/webhooks/delete' }] },
  input: Type.Object({ id }),
  output: shape('Done.', { status: Type.String({ examples: ['deleted'] }), id: Type.String() }),
  errors: ['notFound'],
  audit: 'write./v1/webhooks/delete',
})

export const rotateWebhookSecret = operation({
  ...changed,
  name: 'rotateWebhookSecret',
  client: 'webhooks.rotateSecret',
  protocols: HTTP_ONLY,
  collections: OF_WEBHOOK,
  description: 'Replaces the secret of a webhook; for a day, deliveries are signed with both',
  http: { routes: [{ method: 'POST', path: '/v1/webhooks/:id/rotate-secret' }] },
  input: Type.Object({ id }),
  output: shape('The new secret.', { id: Type.String(), secret, previousUntil: unixSeconds('Until when the previous one signs, too.') }),
  errors: ['notFound'],
  audit: 'write./v1/webhooks/:id/rotate-secret',
})

export const resumeWebhook = operation({
  ...changed,
  name: 'resumeWebhook',
  client: 'webhooks.resume',
  protocols: HTTP_ONLY,
  collections: OF_WEBHOOK,
  isIdempotent: true,
  description: 'Goes on with a webhook that was suspended because too much waited for its receiver',
  http: { routes: [{ method: 'POST', path: '/v1/webhooks/:id/resume' }] },
  input: Type.Object({ id }),
  output: shape('From where it goes on.', {
    id: Type.String(),
    suspendedAt: optional(
      Type.Integer({ description: 'LSN of the first change that was not recorded for it; absent: it was not suspended.' }),
    ),
    resumedAt: Type.Integer({ description: 'LSN of the first change that is recorded again.' }),
  }),
  errors: ['notFound'],
  audit: 'write./v1/webhooks/:id/resume',
})

const Delivery = Type.Object(
  {
    id: Type.String({ description: 'As in the header `webhook-id`.', examples: ['5f0c7d3a9b1e2f4c:1204'] }),
    status: word(['waiting', 'dead'], 'Whether it is sent again, or was given up.'),
    event: Type.String({ examples: ['doc.added'] }),
    collection: Type.String({ examples: ['blog'] }),
    key: Type.String({ examples: ['hello-world'] }),
    lang: Type.String({ examples: ['en'] }),
    timestamp: unixSeconds('When the document changed.'),
    attempts: wholeNumber('Attempts so far.'),
    nextAttemptAt: Type.Optional(unixSeconds('Time of the next attempt.')),
    httpStatus: Type.Optional(Type.Integer({ description: 'Status of the last answer.' })),
    error: Type.Optional(Type.String({ description: 'Why the last attempt failed.' })),
  },
  { title: 'WebhookDelivery' },
)

export const listWebhookDeliveries = operation({
  ...asked,
  name: 'listWebhookDeliveries',
  client: 'webhooks.deliveries',
  protocols: HTTP_ONLY,
  collections: OF_WEBHOOK,
  description: 'Lists what waits for the receiver of a webhook, or was given up',
  cost: 'search',
  deadlineMs: DEADLINE_SEARCH_MS,
  http: { routes: [{ method: 'GET', path: '/v1/webhooks/:id/deliveries' }] },
  input: Type.Object({
    id,
    status: optional(word(['waiting', 'dead'], 'Which deliveries.', 'waiting')),
    limit: optional(wholeNumber('Maximum number of deliveries. Values above 500 count as 500.', { default: 50 })),
    cursor: optional(Type.String({ description: '`nextCursor` of the page before.' })),
  }),
  output: shape('In the order of the changes.', {
    deliveries: Type.Array(Delivery),
    hasMore: Type.Boolean(),
    nextCursor: Type.Optional(Type.String()),
  }),
  errors: ['notFound'],
})

export const replayWebhookDelivery = operation({
  ...changed,
  name: 'replayWebhookDelivery',
  client: 'webhooks.replay',
  protocols: HTTP_ONLY,
  collections: OF_WEBHOOK,
  isIdempotent: true,
  description: 'Sends a delivery that was given up once more, under its id',
  http: { routes: [{ method: 'POST', path: '/v1/webhooks/:id/deliveries/:delivery/replay' }] },
  input: Type.Object({ id, delivery: text('Id of the delivery.', '5f0c7d3a9b1e2f4c:1204') }),
  output: shape('It waits again.', { status: Type.String({ examples: ['waiting'] }), id: Type.String() }),
  errors: ['notFound'],
  audit: 'write./v1/webhooks/:id/deliveries/:delivery/replay',
})

export const webhookOperations = [
  listWebhooks,
  registerWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  resumeWebhook,
  listWebhookDeliveries,
  replayWebhookDelivery,
] as const

/** Requested by the front end (src/background/webhooks). No surface offers them. */
export const dueDeliveries = internal({
  name: 'dueDeliveries',
  boundedBy: ['PAGE_OF_HOOK_MAX'],
  description: 'Returns deliveries that are to be sent, with their payloads',
  effect: 'read',
  cost: 'heavy',
  input: Type.Object({ message: Type.Unsafe<Uint8Array>({}) }),
  output: Type.Object({}, { description: 'Bytes: DueDeliveries of src/wire/messages/webhook_messages.ts.' }),
  deadlineMs: DEADLINE_SEARCH_MS,
})

export const settleDeliveries = internal({
  name: 'settleDeliveries',
  boundedBy: ['DELIVERIES_HELD_MAX'],
  description: 'Records what became of deliveries',
  effect: 'write',
  cost: 'write',
  input: Type.Object({ message: Type.Unsafe<Uint8Array>({}) }),
  output: Type.Object({ settled: Type.Integer() }),
  deadlineMs: DEADLINE_POINT_MS,
})

export const internalWebhookOperations = [dueDeliveries, settleDeliveries] as const
