/**
 * Messages about deliveries to webhooks: from a lane to the front end, from there to the thread that sends
 * (src/programs/webhook_thread.ts), and back. Numbers of entries are exact in a double.
 */
import type { FoundDeliveries, WebhookTarget } from '../../domain/webhooks/due_deliveries.js'
import type { AllowedDestination } from '../../outbound/allowlist.js'

/** What a lane has found, and in which store: its epoch, hexadecimal. */
export interface DueDeliveries extends FoundDeliveries {
  readonly epoch: string
}

/** To the thread that sends. */
export interface WebhookPost {
  readonly number: number
  readonly id: string
  readonly event: string
  readonly target: WebhookTarget
  readonly body: Uint8Array
}

/** What became of a post. */
export interface WebhookOutcome {
  readonly number: number
  /** 0: there was no answer. */
  readonly httpStatus: number
  /** Empty: it was accepted. */
  readonly error: string
}

/** `workerData` of the thread: where it may send to. */
export interface WebhookThreadStart {
  readonly outboundAllowlist: readonly AllowedDestination[]
  readonly outboundAllowPrivate: boolean
}
