/**
 * Audit events inside the process, published on a diagnostics channel. Events contain names and ids, no
 * content. Front-end thread. Fields: service-2, "Audit event".
 */
import { channel } from 'node:diagnostics_channel'

/** Name of the channel of node:diagnostics_channel. Its messages are `AuditEvent`s. */
export const AUDIT_CHANNEL = 'mds.audit'

export interface AuditEvent {
  /** Unix nanoseconds. */
  readonly ts: bigint
  readonly action: string
  /** Name of the principal. Absent if the principal has no name. */
  readonly actor?: string
  /** Address of the client. Absent if it is not known: the client came by a unix socket. */
  readonly ip?: string
  readonly result: 'ok' | 'fail'
  readonly detail?: string
}

const events = channel(AUDIT_CHANNEL)

export function isAuditWanted(): boolean {
  return events.hasSubscribers
}

/** Adds the current time to the event and publishes it. */
export function emitAuditEvent({
  action,
  actor,
  ip,
  result,
  detail,
}: {
  readonly action: string
  readonly actor: string
  readonly ip: string
  readonly result: AuditEvent['result']
  readonly detail: string | undefined
}): void {
  const event: AuditEvent = {
    ts: BigInt(Date.now()) * 1_000_000n,
    action,
    ...(actor === '' ? {} : { actor }),
    ...(ip === '' ? {} : { ip }),
    result,
    ...(detail === undefined ? {} : { detail }),
  }
  events.publish(event)
}
