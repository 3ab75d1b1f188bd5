/**
 * Security incidents: events about a client, not about one of its requests. They are published as audit
 * events on the front-end thread; other threads send them by their port. Fields of `detail`: events.md
 * section 1.
 */
import { emitAuditEvent } from '../telemetry/audit.js'

/** Crosses threads. */
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

/** Front-end thread only. */
export function publishIncident(incident: Incident): void {
  emitAuditEvent({ ...incident, result: 'fail' })
}
