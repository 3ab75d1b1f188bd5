/**
 * Security incidents: audit events about a client, not about one of its requests. Any thread. Fields of
 * `detail`: events.md section 1.
 */
import { emitAuditEvent } from '../telemetry/audit.js'

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
