/**
 * Audit events inside the process: a listener subscribes to the channel. Events carry names and ids, no
 * content. Front-end thread. Fields: service-2, "Audit event".
 */
import { channel } from 'node:diagnostics_channel'

/** Of node:diagnostics_channel; messages are `AuditEvent`s. */
export const AUDIT_CHANNEL = 'mds.audit'

export interface AuditEvent {
  /** Unix nanoseconds. */
  readonly ts: bigint
  readonly action: string
  /** Name of the principal; absent where it has none. */
  readonly actor?: string
  readonly result: 'ok' | 'fail'
  readonly detail?: string
}

const events = channel(AUDIT_CHANNEL)

export function isAuditWanted(): boolean {
  return events.hasSubscribers
}

/** Stamps the event with the time. */
export function emitAuditEvent({
  action,
  actor,
  result,
  detail,
}: {
  readonly action: string
  readonly actor: string
  readonly result: AuditEvent['result']
  readonly detail: string | undefined
}): void {
  const event: AuditEvent = {
    ts: BigInt(Date.now()) * 1_000_000n,
    action,
    ...(actor === '' ? {} : { actor }),
    result,
    ...(detail === undefined ? {} : { detail }),
  }
  events.publish(event)
}
