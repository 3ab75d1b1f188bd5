/**
 * Changes of webhooks and of their deliveries, decided on the write lane inside the write transaction. Rules:
 * docs/decisions/interfaces/webhooks.md.
 */
import { badRequest, serviceError } from '../../errors.js'
import type { WriteTransaction } from '../../store/apply.js'
import type { DeliveryOutcome } from '../../store/deliveries/delivery_record.js'
import { SERVER_SETTINGS } from '../../store/settings.js'
import type { WebhookChange } from '../settings/webhook_commands.js'
import { serverSteps } from '../settings_decision.js'
import type { Step } from '../step.js'
import { secretsOf, showWebhook, type Webhook, webhook, WEBHOOKS_MAX, type WebhookSecrets } from './webhook.js'

/** A receiver has this long to learn a new secret: seconds in which both sign. */
const SECRET_OVERLAP_SECONDS = 86_400
/** Bytes of a secret, in base64 behind a prefix, as Standard Webhooks recommends. */
export const SECRET_BYTES = 32

interface WebhookDecision {
  readonly steps: readonly Step[]
  readonly answer: object
}

/** @throws ServiceError 400, 404; nothing is written then */
export function decideWebhook(transaction: WriteTransaction, change: WebhookChange, epoch: string): WebhookDecision {
  const { view } = transaction
  switch (change.kind) {
    case 'register':
      return register(transaction, change)
    case 'delete':
      webhook(view, change.id)
      return { steps: serverSteps(transaction, [write(change.id, null), writeSecrets(change.id, null)]), answer: deleted(change.id) }
    case 'rotate':
      return rotate(transaction, change)
    case 'resume':
      return resume(transaction, change.id)
    case 'replay':
      return replay(transaction, change)
    case 'settle': {
      const settled = change.epoch === epoch ? change.settled : []
      const steps = settled.map(({ hook, outcomes }, at) => deliveriesStep(transaction, hook, outcomes, false, at))
      return { steps, answer: { settled: settled.length } }
    }
  }
}

const deleted = (id: string): object => ({ status: 'deleted', id })
const write = (id: string, value: Webhook | null) => ({ setting: 'webhook', id, value }) as const
const writeSecrets = (id: string, value: WebhookSecrets | null) => ({ setting: 'webhook-secret', id, value }) as const

function register(
  transaction: WriteTransaction,
  { id, draft, secret }: Extract<WebhookChange, { readonly kind: 'register' }>,
): WebhookDecision {
  const { view } = transaction
  if (view.countSettings(SERVER_SETTINGS, 'webhook') >= WEBHOOKS_MAX) throw badRequest(`too many webhooks: at most ${WEBHOOKS_MAX}`)
  const { headers, ...stated } = draft
  const since = Number(transaction.nextLsn)
  const hook: Webhook = { id, ...stated, headerNames: Object.keys(headers), createdAt: view.now, since }
  const steps = serverSteps(transaction, [write(id, hook), writeSecrets(id, { secret, headers })])
  return { steps, answer: { ...showWebhook(hook, undefined), secret } }
}

function rotate(transaction: WriteTransaction, { id, secret }: Extract<WebhookChange, { readonly kind: 'rotate' }>): WebhookDecision {
  const { view } = transaction
  webhook(view, id)
  const stored = secretsOf(view, id)
  const until = view.now + SECRET_OVERLAP_SECONDS
  const previous = stored === undefined ? {} : { previous: { secret: stored.secret, until } }
  const steps = serverSteps(transaction, [writeSecrets(id, { secret, headers: stored?.headers ?? {}, ...previous })])
  return { steps, answer: { id, secret, previousUntil: until } }
}

function resume(transaction: WriteTransaction, id: string): WebhookDecision {
  webhook(transaction.view, id)
  const suspendedAt = transaction.view.deliveries.suspendedAt(id)
  const resumedAt = Number(transaction.nextLsn)
  if (suspendedAt === undefined) return { steps: [], answer: { id, resumedAt } }
  return { steps: [deliveriesStep(transaction, id, [], true)], answer: { id, suspendedAt: Number(suspendedAt), resumedAt } }
}

/** Of one that still waits, nothing changes. */
function replay(transaction: WriteTransaction, { id, lsn }: Extract<WebhookChange, { readonly kind: 'replay' }>): WebhookDecision {
  const { view } = transaction
  webhook(view, id)
  const isDead = view.deliveries.find(id, lsn, 'dead') !== undefined
  if (!isDead && view.deliveries.find(id, lsn, 'waiting') === undefined) throw serviceError('notFound')
  const again: DeliveryOutcome = { lsn, state: 'waiting', attempts: 0, dueAt: 0, httpStatus: 0, error: '' }
  return { steps: isDead ? [deliveriesStep(transaction, id, [again], false)] : [], answer: { status: 'waiting', id: `${id}:${lsn}` } }
}

function deliveriesStep(
  transaction: WriteTransaction,
  hook: string,
  outcomes: readonly DeliveryOutcome[],
  resumes: boolean,
  before = 0,
): Step {
  const lsn = transaction.nextLsn + BigInt(before)
  return {
    entry: { kind: 'deliveries', lsn, collection: SERVER_SETTINGS, docid: 0, hook, outcomes, resumes },
    body: undefined,
    indexOp: undefined,
  }
}
