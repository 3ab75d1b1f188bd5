/**
 * Audit events of access control: the checks of credentials, and security incidents. Without an audit log the
 * cost of either is one check. Any thread.
 */
import type { ErrorCode } from '../errors.js'
import type { AuditEvent } from '../telemetry/audit.js'
import { emitAuditEvent, isAuditWanted } from '../telemetry/audit.js'
import type { Credential, CredentialFields } from './credentials.js'
import type { Principal } from './principal.js'

/** The principal, or the code of the refusal. */
export type Checked = Principal | ErrorCode

/** A request as its surface knows it before its body is read. */
export interface CheckedRequest extends CredentialFields {
  readonly path: string
  /** Called in the turn of the event loop in which the request is checked. */
  clientAddress(): string
  userAgent(): string
}

const ACTIONS = { token: 'auth.jwt', key: 'auth.apikey', unreadable: 'auth.jwt' } as const

/**
 * Each request to what is not public has this event, whether or not its credential was looked up.
 * @param credential null: there is none
 */
export function emitCheck(request: CheckedRequest, credential: Credential | null, checked: Checked | Promise<Checked>): void {
  if (!isAuditWanted()) return
  const action = credential === null ? 'auth.missing' : ACTIONS[credential.kind]
  const { path } = request
  const ip = request.clientAddress()
  const userAgent = request.userAgent()
  if (checked instanceof Promise) void checked.then((found) => emitAuditEvent(eventOf(action, path, found, ip, userAgent)))
  else emitAuditEvent(eventOf(action, path, checked, ip, userAgent))
}

function eventOf(action: string, resource: string, found: Checked, ip: string, userAgent: string): AuditEvent {
  const isFound = typeof found !== 'string'
  return { action, actor: isFound ? found.name : '', resource, result: isFound ? 'ok' : 'fail', ip, userAgent }
}

/** An audit event about a client, not about one of its requests. Fields of `detail`: events.md section 1. */
export interface Incident {
  readonly action: 'security.rate_limit_exceeded' | 'security.auth_failure_burst'
  /** Name of the principal, or the one that was tried; empty if there is none. */
  readonly actor: string
  /** Address of the client; empty if it is not known. */
  readonly ip: string
  /** JSON. */
  readonly detail: string
}

/** @param clientId as client_key.ts makes it */
export function rateIncident(actor: string, ip: string, clientId: string, transport: 'http' | 'grpc' | 'grpc-stream'): Incident {
  return { action: 'security.rate_limit_exceeded', actor, ip, detail: JSON.stringify({ clientId, transport }) }
}

export function emitIncident(incident: Incident, userAgent = ''): void {
  emitAuditEvent({ ...incident, resource: '', result: 'fail', userAgent })
}
