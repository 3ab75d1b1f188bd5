/**
 * Webhooks: registration and deliveries. Lists are read from the store, changes become commands. The front
 * end asks for what is to be sent (src/background/webhooks), and reports what became of it.
 */
import { randomBytes } from 'node:crypto'
import type { Command } from '../../domain/commands.js'
import type { SettledDeliveries, WebhookChange, WebhookDraft } from '../../domain/settings/webhook_commands.js'
import { administered, changeOf, dueDeliveries, type WantedDeliveries } from '../../domain/webhooks/due_deliveries.js'
import { checkWebhook, showWebhook, type Webhook, webhook, webhooksOf } from '../../domain/webhooks/webhook.js'
import { SECRET_BYTES } from '../../domain/webhooks/webhook_changes.js'
import { badRequest, serviceError } from '../../errors.js'
import { lowerCase } from '../../operations/row/lower_case.js'
import type { InputOf } from '../../operations/row/operation.js'
import {
  deleteWebhook as deleteRow,
  dueDeliveries as dueRow,
  listWebhookDeliveries as deliveriesRow,
  listWebhooks as listRow,
  registerWebhook as registerRow,
  replayWebhookDelivery as replayRow,
  resumeWebhook as resumeRow,
  rotateWebhookSecret as rotateRow,
  settleDeliveries as settleRow,
} from '../../operations/settings/webhooks.js'
import { checkUrl, OutboundRefused, policyOf } from '../../outbound/destination.js'
import type { Delivery } from '../../store/deliveries/delivery_record.js'
import type { View } from '../../store/view.js'
import type { Answer } from '../../wire/answer.js'
import { decodeMessage, encodeMessage } from '../../wire/messages/messages.js'
import type { DueDeliveries } from '../../wire/messages/webhook_messages.js'
import { type BoundHandler, type LaneContext, prepare, read, type RequestContext } from '../request/handler.js'

/** Deliveries in an answer. */
const DELIVERIES_SHOWN_MAX = 500
const DELIVERIES_SHOWN_DEFAULT = 50

const json = (value: unknown): Answer => ({ body: JSON.stringify(value) })
const command = (change: WebhookChange): Command => ({ kind: 'webhook', change })
const newSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`

function list(lane: LaneContext, { collection = '' }: InputOf<typeof listRow>): Answer {
  const wanted = lowerCase(collection)
  return lane.store.read((view) => {
    const hooks = webhooksOf(view).filter((hook) => wanted === '' || lowerCase(hook.collection) === wanted)
    return json(hooks.map((hook) => showWebhook(hook, suspensionOf(lane, view, hook))))
  })
}

/** Why nothing is sent to the webhook. */
function suspensionOf(lane: LaneContext, view: View, hook: Webhook): string | undefined {
  const since = view.deliveries.suspendedAt(hook.id)
  if (since !== undefined) return `too much waited for its receiver; nothing is recorded since LSN ${since}`
  return maySend(lane, hook) ? undefined : `${hook.creator} may not administer ${administered(hook)}`
}

/** While access control is off, everybody may do everything. */
function maySend({ config, rights, store }: LaneContext, hook: Webhook): boolean {
  if (config.auth === null || hook.creator === null) return true
  return rights.rightsOf(hook.creator, (run) => store.read(run))?.permits('admin', administered(hook)) === true
}

function register(lane: LaneContext, input: InputOf<typeof registerRow>, { access: { principal } }: RequestContext): Command {
  const { url, events, collection = '', headers = {}, includeSealed = false } = input
  const creator = principal.kind === 'user' ? principal.name : null
  const draft: WebhookDraft = { url, events: [...new Set(events)], collection, creator, includeSealed, headers }
  checkWebhook(draft)
  try {
    checkUrl(url, policyOf(lane.config))
  } catch (error) {
    if (!(error instanceof OutboundRefused)) throw error
    throw badRequest(`invalid url: ${error.message}`)
  }
  return command({ kind: 'register', id: randomBytes(8).toString('hex'), draft, secret: newSecret() })
}

function remove(_lane: LaneContext, { id }: InputOf<typeof deleteRow>): Command {
  return command({ kind: 'delete', id })
}

function rotate(_lane: LaneContext, { id }: InputOf<typeof rotateRow>): Command {
  return command({ kind: 'rotate', id, secret: newSecret() })
}

function resume(_lane: LaneContext, { id }: InputOf<typeof resumeRow>): Command {
  return command({ kind: 'resume', id })
}

function replay(_lane: LaneContext, { id, delivery }: InputOf<typeof replayRow>): Command {
  return command({ kind: 'replay', id, lsn: lsnOf(id, delivery) })
}

/** @param delivery its id, or only its LSN @throws ServiceError 404 */
function lsnOf(id: string, delivery: string): bigint {
  const [, hook, digits] = /^(?:([0-9a-f]{16}):)?(\d{1,19})$/.exec(delivery) ?? []
  if (digits === undefined || (hook !== undefined && hook !== id)) throw serviceError('notFound')
  return BigInt(digits)
}

function deliveries(lane: LaneContext, input: InputOf<typeof deliveriesRow>): Answer {
  const { id, status = 'waiting', limit = DELIVERIES_SHOWN_DEFAULT, cursor = '0' } = input
  if (status !== 'waiting' && status !== 'dead') throw badRequest('invalid status: must be waiting or dead')
  if (!/^\d{1,19}$/.test(cursor)) throw badRequest('invalid cursor')
  const count = Math.min(limit, DELIVERIES_SHOWN_MAX)
  return lane.store.read((view) => {
    webhook(view, id)
    const rows = view.deliveries.of(id, status, BigInt(cursor), count + 1)
    const shown = rows.slice(0, count)
    const hasMore = rows.length > count
    const last = shown.at(-1)
    return json({
      deliveries: shown.map((row) => showDelivery(view, status, row)),
      hasMore,
      ...(hasMore && last !== undefined ? { nextCursor: String(last.lsn) } : {}),
    })
  })
}

function showDelivery(view: View, status: string, row: Delivery): object {
  const { hook, lsn, event, collectionName, key, lang, at, attempts, dueAt, httpStatus, error } = row
  const change = key === null ? changeOf(view, row) : undefined
  return {
    ...{ id: `${hook}:${lsn}`, status, event, collection: collectionName },
    ...{ key: key ?? change?.key ?? '', lang: lang ?? change?.lang ?? '', timestamp: at, attempts },
    ...(dueAt === 0 || status === 'dead' ? {} : { nextAttemptAt: Math.ceil(dueAt / 1000) }),
    ...(httpStatus === 0 ? {} : { httpStatus }),
    ...(error === '' ? {} : { error }),
  }
}

function due(lane: LaneContext, { message }: InputOf<typeof dueRow>): Answer {
  const wanted = decodeMessage<WantedDeliveries>(message)
  const epoch = lane.store.presentEpoch().toString('hex')
  const found = lane.store.read((view) => dueDeliveries(view, wanted, (hook) => maySend(lane, hook), Date.now()))
  return { body: encodeMessage({ epoch, ...found } satisfies DueDeliveries) }
}

function settle(_lane: LaneContext, { message }: InputOf<typeof settleRow>): Command {
  const { epoch, settled } = decodeMessage<{ readonly epoch: string; readonly settled: readonly SettledDeliveries[] }>(message)
  return command({ kind: 'settle', epoch, settled })
}

export const webhookHandlers: readonly BoundHandler[] = [
  read(listRow, list),
  prepare(registerRow, register),
  prepare(deleteRow, remove),
  prepare(rotateRow, rotate),
  prepare(resumeRow, resume),
  prepare(replayRow, replay),
  read(deliveriesRow, deliveries),
  read(dueRow, due),
  prepare(settleRow, settle),
]
