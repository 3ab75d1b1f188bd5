/**
 * Audit events of all requests of every surface, in one place. An event has the action of the operation's
 * row, the actor, the address of the client and the result. It is emitted when the outcome is known, whether
 * or not a client still waits for it: exactly one event for each request that was submitted. Without
 * listeners the cost is one check. Front-end thread only.
 */
import type { Principal } from '../access/principal.js'
import { isInternal, type AnyOperation } from '../operations/operation.js'
import { emitAuditEvent, isAuditWanted } from '../telemetry/audit.js'
import type { OutgoingAnswer } from '../wire/answer.js'
import type { RequestClient } from './request_client.js'

/** An event that lacks its result. */
export interface PendingEvent {
  readonly action: string
  readonly actor: string
  /** Address of the client; empty if it is not known. */
  readonly ip: string
  /** Field of the answer that the event names. */
  readonly detailField: string | undefined
}

/** Null if nothing listens or the operation is not audited. */
export function pendingEvent(operation: AnyOperation, principal: Principal, client?: RequestClient): PendingEvent | null {
  if (!isAuditWanted() || isInternal(operation) || operation.audit === null) return null
  return { action: operation.audit, actor: principal.name, ip: client?.clientAddress() ?? '', detailField: operation.auditDetail }
}

/**
 * Emits the event of a request, once.
 * @param answer the outcome; null if the request has had no effect, or an unknown one
 */
export function emitOutcome(request: { audit: PendingEvent | null }, answer: OutgoingAnswer | null): void {
  if (request.audit === null) return
  const { action, actor, ip, detailField } = request.audit
  request.audit = null
  const isDone = answer !== null && answer.code === null
  const detail = isDone && detailField !== undefined ? detailOf(answer, detailField) : undefined
  emitAuditEvent({ action, actor, ip, result: isDone ? 'ok' : 'fail', detail })
}

/** Returns a field of a JSON answer if its value is a string. */
function detailOf({ body }: OutgoingAnswer, field: string): string | undefined {
  const parsed = JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString()) as Readonly<Record<string, unknown>>
  const value = parsed[field]
  return typeof value === 'string' ? value : undefined
}
