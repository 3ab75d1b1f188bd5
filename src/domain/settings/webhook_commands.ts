/** Commands that change webhooks, or record what became of deliveries. Decided by src/domain/webhooks. */
import type { DeliveryOutcome } from '../../store/deliveries/delivery_record.js'

/** What a request may state. */
export interface WebhookDraft {
  readonly url: string
  readonly events: readonly string[]
  readonly collection: string
  readonly creator: string | null
  readonly includeSealed: boolean
  readonly headers: Readonly<Record<string, string>>
}

export type WebhookChange =
  /** `id`: 16 random hexadecimal digits. */
  | { readonly kind: 'register'; readonly id: string; readonly draft: WebhookDraft; readonly secret: string }
  | { readonly kind: 'delete'; readonly id: string }
  | { readonly kind: 'rotate'; readonly id: string; readonly secret: string }
  | { readonly kind: 'resume'; readonly id: string }
  | { readonly kind: 'replay'; readonly id: string; readonly lsn: bigint }
  /** Of a store with another epoch, they concern other changes, and nothing is written. */
  | { readonly kind: 'settle'; readonly epoch: string; readonly settled: readonly SettledDeliveries[] }

export interface SettledDeliveries {
  readonly hook: string
  readonly outcomes: readonly DeliveryOutcome[]
}

export interface WebhookCommand {
  readonly kind: 'webhook'
  readonly change: WebhookChange
}
