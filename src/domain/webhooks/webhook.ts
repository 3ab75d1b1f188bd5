/**
 * Webhooks: their fields, which changes concern one, and how they are shown. They are settings of the server.
 * Secret and headers are stored sealed in a row of their own, which only a delivery reads. Rules: service-2,
 * "Webhooks" and "Events", and docs/decisions/interfaces/webhooks.md. Pure; any thread.
 */
import { badRequest, serviceError } from '../../errors.js'
import { lowerCase } from '../../operations/row/lower_case.js'
import { CHANGE_EVENTS, type ChangeEvent } from '../../store/deliveries/delivery_record.js'
import { CorruptRecord } from '../../store/rows/record.js'
import { SERVER_SETTINGS } from '../../store/settings.js'
import type { View } from '../../store/view.js'
import type { WebhookDraft } from '../settings/webhook_commands.js'

/** Webhooks of a server: a change of them has all read again, 10 000 in 30 ms. */
export const WEBHOOKS_MAX = 10_000
/** Headers of a webhook, and UTF-16 units of one with its value: together less than servers accept. */
const WEBHOOK_HEADERS_MAX = 16
const WEBHOOK_HEADER_LENGTH_MAX = 1024

/** Other names of the same changes, as GraphQL clients and triggers have them. */
const ALIASES: Readonly<Record<string, ChangeEvent>> = { insert: 'doc.added', update: 'doc.updated', delete: 'doc.deleted' }
/** What happens to the server. Only webhooks of all collections are told. */
const INCIDENTS = [
  'security.auth_failure_burst',
  'security.rate_limit_exceeded',
  'ops.replication_lag_high',
  'ops.panic_recovered',
  'ops.disk_usage_high',
] as const
/** What a delivery sets itself. */
const OWN_HEADERS = /^(?:content-.*|host|connection|transfer-encoding|expect|upgrade|keep-alive|te|trailer|webhook-.*|x-mddb-.*|x-mds-.*)$/i

export interface Webhook {
  readonly id: string
  readonly url: string
  /** As registered. */
  readonly events: readonly string[]
  /** Empty: all collections. */
  readonly collection: string
  /** Unix seconds. */
  readonly createdAt: number
  /** LSN of its registration: earlier changes do not concern it. */
  readonly since: number
  /** Name of the user who registered it; null: access control was off. */
  readonly creator: string | null
  readonly includeSealed: boolean
  readonly headerNames: readonly string[]
}

export interface WebhookSecrets {
  readonly secret: string
  /** The one before, which signs, too, until that time in Unix seconds. */
  readonly previous?: { readonly secret: string; readonly until: number }
  readonly headers: Readonly<Record<string, string>>
}

/** In order of registration. @param unreadable receives the ids of damaged ones */
export function webhooksOf(view: View, unreadable: string[] = []): readonly Webhook[] {
  const hooks = view.settings(SERVER_SETTINGS, 'webhook', unreadable).map(([, hook]) => hook as Webhook)
  return hooks.sort((one, other) => one.since - other.since)
}

/** @throws ServiceError 404 */
export function webhook(view: View, id: string): Webhook {
  const hook = findWebhook(view, id)
  if (hook === undefined) throw serviceError('notFound')
  return hook
}

export function findWebhook(view: View, id: string): Webhook | undefined {
  return isWebhookId(id) ? (view.setting(SERVER_SETTINGS, 'webhook', id) as Webhook | undefined) : undefined
}

/** Undefined: there is no such webhook, or it concerns all collections. */
export function collectionOfWebhook(view: View, id: string): string | undefined {
  const collection = findWebhook(view, id)?.collection
  return collection === '' ? undefined : collection
}

/** Undefined: it is gone, or its key is. */
export function secretsOf(view: View, id: string): WebhookSecrets | undefined {
  try {
    return view.setting(SERVER_SETTINGS, 'webhook-secret', id) as WebhookSecrets | undefined
  } catch (error) {
    if (!(error instanceof CorruptRecord)) throw error
    return undefined
  }
}

export function isWebhookId(id: string): boolean {
  return /^[0-9a-f]{16}$/.test(id)
}

/** Whether the webhook wants the event of the collection. */
export function concerns({ events, collection }: Webhook, event: ChangeEvent, name: string): boolean {
  return events.some((each) => changeOf(each) === event) && (collection === '' || lowerCase(collection) === lowerCase(name))
}

function changeOf(event: string): ChangeEvent | undefined {
  return Object.hasOwn(ALIASES, event) ? ALIASES[event] : CHANGE_EVENTS.find((each) => each === event)
}

/** @param suspended why nothing is sent; undefined: it is */
export function showWebhook(hook: Webhook, suspended: string | undefined): object {
  const { id, url, events, collection, createdAt, includeSealed, headerNames } = hook
  return {
    ...{ id, url, events, collection, createdAt },
    ...(includeSealed ? { includeSealed } : {}),
    ...(headerNames.length > 0 ? { headers: headerNames } : {}),
    ...(suspended === undefined ? {} : { suspended }),
  }
}

/** Checks what does not depend on the store, but for the URL. @throws ServiceError 400 */
export function checkWebhook({ events, headers, collection }: WebhookDraft): void {
  if (events.length === 0) throw serviceError('missingFields')
  for (const event of events) {
    const isIncident = INCIDENTS.some((incident) => incident === event)
    if (changeOf(event) === undefined && !isIncident) throw badRequest(`invalid event: ${event}`)
    if (isIncident && collection !== '') throw badRequest(`invalid event: ${event} concerns the server, not a collection`)
  }
  const named = Object.entries(headers)
  if (named.length > WEBHOOK_HEADERS_MAX) throw badRequest(`invalid headers: ${named.length}, at most ${WEBHOOK_HEADERS_MAX} are allowed`)
  for (const [name, value] of named) {
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name)) throw badRequest(`invalid headers: ${JSON.stringify(name)} is no name of a header`)
    if (OWN_HEADERS.test(name)) throw badRequest(`invalid headers: ${name} is set by the server`)
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw badRequest(`invalid headers: the value of ${name} has other characters than Latin 1`)
    if (name.length + value.length > WEBHOOK_HEADER_LENGTH_MAX)
      throw badRequest(`invalid headers: ${name} is longer than ${WEBHOOK_HEADER_LENGTH_MAX} characters`)
  }
}
