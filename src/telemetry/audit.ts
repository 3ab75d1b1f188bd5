/**
 * Audit events inside the process: who wants them listens on the channel. What nobody listens to costs one look. Events carry names and ids, no content. Front-end thread.
 * Fields: service-2, "Audit event".
 */
import { channel } from 'node:diagnostics_channel'

/** Of node:diagnostics_channel; messages are `AuditEvent`s. */
export const AUDIT_CHANNEL = 'mds.audit'

export interface AuditEvent {
  /** Unix nanoseconds. */
  readonly ts: bigint
  readonly action: string
  readonly result: 'ok' | 'fail'
  readonly detail?: string
}

const events = channel(AUDIT_CHANNEL)

/** A rotation of keys was asked for. @param body the answer, empty where a lane had none to give */
export function auditRotation(status: number, body: string): void {
  if (!events.hasSubscribers) return
  const { id } = (body === '' ? {} : JSON.parse(body)) as { readonly id?: string }
  const event: AuditEvent = {
    ts: BigInt(Date.now()) * 1_000_000n,
    action: 'encryption.rotation_requested',
    result: status === 200 ? 'ok' : 'fail',
    ...(id === undefined ? {} : { detail: id }),
  }
  events.publish(event)
}
