/**
 * Audit events of all requests of every surface, in one place. An event has the action of the operation's
 * row, the actor, the client, what the request was about, and the result. It is emitted when the outcome is
 * known, whether or not a client still waits for it: exactly one event for each request that was submitted.
 * Without an audit log the cost is one check. Front-end thread only.
 */
import type { Principal } from '../access/principal.js'
import { ALL_COLLECTIONS } from '../operations/row/collection_access.js'
import { type AnyOperation, isInternal, type Operation } from '../operations/row/operation.js'
import { emitAuditEvent, isAuditWanted } from '../telemetry/audit.js'
import type { OutgoingAnswer } from '../wire/answer.js'
import type { AuditedNames } from '../wire/request_codec.js'
import type { RequestClient } from './surface.js'

/** Characters of the name in the event of a failed login, which anybody can choose. */
const AUDIT_ATTEMPTED_NAME_CHARS_MAX = 64

/** An event that lacks its result. */
export interface PendingEvent {
  readonly action: string
  actor: string
  /** Address of the client; empty if it is not known. */
  readonly ip: string
  readonly userAgent: string
  /** The path; once a lane has read the input, the collections that it names. */
  resource: string
  /** The one collection that it names, and the document. Empty: unknown. */
  collection: string
  key: string
  /** Field of the answer that the event names. */
  readonly detailField: string | undefined
}

/**
 * Null if there is no audit log or the operation is not audited.
 * @param params of the path: name, value, name, value ...
 */
export function pendingEvent(
  operation: AnyOperation,
  principal: Principal,
  params: readonly string[],
  client?: RequestClient,
): PendingEvent | null {
  if (!isAuditWanted() || isInternal(operation) || operation.audit === null) return null
  return {
    action: operation.audit,
    actor: principal.name,
    ip: client?.clientAddress() ?? '',
    userAgent: client?.userAgent() ?? '',
    resource: pathOf(operation, params),
    collection: '',
    key: '',
    detailField: operation.auditDetail,
  }
}

/** The path of the request, or the name of an operation that has none. */
function pathOf({ http, name }: Operation, params: readonly string[]): string {
  let path = http?.routes[0]?.path ?? name
  for (let at = 0; at < params.length; at += 2) path = path.replace(`:${params[at]!}`, () => params[at + 1]!)
  return path
}

/** @param names as the lane has read them; no collections: it has not read the input yet */
export function noteNames({ audit }: { readonly audit: PendingEvent | null }, { collections, key }: AuditedNames): void {
  const [first = ALL_COLLECTIONS] = collections
  if (audit === null || first === ALL_COLLECTIONS) return
  audit.resource = collections.join(',')
  audit.collection = collections.length === 1 ? first : ''
  audit.key = key
}

/** The name that a login has tried. The client has chosen it, so it may be anything. */
export function noteAttemptedName({ audit }: { readonly audit: PendingEvent | null }, name: string): void {
  if (audit !== null) audit.actor = name.slice(0, AUDIT_ATTEMPTED_NAME_CHARS_MAX)
}

/**
 * Emits the event of a request, once.
 * @param answer the outcome; null if the request has had no effect, or an unknown one
 */
export function emitOutcome(request: { audit: PendingEvent | null }, answer: OutgoingAnswer | null): void {
  if (request.audit === null) return
  const { detailField, ...event } = request.audit
  request.audit = null
  const isDone = answer !== null && answer.code === null
  const detail = isDone && detailField !== undefined ? detailOf(answer, detailField) : undefined
  emitAuditEvent({ ...event, result: isDone ? 'ok' : 'fail', ...(detail === undefined ? {} : { detail }) })
}

/** Returns a field of a JSON answer if its value is a string. */
function detailOf({ body }: OutgoingAnswer, field: string): string | undefined {
  const parsed = JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString()) as Readonly<Record<string, unknown>>
  const value = parsed[field]
  return typeof value === 'string' ? value : undefined
}
